//! Refuses by name what Modelica cannot express, before anything is written.

use rustc_hash::FxHashSet;

use super::super::Refusal;
use super::begin::Beginning;
use crate::expr::{BinaryOp, ExprId, Function, Node};
use crate::flat::{EquationKind, Flat, Kind, Leaf, Type};

/// Checks everything that is to be written.
pub fn check(beginning: &Beginning) -> Result<(), Refusal> {
    let flat = &beginning.written;
    let mut all: Vec<ExprId> = Vec::new();
    for equation in &flat.equations {
        let sides = [equation.left, equation.right];
        if !matches!(equation.kind, EquationKind::When(..)) {
            before(flat, &sides)?;
        }
        all.extend(sides);
    }
    let conditions = flat.whens.iter().flat_map(|when| &when.conditions);
    all.extend(conditions.map(|&(condition, _)| condition));
    all.extend(
        flat.values
            .iter()
            .chain(&flat.starts)
            .map(|given| given.expression),
    );
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    while let Some(id) = all.pop() {
        if !seen.insert(id) {
            continue;
        }
        match flat.exprs.node(id) {
            Node::Number(value) if !value.0.is_finite() => {
                return Err(Refusal(format!("`{}` is no number", value.0)));
            }
            Node::Binary(BinaryOp::Equal | BinaryOp::NotEqual, a, b)
                if !flat.is_boolean(a) && (moves(beginning, a) || moves(beginning, b)) =>
            {
                return Err(Refusal(format!(
                    "`{}`: numbers that move are equal for a moment only, and Modelica does not look for it",
                    flat.expression(id)
                )));
            }
            Node::Call(Function::Sample, args) => {
                let args = flat.exprs.args(args);
                if let Some(&moving) = args.iter().find(|&&arg| !is_fixed(flat, arg)) {
                    return Err(Refusal(format!(
                        "`{}`: in Modelica a sample has a start and a period made of parameters, not `{}`",
                        flat.expression(id),
                        flat.expression(moving)
                    )));
                }
            }
            _ => {}
        }
        flat.exprs.operands(id, &mut all);
    }
    Ok(())
}

/// In Modelica `pre(x)` is the value of the last round, and outside `when` every round counts.
fn before(flat: &Flat, sides: &[ExprId]) -> Result<(), Refusal> {
    let mut found = None;
    for &side in sides {
        flat.exprs.leaves(side, |leaf| {
            if matches!(leaf, Leaf::Pre(_)) {
                found = found.or(Some(leaf));
            }
        });
    }
    match found {
        None => Ok(()),
        Some(leaf) => Err(Refusal(format!(
            "`{}` stands outside a `when`: Modelica has no value before the event there, only one of the last round",
            flat.leaf_name(leaf)
        ))),
    }
}

fn is_fixed(flat: &Flat, root: ExprId) -> bool {
    let mut fixed = true;
    flat.exprs.leaves(root, |leaf| {
        let kind = flat.variable(leaf.variable()).kind;
        fixed &= matches!(kind, Kind::Parameter | Kind::Constant);
    });
    let mut work = vec![root];
    while let Some(id) = work.pop() {
        fixed &= flat.exprs.node(id) != Node::Time;
        flat.exprs.operands(id, &mut work);
    }
    fixed
}

/// Whether a number changes between events.
fn moves(beginning: &Beginning, root: ExprId) -> bool {
    let flat = &beginning.written;
    let mut work = vec![root];
    while let Some(id) = work.pop() {
        match flat.exprs.node(id) {
            Node::Time => return true,
            Node::Leaf(leaf) => {
                let still = |leaf: Leaf| {
                    let variable = flat.variable(leaf.variable());
                    variable.ty == Type::Boolean
                        || matches!(
                            variable.kind,
                            Kind::Parameter | Kind::Constant | Kind::Discrete
                        )
                };
                let same = match leaf {
                    Leaf::Var(id) => beginning.same_as(id),
                    _ => None,
                };
                if !still(leaf) && !same.is_some_and(|(other, _)| still(other)) {
                    return true;
                }
            }
            _ => flat.exprs.operands(id, &mut work),
        }
    }
    false
}
