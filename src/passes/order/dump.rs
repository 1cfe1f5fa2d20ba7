//! Sorted equations as lines, in the order of evaluation: a block, its rows, what each is solved for.
//!
//! ```text
//! b0 r3 q5 for der(v2)  L1.I*der(L1.f) = L1.e
//! b1 loop of 2
//!   r1 q1 for v4  R1.R*R1.f = R1.e
//! ```

use std::fmt::Write;

use super::verify::{BlockId, RowId};
use super::{Row, Sorted};
use crate::flat::Flat;
use crate::flat::dump::Shown;

pub fn dump(flat: &Flat, sorted: &Sorted) -> String {
    let mut out = format!(
        "sorted {}: {} rows, {} blocks\n",
        flat.model(),
        sorted.rows.len(),
        sorted.blocks.len()
    );
    for (at, block) in sorted.blocks.iter().enumerate() {
        let _ = write!(out, "{:?} ", BlockId(at as u32));
        if block.len() > 1 {
            let _ = writeln!(out, "loop of {}", block.len());
        }
        for &row in block {
            if block.len() > 1 {
                out.push_str("  ");
            }
            line(flat, sorted, row, &mut out);
        }
    }
    out
}

fn line(flat: &Flat, sorted: &Sorted, row: u32, out: &mut String) {
    let unknown = sorted.unknowns[row as usize];
    let name = flat.leaf_name(unknown);
    let _ = write!(out, "{:?}", RowId(row));
    let _ = match &sorted.rows[row as usize] {
        Row::Equation(id) => {
            let text = flat.equation_text(*id);
            write!(out, " {id:?} for {} {name}: {text}", Shown(unknown))
        }
        Row::When(when, equations) => {
            write!(out, " {when:?} {equations:?} for {} {name}", Shown(unknown))
        }
        Row::Selection(at) => write!(out, " selection {at} for {} {name}", Shown(unknown)),
    };
    if sorted.vanished.binary_search(&row).is_ok() {
        out.push_str(" (a coefficient is zero as given)");
    }
    out.push('\n');
}
