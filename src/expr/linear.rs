//! Linear forms: an expression as a sum of unknowns times coefficients, plus a remainder.
//!
//! Before: any expression. After: its [`Form`], or `None` if it is not linear in the unknowns. The result is proved:
//! coefficients and remainder contain no unknowns. An `if` whose condition contains no unknowns is linear if its
//! branches are; its coefficients are `if`s, as for the ideal switch of Cellier, Otter and Elmqvist 1995: `0 = if
//! OpenSwitch then f else e`.

use super::simplify::Term;
use super::{Arena, BinaryOp, ExprId, Leaf, Node, UnaryOp};

/// The sum of all `coefficient * unknown` and of the remainder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// By unknown, ascending; each unknown occurs once.
    pub terms: Vec<(u32, ExprId)>,
    pub rest: Vec<Term>,
    /// An unknown occurred in the expression and cancelled. So terms and remainder do not contain it, but the
    /// expression does.
    pub cancelled: bool,
}

enum Task {
    Visit(ExprId),
    Combine(ExprId),
    /// A sum of this many parts; `true` marks those that are subtracted.
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

    /// The value of a form without terms: `id`, or what is left of it if unknowns cancelled.
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

/// The form of `left - right`. `unknown` gives the number of an unknown; other leaves are known.
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
    let mut work = vec![Task::Visit(root)];
    let mut done: Vec<Form> = Vec::new();
    let mut operands = Vec::new();
    while let Some(item) = work.pop() {
        match item {
            Task::Visit(id) => match arena.node(id) {
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
                    work.push(Task::Sum(minus));
                    work.extend(parts.into_iter().rev().map(Task::Visit));
                }
                _ => {
                    work.push(Task::Combine(id));
                    arena.operands(id, &mut operands);
                    work.extend(operands.drain(..).rev().map(Task::Visit));
                }
            },
            Task::Sum(minus) => {
                let parts = done.split_off(done.len() - minus.len());
                done.push(sum(arena, parts, &minus));
            }
            Task::Combine(id) => {
                arena.operands(id, &mut operands);
                let parts = done.split_off(done.len() - operands.len());
                operands.clear();
                done.push(combine(arena, id, parts)?);
            }
        }
    }
    done.pop()
}

/// The form of a node that is no sum, from the forms of its operands; `None` if it is not linear.
fn combine<L: Leaf>(arena: &mut Arena<L>, id: ExprId, parts: Vec<Form>) -> Option<Form> {
    let node = arena.node(id);
    let cancelled = parts.iter().any(|part| part.cancelled);
    if parts.iter().all(|part| part.terms.is_empty()) && !cancelled {
        // Sums are split into terms, so that each can be moved to the other side of the equation.
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

/// `a + b - c` has the parts a, b and c, of which the last is subtracted. The sum at a node can be long and nested to
/// the left. Taken as a whole it costs one visit of its terms, not one for each operator.
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

/// Adds the forms of parts, some of them subtracted.
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
    // A stable sort: terms of one unknown keep their order.
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
