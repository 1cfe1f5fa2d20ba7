//! Root loci as CSV, json and as a picture.

use faer::c64;
use serde::Serialize;

use super::matrices::quoted;
use crate::analyse::locus::{Branch, branches};
use crate::expr::show_number;
use crate::picture::chart::{Axis, Chart, Curve, Mark, Panel, Shape};

/// The poles of a model for values of a parameter.
#[derive(Clone, Debug)]
pub struct Locus {
    pub model: String,
    pub parameter: String,
    pub values: Vec<f64>,
    /// For each value.
    pub poles: Vec<Vec<c64>>,
}

#[derive(Serialize)]
struct LocusJson<'a> {
    version: u32,
    model: &'a str,
    parameter: &'a str,
    values: &'a [f64],
    branches: Vec<BranchJson>,
}

#[derive(Serialize)]
struct BranchJson {
    /// The place of its first value, counted from 0.
    first: usize,
    re: Vec<f64>,
    im: Vec<f64>,
}

impl Locus {
    fn branches(&self) -> Vec<Branch> {
        branches(&self.poles)
    }

    /// A line for each pole at each value; poles of one branch have the same number.
    pub fn csv(&self) -> String {
        let mut out = format!("{},branch,re,im\n", quoted(&self.parameter));
        let branches = self.branches();
        for (at, value) in self.values.iter().enumerate() {
            for (number, branch) in branches.iter().enumerate() {
                let pole = at
                    .checked_sub(branch.first)
                    .and_then(|at| branch.poles.get(at));
                if let Some(pole) = pole {
                    out.push_str(&format!(
                        "{value:?},{},{:?},{:?}\n",
                        number + 1,
                        pole.re,
                        pole.im
                    ));
                }
            }
        }
        out
    }

    pub fn json(&self) -> impl Serialize {
        LocusJson {
            version: 1,
            model: &self.model,
            parameter: &self.parameter,
            values: &self.values,
            branches: (self.branches().into_iter())
                .map(|branch| BranchJson {
                    first: branch.first,
                    re: branch.poles.iter().map(|pole| pole.re).collect(),
                    im: branch.poles.iter().map(|pole| pole.im).collect(),
                })
                .collect(),
        }
    }

    pub fn chart(&self) -> Chart {
        let branches = self.branches();
        let mut marks = Vec::new();
        for branch in &branches {
            for (pole, shape) in [
                (branch.poles.first(), Shape::Cross),
                (branch.poles.last(), Shape::Ring),
            ] {
                marks.extend(pole.map(|pole| Mark {
                    at: (pole.re, pole.im),
                    to: None,
                    words: String::new(),
                    shape,
                }));
            }
        }
        // A pair has one colour.
        let mut colours: Vec<c64> = Vec::new();
        let curves = (branches.iter())
            .map(|branch| {
                let first = branch.poles.first().copied().unwrap_or_default();
                let alike = |known: &c64| {
                    (known - first.conj()).norm() <= 1e-9 * first.norm() && first.im != 0.0
                };
                let colour = colours.iter().position(alike).unwrap_or_else(|| {
                    colours.push(first);
                    colours.len() - 1
                });
                Curve {
                    points: branch.poles.iter().map(|pole| (pole.re, pole.im)).collect(),
                    colour,
                    dots: false,
                }
            })
            .collect();
        let ends = (self.values.first(), self.values.last());
        let note = match ends {
            (Some(first), Some(last)) => format!(
                "× {} = {}, ○ {} = {}",
                self.parameter,
                show_number(*first),
                self.parameter,
                show_number(*last)
            ),
            _ => String::new(),
        };
        Chart {
            title: format!("{}: poles over {}", self.model, self.parameter),
            axis: Axis::Plain,
            label: "Real part [1/s]".to_string(),
            panels: vec![Panel {
                label: "Imaginary part [1/s]".to_string(),
                height: 460.0,
                curves,
                levels: vec![0.0],
                marks,
                degrees: false,
            }],
            note: Some(note),
        }
    }

    /// A table of the poles at the first, the middle and the last value would hide what happens between: all are listed.
    pub fn text(&self) -> String {
        let mut out = format!("POLES OF {} OVER {}\n\n", self.model, self.parameter);
        let rows: Vec<Vec<String>> = (self.values.iter().zip(&self.poles))
            .map(|(value, poles)| {
                let poles = poles.iter().filter(|pole| pole.im >= 0.0);
                let texts = poles.map(|pole| match pole.im == 0.0 {
                    true => super::short(pole.re),
                    false => format!("{} +- {}i", super::short(pole.re), super::short(pole.im)),
                });
                std::iter::once(show_number(*value)).chain(texts).collect()
            })
            .collect();
        super::aligned(&rows, "    ", &mut out);
        out
    }
}
