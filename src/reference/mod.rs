//! Signs that cancel: parts without ground, sources that contradict each other, states that depend on
//! each other. The structure alone does not show them.
//!
//! Before: a flat model that is balanced. After: the same model, in which each part without ground has one
//! potential set to zero, in place of the sum of flows at its node, which follows from the others: as if a ground
//! were connected there. All other equations stay as they are. Equations that contradict each other, or say the
//! same twice, are errors. Constraints between states are handed on.

mod findings;
mod linear;
mod replace;
mod report;

pub use findings::{Combination, Findings, Movement, findings};
pub use report::independent_states;

use crate::diagnostics::Diagnostics;
use crate::flat::Flat;

/// Gives parts without ground a reference; `None` after an error. The constraints between states
/// that the signs show come with it.
pub fn reference(
    mut flat: Flat,
    diagnostics: &mut Diagnostics,
) -> Option<(Flat, Vec<Combination>)> {
    let found = findings(&flat);
    if found.is_empty() {
        return Some((flat, Vec::new()));
    }
    let replaced = replace::replacements(&flat, found.redundant, found.movements);
    report::floating(&flat, &replaced.references, diagnostics);
    let mut cancelling = found.given;
    cancelling.extend(replaced.redundant);
    if !cancelling.is_empty() {
        // What contradicts itself leaves something open elsewhere: that is no news.
        report::cancelling(&flat, &cancelling, diagnostics);
        return None;
    }
    if !replaced.open.is_empty() {
        report::open(&flat, &replaced.open, diagnostics);
        return None;
    }
    replace::put_in(&mut flat, &replaced.references);
    Some((flat, found.constraints))
}
