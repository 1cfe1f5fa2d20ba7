//! How a run enters a mode: at its start, and at events.
//!
//! Before: the key of the mode, and the values before the event (or the start values). After: the run is in the mode, with
//! states that satisfy the constraints of the mode, or the reason why there are no such states.

use super::{ModeInstance, Run, RunError, begin};
use crate::expr::Node;
use crate::flat::Leaf;
use crate::positions::{Refused, Values};
use crate::program::Program;
use crate::simulate::events::{Events, decide_all};

use super::SHARED_SCALE;
use super::iterate::{snapshot, snapshot_registers};

impl<'m> Run<'_, 'm, '_, '_> {
    /// Enters a mode from the values before the event. The inner error is one that may not occur in another mode.
    pub(super) fn enter_mode(
        &mut self,
        key: &[bool],
        time: f64,
    ) -> Result<Result<(), RunError>, RunError> {
        let starting = self.iteration.starting;
        let Some(to) = self.modes.find_or_compile(key, starting, self.plan) else {
            return Ok(Err(self.impossible_mode(key, time)));
        };
        self.iteration.jump = None;
        self.iteration.impulses.clear();
        let mode = self.modes.get(to);
        let from = self.mode;
        self.transfer(from, mode);
        let compiled = mode.compiled;
        let mut after = None;
        if self.iteration.starting {
            let failed = |failure| RunError::Evaluation(Box::new(failure));
            let states = {
                let mut machine = mode.rates.machine.borrow_mut();
                let known = self.iteration.begun;
                begin(mode.solved, mode.program, &mut machine, (time, known))
            };
            match states {
                Ok(states) => self.set_mode(to, states),
                Err(failure) => return Ok(Err(failed(failure))),
            }
            if compiled.is_none_or(|compiled| compiled.contradiction.is_none()) {
                return Ok(self.evaluate_event(time).map_err(RunError::from));
            }
            // The start values contradict each other in this mode: they count as values before a jump into it.
            if let Err(why) = self.evaluate_event(time) {
                return Ok(Err(why.into()));
            }
            self.iteration.before = self.given_start_values();
        }
        if let Some(jump) = compiled.and_then(|compiled| compiled.jump.as_ref()) {
            match self.find_jump(mode, jump, time) {
                Ok(values) => after = values,
                Err(why) => {
                    let at_start = compiled.and_then(|compiled| compiled.contradiction.as_ref());
                    let failed = match (&why, at_start) {
                        // No impulse moves a position: these start values just contradict each other.
                        (Refused::Apart(..), Some(said)) if starting => {
                            RunError::Diagnostic(said.clone())
                        }
                        _ => self.no_jump(mode, key, time, &why),
                    };
                    return Ok(Err(failed));
                }
            }
        }
        let states = self.states_after(mode, after.as_ref());
        self.set_mode(to, states);
        if let Err(why) = self.evaluate_event(time) {
            return Ok(Err(why.into()));
        }
        if let (Some(jump), Some(pending)) = (
            compiled.and_then(|compiled| compiled.jump.as_ref()),
            &self.iteration.jump,
        ) && let Err(why) =
            pending.check_coefficients(&mode.solved.flat, jump, time, &self.current_values())
        {
            return Ok(Err(self.no_jump(mode, key, time, &why)));
        }
        Ok(Ok(()))
    }

    /// The states with which a mode goes on: what jumps has its value after the jump, all else that before the event.
    pub(super) fn states_after(&self, mode: &ModeInstance<'m>, after: Option<&Values>) -> Vec<f64> {
        let mut states = vec![0.0; mode.program.state_count()];
        let mut machine = mode.rates.machine.borrow_mut();
        let before = &self.iteration.before;
        for &(leaf, register) in &mode.program.fixed {
            let value = after.and_then(|after| after.get(&leaf));
            if let (Leaf::Var(_) | Leaf::Der(..), Some(&value)) =
                (leaf, value.or(before.get(&leaf)))
                && !is_discrete(mode.program, leaf)
            {
                machine.set(register, value);
            }
        }
        if !mode.selections.is_empty() {
            mode.selections.improve(&mode.solved.flat, &mut machine);
        }
        machine.states(&mut states);
        states
    }

    /// No jump of the states leads into `mode`.
    pub(super) fn no_jump(
        &self,
        mode: &ModeInstance<'m>,
        key: &[bool],
        time: f64,
        why: &Refused,
    ) -> RunError {
        let positions = self.modes.positions;
        let name = positions.map_or(String::new(), |positions| positions.position_name(key));
        RunError::no_jump(&mode.solved.flat, &name, time, why)
    }

    fn set_mode(&mut self, to: usize, states: Vec<f64>) {
        self.mode = self.modes.get(to);
        self.mode_index = to;
        self.states = states;
        self.last_good.clone_from(&self.states);
        let common = (self.modes.positions).map_or(0, |positions| positions.opened.watches.len());
        self.events.set_program(self.mode.program, common);
    }

    /// Copies truths, discrete variables and values before the event from one machine to another.
    fn transfer(&self, from: &ModeInstance<'m>, to: &ModeInstance<'m>) {
        if from.compiled.is_none() || std::ptr::eq(from, to) {
            return;
        }
        let old = from.rates.machine.borrow();
        let mut new = to.rates.machine.borrow_mut();
        let values = snapshot(&old);
        for (&register, &value) in snapshot_registers(&new).iter().zip(&values) {
            new.set(register, value);
        }
        for &(leaf, register) in &to.program.fixed {
            if let Leaf::Pre(id) = leaf
                && let Some(&value) = self.iteration.before.get(&Leaf::Var(id))
            {
                new.set(register, value);
            }
        }
    }

    fn impossible_mode(&self, key: &[bool], time: f64) -> RunError {
        RunError::ImpossibleMode {
            key: key.into(),
            now: self.mode.compiled.map(|compiled| compiled.key.clone()),
            time,
        }
    }

    /// Finds a mode to begin in: the one that the start values give, if that is possible.
    pub(super) fn begin_in_mode(&mut self, time: f64) -> Result<(), RunError> {
        let Some(positions) = self.modes.positions else {
            return Ok(());
        };
        self.iteration.starting = true;
        let mut refused = None;
        for key in positions.candidates() {
            match self.enter_mode(&key, time)? {
                Ok(()) => {
                    refused = None;
                    break;
                }
                Err(why) => refused = refused.or(Some(why)),
            }
        }
        if let Some(why) = refused {
            return Err(why);
        }
        self.iteration.begun = true;
        self.events = Events::new(self.mode.program, self.plan.until() - self.plan.start());
        if self.modes.has_switches() {
            self.events.shared = SHARED_SCALE;
        }
        self.events.at_instant = true;
        // The sides of a relation may depend on truths of other relations. A few passes are enough for most models; the
        // event iteration that follows does the rest.
        for _ in 0..3 {
            self.evaluate_event(time)?;
            (self.events).update_largest(&self.mode.rates.machine.borrow());
            decide_all(&mut self.mode.rates.machine.borrow_mut());
            if self.evaluate_in_mode(time)?.is_err() && !self.enter_with_switches(time, &[])? {
                self.set_switches_as_in_mode(time)?;
            }
        }
        self.evaluate_event(time)?;
        (self.events).store_conditions(&self.mode.rates.machine.borrow());
        Ok(())
    }

    /// Gives the conditions of switches that are discrete variables the values that the present mode stands for.
    fn set_switches_as_in_mode(&mut self, time: f64) -> Result<(), RunError> {
        let (Some(positions), Some(compiled)) = (self.modes.positions, self.mode.compiled) else {
            return Ok(());
        };
        {
            let mut machine = self.mode.rates.machine.borrow_mut();
            for (switch, &truth) in positions.switches.iter().zip(&compiled.key) {
                let Node::Leaf(leaf) = positions.flat.exprs.node(switch.condition) else {
                    continue;
                };
                let mut discretes = self.mode.program.discretes.iter();
                if let Some(found) = discretes.find(|discrete| discrete.leaf == leaf) {
                    machine.set(found.value, f64::from(u8::from(truth)));
                }
            }
        }
        // An externally controlled switch keeps its position, so the mode may still be impossible.
        self.evaluate_in_mode(time)?
    }
}

fn is_discrete(program: &Program, leaf: Leaf) -> bool {
    program
        .discretes
        .iter()
        .any(|discrete| discrete.leaf == leaf)
}
