//! A, B, C and D as a readable table, as json and as CSV.

use serde::ser::SerializeMap;

use super::json::{Document, Fields, Matrix};
use super::{aligned, short, title};
use crate::analyse::Analysed;
use crate::analyse::matrices::{Matrices, Sparse};
use crate::base::words::count;
use crate::flat::Leaf;

/// A matrix with its name, and the names of its rows and columns.
#[derive(Debug)]
pub struct Shown<'m> {
    /// `A`, `B`, `B_der`, ...
    pub name: String,
    pub of: &'m Sparse,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// As leaves, for LaTeX.
    pub leaves: (Vec<Leaf>, Vec<Leaf>),
}

/// The name of a matrix for a derivative of the inputs.
fn named(letter: &str, order: usize) -> String {
    match order {
        0 => letter.to_string(),
        1 => format!("{letter}_der"),
        _ => format!("{letter}_der{order}"),
    }
}

/// All that are to be shown: those of derivatives of inputs only where they are not zero, or all up to the highest with
/// `zeros`.
pub fn shown<'m>(analysed: &Analysed, matrices: &'m Matrices, zeros: bool) -> Vec<Shown<'m>> {
    let linear = &analysed.linear;
    let rates: Vec<Leaf> = linear.states.iter().map(|state| state.rate()).collect();
    let mut found = Vec::new();
    let mut add = |name: String, of: &'m Sparse, rows: &[Leaf], columns: Vec<Leaf>| {
        found.push(Shown {
            name,
            of,
            rows: linear.names(rows),
            columns: linear.names(&columns),
            leaves: (rows.to_vec(), columns),
        });
    };
    let by = |order: usize| -> Vec<Leaf> {
        let inputs = linear.inputs.iter();
        inputs
            .map(|leaf| Leaf::at_order(leaf.variable(), order as u8))
            .collect()
    };
    add("A".into(), &matrices.a, &rates, linear.states.clone());
    add("B".into(), &matrices.b[0], &rates, by(0));
    add(
        "C".into(),
        &matrices.c,
        &linear.outputs,
        linear.states.clone(),
    );
    add("D".into(), &matrices.d[0], &linear.outputs, by(0));
    for order in 1..=matrices.orders() {
        let (b, d) = (&matrices.b[order], &matrices.d[order]);
        if zeros || !b.is_zero() {
            add(named("B", order), b, &rates, by(order));
        }
        if zeros || !d.is_zero() {
            add(named("D", order), d, &linear.outputs, by(order));
        }
    }
    found
}

/// The json of `bgm linearize`.
#[derive(Debug)]
pub struct Body<'a> {
    pub analysed: &'a Analysed,
    pub matrices: &'a Matrices,
    pub sparse: bool,
}

impl Fields for Body<'_> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let linear = &self.analysed.linear;
        map.serialize_entry("states", &linear.names(&linear.states))?;
        map.serialize_entry("inputs", &linear.names(&linear.inputs))?;
        map.serialize_entry("outputs", &linear.names(&linear.outputs))?;
        for shown in shown(self.analysed, self.matrices, false) {
            let matrix = Matrix {
                of: shown.of,
                sparse: self.sparse,
            };
            map.serialize_entry(&shown.name, &matrix)?;
        }
        Ok(())
    }
}

/// One analysis as json.
pub fn document<'a>(
    analysed: &'a Analysed,
    matrices: &'a Matrices,
    sparse: bool,
) -> Document<'a, Body<'a>> {
    Document {
        analysed,
        body: Body {
            analysed,
            matrices,
            sparse,
        },
    }
}

/// The readable table.
pub fn text(analysed: &Analysed, matrices: &Matrices, sparse: bool) -> String {
    /// Wider matrices are listed by their entries.
    const WIDEST: usize = 12;
    let linear = &analysed.linear;
    let mut out = title("LINEARISATION", analysed);
    out.push('\n');
    let values = |leaves: &[Leaf]| -> Vec<Vec<String>> {
        (leaves.iter())
            .map(|&leaf| {
                let value = linear.value(leaf).map_or("?".to_string(), short);
                vec![linear.name(leaf), "=".to_string(), value]
            })
            .collect()
    };
    for (what, leaves) in [
        ("STATES", &linear.states),
        ("INPUTS", &linear.inputs),
        ("OUTPUTS", &linear.outputs),
    ] {
        if leaves.is_empty() {
            continue;
        }
        out.push_str(&format!("{what} ({})\n", leaves.len()));
        let shown = &leaves[..leaves.len().min(50)];
        aligned(&values(shown), "    ", &mut out);
        if shown.len() < leaves.len() {
            out.push_str(&format!("    and {} more\n", leaves.len() - shown.len()));
        }
    }
    for shown in shown(analysed, matrices, false) {
        if shown.rows.is_empty() || shown.columns.is_empty() {
            continue;
        }
        out.push('\n');
        if sparse || shown.columns.len() > WIDEST {
            let entries = count(shown.of.count(), "entry").replace("entrys", "entries");
            let (rows, columns) = (shown.rows.len(), shown.columns.len());
            out.push_str(&format!("{} ({rows} x {columns}, {entries})\n", shown.name));
            let rows: Vec<Vec<String>> = (shown.of.entries())
                .map(|(row, column, value)| {
                    vec![
                        shown.rows[row].clone(),
                        shown.columns[column].clone(),
                        short(value),
                    ]
                })
                .collect();
            aligned(&rows, "    ", &mut out);
            continue;
        }
        let mut rows = vec![
            std::iter::once(shown.name.clone())
                .chain(shown.columns.clone())
                .collect(),
        ];
        for (row, name) in shown.rows.iter().enumerate() {
            let numbers = (0..shown.columns.len()).map(|column| short(shown.of.get(row, column)));
            rows.push(
                std::iter::once(format!("  {name}"))
                    .chain(numbers)
                    .collect(),
            );
        }
        aligned(&rows, "", &mut out);
    }
    out
}

/// One line for each entry that is not zero: `matrix,row,column,value`.
pub fn csv(analysed: &Analysed, matrices: &Matrices) -> String {
    let mut out = "matrix,row,column,value\n".to_string();
    for shown in shown(analysed, matrices, false) {
        for (row, column, value) in shown.of.entries() {
            let (row, column) = (quoted(&shown.rows[row]), quoted(&shown.columns[column]));
            out.push_str(&format!("{},{row},{column},{value:?}\n", shown.name));
        }
    }
    out
}

/// A field of CSV.
pub fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_string(),
    }
}
