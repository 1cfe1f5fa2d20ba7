//! Passes over the flat model, in the order in which they run.

pub mod aliases;
pub mod blocks;
pub mod index;
pub mod order;
pub mod power;
pub mod relations;
pub mod showing;
pub mod signs;
pub mod storages;
pub mod vanishing;
pub mod zeros;

use crate::base::diagnostics::Diagnostics;
use crate::flat::Flat;
use order::{balanced, needs_reduction, vanished};
use signs::reference::{Findings, findings, nothing_cancels, reference};

/// Whether the equations can determine the unknowns, whatever the index: as many as there are, and
/// none that cancel. Parts without ground get a reference. The findings are missing after an error.
pub(crate) fn sound(flat: Flat, said: &mut Diagnostics) -> (Flat, Option<Findings>) {
    let mut unsaid = Diagnostics::default();
    let as_written = balanced(&flat, &mut unsaid);
    let (flat, mut found) = reference(flat, said);
    if found.has_moving_rates() && (!found.constraints.is_empty() || needs_reduction(&flat)) {
        // The rate of a state is not free where a constraint holds the state: to be seen after reduction.
        found.forget_moving_rates();
    }
    // What is not balanced may lack a ground only.
    let sound = (as_written.or_else(|| balanced(&flat, said)))
        .and_then(|()| nothing_cancels(&flat, &found, said));
    (flat, sound.map(|()| found))
}

/// Reduces the index where states depend on each other; `None` after an error.
pub(crate) fn reduced(mut flat: Flat, found: &Findings, said: &mut Diagnostics) -> Option<Flat> {
    let needed = !found.constraints.is_empty() || needs_reduction(&flat);
    if !needed && vanished(&flat).is_empty() {
        return Some(flat);
    }
    if let Err(stuck) = index::reduce(&mut flat, &found.constraints) {
        if !needed {
            return Some(flat);
        }
        index::report(&flat, &stuck, said);
        return None;
    }
    // With other unknowns than before.
    nothing_cancels(&flat, &findings(&flat), said)?;
    Some(flat)
}
