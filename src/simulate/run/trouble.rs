//! What to say where the integrator cannot go on.

use super::{Extent, Failure, Halt, Machine, Program, Run, Trouble, rescue};
use crate::evaluate::Reason;

impl Run<'_, '_, '_, '_> {
    /// What the integrator says, with what the model says of it.
    pub(super) fn trouble(&self, trouble: Trouble) -> Halt {
        let (time, state) = match trouble {
            Trouble::StepTooSmall { time, state } | Trouble::NotFinite { time, state } => {
                (time, state)
            }
            Trouble::Other(message) => {
                return Halt::integrator(message, self.summary.time);
            }
        };
        let mut machine = self.seat.rates.machine.borrow_mut();
        if self.seat.rates.stuck.get().is_some() || matches!(trouble, Trouble::NotFinite { .. }) {
            // Where the last attempt was; from the last good states if its own are no numbers.
            let at = machine.get(Program::TIME);
            let mut attempt = self.good.clone();
            machine.states(&mut attempt);
            if attempt.iter().any(|state| !state.is_finite()) {
                let _ = machine.evaluate(at, &self.good, Extent::Rates);
            }
            if let Err(failure) = rescue(self.seat.solved, &mut machine, at) {
                return Halt::Evaluation(Box::new(failure));
            }
        }
        if let Some(failure) = self.ahead(&mut machine, time) {
            return Halt::Evaluation(Box::new(failure));
        }
        drop(machine);
        let state = state.map(|state| self.name(state));
        Halt::step(self.seat.solved, time, state)
    }

    /// What has no value just ahead of the last good states: the root of what is about to turn negative.
    fn ahead(&self, machine: &mut Machine<'_>, time: f64) -> Option<Failure> {
        const PARTS: [f64; 3] = [1e-9, 1e-6, 1e-3];
        let mut rates = self.good.clone();
        machine.evaluate(time, &self.good, Extent::Rates).ok()?;
        machine.rates(&mut rates);
        let span = self.plan.until() - self.plan.start();
        PARTS.into_iter().find_map(|part| {
            let moved: Vec<f64> = (self.good.iter().zip(&rates))
                .map(|(state, rate)| state + part * span * rate)
                .collect();
            if moved.iter().any(|state| !state.is_finite()) {
                return None;
            }
            machine.load(time, &moved);
            let failure = rescue(self.seat.solved, machine, time).err()?;
            (failure.reason == Reason::NotFinite).then_some(failure)
        })
    }
}
