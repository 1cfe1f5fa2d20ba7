//! Events that follow each other without end.

use std::collections::VecDeque;

use super::{Change, Events, Unsettled, What};
use crate::flat::Leaf;
use crate::passes::blocks::Solved;
use crate::program::Program;
use crate::program::machine::Machine;
use crate::simulate::halt;

/// So many events without end in no time are too many.
const CROWD: usize = 100;
/// Of the time of the whole run.
const NO_TIME: f64 = 1e-5;
/// Or so many, each sooner than the last, with this left between the last two: a ball that comes to rest.
const SOONER: usize = 20;
const SHRINKS: f64 = 0.98;
const NEARLY_NO_TIME: f64 = 1e-6;

impl Events {
    /// Counts an event that was not known in advance; too many in no time are an error.
    pub fn count(
        &mut self,
        solved: &Solved,
        machine: &Machine<'_>,
        time: f64,
        crossed: &[usize],
    ) -> Result<(), Unsettled> {
        for &at in crossed {
            let was = machine.get(machine.program.watches[at].held) != 0.0;
            let recent = &mut self.recent[at][usize::from(was)];
            recent.push_back(time);
            if recent.len() > CROWD + 1 {
                recent.pop_front();
            }
            let unlike = 1e3 * f64::EPSILON * time.abs();
            let crowd =
                recent.len() > CROWD && time - recent[0] < (NO_TIME * self.span).max(unlike);
            if crowd || comes_to_rest(recent, self.span) {
                let last = Last::Change(Change::Watch(at, 0.0));
                return Err(restless(solved, machine.program, Some(last), time, true));
            }
        }
        Ok(())
    }
}

/// Whether the last events came ever sooner: endlessly many in a finite time.
fn comes_to_rest(recent: &VecDeque<f64>, span: f64) -> bool {
    let count = recent.len();
    if count < SOONER + 2 {
        return false;
    }
    let between = |at: usize| recent[at] - recent[at - 1];
    between(count - 1) < NEARLY_NO_TIME * span
        && (count - SOONER..count).all(|at| between(at) < SHRINKS * between(at - 1))
}

/// What an event that is not settled has done last.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulate) enum Last {
    Change(Change),
    Restart(Leaf),
}

pub(in crate::simulate) fn restless(
    solved: &Solved,
    program: &Program,
    last: Option<Last>,
    time: f64,
    crowd: bool,
) -> Unsettled {
    let what = match last {
        Some(Last::Change(Change::Watch(at, _))) => What::Relation(program.watches[at].node),
        Some(Last::Change(Change::Discrete(at, _))) => What::Discrete(program.discretes[at].leaf),
        Some(Last::Restart(state)) => What::Restart(state),
        None => What::Events,
    };
    let diagnostic = halt::restless(&solved.flat, what, time, crowd);
    Unsettled::Restless(Box::new(diagnostic))
}
