//! A warning for steps that were differentiated, such as a step of voltage directly on a capacitor.
//!
//! The derivative of `if Time < t0 then a else b` is that of the branch that holds. If the branches differ at t0, the current
//! of the capacitor has an impulse there, which the derivative does not contain.

use rustc_hash::FxHashSet;

use crate::base::diagnostics::{Code, Diagnostic};
use crate::evaluate::Point;
use crate::expr::{BinaryOp, ExprId, Node, show_number};
use crate::flat::{Derived, Flat};
use crate::passes::blocks::Solved;

/// A step of a differentiated expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepDifferentiated {
    /// The index in the list of derived equations.
    derived: usize,
    moment: f64,
    size: f64,
}

pub fn find(solved: &Solved, point: &Point) -> Vec<StepDifferentiated> {
    let flat = &solved.flat;
    let Some(reduction) = &flat.reduction else {
        return Vec::new();
    };
    let mut point = point.clone();
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut found = Vec::new();
    for (at, derived) in reduction.derived.iter().enumerate() {
        for (moment, size) in jumps(flat, derived, &mut point, &mut seen) {
            found.push(StepDifferentiated {
                derived: at,
                moment,
                size,
            });
        }
    }
    found
}

impl StepDifferentiated {
    pub fn diagnostic(&self, flat: &Flat) -> Option<Diagnostic> {
        let derived = flat.reduction.as_ref()?.derived.get(self.derived)?;
        let text = format!(
            "{} = {}",
            flat.expression(derived.of.left),
            flat.expression(derived.of.right)
        );
        let (moment, size) = (show_number(self.moment), show_number(self.size));
        let message = format!("a differentiated expression jumps at Time = {moment}, by {size}");
        let diagnostic = Diagnostic::new(Code::JumpDifferentiated, message);
        Some(
            (diagnostic.at(derived.of.span, text))
                .note("its derivative has an impulse there, which the equations do not show")
                .hint(
                    "let it rise in a short time, or put a resistance between source and storage",
                ),
        )
    }
}

/// The times at which an `if` on Time jumps, and the sizes of the jumps.
fn jumps(
    flat: &Flat,
    derived: &Derived,
    point: &mut Point,
    seen: &mut FxHashSet<ExprId>,
) -> Vec<(f64, f64)> {
    let mut found = Vec::new();
    let mut stack = vec![derived.of.right, derived.of.left];
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        flat.exprs.operands(id, &mut stack);
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
