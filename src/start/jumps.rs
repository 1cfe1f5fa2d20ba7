//! Jumps that were differentiated: a step of voltage directly on a capacitor.
//!
//! The derivative of `if Time < t0 then a else b` is that of the branch that holds. Where the branches do not meet at
//! t0, the current of the capacitor has an impulse there that no derivative shows: that is said.

use rustc_hash::FxHashSet;

use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::evaluate::Point;
use crate::expr::{BinaryOp, ExprId, Node, show_number};
use crate::flat::{Derived, Flat};
use crate::passes::blocks::Solved;

pub fn report(solved: &Solved, point: &Point, said: &mut Diagnostics) {
    let flat = &solved.flat;
    let Some(reduction) = &flat.reduction else {
        return;
    };
    let mut point = point.clone();
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    for derived in &reduction.derived {
        for (moment, size) in jumps(flat, derived, &mut point, &mut seen) {
            let text = format!(
                "{} = {}",
                flat.expression(derived.of.left),
                flat.expression(derived.of.right)
            );
            let (moment, size) = (show_number(moment), show_number(size));
            said.push(
                Diagnostic::new(
                    Code::JumpDifferentiated,
                    format!("what is differentiated jumps at Time = {moment}, by {size}"),
                )
                .at(derived.of.span, text)
                .note("its derivative has an impulse there, which the equations do not show")
                .hint(
                    "let it rise in a short time, or put a resistance between source and storage",
                ),
            );
        }
    }
}

/// When an `if` about Time jumps, and by how much.
fn jumps(
    flat: &Flat,
    derived: &Derived,
    point: &mut Point,
    seen: &mut FxHashSet<ExprId>,
) -> Vec<(f64, f64)> {
    let mut found = Vec::new();
    let mut work = vec![derived.of.right, derived.of.left];
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        flat.exprs.operands(id, &mut work);
        let Node::If(condition, a, b) = flat.exprs.node(id) else {
            continue;
        };
        let Node::Binary(
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual,
            x,
            y,
        ) = flat.exprs.node(condition)
        else {
            continue;
        };
        let moment = match (flat.exprs.node(x), flat.exprs.node(y)) {
            (Node::Time, _) => y,
            (_, Node::Time) => x,
            _ => continue,
        };
        let Some(moment) = point.number(&flat.exprs, moment) else {
            continue;
        };
        point.time = moment;
        let values = (point.number(&flat.exprs, a), point.number(&flat.exprs, b));
        if let (Some(a), Some(b)) = values
            && (a - b).abs() > 1e-9 * (a.abs() + b.abs())
        {
            found.push((moment, (a - b).abs()));
        }
    }
    found
}
