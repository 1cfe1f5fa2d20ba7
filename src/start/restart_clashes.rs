//! Pairs of restarts of one state that always happen at the same moment.
//!
//! Before: a flat model without aliases, so that a variable that equals a state is replaced by it. After: an error for each
//! state that one branch of a `when` restarts twice, or that two `when`s with the same conditions restart from different
//! values. Whether different conditions become true at the same moment is checked during the run.

use crate::base::diagnostics::{Code, Diagnostic};
use crate::expr::{ExprId, Node};
use crate::flat::{EqId, Equation, EquationKind, Flat, Leaf, VarId};
use crate::passes::vanishing::constant;
use rustc_hash::FxHashMap;

/// The pairs, the earlier equation first.
pub fn clashes(flat: &Flat) -> Vec<(EqId, EqId)> {
    let mut known: FxHashMap<(VarId, Vec<ExprId>), EqId> = FxHashMap::default();
    let mut found = Vec::new();
    for at in flat.equation_ids() {
        let equation = &flat.equations[at.index()];
        let (EquationKind::When(when, branch), Node::Leaf(Leaf::Init(id))) =
            (equation.kind, flat.exprs.node(equation.left))
        else {
            continue;
        };
        // A branch acts where its condition holds and the earlier ones do not.
        let conditions = &flat.whens[when.index()].conditions[..=usize::from(branch)];
        let conditions: Vec<ExprId> = conditions.iter().map(|&(condition, _)| condition).collect();
        let Some(earlier) = known.insert((id, conditions), at) else {
            continue;
        };
        let first = &flat.equations[earlier.index()];
        let value = |equation: &Equation| constant(flat, equation.right);
        let same = first.right == equation.right
            || value(first).is_some() && value(first) == value(equation);
        if !same {
            found.push((earlier, at));
        }
    }
    found
}

pub fn clash_diagnostic(flat: &Flat, (first, second): (EqId, EqId)) -> Diagnostic {
    let first = &flat.equations[first.index()];
    let second = &flat.equations[second.index()];
    let name = match flat.exprs.node(second.left) {
        Node::Leaf(leaf) => flat.name(leaf.variable()),
        _ => flat.expression(second.left),
    };
    let in_one = first.kind == second.kind;
    Diagnostic::new(
        Code::RestartsClash,
        format!("`{name}` is restarted twice at one moment"),
    )
    .at(second.span, "and restarted here")
    .at(first.span, "restarted here")
    .note(match in_one {
        true => "both are in one branch of a `when`",
        false => "the `when`s have the same condition, and so they act together",
    })
    .hint("keep one of the two, or give them conditions that are not true together: `when a then ... elsewhen b then ...`")
}
