//! The values at a point as text and as JSON.
//!
//! States come first, then their derivatives, then all other variables by submodel, then parameters.

use std::io::{self, Write};

use serde::Serialize;

use super::Point;
use crate::expr::{Value, show_number};
use crate::flat::{Flat, Kind, Leaf};
use crate::passes::blocks::Solved;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    States,
    Derivatives,
    Variables,
    Auxiliaries,
    Parameters,
}

impl Section {
    fn title(self) -> &'static str {
        match self {
            Section::States => "STATES",
            Section::Derivatives => "DERIVATIVES",
            Section::Variables => "VARIABLES",
            Section::Auxiliaries => "AUXILIARIES",
            Section::Parameters => "PARAMETERS",
        }
    }
}

struct ValueLine {
    section: Section,
    leaf: Leaf,
    value: Value,
}

/// All values, in the order of printing.
fn lines(flat: &Flat, point: &Point) -> Vec<ValueLine> {
    let mut lines = Vec::new();
    for id in flat.variable_ids() {
        let kind = flat.variable(id).kind;
        let highest = point.order(id);
        for order in 0..=highest {
            let section = match kind {
                Kind::State if order < flat.variable(id).states => Section::States,
                Kind::State => Section::Derivatives,
                Kind::Auxiliary => Section::Auxiliaries,
                Kind::Parameter | Kind::Constant => Section::Parameters,
                Kind::Algebraic | Kind::Output | Kind::Discrete | Kind::Input => Section::Variables,
            };
            let leaf = Leaf::at_order(id, order);
            let value = point.get(leaf);
            // Minus zero is printed as zero.
            let value = value.map(|value| match value {
                Value::Real(0.0) => Value::Real(0.0),
                other => other,
            });
            lines.extend(value.map(|value| ValueLine {
                section,
                leaf,
                value,
            }));
        }
        // The next value of a discrete variable, if it differs.
        if kind == Kind::Discrete
            && let (now, Some(value)) = (point.get(Leaf::Var(id)), point.get(Leaf::New(id)))
            && now != Some(value)
        {
            lines.push(ValueLine {
                section: Section::Variables,
                leaf: Leaf::New(id),
                value,
            });
        }
    }
    lines.sort_by_key(|line| line.section);
    lines
}

/// Names and values in the order of printing; a truth is 0 or 1.
pub fn values(solved: &Solved, point: &Point) -> Vec<(String, f64)> {
    let flat = &solved.flat;
    (lines(flat, point).into_iter())
        .map(|line| (flat.leaf_name(line.leaf), line.value.number()))
        .collect()
}

/// Writes one line for each value, with the equals signs of a section aligned; `mode` is that of the switches, if the model
/// has modes.
pub fn write_text(solved: &Solved, point: &Point, mode: Option<&str>, out: &mut String) {
    const WIDEST: usize = 40;
    let flat = &solved.flat;
    let time = show_number(point.time);
    out.push_str(&format!("VALUES OF {} AT Time = {time}\n", flat.model()));
    if let Some(mode) = mode {
        out.push_str(&format!("POSITION: {mode}\n"));
    }
    let lines = lines(flat, point);
    for section in lines.chunk_by(|a, b| a.section == b.section) {
        let names: Vec<String> = section
            .iter()
            .map(|line| flat.leaf_name(line.leaf))
            .collect();
        let width = (names.iter().map(|name| name.chars().count()))
            .filter(|&width| width <= WIDEST)
            .max()
            .unwrap_or(0);
        if let Some(first) = section.first() {
            out.push_str(&format!("\n{}\n", first.section.title()));
        }
        for (line, name) in section.iter().zip(names) {
            out.push_str(&format!("{name:width$} = {}\n", line.value));
        }
    }
}

#[derive(Serialize)]
struct PointJson<'f, P> {
    version: u32,
    model: &'f str,
    time: f64,
    #[serde(rename = "position", skip_serializing_if = "Option::is_none")]
    mode: Option<P>,
    values: Vec<ValueJson>,
}

#[derive(Serialize)]
struct ValueJson {
    name: String,
    kind: &'static str,
    value: Value,
}

/// The same as JSON: name, kind (that of the variable, or `derivative`, or `next`) and value.
pub fn write_json(
    solved: &Solved,
    point: &Point,
    mode: Option<&impl Serialize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let flat = &solved.flat;
    let values = (lines(flat, point).into_iter())
        .map(|line| ValueJson {
            name: flat.leaf_name(line.leaf),
            kind: match line.leaf {
                Leaf::New(_) => "next",
                _ if line.section == Section::Derivatives => "derivative",
                leaf => flat.variable(leaf.variable()).kind.text(),
            },
            value: line.value,
        })
        .collect();
    let values = PointJson {
        version: 1,
        model: flat.model(),
        time: point.time,
        mode,
        values,
    };
    serde_json::to_writer_pretty(&mut *out, &values)?;
    out.write_all(b"\n")
}
