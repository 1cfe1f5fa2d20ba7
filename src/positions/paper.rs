//! The form of the 1995 paper for a switch that changes the index by its own position alone.
//!
//! Before: a model and its positions. After: the same model in which the branch `f` of `0 = if OpenSwitch then f else e`
//! stands as its derivative where the index rises in it, with `when OpenSwitch then init(f) = 0`: what the paper's
//! `CSw` has written by hand. The index is then the same in all positions, and one set of formulas does for all. Where
//! it depends on several switches (a buck converter: the branch of the switch is raised only while the diode is
//! open too), or a position is impossible or leaves something open, there is no such form.

use super::modes::Mode;
use super::switches::plain;
use super::{Key, Positions};
use crate::expr::{ExprId, Node, UnaryOp};
use crate::flat::{Equation, EquationKind, Flat, Kind, Leaf, VarId, When, WhenId};

/// `None` if the model has no such form. `modes` are all modes with their shapes.
pub fn form(positions: &Positions, modes: &[Mode]) -> Option<Flat> {
    let regular = |mode: &Mode| {
        mode.shape
            .as_ref()
            .is_some_and(|shape| !shape.loose && shape.index <= 2)
    };
    if !modes.iter().all(regular) {
        return None;
    }
    let order = |key: &Key| {
        let found = modes.iter().find(|mode| mode.key == *key);
        Some(found?.shape.as_ref()?.order as i64)
    };
    let mut flat = positions.written.clone();
    let mut restarts: Vec<(usize, Equation)> = Vec::new();
    for (at, switch) in positions.written_switches.iter().enumerate() {
        // How much lower the order is while the condition is true: always the same, whatever the others do.
        let mut lower: Option<i64> = None;
        for mode in modes.iter().filter(|mode| mode.key[at]) {
            let mut other = mode.key.clone();
            other[at] = false;
            let here = order(&other)? - order(&mode.key)?;
            if *lower.get_or_insert(here) != here {
                return None;
            }
        }
        let truth = match lower? {
            0 => continue,
            1 => true,
            -1 => false,
            _ => return None,
        };
        let &[equation] = switch.equations.as_slice() else {
            return None;
        };
        let restart = raise(&mut flat, equation.index(), switch.condition, truth)?;
        restarts.push((equation.index(), restart));
    }
    // Each after its switch, as if it had been written there.
    restarts.sort_by_key(|&(at, _)| at);
    for &(at, restart) in restarts.iter().rev() {
        flat.equations.insert(at + 1, restart);
    }
    (!restarts.is_empty()).then_some(flat)
}

/// Puts the derivative of a branch in its place; gives the restart that goes with it.
fn raise(flat: &mut Flat, at: usize, condition: ExprId, truth: bool) -> Option<Equation> {
    let equation = flat.equations[at];
    let (zero, side) = match (
        flat.exprs.is_zero(equation.left),
        flat.exprs.is_zero(equation.right),
    ) {
        (true, _) => (equation.left, equation.right),
        (_, true) => (equation.right, equation.left),
        _ => return None,
    };
    let Node::If(written, a, b) = flat.exprs.node(side) else {
        return None;
    };
    let (own, negated) = plain(flat, written);
    if own != condition {
        return None;
    }
    let first = truth ^ negated;
    let variable = leaf(flat, if first { a } else { b })?;
    let known = &mut flat.variables[variable.index()];
    known.order = known.order.max(1);
    known.states = known.states.max(1);
    known.kind = Kind::State;
    let rate = flat.exprs.leaf(Leaf::Der(variable, 1));
    let side = match first {
        true => flat.exprs.if_else(written, rate, b),
        false => flat.exprs.if_else(written, a, rate),
    };
    flat.equations[at] = Equation {
        left: zero,
        right: side,
        ..equation
    };
    let begins = match truth {
        true => condition,
        false => flat.exprs.unary(UnaryOp::Not, condition),
    };
    let when = WhenId(flat.whens.len() as u32);
    flat.whens.push(When {
        conditions: vec![(begins, equation.span)],
        origin: equation.origin,
    });
    let init = flat.exprs.leaf(Leaf::Init(variable));
    Some(Equation {
        left: init,
        right: zero,
        kind: EquationKind::When(when, 0),
        ..equation
    })
}

/// A variable that is not differentiated more than once.
fn leaf(flat: &Flat, id: ExprId) -> Option<VarId> {
    match flat.exprs.node(id) {
        Node::Leaf(Leaf::Var(id)) if flat.variable(id).order <= 1 => Some(id),
        _ => None,
    }
}
