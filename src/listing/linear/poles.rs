//! Poles and zeros as text and as json.

use faer::c64;
use serde::Serialize;
use serde::ser::SerializeMap;

use super::json::{Document, Fields};
use super::{aligned, short, title};
use crate::analyse::Analysed;
use crate::analyse::dynamics::{Described, Dynamics, Transfer};
use crate::base::words::count;

/// How many parameters of a pole the text tells.
const SHOWN: usize = 3;

/// `-1`, `-1 + 5i`
pub fn complex(value: c64) -> String {
    if value.im == 0.0 {
        return short(value.re);
    }
    let sign = if value.im < 0.0 { '-' } else { '+' };
    format!("{} {sign} {}i", short(value.re), short(value.im.abs()))
}

fn or_dash(value: f64) -> String {
    if value.is_finite() {
        short(value)
    } else {
        "-".to_string()
    }
}

/// A conjugate pair is told once, by the one above the real axis.
fn is_second(value: c64) -> bool {
    value.im < 0.0
}

pub fn text(analysed: &Analysed, dynamics: &Dynamics) -> String {
    let linear = &analysed.linear;
    let mut out = title("POLES", analysed);
    let states = count(linear.states.len(), "state");
    let some = match dynamics.some {
        true => format!(", {} of its poles", dynamics.poles.len()),
        false => String::new(),
    };
    out.push_str(&format!("{states}{some}\n\n"));
    let mut rows = vec![
        [
            "pole",
            "frequency/Hz",
            "damping",
            "time constant/s",
            "states",
        ]
        .map(str::to_string)
        .to_vec(),
    ];
    for of in dynamics.poles.iter().filter(|of| !is_second(of.pole.value)) {
        let value = of.pole.value;
        let mut pole = complex(value);
        if value.im != 0.0 {
            pole = format!("{} +- {}i", short(value.re), short(value.im));
        }
        rows.push(vec![
            pole,
            short(of.pole.frequency()),
            or_dash(of.pole.damping()),
            or_dash(of.pole.time_constant()),
            taking_part(analysed, of),
        ]);
    }
    left_last(&rows, &mut out);
    let told: Vec<&Described> = (dynamics.poles.iter())
        .filter(|of| !is_second(of.pole.value))
        .filter(|of| of.sensitivities.iter().any(|(_, slope)| slope.norm() > 0.0))
        .collect();
    if !told.is_empty() {
        out.push_str("\nSENSITIVITIES: what a pole moves by, for each unit of the parameter\n");
        let mut rows = Vec::new();
        for of in told {
            let felt = of
                .sensitivities
                .iter()
                .filter(|(_, slope)| slope.norm() > 0.0);
            for (at, &(id, slope)) in felt.take(SHOWN).enumerate() {
                let pole = match at {
                    0 => complex(of.pole.value),
                    _ => String::new(),
                };
                rows.push(vec![pole, linear.flat().name(id), complex(slope)]);
            }
        }
        aligned(&rows, "    ", &mut out);
    }
    for of in &dynamics.transfers {
        transfer(analysed, of, &mut out);
    }
    let unreached = [
        ("UNCONTROLLABLE", &dynamics.unreached.uncontrollable),
        ("UNOBSERVABLE", &dynamics.unreached.unobservable),
    ];
    for (what, places) in unreached {
        if !places.is_empty() {
            let names: Vec<String> = places
                .iter()
                .map(|&at| linear.name(linear.states[at]))
                .collect();
            out.push_str(&format!("\n{what}: {}\n", names.join(", ")));
        }
    }
    out
}

/// Columns aligned to the right but the first and the last.
fn left_last(rows: &[Vec<String>], out: &mut String) {
    let mut front = Vec::new();
    for row in rows {
        front.push(row[..row.len() - 1].to_vec());
    }
    let mut text = String::new();
    aligned(&front, "", &mut text);
    let width = text
        .lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0);
    for (line, row) in text.lines().zip(rows) {
        out.push_str(&format!("{line:<width$}  {}\n", row[row.len() - 1]));
    }
}

fn taking_part(analysed: &Analysed, of: &Described) -> String {
    const MOST: usize = 4;
    let linear = &analysed.linear;
    let mut parts: Vec<String> = (of.states.iter().take(MOST))
        .map(|&(at, part)| {
            let digits = if part < 0.01 { 2 } else { 0 };
            format!(
                "{} {:.digits$} %",
                linear.name(linear.states[at]),
                100.0 * part
            )
        })
        .collect();
    if of.states.len() > MOST {
        parts.push("...".to_string());
    }
    if of.pole.multiple {
        parts.push("(multiple)".to_string());
    }
    parts.join(", ")
}

fn transfer(analysed: &Analysed, of: &Transfer, out: &mut String) {
    let linear = &analysed.linear;
    let (from, to) = (
        linear.name(linear.inputs[of.input]),
        linear.name(linear.outputs[of.output]),
    );
    if of.of.gain == 0.0 {
        out.push_str(&format!("\nFROM {from} TO {to}: nothing\n"));
        return;
    }
    out.push_str(&format!(
        "\nFROM {from} TO {to}: gain {}",
        short(of.of.gain)
    ));
    let zeros: Vec<String> = (of.of.zeros.iter().zip(&of.cancelled))
        .filter(|(zero, _)| !is_second(**zero))
        .map(|(zero, cancelled)| {
            let text = match zero.im == 0.0 {
                true => complex(*zero),
                false => format!("{} +- {}i", short(zero.re), short(zero.im)),
            };
            if *cancelled {
                format!("{text} (cancelled)")
            } else {
                text
            }
        })
        .collect();
    match zeros.is_empty() {
        true => out.push_str(", no zeros\n"),
        false => out.push_str(&format!(", zeros {}\n", zeros.join(", "))),
    }
}

#[derive(Serialize)]
struct PoleJson {
    re: f64,
    im: f64,
    frequency: f64,
    damping: f64,
    time_constant: f64,
    states: Vec<Part>,
    sensitivities: Vec<Slope>,
}

#[derive(Serialize)]
struct Part {
    name: String,
    participation: f64,
}

#[derive(Serialize)]
struct Slope {
    parameter: String,
    re: f64,
    im: f64,
}

#[derive(Serialize)]
struct TransferJson {
    input: String,
    output: String,
    gain: f64,
    zeros: Vec<ZeroJson>,
}

#[derive(Serialize)]
struct ZeroJson {
    re: f64,
    im: f64,
    cancelled: bool,
}

/// The json of `bgm poles`.
#[derive(Debug)]
pub struct Body<'a> {
    analysed: &'a Analysed,
    dynamics: &'a Dynamics,
}

impl Fields for Body<'_> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let linear = &self.analysed.linear;
        let state = |at: usize| linear.name(linear.states[at]);
        let poles: Vec<PoleJson> = (self.dynamics.poles.iter())
            .map(|of| PoleJson {
                re: of.pole.value.re,
                im: of.pole.value.im,
                frequency: of.pole.frequency(),
                damping: of.pole.damping(),
                time_constant: of.pole.time_constant(),
                states: (of.states.iter())
                    .map(|&(at, participation)| Part {
                        name: state(at),
                        participation,
                    })
                    .collect(),
                sensitivities: (of.sensitivities.iter())
                    .map(|&(id, slope)| Slope {
                        parameter: linear.flat().name(id),
                        re: slope.re,
                        im: slope.im,
                    })
                    .collect(),
            })
            .collect();
        let zeros: Vec<TransferJson> = (self.dynamics.transfers.iter())
            .map(|of| TransferJson {
                input: linear.name(linear.inputs[of.input]),
                output: linear.name(linear.outputs[of.output]),
                gain: of.of.gain,
                zeros: (of.of.zeros.iter().zip(&of.cancelled))
                    .map(|(zero, &cancelled)| ZeroJson {
                        re: zero.re,
                        im: zero.im,
                        cancelled,
                    })
                    .collect(),
            })
            .collect();
        let names =
            |places: &[usize]| -> Vec<String> { places.iter().map(|&at| state(at)).collect() };
        let unreached = &self.dynamics.unreached;
        map.serialize_entry("poles", &poles)?;
        map.serialize_entry("zeros", &zeros)?;
        map.serialize_entry("uncontrollable", &names(&unreached.uncontrollable))?;
        map.serialize_entry("unobservable", &names(&unreached.unobservable))
    }
}

/// One analysis as json.
pub fn document<'a>(analysed: &'a Analysed, dynamics: &'a Dynamics) -> Document<'a, Body<'a>> {
    Document {
        analysed,
        body: Body { analysed, dynamics },
    }
}
