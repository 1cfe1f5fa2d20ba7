//! Events that follow each other without end.

use std::collections::VecDeque;

use super::{Change, Events, Unsettled, What};
use crate::program::machine::Machine;

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
                return Err(restless(machine, Some(Change::Watch(at, 0.0)), time, true));
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

pub(in crate::simulate) fn restless(
    machine: &Machine<'_>,
    last: Option<Change>,
    time: f64,
    crowd: bool,
) -> Unsettled {
    let program = machine.program;
    let what = match last {
        Some(Change::Watch(at, _)) => What::Relation(program.watches[at].node),
        Some(Change::Discrete(at, _)) => What::Discrete(program.discretes[at].leaf),
        // Conditions of `when`s that restart states over and over are made of relations.
        None => match program.watches.first() {
            Some(watch) => What::Relation(watch.node),
            None => What::Discrete(program.discretes[0].leaf),
        },
    };
    Unsettled::Restless { what, time, crowd }
}
