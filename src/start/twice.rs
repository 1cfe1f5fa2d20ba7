//! Two restarts of one state that are certain to come at one moment.
//!
//! Before: a flat model without aliases, so that what equals a state stands for it. After: an error for each state that one branch
//! of a `when` restarts twice, or that two `when`s restart under the same conditions, from different values. Whether different
//! conditions become true together shows at run time only.

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::expr::{ExprId, Node};
use crate::flat::{Equation, EquationKind, Flat, Leaf, VarId};
use crate::vanishing::constant;
use rustc_hash::FxHashMap;

pub fn report(flat: &Flat, said: &mut Diagnostics) {
    let mut known: FxHashMap<(VarId, Vec<ExprId>), &Equation> = FxHashMap::default();
    for equation in &flat.equations {
        let (EquationKind::When(when, branch), Node::Leaf(Leaf::Init(id))) =
            (equation.kind, flat.exprs.node(equation.left))
        else {
            continue;
        };
        // A branch acts where its condition holds and the earlier ones do not.
        let conditions = &flat.whens[when.index()].conditions[..=usize::from(branch)];
        let conditions: Vec<ExprId> = conditions.iter().map(|&(condition, _)| condition).collect();
        let Some(first) = known.insert((id, conditions), equation) else {
            continue;
        };
        let value = |equation: &Equation| constant(flat, equation.right);
        let same = first.right == equation.right
            || value(first).is_some() && value(first) == value(equation);
        if !same {
            said.push(clash(flat, id, first, equation));
        }
    }
}

fn clash(flat: &Flat, id: VarId, first: &Equation, second: &Equation) -> Diagnostic {
    let in_one = first.kind == second.kind;
    Diagnostic::new(
        Code::RestartsClash,
        format!("`{}` is restarted twice at one moment", flat.name(id)),
    )
    .at(second.span, "and restarted here")
    .at(first.span, "restarted here")
    .note(match in_one {
        true => "both are in one branch of a `when`",
        false => "the `when`s have the same condition, and so they act together",
    })
    .hint("keep one of the two, or give them conditions that are not true together: `when a then ... elsewhen b then ...`")
}
