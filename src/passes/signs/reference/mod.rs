//! Signs that cancel: parts without ground, sources that contradict each other, states that depend on each other. The
//! structure alone does not show them.
//!
//! Before: a flat model. After: the same model, in which each part without ground has one potential set to zero, as if
//! a ground were connected there. This equation replaces the sum of flows at that node, which follows from the other
//! sums. No other equation changes. The other findings are returned: equations that contradict each other or are
//! redundant are errors, constraints between states go to index reduction.

mod findings;
mod linear;
mod replace;
mod report;

pub use findings::{Combination, Findings, Movement, findings};
pub use linear::next_term;
pub use replace::Reference;
pub use report::{cancelling, floating, listed, report_cancelling};

use crate::flat::Flat;

/// Gives parts without ground a reference. Returns the findings that still hold after that.
pub fn reference(mut flat: Flat) -> (Flat, Vec<Reference>, Findings) {
    let mut found = findings(&flat);
    if found.redundant.is_empty() {
        return (flat, Vec::new(), found);
    }
    let references = replace::references(&flat, &mut found);
    replace::put_in(&mut flat, &references);
    (flat, references, found)
}
