//! Coefficients of unknowns in a term: its derivatives at a random point, modulo the prime.
//!
//! So `d*(va - vb)` has opposite coefficients for va and vb, and coefficients that are the same expression are the same
//! wherever they stand ([`super::residues`]). Everything else is independent.

use crate::base::cancel::glance;
use std::collections::BinaryHeap;

use super::residues::Residues;
use crate::expr::{ExprId, Node};
use crate::flat::{Flat, Leaf};
use crate::structure::NONE;
use crate::structure::numbers::Modular;
use crate::structure::signs::Terms;

#[derive(Default)]
pub struct Coefficients {
    /// Expressions to be visited, the largest id first. Operands have smaller ids than their users, so each is visited
    /// once.
    waiting: BinaryHeap<(u32, i64)>,
    residues: Residues,
}

impl Coefficients {
    /// Adds the coefficients of the columns in `sign*term`; a column may come several times.
    pub fn add(
        &mut self,
        flat: &Flat,
        term: ExprId,
        sign: i64,
        column: impl Fn(Leaf) -> u32,
        entries: &mut Terms,
    ) {
        let mut found = |leaf: Leaf, factor: i64| {
            let at = column(leaf);
            if at != NONE && factor != 0 {
                entries.push((at, factor));
            }
        };
        // Most terms are variables.
        if let Node::Leaf(leaf) = flat.exprs.node(term) {
            return found(leaf, Modular::of(sign));
        }
        self.waiting.push((term.0, Modular::of(sign)));
        while let Some((id, mut factor)) = self.waiting.pop() {
            glance();
            while let Some(&(same, more)) = self.waiting.peek()
                && same == id
            {
                factor = Modular::plus(factor, more);
                self.waiting.pop();
            }
            match flat.exprs.node(ExprId(id)) {
                Node::Leaf(leaf) => found(leaf, factor),
                _ => {
                    let waiting = &mut self.waiting;
                    (self.residues).partials(flat, ExprId(id), |operand, by| {
                        waiting.push((operand.0, Modular::times(factor, by)));
                    });
                }
            }
        }
    }
}

/// Sorts the row and merges its entries, so that each column occurs once; entries that cancel are left out.
pub fn merged(row: &mut [(u32, i64)]) -> impl Iterator<Item = (u32, i64)> {
    row.sort_unstable_by_key(|&(column, _)| column);
    (row.chunk_by(|a, b| a.0 == b.0))
        .map(|of| {
            let sum = |sum, &(_, value): &(u32, i64)| Modular::plus(sum, value);
            (of[0].0, of.iter().fold(0, sum))
        })
        .filter(|&(_, value)| value != 0)
}
