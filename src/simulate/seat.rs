//! Where a run sits: a solved model with its program and machine. A model with positions has one seat for each
//! position that occurs.

use std::cell::{Cell, OnceCell};

use rustc_hash::FxHashMap;

use super::rates::Rates;
use super::selection::Selections;
use crate::compile::CompiledMode;
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
    let gone = flat.replacements();
    let places: FxHashMap<Leaf, usize> = program.states.iter().copied().zip(0..).collect();
    let place = |leaf: Leaf| {
        let state = match gone.get(&leaf) {
            None => leaf,
            Some(&id) => flat.exprs.signed_leaf(id)?.0,
        };
        places.get(&state).copied()
    };
    wanted
        .filter_map(|leaf| Some((leaf, place(leaf)?)))
        .collect()
}

/// Things that stay where they are put while more are put there. Room is made page by page.
#[derive(Debug)]
pub struct Shelf<T> {
    pages: Vec<OnceCell<Page<T>>>,
    used: Cell<usize>,
    room: usize,
}

type Page<T> = Box<[OnceCell<T>]>;

const PAGE: usize = 64;

impl<T> Shelf<T> {
    pub fn new(room: usize) -> Self {
        Shelf {
            pages: (0..room.div_ceil(PAGE)).map(|_| OnceCell::new()).collect(),
            used: Cell::new(0),
            room,
        }
    }

    /// `None` if the shelf is full.
    pub fn put(&self, thing: T) -> Option<&T> {
        let at = self.used.get();
        if at >= self.room {
            return None;
        }
        self.used.set(at + 1);
        let page =
            self.pages[at / PAGE].get_or_init(|| (0..PAGE).map(|_| OnceCell::new()).collect());
        Some(page[at % PAGE].get_or_init(|| thing))
    }
}
