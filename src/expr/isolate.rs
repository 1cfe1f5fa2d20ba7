//! Isolation: solves an equation for one unknown in it.
//!
//! Before: an equation and a leaf in it. After: the value of the leaf, with the divisors that must
//! not vanish, or `None`. If the unknown occurs once, the operators around it are inverted from the
//! outside inwards. A function is inverted only if its inverse has one value, and gives no number
//! where the equation has no solution (`exp` by `ln`; not `sqrt` by a square, which would find a
//! solution of `sqrt(x) = -1`). If the unknown occurs several times, the equation has to be linear
//! in it.

use super::linear::difference;
use super::simplify::Term;
use super::{Arena, BinaryOp, ExprId, Function, Leaf, Node, UnaryOp};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Isolated {
    pub value: ExprId,
    /// Expressions that must not vanish.
    pub divisors: Vec<ExprId>,
    /// The equation is linear in the unknown: no function was inverted.
    pub linear: bool,
}

pub fn isolate<L: Leaf>(
    arena: &mut Arena<L>,
    left: ExprId,
    right: ExprId,
    unknown: L,
) -> Option<Isolated> {
    let (on_left, count_left) = arena.path(left, unknown);
    let (on_right, count_right) = arena.path(right, unknown);
    let undone = match (count_left, count_right) {
        (1, 0) => undo(arena, &on_left, right),
        (0, 1) => undo(arena, &on_right, left),
        _ => None,
    };
    undone.or_else(|| by_coefficient(arena, left, right, unknown))
}

fn by_coefficient<L: Leaf>(
    arena: &mut Arena<L>,
    left: ExprId,
    right: ExprId,
    unknown: L,
) -> Option<Isolated> {
    let mut form = difference(arena, left, right, &|leaf| (leaf == unknown).then_some(0))?;
    let mut coefficient = form.coefficient(0)?;
    let on_other_side: Vec<Term> = match arena.negated(coefficient) {
        // -k*x + rest = 0
        Some(positive) => {
            coefficient = positive;
            form.rest
        }
        None => {
            form.rest
                .iter_mut()
                .for_each(|(negative, _)| *negative = !*negative);
            form.rest
        }
    };
    let rest = arena.sum(&on_other_side);
    if arena.is_zero(rest) {
        return Some(Isolated {
            value: rest,
            divisors: vec![coefficient],
            linear: true,
        });
    }
    Some(Isolated {
        value: arena.tidy_div(rest, coefficient),
        divisors: vec![coefficient],
        linear: true,
    })
}

/// Inverts the operators on the path to the unknown, one after the other.
fn undo<L: Leaf>(arena: &mut Arena<L>, way: &[ExprId], other: ExprId) -> Option<Isolated> {
    // The other side of the equation, as terms of a sum as long as only sums have been inverted.
    let mut terms: Vec<Term> = Vec::new();
    open_sum(arena, other, &mut terms);
    let mut divisors = Vec::new();
    let mut linear = true;
    for step in way.windows(2) {
        let (id, inside) = (step[0], step[1]);
        match arena.node(id) {
            Node::Unary(UnaryOp::Plus, _) => {}
            Node::Unary(UnaryOp::Minus, _) => negate(&mut terms),
            Node::Binary(BinaryOp::Add, a, b) => {
                let rest = if a == inside { b } else { a };
                move_over(arena, rest, true, &mut terms);
            }
            Node::Binary(BinaryOp::Sub, a, b) if b == inside => {
                // a - x = c
                negate(&mut terms);
                move_over(arena, a, false, &mut terms);
            }
            Node::Binary(BinaryOp::Sub, _, b) => move_over(arena, b, false, &mut terms),
            node => {
                linear &= match node {
                    Node::Binary(BinaryOp::Mul, ..) => true,
                    Node::Binary(BinaryOp::Div, a, _) => a == inside,
                    _ => false,
                };
                let known = arena.sum(&terms);
                let value = undo_one(arena, node, inside, known, &mut divisors)?;
                terms = vec![(false, value)];
            }
        }
    }
    Some(Isolated {
        value: arena.sum(&terms),
        divisors,
        linear,
    })
}

fn negate(terms: &mut [Term]) {
    for (negative, _) in terms {
        *negative = !*negative;
    }
}

/// Adds the terms of a sum, or subtracts them.
fn move_over<L: Leaf>(arena: &Arena<L>, id: ExprId, minus: bool, terms: &mut Vec<Term>) {
    let start = terms.len();
    open_sum(arena, id, terms);
    if minus {
        negate(&mut terms[start..]);
    }
}

/// The terms of a sum, from left to right; zeros are dropped.
pub(crate) fn open_sum<L: Leaf>(arena: &Arena<L>, root: ExprId, terms: &mut Vec<Term>) {
    let mut stack = vec![(false, root)];
    while let Some((negative, id)) = stack.pop() {
        match arena.node(id) {
            _ if arena.is_zero(id) => {}
            Node::Unary(UnaryOp::Minus, a) => stack.push((!negative, a)),
            Node::Unary(UnaryOp::Plus, a) => stack.push((negative, a)),
            Node::Binary(BinaryOp::Add, a, b) => stack.extend([(negative, b), (negative, a)]),
            Node::Binary(BinaryOp::Sub, a, b) => stack.extend([(!negative, b), (negative, a)]),
            _ => terms.push((negative, id)),
        }
    }
}

/// From `node(inside) = known` computes `inside`.
fn undo_one<L: Leaf>(
    arena: &mut Arena<L>,
    node: Node<L>,
    inside: ExprId,
    known: ExprId,
    divisors: &mut Vec<ExprId>,
) -> Option<ExprId> {
    Some(match node {
        Node::Unary(UnaryOp::Not, _) => arena.tidy_unary(UnaryOp::Not, known),
        Node::Binary(BinaryOp::Mul, a, b) => {
            let factor = if a == inside { b } else { a };
            divisors.push(factor);
            match arena.is_zero(known) {
                true => known,
                false => arena.tidy_div(known, factor),
            }
        }
        Node::Binary(BinaryOp::Div, a, b) if a == inside => {
            // x/b = 0 has a solution only if b is not zero.
            divisors.push(b);
            arena.tidy_mul(known, b)
        }
        Node::Binary(BinaryOp::Div, a, _) => {
            divisors.push(known);
            // a/x = c has no solution for a = 0, and x = 0 is no solution.
            divisors.push(a);
            arena.tidy_div(a, known)
        }
        Node::Binary(BinaryOp::Pow, a, b) if a == inside => odd_root(arena, known, b)?,
        Node::Binary(BinaryOp::Pow, a, _) => {
            // a**x = c with a positive number a other than 1.
            let base = arena.as_number(a).filter(|&a| a > 0.0 && a != 1.0)?;
            let top = arena.call(Function::Ln, &[known]);
            let scale = arena.constant(base.ln());
            arena.tidy_div(top, scale)
        }
        Node::Call(Function::Exp, _) => arena.call(Function::Ln, &[known]),
        Node::Call(Function::Ln, _) => arena.call(Function::Exp, &[known]),
        Node::Call(Function::Log10, _) => {
            let ten = arena.number(10.0);
            arena.binary(BinaryOp::Pow, ten, known)
        }
        _ => return None,
    })
}

/// x**n = c with an odd whole n has one solution.
fn odd_root<L: Leaf>(arena: &mut Arena<L>, known: ExprId, exponent: ExprId) -> Option<ExprId> {
    let n = arena.as_number(exponent)?;
    let odd = n > 0.0 && n < 100.0 && n % 2.0 == 1.0;
    if !odd {
        return None;
    }
    let size = arena.call(Function::Abs, &[known]);
    let (one, n) = (arena.number(1.0), arena.number(n));
    let power = arena.binary(BinaryOp::Div, one, n);
    let root = arena.binary(BinaryOp::Pow, size, power);
    let sign = arena.call(Function::Sign, &[known]);
    Some(arena.tidy_mul(sign, root))
}
