//! Why a model could not be lowered, as data. Diagnostics are made on request: a run tries many modes, and reports one.

use super::lower::Notes;
use crate::base::diagnostics::Diagnostics;
use crate::flat::Flat;
use crate::passes::blocks::{Fault, Unsolved};
use crate::passes::index::{self, Stuck};
use crate::passes::order::{balanced, report_unbalanced, report_unsorted};
use crate::passes::signs::reference::{Findings, floating, report_cancelling};
use crate::start::{self, WrongRestarts};

/// A model that a stage has refused.
#[derive(Debug)]
pub struct Refused(Box<Reasons>);

#[derive(Debug)]
struct Reasons {
    /// The model as that stage received it, or as far as that stage has changed it.
    flat: Flat,
    notes: Notes,
    cause: Cause,
}

#[derive(Debug)]
pub enum Cause {
    /// Too many or too few equations.
    Unbalanced,
    /// Equations contradict each other or are redundant, or unknowns are not determined.
    Cancels(Findings),
    /// The index cannot be reduced.
    Stuck(Stuck),
    Restarts(WrongRestarts),
    /// An equation has no unknown left that it could be solved for.
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

    /// Reports the reason.
    pub fn report(self, diagnostics: &mut Diagnostics) {
        let Reasons { flat, notes, cause } = *self.0;
        floating(&flat, &notes.references, diagnostics);
        match cause {
            Cause::Unbalanced => report_unbalanced(&flat, diagnostics),
            Cause::Cancels(findings) => report_cancelling(&flat, &findings, diagnostics),
            Cause::Stuck(stuck) => index::report(&flat, &stuck, diagnostics),
            Cause::Restarts(wrong) => wrong.report(&flat, diagnostics),
            Cause::Unsorted => report_unsorted(&flat, diagnostics),
            Cause::Unsolved(faults) => {
                Unsolved { flat, faults }.report(diagnostics);
            }
            Cause::Starts => {
                start::report(&flat, &notes.starts, diagnostics);
            }
        }
    }
}
