//! The values at a point, for people and for programs.
//!
//! States first, then their derivatives, then everything else by submodel, then parameters.

use std::io::{self, Write};

use serde::Serialize;

use super::Point;
use crate::expr::{Value, show_number};
use crate::flat::{Flat, Kind, Leaf};
use crate::passes::blocks::Solved;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    States,
    Derivatives,
    Variables,
    Auxiliaries,
    Parameters,
}

impl Part {
    fn title(self) -> &'static str {
        match self {
            Part::States => "STATES",
            Part::Derivatives => "DERIVATIVES",
            Part::Variables => "VARIABLES",
            Part::Auxiliaries => "AUXILIARIES",
            Part::Parameters => "PARAMETERS",
        }
    }
}

struct Line {
    part: Part,
    leaf: Leaf,
    value: Value,
}

/// Everything that has a value, in order.
fn lines(flat: &Flat, point: &Point) -> Vec<Line> {
    let mut lines = Vec::new();
    for id in flat.variable_ids() {
        let kind = flat.variable(id).kind;
        let highest = point.order(id);
        for order in 0..=highest {
            let part = match kind {
                Kind::State if order < flat.variable(id).states => Part::States,
                Kind::State => Part::Derivatives,
                Kind::Auxiliary => Part::Auxiliaries,
                Kind::Parameter | Kind::Constant => Part::Parameters,
                Kind::Algebraic | Kind::Output | Kind::Discrete | Kind::Input => Part::Variables,
            };
            let leaf = Leaf::at_order(id, order);
            let value = point.get(leaf);
            // Minus zero is of no interest to a reader.
            let value = value.map(|value| match value {
                Value::Real(0.0) => Value::Real(0.0),
                other => other,
            });
            lines.extend(value.map(|value| Line { part, leaf, value }));
        }
        // What it becomes, where that is something else.
        if kind == Kind::Discrete
            && let (now, Some(value)) = (point.get(Leaf::Var(id)), point.get(Leaf::New(id)))
            && now != Some(value)
        {
            lines.push(Line {
                part: Part::Variables,
                leaf: Leaf::New(id),
                value,
            });
        }
    }
    lines.sort_by_key(|line| line.part);
    lines
}

/// Names and values in the order in which they are printed; a truth is 0 or 1.
pub fn values(solved: &Solved, point: &Point) -> Vec<(String, f64)> {
    let flat = &solved.flat;
    (lines(flat, point).into_iter())
        .map(|line| (flat.leaf_name(line.leaf), line.value.number()))
        .collect()
}

/// One line a value, the equals signs of a part below each other; `position` is that of the switches, if they have any.
pub fn write_text(solved: &Solved, point: &Point, position: Option<&str>, out: &mut String) {
    const WIDEST: usize = 40;
    let flat = &solved.flat;
    let time = show_number(point.time);
    out.push_str(&format!("VALUES OF {} AT Time = {time}\n", flat.model()));
    if let Some(position) = position {
        out.push_str(&format!("POSITION: {position}\n"));
    }
    let lines = lines(flat, point);
    for part in lines.chunk_by(|a, b| a.part == b.part) {
        let names: Vec<String> = part.iter().map(|line| flat.leaf_name(line.leaf)).collect();
        let width = (names.iter().map(|name| name.chars().count()))
            .filter(|&width| width <= WIDEST)
            .max()
            .unwrap_or(0);
        if let Some(first) = part.first() {
            out.push_str(&format!("\n{}\n", first.part.title()));
        }
        for (line, name) in part.iter().zip(names) {
            out.push_str(&format!("{name:width$} = {}\n", line.value));
        }
    }
}

#[derive(Serialize)]
struct Values<'f, P> {
    version: u32,
    model: &'f str,
    time: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<P>,
    values: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    kind: &'static str,
    value: Value,
}

/// The same as data: name, kind (that of the variable, or `derivative`, or `next`) and value.
pub fn write_json(
    solved: &Solved,
    point: &Point,
    position: Option<&impl Serialize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let flat = &solved.flat;
    let values = (lines(flat, point).into_iter())
        .map(|line| Entry {
            name: flat.leaf_name(line.leaf),
            kind: match line.leaf {
                Leaf::New(_) => "next",
                _ if line.part == Part::Derivatives => "derivative",
                leaf => flat.variable(leaf.variable()).kind.text(),
            },
            value: line.value,
        })
        .collect();
    let values = Values {
        version: 1,
        model: flat.model(),
        time: point.time,
        position,
        values,
    };
    serde_json::to_writer_pretty(&mut *out, &values)?;
    out.write_all(b"\n")
}
