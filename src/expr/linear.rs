//! Coefficients: an expression as a sum of unknowns times coefficients, and a rest.
//!
//! Before: any expression. After: its [`Form`], or `None` if it is not linear in the unknowns. What
//! is returned is proved: coefficients and rest are free of unknowns. An `if` whose condition is
//! free of unknowns is linear when its branches are; its coefficients are `if`s themselves, as for
//! the ideal switch of Cellier, Otter and Elmqvist 1995: `0 = if OpenSwitch then f else e`.

use super::simplify::Term;
use super::{Arena, BinaryOp, ExprId, Leaf, Node, UnaryOp};

/// The sum of `coefficient * unknown` and of the terms of the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// By unknown, ascending; each once.
    pub terms: Vec<(u32, ExprId)>,
    pub rest: Vec<Term>,
    /// An unknown stood in the expression and cancelled: it is free of it only as terms and rest.
    pub cancelled: bool,
}

enum Work {
    Visit(ExprId),
    Combine(ExprId),
    /// Of as many parts, those taken away marked.
    Sum(Vec<bool>),
}

impl Form {
    fn rest(id: ExprId) -> Self {
        Form {
            terms: Vec::new(),
            rest: vec![(false, id)],
            cancelled: false,
        }
    }

    /// The value of a form without terms, free of unknowns: `id`, or what is left of it.
    fn known<L: Leaf>(&self, arena: &mut Arena<L>, id: ExprId) -> ExprId {
        match self.cancelled {
            true => arena.sum(&self.rest),
            false => id,
        }
    }

    pub fn coefficient(&self, unknown: u32) -> Option<ExprId> {
        let at = self
            .terms
            .binary_search_by_key(&unknown, |&(u, _)| u)
            .ok()?;
        Some(self.terms[at].1)
    }
}

/// The form of `left - right`. `unknown` numbers the unknowns; what it does not know is known.
pub fn difference<L: Leaf>(
    arena: &mut Arena<L>,
    left: ExprId,
    right: ExprId,
    unknown: &impl Fn(L) -> Option<u32>,
) -> Option<Form> {
    let left = form(arena, left, unknown)?;
    let right = form(arena, right, unknown)?;
    Some(sum(arena, vec![left, right], &[false, true]))
}

pub fn form<L: Leaf>(
    arena: &mut Arena<L>,
    root: ExprId,
    unknown: &impl Fn(L) -> Option<u32>,
) -> Option<Form> {
    let mut work = vec![Work::Visit(root)];
    let mut done: Vec<Form> = Vec::new();
    let mut operands = Vec::new();
    while let Some(item) = work.pop() {
        match item {
            Work::Visit(id) => match arena.node(id) {
                Node::Leaf(leaf) => done.push(match unknown(leaf) {
                    Some(unknown) => Form {
                        terms: vec![(unknown, arena.number(1.0))],
                        ..Form::default()
                    },
                    None => Form::rest(id),
                }),
                Node::Number(_) | Node::Bool(_) | Node::Time => done.push(Form::rest(id)),
                Node::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => {
                    let (parts, minus) = parts_of_sum(arena, id);
                    work.push(Work::Sum(minus));
                    work.extend(parts.into_iter().rev().map(Work::Visit));
                }
                _ => {
                    work.push(Work::Combine(id));
                    arena.operands(id, &mut operands);
                    work.extend(operands.drain(..).rev().map(Work::Visit));
                }
            },
            Work::Sum(minus) => {
                let parts = done.split_off(done.len() - minus.len());
                done.push(sum(arena, parts, &minus));
            }
            Work::Combine(id) => {
                arena.operands(id, &mut operands);
                let parts = done.split_off(done.len() - operands.len());
                operands.clear();
                done.push(combine(arena, id, parts)?);
            }
        }
    }
    done.pop()
}

fn combine<L: Leaf>(arena: &mut Arena<L>, id: ExprId, parts: Vec<Form>) -> Option<Form> {
    let node = arena.node(id);
    let cancelled = parts.iter().any(|part| part.cancelled);
    if parts.iter().all(|part| part.terms.is_empty()) && !cancelled {
        // Sums are opened, so that terms can be moved across the equation one by one.
        if !matches!(node, Node::Unary(UnaryOp::Minus | UnaryOp::Plus, _)) {
            return Some(Form::rest(id));
        }
    }
    let mut parts = parts.into_iter();
    let a = parts.next()?;
    match node {
        Node::Unary(UnaryOp::Plus, _) => Some(a),
        Node::Unary(UnaryOp::Minus, _) => Some(sum(arena, vec![a], &[true])),
        Node::Binary(op @ BinaryOp::Mul, left, right) => {
            let b = parts.next()?;
            let mut product = match (a.terms.is_empty(), b.terms.is_empty()) {
                (true, _) => {
                    let left = a.known(arena, left);
                    scale(arena, b, |arena, x| arena.tidy_binary(op, left, x))
                }
                (_, true) => {
                    let right = b.known(arena, right);
                    scale(arena, a, |arena, x| arena.tidy_binary(op, x, right))
                }
                _ => return None,
            };
            product.cancelled |= cancelled;
            Some(product)
        }
        Node::Binary(op @ BinaryOp::Div, _, right) => {
            let b = parts.next()?;
            if !b.terms.is_empty() {
                return None;
            }
            let right = b.known(arena, right);
            let mut quotient = scale(arena, a, |arena, x| arena.tidy_binary(op, x, right));
            quotient.cancelled |= cancelled;
            Some(quotient)
        }
        Node::If(condition, ..) => {
            let (b, c) = (parts.next()?, parts.next()?);
            (a.terms.is_empty() && !a.cancelled).then(|| choose(arena, condition, b, c))
        }
        _ => None,
    }
}

/// `a + b - c` has the parts a, b, c, the last taken away. Sums of a node are long, and nested to the
/// left: they are taken as one, else their terms would be gone through once for each.
fn parts_of_sum<L: Leaf>(arena: &Arena<L>, id: ExprId) -> (Vec<ExprId>, Vec<bool>) {
    let (mut parts, mut minus) = (Vec::new(), Vec::new());
    let mut at = id;
    while let Node::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) = arena.node(at) {
        parts.push(right);
        minus.push(op == BinaryOp::Sub);
        at = left;
    }
    parts.push(at);
    minus.push(false);
    parts.reverse();
    minus.reverse();
    (parts, minus)
}

/// The sum of parts, some of them taken away.
fn sum<L: Leaf>(arena: &mut Arena<L>, parts: Vec<Form>, minus: &[bool]) -> Form {
    let mut sum = Form::default();
    let mut terms: Vec<(u32, bool, ExprId)> = Vec::new();
    for (at, (part, &minus)) in parts.into_iter().zip(minus).enumerate() {
        terms.extend((part.terms.iter()).map(|&(unknown, value)| (unknown, minus, value)));
        sum.cancelled |= part.cancelled;
        let kept = (part.rest.into_iter())
            .filter(|&(_, term)| at == 0 && !minus || !arena.is_zero(term))
            .map(|(negative, term)| (negative ^ minus, term));
        sum.rest.extend(kept);
    }
    // Those of one unknown stay in their order.
    terms.sort_by_key(|&(unknown, ..)| unknown);
    for (unknown, minus, value) in terms {
        match sum.terms.last_mut() {
            Some((same, total)) if *same == unknown => {
                *total = match minus {
                    true => arena.tidy_sub(*total, value),
                    false => arena.tidy_add(*total, value),
                };
                if arena.is_zero(*total) {
                    sum.terms.pop();
                    sum.cancelled = true;
                }
            }
            _ => {
                let value = match minus {
                    true => arena.tidy_minus(value),
                    false => value,
                };
                sum.terms.push((unknown, value));
            }
        }
    }
    sum
}

fn drop_zeros<L: Leaf>(arena: &Arena<L>, form: &mut Form) {
    let before = form.terms.len();
    (form.terms).retain(|&(_, coefficient)| !arena.is_zero(coefficient));
    form.cancelled |= form.terms.len() < before;
}

fn scale<L: Leaf>(
    arena: &mut Arena<L>,
    mut a: Form,
    mut by: impl FnMut(&mut Arena<L>, ExprId) -> ExprId,
) -> Form {
    for (_, coefficient) in &mut a.terms {
        *coefficient = by(arena, *coefficient);
    }
    drop_zeros(arena, &mut a);
    if !a.rest.is_empty() {
        let rest = arena.sum(&a.rest);
        a.rest = match arena.is_zero(rest) {
            true => Vec::new(),
            false => vec![(false, by(arena, rest))],
        };
    }
    a
}

fn choose<L: Leaf>(arena: &mut Arena<L>, condition: ExprId, a: Form, b: Form) -> Form {
    let zero = arena.number(0.0);
    let mut unknowns: Vec<u32> = (a.terms.iter().chain(&b.terms))
        .map(|&(unknown, _)| unknown)
        .collect();
    unknowns.sort_unstable();
    unknowns.dedup();
    let terms = (unknowns.into_iter())
        .map(|unknown| {
            let then = a.coefficient(unknown).unwrap_or(zero);
            let otherwise = b.coefficient(unknown).unwrap_or(zero);
            (unknown, arena.tidy_if(condition, then, otherwise))
        })
        .collect();
    let (then, otherwise) = (arena.sum(&a.rest), arena.sum(&b.rest));
    let rest = arena.tidy_if(condition, then, otherwise);
    let rest = match arena.is_zero(rest) {
        true => Vec::new(),
        false => vec![(false, rest)],
    };
    Form {
        terms,
        rest,
        cancelled: a.cancelled || b.cancelled,
    }
}
