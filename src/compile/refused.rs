//! Why a model could not be lowered, as data; in words when somebody asks.

use super::lower::Notes;
use crate::base::diagnostics::Diagnostics;
use crate::flat::Flat;
use crate::passes::blocks::{Fault, Unsolved};
use crate::passes::index::{self, Stuck};
use crate::passes::order::{balanced, report_unbalanced, report_unsorted};
use crate::passes::signs::reference::{Findings, floating, report_cancelling};
use crate::start::{self, WrongRestarts};

/// A model that did not come through a stage.
#[derive(Debug)]
pub struct Refused(Box<Reasons>);

#[derive(Debug)]
struct Reasons {
    /// The model as it was in that stage.
    flat: Flat,
    notes: Notes,
    cause: Cause,
}

#[derive(Debug)]
pub enum Cause {
    /// Too many or too few equations.
    Unbalanced,
    /// Equations contradict each other or say the same twice, or unknowns move freely.
    Cancels(Findings),
    /// The index cannot be reduced.
    Stuck(Stuck),
    Restarts(WrongRestarts),
    /// No unknown is left for some equation.
    Unsorted,
    Unsolved(Vec<Fault>),
    /// Start values contradict each other.
    Starts,
}

impl Refused {
    pub(super) fn new(flat: Flat, notes: Notes, cause: Cause) -> Refused {
        Refused(Box::new(Reasons { flat, notes, cause }))
    }

    /// The model as it was in the stage that refused it.
    pub fn into_flat(self) -> Flat {
        self.0.flat
    }

    /// Whether no mode of switches can cure it.
    pub fn holds_in_all_modes(&self) -> bool {
        match &self.0.cause {
            Cause::Unbalanced => true,
            Cause::Unsorted => balanced(&self.0.flat).is_err(),
            Cause::Unsolved(faults) => {
                (faults.iter()).any(|fault| matches!(fault, Fault::BooleanLoop(..)))
            }
            _ => false,
        }
    }

    /// The reasons, in words.
    pub fn tell(self, said: &mut Diagnostics) {
        let Reasons { flat, notes, cause } = *self.0;
        floating(&flat, &notes.references, said);
        match cause {
            Cause::Unbalanced => report_unbalanced(&flat, said),
            Cause::Cancels(findings) => report_cancelling(&flat, &findings, said),
            Cause::Stuck(stuck) => index::report(&flat, &stuck, said),
            Cause::Restarts(wrong) => wrong.report(&flat, said),
            Cause::Unsorted => report_unsorted(&flat, said),
            Cause::Unsolved(faults) => {
                Unsolved { flat, faults }.report(said);
            }
            Cause::Starts => {
                start::report(&flat, &notes.starts, said);
            }
        }
    }
}
