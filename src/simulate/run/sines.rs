//! Sines of Time limit the steps: a step over whole periods would not see them. They stop to do so where they change nothing.

use super::Run;
use crate::program::machine::Extent;
use crate::simulate::defaults::{fastest_sine, has_sines};
use crate::simulate::integrate::Integrator;

/// How sines of Time limit the steps.
#[derive(Default)]
pub(super) struct SineLimit {
    /// The limit while they act.
    pub(super) acting: Option<f64>,
    /// The present limit holds until then.
    pub(super) until: f64,
}

impl Run<'_, '_, '_, '_> {
    /// The longest step while a sine of Time acts, a part of the period of the fastest: while the states rest, the integrator
    /// would step over whole periods. Steps of half a period would always meet the zeros of the sine, and no other simple part
    /// would do for its square and its cube: so it is the golden section.
    pub(super) fn longest_beside_sines(&self) -> Option<f64> {
        let watched = self.mode.program.watches.iter().any(|watch| !watch.timed);
        let shortest = if watched { 1e-6 } else { 1e-4 };
        let span = self.plan.until() - self.plan.start();
        if !has_sines(self.mode.program) {
            return None;
        }
        let mut machine = self.mode.rates.machine.borrow_mut();
        (machine.evaluate_event(self.summary.time, &self.states)).ok()?;
        let speed = fastest_sine(&mut machine)?;
        const PART: f64 = 0.381_966_011_250_105;
        Some((PART * std::f64::consts::TAU / speed).max(shortest * span))
    }

    /// Whether sines change the states by less than their tolerances in any step that ends so far ahead at the latest.
    fn sines_are_small(&self, time: f64, ahead: f64) -> bool {
        let mode = self.mode;
        let mut machine = mode.rates.machine.borrow_mut();
        if self.states.is_empty()
            || (machine.evaluate(time, &self.states, Extent::Watches)).is_err()
        {
            return false;
        }
        let Some(swing) = machine.swing(time + ahead) else {
            return false;
        };
        let absolute = (self.plan.absolute).of(&mode.solved.flat, mode.program);
        let mut small = swing.iter().zip(&absolute).zip(&self.states);
        small.all(|((swing, absolute), state)| {
            swing * ahead <= absolute + self.plan.relative * state.abs()
        })
    }

    /// Limits the steps by the fastest sine, as long as this sine can change the states at all. A limit holds for a stretch of
    /// twice its length, which was examined as a whole.
    pub(super) fn limit_by_sines(&mut self, integrator: &mut dyn Integrator) {
        /// So many steps go by before a sine that acts is looked at again.
        const STEPS: f64 = 8.0;
        let time = self.summary.time;
        let Some(acting) = self.sines.acting.filter(|_| time >= self.sines.until) else {
            return;
        };
        let most = self.longest_step();
        let mut longest = acting;
        while longest < most && self.sines_are_small(time, 8.0 * longest) {
            longest *= 4.0;
        }
        self.sines.until = time
            + if longest > acting {
                longest
            } else {
                STEPS * acting
            };
        integrator.limit(longest.min(most));
    }
}
