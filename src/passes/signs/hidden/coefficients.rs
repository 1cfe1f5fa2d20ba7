//! Random coefficients of unknowns in a term.
//!
//! The derivative of an operator or function with respect to an operand is a random number modulo a prime, the same
//! wherever that expression occurs; the derivative of a sum is 1 or -1. So in `d*(va - vb)` the coefficients of va and
//! vb are opposite, and all other coefficients are independent.

use crate::base::cancel::glance;
use std::collections::BinaryHeap;

use crate::expr::{BinaryOp, ExprId, Node, UnaryOp};
use crate::flat::{Flat, Leaf};
use crate::structure::NONE;
use crate::structure::numbers::Modular;
use crate::structure::signs::Terms;

#[derive(Default)]
pub struct Coefficients {
    /// Expressions to be visited, the largest id first. Operands have smaller ids than their users, so each is visited
    /// once.
    waiting: BinaryHeap<(u32, i64)>,
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
            if at != NONE {
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
            let mut operand = |place: usize, operand: ExprId| {
                let random = Modular::random(id, place as u32);
                (self.waiting).push((operand.0, Modular::times(factor, random)));
            };
            match flat.exprs.node(ExprId(id)) {
                Node::Number(_) | Node::Bool(_) | Node::Time => {}
                Node::Leaf(leaf) => found(leaf, factor),
                Node::Unary(UnaryOp::Plus, a) => self.waiting.push((a.0, factor)),
                Node::Unary(UnaryOp::Minus, a) => {
                    self.waiting.push((a.0, Modular::minus(factor)));
                }
                Node::Unary(_, a) => operand(0, a),
                Node::Binary(BinaryOp::Add, a, b) => {
                    self.waiting.extend([(a.0, factor), (b.0, factor)]);
                }
                Node::Binary(BinaryOp::Sub, a, b) => {
                    (self.waiting).extend([(a.0, factor), (b.0, Modular::minus(factor))]);
                }
                Node::Binary(_, a, b) => [a, b]
                    .into_iter()
                    .enumerate()
                    .for_each(|(at, part)| operand(at, part)),
                Node::If(a, b, c) => [a, b, c]
                    .into_iter()
                    .enumerate()
                    .for_each(|(at, part)| operand(at, part)),
                Node::Call(_, args) | Node::List(args) => (flat.exprs.args(args).iter())
                    .enumerate()
                    .for_each(|(at, &part)| operand(at, part)),
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
