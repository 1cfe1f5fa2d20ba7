//! Where a run sits: a solved model with its program and machine. A model with positions has one seat for each
//! position that occurs.

use std::cell::{Cell, OnceCell};

use rustc_hash::FxHashMap;

use super::rates::Rates;
use super::selection::Selections;
use crate::compile::CompiledMode;
use crate::expr::{ExprId, Node};
use crate::flat::Leaf;
use crate::passes::blocks::Solved;
use crate::program::Program;
use crate::program::machine::Machine;

#[derive(Debug)]
pub struct Seat<'m> {
    pub solved: &'m Solved,
    pub program: &'m Program,
    pub rates: Rates<'m>,
    pub selections: Selections<'m>,
    pub position: Option<&'m CompiledMode>,
    /// What the source differentiates and equals a state here, by its place; of positions only.
    pub tracked: Vec<(Leaf, usize)>,
}

impl<'m> Seat<'m> {
    pub fn new(
        solved: &'m Solved,
        program: &'m Program,
        position: Option<&'m CompiledMode>,
    ) -> Self {
        let machine = Machine::new(program);
        Seat {
            solved,
            program,
            selections: Selections::new(solved, &machine),
            rates: Rates::new(machine),
            position,
            tracked: Vec::new(),
        }
    }
}

/// States of a program by the variables that equal them, but for the sign.
pub fn tracked(
    solved: &Solved,
    program: &Program,
    wanted: impl Iterator<Item = Leaf>,
) -> Vec<(Leaf, usize)> {
    let flat = &solved.flat;
    let gone: FxHashMap<Leaf, ExprId> = (flat.eliminated.iter())
        .map(|gone| (gone.leaf, gone.expression))
        .collect();
    let places: FxHashMap<Leaf, usize> = program.states.iter().copied().zip(0..).collect();
    let place = |leaf: Leaf| {
        let mut id = match gone.get(&leaf) {
            None => return places.get(&leaf).copied(),
            Some(&id) => id,
        };
        if let Some(inner) = flat.exprs.negated(id) {
            id = inner;
        }
        match flat.exprs.node(id) {
            Node::Leaf(other) => places.get(&other).copied(),
            _ => None,
        }
    };
    wanted
        .filter_map(|leaf| Some((leaf, place(leaf)?)))
        .collect()
}

/// Things that stay where they are put while more are put there.
#[derive(Debug)]
pub struct Shelf<T> {
    cells: Vec<OnceCell<Box<T>>>,
    used: Cell<usize>,
}

impl<T> Shelf<T> {
    pub fn new(room: usize) -> Self {
        Shelf {
            cells: (0..room).map(|_| OnceCell::new()).collect(),
            used: Cell::new(0),
        }
    }

    /// `None` if the shelf is full.
    pub fn put(&self, thing: T) -> Option<&T> {
        let cell = self.cells.get(self.used.get())?;
        self.used.set(self.used.get() + 1);
        Some(cell.get_or_init(|| Box::new(thing)))
    }
}
