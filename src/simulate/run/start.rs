//! The start of a run: consistent values, and the steady state if the plan asks for it.

use super::{Extent, Run, RunError, begin, evaluate};
use crate::expr::show_briefly;
use crate::simulate::events::no_convergence;
use crate::simulate::steady::steady;

impl Run<'_, '_, '_, '_> {
    /// Computes consistent values, decides relations, and moves the states to the steady state if the plan asks for it.
    pub(super) fn begin(&mut self, time: f64) -> Result<(), RunError> {
        if self.modes.has_modes() {
            self.begin_in_mode(time)?;
        } else {
            let mode = self.mode;
            let failed = |failure| RunError::Evaluation(Box::new(failure));
            let mut machine = mode.rates.machine.borrow_mut();
            self.states =
                begin(mode.solved, mode.program, &mut machine, (time, false)).map_err(failed)?;
            (self.events).begin(mode.solved, &mut machine, (time, &self.states))?;
        }
        self.iterate_event(time, &[])?;
        self.follow_start_equations(time)?;
        self.iteration.starting = false;
        self.events.at_instant = false;
        if self.plan.steady {
            self.find_steady_state(time)?;
        }
        self.note_undetermined(time);
        self.evaluate_relations(time)?;
        (self.events).update_scales(&self.mode.rates.machine.borrow());
        self.hold_ties();
        let distances = self.distances();
        self.history.begin(distances);
        Ok(())
    }

    /// Writes a note if the equations of a loop hold for other values of its unknowns as well, but for rounding.
    fn note_undetermined(&mut self, time: f64) {
        const SHOWN: usize = 4;
        let program = self.mode.program;
        let mut machine = self.mode.rates.machine.borrow_mut();
        if program.event.loops.is_empty() || machine.evaluate_event(time, &self.states).is_err() {
            return;
        }
        let found = machine.undetermined(self.plan.relative, self.plan.absolute.all);
        let flat = &self.mode.solved.flat;
        let mut names: Vec<String> = (found.iter())
            .filter_map(|&(register, _)| {
                let mut fixed = program.fixed.iter();
                let (leaf, _) = fixed.find(|(_, other)| *other == register)?;
                Some(format!("`{}`", flat.leaf_name(*leaf)))
            })
            .collect();
        if names.is_empty() {
            return;
        }
        let more = names.len().saturating_sub(SHOWN);
        names.truncate(SHOWN);
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        self.summary.notes.push(format!(
            "the equations do not determine {}{more}: at Time = {} other values satisfy them as well, but for rounding; \
             the one is taken that is reached from the guess, and kept while it satisfies them",
            names.join(", "),
            show_briefly(time)
        ));
    }

    /// Start equations hold with what the event iteration has made of discrete variables, too. (A mode does this by itself:
    /// it is entered anew where they change.)
    fn follow_start_equations(&mut self, time: f64) -> Result<(), RunError> {
        const MOST: usize = 100;
        const SAME: f64 = 1e-9;
        let mode = self.mode;
        if self.modes.has_modes() || mode.solved.start.is_none() || !mode.program.has_events() {
            return Ok(());
        }
        let failed = |failure| RunError::Evaluation(Box::new(failure));
        for _ in 0..MOST {
            let states = {
                let mut machine = mode.rates.machine.borrow_mut();
                begin(mode.solved, mode.program, &mut machine, (time, true)).map_err(failed)?
            };
            let same = (states.iter().zip(&self.states))
                .all(|(now, before)| (now - before).abs() <= SAME * now.abs().max(before.abs()));
            if same {
                return Ok(());
            }
            self.states = states;
            self.iterate_event(time, &[])?;
        }
        Err(no_convergence(mode.solved, mode.program, None, time, false).into())
    }

    /// Moves the states to values at which all rates vanish.
    fn find_steady_state(&mut self, time: f64) -> Result<(), RunError> {
        /// Changes of the mode on the way.
        const MOST: usize = 100;
        for _ in 0..MOST {
            match self.find_steady_state_in_mode(time) {
                Err(RunError::ModeChanged) => {}
                done => return done,
            }
        }
        self.find_steady_state_in_mode(time)
    }

    fn find_steady_state_in_mode(&mut self, time: f64) -> Result<(), RunError> {
        let mode = self.mode;
        let mut states = self.states.clone();
        let found = steady(&mode.rates, time, &mut states, &mut |states| {
            self.states.copy_from_slice(states);
            let mut changed = self.iterate_event(time, &[])?;
            if !std::ptr::eq(self.mode, mode) {
                return Err(RunError::ModeChanged);
            }
            if !mode.selections.is_empty() {
                let mut machine = mode.rates.machine.borrow_mut();
                evaluate(
                    mode.solved,
                    &mut machine,
                    (time, &self.states),
                    Extent::Rates,
                )?;
                changed |= mode.selections.improve(&mode.solved.flat, &mut machine);
                machine.states(&mut self.states);
            }
            states.copy_from_slice(&self.states);
            Ok(changed)
        })?;
        found.map_err(|not_steady| {
            let state = self.state_variable(not_steady.state);
            RunError::not_steady(self.mode.solved, state, not_steady.rate, time)
        })?;
        self.states = states;
        Ok(())
    }
}
