//! Events that accumulate at a finite time (chattering, Zeno behaviour).

use std::collections::VecDeque;

use super::{Change, EventError, Events, Unresolved};
use crate::flat::Leaf;
use crate::passes::blocks::Solved;
use crate::program::Program;
use crate::program::machine::Machine;
use crate::simulate::run_error;

/// So many events of one relation, in the same direction, within a short time are an error.
const MANY: usize = 100;
/// The short time, relative to the time of the whole run.
const SHORT: f64 = 1e-5;
/// So many intervals, each shorter than the one before by this ratio, and the last one very short relative to the whole run,
/// are an error too: a ball that bounces comes to rest this way.
const SHRINKING: usize = 20;
const RATIO: f64 = 0.98;
const VERY_SHORT: f64 = 1e-6;

impl Events {
    /// Counts a state event; an error if the events accumulate.
    pub fn count(
        &mut self,
        solved: &Solved,
        machine: &Machine<'_>,
        time: f64,
        crossed: &[usize],
    ) -> Result<(), EventError> {
        for &at in crossed {
            let was = machine.get(machine.program.watches[at].held) != 0.0;
            let recent = &mut self.recent[at][usize::from(was)];
            recent.push_back(time);
            if recent.len() > MANY + 1 {
                recent.pop_front();
            }
            let rounding = 1e3 * f64::EPSILON * time.abs();
            let accumulates =
                recent.len() > MANY && time - recent[0] < (SHORT * self.span).max(rounding);
            if accumulates || intervals_shrink(recent, self.span) {
                let last = LastChange::Change(Change::Watch(at, 0.0));
                return Err(no_convergence(
                    solved,
                    machine.program,
                    Some(last),
                    time,
                    true,
                ));
            }
        }
        Ok(())
    }
}

/// Whether the intervals between the last events shrink like those of a series with a finite sum.
fn intervals_shrink(recent: &VecDeque<f64>, span: f64) -> bool {
    let count = recent.len();
    if count < SHRINKING + 2 {
        return false;
    }
    let between = |at: usize| recent[at] - recent[at - 1];
    between(count - 1) < VERY_SHORT * span
        && (count - SHRINKING..count).all(|at| between(at) < RATIO * between(at - 1))
}

/// The last change of an event iteration that does not converge.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulate) enum LastChange {
    Change(Change),
    Restart(Leaf),
}

pub(in crate::simulate) fn no_convergence(
    solved: &Solved,
    program: &Program,
    last: Option<LastChange>,
    time: f64,
    accumulates: bool,
) -> EventError {
    let what = match last {
        Some(LastChange::Change(Change::Watch(at, _))) => {
            Unresolved::Relation(program.watches[at].node)
        }
        Some(LastChange::Change(Change::Discrete(at, _))) => {
            Unresolved::Discrete(program.discretes[at].leaf)
        }
        Some(LastChange::Restart(state)) => Unresolved::Restart(state),
        None => Unresolved::Events,
    };
    let diagnostic = run_error::no_convergence(&solved.flat, what, time, accumulates);
    EventError::NoConvergence(Box::new(diagnostic))
}
