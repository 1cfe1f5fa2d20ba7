//! Rows: values at communication points and at events.

use super::{Extent, Integrator, RowKind, Run, RunError};
use super::{evaluate, simultaneous, solve_with_evaluator};

impl Run<'_, '_, '_, '_> {
    /// Writes the rows at communication points in the last step, up to a time. At an event the row of that time is written
    /// after the event.
    pub(super) fn rows(
        &mut self,
        integrator: &dyn Integrator,
        end: f64,
        event: bool,
    ) -> Result<(), RunError> {
        let first = self.next_row;
        while let Some(&time) = self.plan.times.get(self.next_row) {
            if time > end || event && simultaneous(time, end) {
                break;
            }
            self.states_at(integrator, time);
            self.row(time, RowKind::Point)?;
            self.next_row += 1;
        }
        if self.next_row > first {
            self.summary.seconds.rows += self.watch.lap();
        }
        Ok(())
    }

    /// Evaluates the columns at the present states and hands them to the observer.
    pub(super) fn row(&mut self, time: f64, kind: RowKind) -> Result<(), RunError> {
        let mode = self.mode;
        let mut machine = mode.rates.machine.borrow_mut();
        evaluate(mode.solved, &mut machine, (time, &self.states), Extent::All)?;
        let mut finite = machine.divisors_hold();
        for (value, &register) in self.values.iter_mut().zip(&mode.program.columns) {
            *value = machine.get(register);
            finite &= value.is_finite();
        }
        if !finite {
            // The failure of the plain evaluator names the expression that has no value.
            solve_with_evaluator(mode.solved, &mut machine, time)
                .map_err(|failure| RunError::Evaluation(Box::new(failure)))?;
        }
        drop(machine);
        (self.observer.row(time, &self.values, kind)).map_err(RunError::Output)
    }
}
