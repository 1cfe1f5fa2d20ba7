//! In which order pairs give units, and which pairs wait for a unit.

use std::collections::VecDeque;

use super::spread::{Kept, Origin};
use crate::flat::VarId;

/// Pairs that may give a unit. Connections come first: what is connected is one quantity, and a contradiction belongs to the
/// equation that says something else.
#[derive(Debug, Default)]
pub struct Queue {
    connections: VecDeque<u32>,
    others: VecDeque<u32>,
}

impl Queue {
    pub fn push(&mut self, at: u32, kept: &Kept) {
        match kept.pair.handed && matches!(kept.origin, Origin::Equation(_)) {
            true => self.connections.push_back(at),
            false => self.others.push_back(at),
        }
    }

    pub fn pop(&mut self) -> Option<u32> {
        (self.connections.pop_front()).or_else(|| self.others.pop_front())
    }
}

/// The pairs in which each variable is open.
pub struct Watchers {
    firsts: Vec<u32>,
    pairs: Vec<u32>,
}

impl Watchers {
    pub fn new(kept: &[Kept], variables: usize) -> Watchers {
        let mut firsts = vec![0_u32; variables + 1];
        let open = || {
            (kept.iter().enumerate())
                .flat_map(|(at, kept)| kept.pair.open.iter().map(move |&(id, _)| (at as u32, id)))
        };
        for (_, id) in open() {
            firsts[id.index() + 1] += 1;
        }
        for at in 0..variables {
            firsts[at + 1] += firsts[at];
        }
        let mut next = firsts.clone();
        let mut pairs = vec![0; firsts[variables] as usize];
        for (at, id) in open() {
            pairs[next[id.index()] as usize] = at;
            next[id.index()] += 1;
        }
        Watchers { firsts, pairs }
    }

    pub fn of(&self, id: VarId) -> &[u32] {
        &self.pairs[self.firsts[id.index()] as usize..self.firsts[id.index() + 1] as usize]
    }
}
