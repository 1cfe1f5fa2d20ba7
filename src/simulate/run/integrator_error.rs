//! Why the integrator cannot go on, in terms of the model.

use super::{
    Extent, Failure, IntegratorError, Machine, Program, Run, RunError, solve_with_evaluator,
};
use crate::evaluate::Reason;

impl Run<'_, '_, '_, '_> {
    /// The error of the integrator, or the failure of the model that caused it.
    pub(super) fn integrator_error(&self, error: IntegratorError) -> RunError {
        let (time, state) = match error {
            IntegratorError::StepTooSmall { time, state }
            | IntegratorError::NotFinite { time, state } => (time, state),
            IntegratorError::Other(message) => {
                return RunError::integrator(message, self.summary.time);
            }
        };
        let mut machine = self.mode.rates.machine.borrow_mut();
        if self.mode.rates.stuck.get().is_some()
            || matches!(error, IntegratorError::NotFinite { .. })
        {
            // The failure is looked for at the states of the last attempt; if these are not finite, at the last good states.
            let at = machine.get(Program::TIME);
            let mut attempt = self.last_good.clone();
            machine.states(&mut attempt);
            if attempt.iter().any(|state| !state.is_finite()) {
                let _ = machine.evaluate(at, &self.last_good, Extent::Rates);
            }
            if let Err(failure) = solve_with_evaluator(self.mode.solved, &mut machine, at) {
                return RunError::Evaluation(Box::new(failure));
            }
        }
        if let Some(failure) = self.failure_ahead(&mut machine, time) {
            return RunError::Evaluation(Box::new(failure));
        }
        drop(machine);
        let state = state.map(|state| self.state_variable(state));
        RunError::step_too_small(self.mode.solved, time, state)
    }

    /// The expression that has no value just ahead of the last good states, for example a root whose argument is about to
    /// become negative.
    fn failure_ahead(&self, machine: &mut Machine<'_>, time: f64) -> Option<Failure> {
        const PARTS: [f64; 3] = [1e-9, 1e-6, 1e-3];
        let mut rates = self.last_good.clone();
        machine
            .evaluate(time, &self.last_good, Extent::Rates)
            .ok()?;
        machine.rates(&mut rates);
        let span = self.plan.until() - self.plan.start();
        PARTS.into_iter().find_map(|part| {
            let moved: Vec<f64> = (self.last_good.iter().zip(&rates))
                .map(|(state, rate)| state + part * span * rate)
                .collect();
            if moved.iter().any(|state| !state.is_finite()) {
                return None;
            }
            machine.load(time, &moved);
            let failure = solve_with_evaluator(self.mode.solved, machine, time).err()?;
            (failure.reason == Reason::NotFinite).then_some(failure)
        })
    }
}
