//! The search over the truths of the relations in a loop.
//!
//! Before: a loop in which Newton's method has failed, because relations change on its way: a characteristic with corners or
//! steps. After: a solution that agrees with the truths of its relations, or the number of combinations tried. With the truths
//! held the loop is smooth. The truths at the guess come first, then those that differ from them in one relation, in two, and
//! so on; the relation that is first in the model changes first. So the solution found is one with the fewest changes.

use rustc_hash::FxHashSet;

use super::Point;
use super::newton::iterate;
use super::torn_loop::TornLoop;
use super::walk::{Errors, Known, Rounded, Walk};
use crate::base::cancel::glance;
use crate::expr::{BinaryOp, ExprId, Function, Node, Value};
use crate::flat::{Flat, Leaf};
use crate::passes::blocks::Nonlinear;
use crate::structure::subsets::Subsets;

/// Sides of a relation count as equal up to this part of them: either truth agrees then.
const EQUAL: f64 = 1e-12;

/// The relations of a loop, and those of its functions that jump.
pub(super) struct Truths<'s> {
    flat: &'s Flat,
    block: &'s Nonlinear,
    point: &'s Point,
    relations: Vec<ExprId>,
    /// Combinations that were tried.
    pub(super) tried: usize,
}

impl<'s> Truths<'s> {
    pub(super) fn new(flat: &'s Flat, block: &'s Nonlinear, point: &'s Point) -> Self {
        Truths {
            flat,
            block,
            point,
            relations: relations(flat, block),
            tried: 0,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.relations.len()
    }

    /// Their texts, the first ones.
    pub(super) fn texts(&self, most: usize) -> Vec<String> {
        let shown = self.relations.iter().take(most);
        shown
            .map(|&id| format!("`{}`", self.flat.expression(id)))
            .collect()
    }

    /// Values of all unknowns of the loop, from a guess of its iteration variables.
    pub(super) fn search(&mut self, guess: &[f64], most: usize) -> Option<Vec<(Leaf, f64)>> {
        let before = self.at(guess);
        for changed in Subsets::new(self.relations.len()).take(most) {
            glance();
            let alternatives = before
                .iter()
                .enumerate()
                .filter(|(at, _)| changed.contains(at));
            // A sign has two other values.
            let signs = alternatives.filter(|(_, value)| matches!(value, Value::Real(_)));
            for choice in 0..1usize << signs.count().min(4) {
                self.tried += 1;
                let held = changed_values(&before, &changed, choice);
                if let Some(found) = self.with(&held, guess) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// The truths at a guess; where there is none, false or 0.
    fn at(&self, guess: &[f64]) -> Vec<Value> {
        let mut torn_loop = TornLoop::new(self.flat, self.block, self.point);
        let leaves: Vec<Leaf> = torn_loop.leaves().collect();
        let values = torn_loop.run(guess).map(|state| state.values);
        let known = values.unwrap_or_else(|_| guess.to_vec());
        let of = |&id: &ExprId| self.value(id, &leaves, &known).map(|found| found.value);
        let nothing = |&id: &ExprId| match self.flat.exprs.node(id) {
            Node::Call(..) => Value::Real(0.0),
            _ => Value::Bool(false),
        };
        (self.relations.iter())
            .map(|id| of(id).unwrap_or_else(|| nothing(id)))
            .collect()
    }

    fn value(&self, id: ExprId, leaves: &[Leaf], values: &[f64]) -> Option<Rounded> {
        let leaf = |leaf: Leaf| match leaves.iter().position(|&other| other == leaf) {
            Some(at) => Some(Rounded::exact(Value::Real(*values.get(at)?))),
            None => self.point.get(leaf).map(Rounded::exact),
        };
        let known = Known {
            time: self.point.time,
            leaf: &leaf,
        };
        (Walk::default().value(&self.flat.exprs, id, &known, Errors::Bound)).ok()
    }

    /// The solution with these truths, if they agree with it.
    fn with(&self, held: &[Value], guess: &[f64]) -> Option<Vec<(Leaf, f64)>> {
        let fixed: Vec<(ExprId, Value)> = (self.relations.iter().copied())
            .zip(held.iter().copied())
            .collect();
        let mut torn_loop = TornLoop::with_truths(self.flat, self.block, self.point, &fixed);
        let state = iterate(&mut torn_loop, guess.to_vec()).ok()?;
        let leaves: Vec<Leaf> = torn_loop.leaves().collect();
        let agree = (fixed.iter()).all(|&(id, held)| self.agrees(id, held, &leaves, &state.values));
        agree.then(|| leaves.into_iter().zip(state.values).collect())
    }

    /// Whether a relation has this truth at the values; a tie has both.
    fn agrees(&self, id: ExprId, held: Value, leaves: &[Leaf], values: &[f64]) -> bool {
        let number = |id: ExprId| {
            let found = self.value(id, leaves, values)?;
            Some((found.value.real()?, found.error))
        };
        let (left, right) = match self.flat.exprs.node(id) {
            Node::Binary(_, a, b) => (number(a), number(b)),
            Node::Call(_, args) => (number(self.flat.exprs.args(args)[0]), Some((0.0, 0.0))),
            _ => (None, None),
        };
        let (Some((left, left_error)), Some((right, right_error))) = (left, right) else {
            // A side without a value decides nothing.
            return false;
        };
        let zero = EQUAL * left.abs().max(right.abs()) + left_error + right_error;
        if (left - right).abs() <= zero {
            return true;
        }
        self.value(id, leaves, values)
            .is_some_and(|found| found.value == held)
    }
}

/// The values of a combination. `choice` says by its bits which of its two other values each sign takes.
fn changed_values(before: &[Value], changed: &[usize], choice: usize) -> Vec<Value> {
    let mut held = before.to_vec();
    let mut bit = 0;
    for &at in changed {
        held[at] = match before[at] {
            Value::Bool(truth) => Value::Bool(!truth),
            Value::Real(sign) => {
                let others: Vec<f64> = [-1.0, 0.0, 1.0]
                    .into_iter()
                    .filter(|&other| other != sign)
                    .collect();
                let taken = choice >> bit & 1;
                bit = (bit + 1).min(3);
                Value::Real(others[taken])
            }
        };
    }
    held
}

/// Relations and signs of numbers in a loop that move with its unknowns, in the order of the model.
fn relations(flat: &Flat, block: &Nonlinear) -> Vec<ExprId> {
    let inner = block.inner.iter().map(|inner| inner.value);
    let residuals = block.residuals.iter().map(|residual| residual.value);
    let targets = block.inner.iter().map(|inner| inner.target);
    let unknowns: FxHashSet<Leaf> = block.iteration.iter().copied().chain(targets).collect();
    let mut found = Vec::new();
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut work: Vec<ExprId> = inner.chain(residuals).collect();
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        flat.exprs.operands(id, &mut work);
        let jumps = match flat.exprs.node(id) {
            Node::Binary(op, ..) => matches!(
                op,
                BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual
            ),
            Node::Call(function, _) => function == Function::Sign,
            _ => false,
        };
        let mut moves = false;
        if jumps {
            flat.exprs
                .leaves(id, |leaf| moves |= unknowns.contains(&leaf));
        }
        if moves {
            found.push(id);
        }
    }
    found.sort_unstable();
    found
}
