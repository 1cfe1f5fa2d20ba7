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
pub struct Refused {
    /// As it was in that stage.
    flat: Box<Flat>,
    notes: Notes,
    cause: Box<Cause>,
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
        Refused {
            flat: Box::new(flat),
            notes,
            cause: Box::new(cause),
        }
    }

    /// Whether no mode of switches can cure it.
    pub fn holds_in_all_modes(&self) -> bool {
        match &*self.cause {
            Cause::Unbalanced => true,
            Cause::Unsorted => balanced(&self.flat).is_err(),
            Cause::Unsolved(faults) => {
                (faults.iter()).any(|fault| matches!(fault, Fault::BooleanLoop(..)))
            }
            _ => false,
        }
    }

    /// The reasons, in words.
    pub fn tell(mut self, said: &mut Diagnostics) {
        floating(&self.flat, &self.notes.references, said);
        match *self.cause {
            Cause::Unbalanced => report_unbalanced(&self.flat, said),
            Cause::Cancels(findings) => report_cancelling(&self.flat, &findings, said),
            Cause::Stuck(stuck) => index::report(&self.flat, &stuck, said),
            Cause::Restarts(wrong) => wrong.report(&self.flat, said),
            Cause::Unsorted => report_unsorted(&self.flat, said),
            Cause::Unsolved(faults) => {
                let flat = *self.flat;
                Unsolved { flat, faults }.report(said);
            }
            Cause::Starts => {
                let remarks = std::mem::take(&mut self.notes.starts);
                start::report(&self.flat, &remarks, said);
            }
        }
    }
}
