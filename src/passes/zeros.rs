//! Removes products with a parameter that is zero.
//!
//! Before: a sorted model. Sorting did not count unknowns whose coefficient is a parameter with the
//! value zero (an ideal switch is GSw with RClosed = 0). After: the equations do not contain these
//! products, so that a formula does not read what is computed only after it.

use crate::base::cancel::glance;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::{BinaryOp, ExprId, Node};
use crate::flat::{EqId, Flat, Kind};
use crate::passes::order::{Row, Sorted};
use crate::passes::vanishing::{Vanishing, vanishing};

/// Returns the factors that are zero, each once.
pub fn drop(flat: &mut Flat, sorted: &Sorted) -> Vec<ExprId> {
    let equations: Vec<EqId> = (sorted.vanished.iter())
        .filter_map(|&row| match sorted.rows[row as usize] {
            Row::Equation(id) => Some(id),
            _ => None,
        })
        .collect();
    // Index reduction may have removed some already.
    let mut zeros = match &mut flat.reduction {
        Some(reduction) => std::mem::take(&mut reduction.zeros),
        None => Vec::new(),
    };
    zeros.extend(drop_in(flat, &equations));
    let mut seen = FxHashSet::default();
    zeros.retain(|&zero| seen.insert(zero));
    zeros
}

/// Removes them from some equations, and returns the factors.
pub fn drop_in(flat: &mut Flat, equations: &[EqId]) -> Vec<ExprId> {
    let mut zeros = Vec::new();
    for id in equations {
        let equation = flat.equations[id.index()];
        let left = without(flat, equation.left, &mut zeros);
        let right = without(flat, equation.right, &mut zeros);
        let equation = &mut flat.equations[id.index()];
        (equation.left, equation.right) = (left, right);
    }
    let mut seen = FxHashSet::default();
    zeros.retain(|&zero| seen.insert(zero));
    zeros
}

/// Whether an expression of parameters and numbers is zero.
fn is_zero_as_given(flat: &Flat, id: ExprId) -> bool {
    let mut fixed = true;
    flat.exprs.leaves(id, |leaf| {
        let kind = flat.variable(leaf.variable()).kind;
        fixed &= matches!(kind, Kind::Parameter | Kind::Constant);
    });
    fixed && vanishing(flat, id) == Vanishing::Always
}

/// The expression without products that have such a factor.
fn without(flat: &mut Flat, root: ExprId, zeros: &mut Vec<ExprId>) -> ExprId {
    let mut new: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut stack = vec![root];
    let mut operands = Vec::new();
    while let Some(&id) = stack.last() {
        glance();
        if new.contains_key(&id) {
            stack.pop();
            continue;
        }
        operands.clear();
        let node = flat.exprs.node(id);
        // Only sums and products are visited: sorting counts all unknowns elsewhere.
        if let Node::Binary(BinaryOp::Mul, a, b) = node
            && let Some(&zero) = ([a, b].iter()).find(|&&x| is_zero_as_given(flat, x))
        {
            // A literal zero is not worth reporting.
            if !flat.exprs.is_zero(zero) {
                zeros.push(zero);
            }
            let zero = flat.exprs.number(0.0);
            new.insert(id, zero);
            stack.pop();
            continue;
        }
        match node {
            Node::Unary(_, a) => operands.push(a),
            Node::Binary(op, a, b) => match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => operands.extend([a, b]),
                BinaryOp::Div => operands.push(a),
                _ => {}
            },
            Node::If(_, a, b) => operands.extend([a, b]),
            _ => {}
        }
        let before = stack.len();
        stack.extend(operands.iter().filter(|id| !new.contains_key(id)));
        if stack.len() > before {
            continue;
        }
        let of = |id: ExprId| new.get(&id).copied().unwrap_or(id);
        let exprs = &mut flat.exprs;
        let result = match node {
            _ if operands.iter().all(|&id| of(id) == id) => id,
            Node::Unary(op, a) => exprs.tidy_unary(op, of(a)),
            Node::Binary(op, a, b) => exprs.tidy_binary(op, of(a), of(b)),
            Node::If(condition, a, b) => exprs.tidy_if(condition, of(a), of(b)),
            _ => id,
        };
        new.insert(id, result);
        stack.pop();
    }
    new.get(&root).copied().unwrap_or(root)
}
