//! The blocks of a solved model as statements.

use super::{Statements, put};
use crate::export::write::Dialect;
use crate::expr::ExprId;
use crate::expr::print::Text;
use crate::flat::{EqId, Flat, Leaf, VarId};
use crate::passes::blocks::{Assignment, Block, Method, Residual};

/// The equations of a block in one line; if there are many, only the first.
pub fn about(flat: &Flat, equations: &[EqId]) -> String {
    const SHOWN: usize = 3;
    const LONGEST: usize = 400;
    let mut shown: Vec<String> = (equations.iter().take(SHOWN))
        .map(|&id| flat.equation_text(id))
        .collect();
    if equations.len() > SHOWN {
        shown.push("...".to_string());
    }
    let joined = shown.join("; ");
    match joined.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", &joined[..at]),
        None => joined,
    }
}

/// All blocks, one after the other.
pub fn blocks<'p>(to: &mut impl Statements<'p>) {
    for (at, block) in to.model().solved.blocks.iter().enumerate() {
        match block {
            // The truth of a relation is decided at events.
            Block::Assignment(assignment) if !to.has(assignment.target) => {}
            Block::Assignment(assignment) => assign(to, assignment),
            Block::Linear(linear) => match &linear.method {
                Method::Formulas(assignments) => assign_all(to, assignments),
                Method::System { matrix, right } => to.solve(at, linear, matrix, right),
            },
            Block::Nonlinear(nonlinear) => to.iterate(at, nonlinear),
            Block::Selected(selected) if selected.residuals.is_empty() => {}
            Block::Selected(selected) => to.project(at, selected),
            // Restarts are in the functions for events.
            Block::When(when) if matches!(when.target, Leaf::New(_)) => to.keep_next(when.target),
            Block::When(_) => {}
        }
        to.cut();
    }
}

fn assign_all<'p>(to: &mut impl Statements<'p>, assignments: &[Assignment]) {
    for assignment in assignments {
        assign(to, assignment);
        to.cut();
    }
}

fn assign<'p>(to: &mut impl Statements<'p>, assignment: &Assignment) {
    let flat = to.model().flat;
    if let Some(guard) = assignment.guard {
        let guard = to.value(guard);
        let about = match assignment.equation {
            Some(equation) => flat.equation_text(equation),
            None => format!(
                "{} = {}",
                flat.leaf_name(assignment.target),
                flat.expression(assignment.value)
            ),
        };
        let condition = format!("{} == 0.0", guard.at_least(5));
        to.fail_if(&condition, "a divisor is zero", &about);
    }
    let value = to.value(assignment.value);
    put(to, assignment.target, &value);
}

/// The residuals of a loop as a list `r`, for the elements of a list `z`.
pub fn residuals<'p>(
    to: &mut impl Statements<'p>,
    unknowns: &[Leaf],
    inner: &[Assignment],
    residuals: &[Residual],
) -> String {
    to.unpack(unknowns, "z");
    assign_all(to, inner);
    let values: Vec<ExprId> = residuals.iter().map(|residual| residual.value).collect();
    to.list("r", &values)
}

/// Parameters with the values that the model gives.
pub fn given<'p>(to: &mut impl Statements<'p>, ids: &[VarId]) {
    for &id in ids {
        if let Some(given) = to.model().flat.value(id) {
            let value = to.value(given.expression);
            to.set(Leaf::Var(id), &value);
        }
        to.cut();
    }
}

/// A start value; if it depends on parameters, its expression.
pub fn start<'p>(to: &mut impl Statements<'p>, leaf: Leaf) -> Text {
    let start = to.model().start(leaf);
    match start.expression {
        Some(expression) => to.value(expression),
        None => to.writer().dialect.number(start.value),
    }
}

/// Eliminated variables.
pub fn eliminated<'p>(to: &mut impl Statements<'p>, wanted: impl Fn(Leaf) -> bool) {
    for alias in &to.model().flat.eliminated {
        if wanted(alias.leaf) && to.has(alias.leaf) {
            let value = to.value(alias.expression);
            put(to, alias.leaf, &value);
            to.cut();
        }
    }
}
