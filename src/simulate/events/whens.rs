//! Execution of `when`s: next values of discrete variables, and restarts of states.

use super::{Change, EventError, Events};
use crate::evaluate::{Failure, Reason};
use crate::expr::show_briefly;
use crate::flat::{EqId, Leaf};
use crate::passes::blocks::Solved;
use crate::program::WhenAction;
use crate::program::machine::Machine;
use crate::simulate::selection::Selections;

impl Events {
    /// Executes the `when`s whose conditions have just become true: adds next values to the changes, and returns the states
    /// that are restarted with their new values.
    pub(in crate::simulate) fn execute_whens(
        &mut self,
        solved: &Solved,
        machine: &Machine<'_>,
        time: f64,
        changes: &mut Vec<Change>,
    ) -> Result<Vec<(Leaf, f64)>, EventError> {
        let program = machine.program;
        let mut restarts: Vec<(Leaf, f64, EqId)> = Vec::new();
        for (when, last) in program.whens.iter().zip(&mut self.conditions) {
            let mut earlier = false;
            for ((condition, actions), last) in when.branches.iter().zip(last) {
                let now = machine.get(*condition) != 0.0;
                let acts = now && !*last && !earlier;
                *last = now;
                earlier |= now;
                if !acts {
                    continue;
                }
                for action in actions {
                    match *action {
                        WhenAction::New {
                            variable,
                            value,
                            equation,
                            ..
                        } => {
                            finite(solved, time, variable, machine.get(value), equation)?;
                            let mut all = program.discretes.iter();
                            let at = all.position(|discrete| discrete.leaf == variable);
                            if let Some(at) = at {
                                let value = machine.get(value);
                                if value != machine.get(program.discretes[at].value) {
                                    changes.push(Change::Discrete(at, value));
                                }
                            }
                        }
                        WhenAction::Restart {
                            state,
                            value,
                            equation,
                        } => {
                            let value = machine.get(value);
                            finite(solved, time, state, value, equation)?;
                            let mut earlier = restarts.iter().filter(|one| one.0 == state);
                            match earlier.next() {
                                Some(one) => {
                                    same(solved, time, *one, (state, value, equation))?;
                                }
                                None => restarts.push((state, value, equation)),
                            }
                        }
                    }
                }
            }
        }
        let restarts = restarts.into_iter();
        Ok(restarts.map(|(state, value, _)| (state, value)).collect())
    }
}

/// Relative difference up to which two restarts agree: it may come from rounding.
const SAME: f64 = 1e-9;

/// An error if two `when`s that act at the same moment restart a state from different values.
fn same(
    solved: &Solved,
    time: f64,
    (state, first, by): (Leaf, f64, EqId),
    (_, second, also_by): (Leaf, f64, EqId),
) -> Result<(), EventError> {
    if (first - second).abs() <= SAME * (first.abs() + second.abs()) {
        return Ok(());
    }
    let flat = &solved.flat;
    let message = format!(
        "two `when`s restart `{}` at Time = {}: from {} and from {}",
        flat.leaf_name(state),
        show_briefly(time),
        show_briefly(first),
        show_briefly(second)
    );
    let mut failure = Failure::new(Reason::Restarts, time, message);
    let cure =
        "give them conditions that are not true together: `when a then ... elsewhen b then ...`";
    failure.notes.push(cure.to_string());
    failure.unknowns.push(state);
    failure.add_equation(flat, by);
    failure.add_equation(flat, also_by);
    Err(EventError::Failure(Box::new(failure)))
}

/// An error if a value that a `when` sets is not finite.
fn finite(
    solved: &Solved,
    time: f64,
    leaf: Leaf,
    value: f64,
    equation: EqId,
) -> Result<(), EventError> {
    if value.is_finite() {
        return Ok(());
    }
    let flat = &solved.flat;
    let message = format!(
        "the value that a `when` gives to `{}` at Time = {} is not a number",
        flat.leaf_name(leaf),
        show_briefly(time)
    );
    let mut failure = Failure::new(Reason::NotFinite, time, message);
    failure.unknowns.push(leaf);
    failure.add_equation(flat, equation);
    Err(EventError::Failure(Box::new(failure)))
}

/// Sets a state to a value. A candidate that is no state at present is made one.
pub(in crate::simulate) fn restart(
    solved: &Solved,
    machine: &mut Machine<'_>,
    selections: &Selections<'_>,
    states: &mut [f64],
    state: Leaf,
    value: f64,
) {
    let program = machine.program;
    if let Some(at) = program.states.iter().position(|&other| other == state) {
        states[at] = value;
        return;
    }
    let chosen = |machine: &Machine<'_>| {
        (program.slots.iter().enumerate()).find_map(|(selection, slots)| {
            let mut choice = machine.choice(selection).iter();
            let at = choice.position(|&candidate| slots.candidates[candidate].leaf == state);
            at.map(|at| slots.first + at)
        })
    };
    if chosen(machine).is_none() {
        selections.make_state(&solved.flat, machine, state);
        machine.states(states);
    }
    if let Some(at) = chosen(machine) {
        states[at] = value;
    }
}
