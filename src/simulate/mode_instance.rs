//! A solved model with its program and its machine, ready to be integrated. A model that is solved anew in each mode has one
//! instance for each mode that occurs; any other model has a single one.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::rates::Rates;
use super::selection::Selections;
use crate::compile::CompiledMode;
use crate::flat::Leaf;
use crate::passes::blocks::Solved;
use crate::positions::JumpFactors;
use crate::program::Program;
use crate::program::joined::Joined;
use crate::program::machine::Machine;

#[derive(Debug)]
pub struct ModeInstance<'m> {
    pub solved: &'m Solved,
    pub program: &'m Program,
    pub rates: Rates<'m>,
    /// The same with the loops left to the integrator, once that was necessary.
    pub joined: OnceCell<Rates<'m>>,
    pub selections: Selections<'m>,
    /// Of the jump into this mode.
    pub factors: RefCell<JumpFactors>,
    /// `None` for a model that has one set of formulas for all modes.
    pub compiled: Option<&'m CompiledMode>,
    /// Variables that the source differentiates and that equal a state in this mode, each with the index of that state. Empty
    /// for a model that has one set of formulas for all modes.
    pub tracked: Vec<(Leaf, usize)>,
}

impl<'m> ModeInstance<'m> {
    pub fn new(
        solved: &'m Solved,
        program: &'m Program,
        compiled: Option<&'m CompiledMode>,
    ) -> Self {
        let machine = Machine::new(program);
        ModeInstance {
            solved,
            program,
            selections: Selections::new(solved, &machine),
            rates: Rates::new(machine),
            joined: OnceCell::new(),
            factors: RefCell::default(),
            compiled,
            tracked: Vec::new(),
        }
    }
}

impl ModeInstance<'_> {
    /// Leaves the loops of the rates to the integrator. False if there are none, or if they are left to it already.
    pub fn join(&self) -> bool {
        if self.joined.get().is_some() {
            return false;
        }
        let Some(joined) = Joined::of(self.program) else {
            return false;
        };
        let shared = &self.rates.machine;
        shared.borrow_mut().join(Arc::new(joined));
        match Rates::of_joined(shared) {
            Some(rates) => self.joined.set(rates).is_ok(),
            None => false,
        }
    }

    /// States, and the unknowns of the loops that are left to the integrator, as they are in the registers.
    pub fn with_unknowns(&self, states: &[f64]) -> Vec<f64> {
        let machine = self.rates.machine.borrow();
        states.iter().copied().chain(machine.given()).collect()
    }
}

/// For each of the given variables that equals a state of the program or its negative: the variable and the index of the
/// state.
pub fn tracked_states(
    solved: &Solved,
    program: &Program,
    variables: impl Iterator<Item = Leaf>,
) -> Vec<(Leaf, usize)> {
    let flat = &solved.flat;
    let eliminated = flat.replacements();
    let indices: FxHashMap<Leaf, usize> = program.states.iter().copied().zip(0..).collect();
    let index = |leaf: Leaf| {
        let state = match eliminated.get(&leaf) {
            None => leaf,
            Some(&id) => flat.exprs.signed_leaf(id)?.0,
        };
        indices.get(&state).copied()
    };
    variables
        .filter_map(|leaf| Some((leaf, index(leaf)?)))
        .collect()
}
