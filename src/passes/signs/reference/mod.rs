//! Signs that cancel: parts without ground, sources that contradict each other, states that depend on
//! each other. The structure alone does not show them.
//!
//! Before: a flat model. After: the same model, in which each part without ground has one potential set to
//! zero, in place of the sum of flows at its node, which follows from the others: as if a ground were connected
//! there. All other equations stay as they are. What else was found goes with it: equations that contradict
//! each other or say the same twice are errors, constraints between states are for index reduction.

mod findings;
mod linear;
mod replace;
mod report;

pub use findings::{Combination, Findings, Movement, findings};
pub use linear::next_term;
pub use replace::Reference;
pub use report::{cancelling, floating, listed, report_cancelling};

use crate::flat::Flat;

/// Gives parts without ground a reference. What is left of the findings holds for the model as it is now.
pub fn reference(mut flat: Flat) -> (Flat, Vec<Reference>, Findings) {
    let mut found = findings(&flat);
    if found.redundant.is_empty() {
        return (flat, Vec::new(), found);
    }
    let references = replace::references(&flat, &mut found);
    replace::put_in(&mut flat, &references);
    (flat, references, found)
}
