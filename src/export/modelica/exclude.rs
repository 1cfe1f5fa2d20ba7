//! Conditions that are never true together, as far as their form tells: `x > 1` and `x < 0`, `c` and `not c`.

use crate::expr::{BinaryOp, ExprId, Node, UnaryOp};
use crate::flat::Flat;

/// True only if this is certain.
pub fn exclude(flat: &Flat, a: ExprId, b: ExprId) -> bool {
    if flat.exprs.node(a) == Node::Unary(UnaryOp::Not, b)
        || flat.exprs.node(b) == Node::Unary(UnaryOp::Not, a)
    {
        return true;
    }
    match (bound(flat, a), bound(flat, b)) {
        (Some(a), Some(b)) if a.of == b.of && a.above != b.above => {
            let (least, most) = if a.above { (a, b) } else { (b, a) };
            let apart = match (flat.exprs.node(least.at), flat.exprs.node(most.at)) {
                (Node::Number(least), Node::Number(most)) => most.0 < least.0,
                _ => false,
            };
            apart || least.at == most.at && !(least.reached && most.reached)
        }
        _ => false,
    }
}

/// An expression is above or below a bound, or equal to it.
#[derive(Clone, Copy)]
struct Bound {
    of: ExprId,
    above: bool,
    reached: bool,
    at: ExprId,
}

fn bound(flat: &Flat, id: ExprId) -> Option<Bound> {
    let Node::Binary(op, of, at) = flat.exprs.node(id) else {
        return None;
    };
    let (above, reached) = match op {
        BinaryOp::Less => (false, false),
        BinaryOp::LessEqual => (false, true),
        BinaryOp::Greater => (true, false),
        BinaryOp::GreaterEqual => (true, true),
        _ => return None,
    };
    Some(Bound {
        of,
        above,
        reached,
        at,
    })
}
