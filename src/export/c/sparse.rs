//! Tables of a C program that integrates with a sparse matrix.
//!
//! Before: which rate depends on which state. After: tables with colours of the states, an order of elimination and its
//! fill-in. No tables if a full matrix serves as well.

use std::fmt::Write;

use sprs::{CsStructure, PermOwned};

use super::fill::{Filled, fill, order};
use crate::export::pattern::Dependence;
use crate::numeric::Coloring;

/// With at most this many states a full matrix is used.
const FEW: usize = 8;
/// A full matrix is also used if more than one of this many entries is not zero.
const PART: usize = 3;

#[derive(Debug)]
pub struct Sparse {
    coloring: Coloring,
    order: PermOwned,
    filled: Filled,
}

impl Sparse {
    pub fn new(dependence: &Dependence) -> Option<Self> {
        let size = dependence.states();
        if size <= FEW || dependence.entries() > size * size / PART {
            return None;
        }
        let coloring = dependence.coloring();
        let order = order(&coloring.pattern);
        let filled = fill(&coloring.pattern, &order);
        if filled.places.nnz() > size * size / 2 {
            return None;
        }
        Some(Sparse {
            coloring,
            order,
            filled,
        })
    }

    pub fn tables(&self) -> String {
        let pattern = &self.coloring.pattern;
        let mut out = String::new();
        let _ = writeln!(
            out,
            "\nenum {{ MODEL_ENTRIES = {}, MODEL_COLORS = {}, MODEL_FILLED = {} }};\n",
            pattern.nnz(),
            self.coloring.count,
            self.filled.places.nnz()
        );
        out.push_str("/* Derivatives of rates (rows) by states (columns), by columns. */\n");
        table(&mut out, "MODEL_entry_start", starts(pattern));
        table(&mut out, "MODEL_entry_row", pattern.indices());
        let filled = &self.filled.places;
        let mut places = Vec::with_capacity(pattern.nnz());
        let mut diagonals = Vec::with_capacity(pattern.cols());
        for (at, (_, (row, column))) in pattern.iter().enumerate() {
            let place = filled.nnz_index(self.order.at_inv(row), self.order.at_inv(column));
            // What is in the pattern is in the filled one.
            places.push(place.map_or(0, |found| found.0));
            if row == column {
                diagonals.push(at);
            }
        }
        table(&mut out, "MODEL_entry_diagonal", &diagonals);
        out.push_str("/* Where they go among the factors, which are by rows, in the order of elimination. */\n");
        table(&mut out, "MODEL_entry_place", &places);
        table(&mut out, "MODEL_order", &self.order.vec());
        table(&mut out, "MODEL_step_of", &self.order.inv_vec());
        table(&mut out, "MODEL_lu_begin", starts(filled));
        table(&mut out, "MODEL_lu_column", filled.indices());
        table(&mut out, "MODEL_lu_diagonal", &self.filled.diagonals);
        out.push_str("/* States that can be moved together. */\n");
        groups(&mut out, "MODEL_color", "state", &self.coloring);
        out
    }
}

/// The members of each colour, one colour after the other.
pub fn groups(out: &mut String, name: &str, what: &str, coloring: &Coloring) {
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); coloring.count];
    for (at, &color) in coloring.colors.iter().enumerate() {
        groups[color as usize].push(at);
    }
    let mut starts = vec![0];
    for group in &groups {
        starts.push(starts[starts.len() - 1] + group.len());
    }
    table(out, &format!("{name}_start"), &starts);
    table(out, &format!("{name}_{what}"), &groups.concat());
}

/// The index of the first entry of each column (or of each row, if the pattern is by rows).
pub fn starts(pattern: &CsStructure) -> &[usize] {
    pattern.indptr().into_raw_storage()
}

/// A table of constant whole numbers.
pub fn table(out: &mut String, name: &str, values: &[usize]) {
    let _ = writeln!(out, "static const int {name}[] = {{");
    for some in values.chunks(24) {
        let some: Vec<String> = some.iter().map(usize::to_string).collect();
        let _ = writeln!(out, "    {},", some.join(", "));
    }
    out.push_str("};\n");
}
