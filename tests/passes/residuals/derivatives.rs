//! What must hold of a model whose index was reduced: time derivatives of the equations as they were
//! flattened, and how many states, derivatives and equations there are.
//!
//! Wherever the solved model has all the values that a derivative of an equation is made of, it
//! vanishes: the values are those of a solution.

use bgm::expr::{BinaryOp, ExprId, Node, UnaryOp};
use bgm::flat::{Equation, EquationKind, Flat, Kind, Leaf, Type};
use bgm::passes::blocks::Solved;

use super::taylor::{factorial, series};
use crate::support::oracle::{Met, NOTHING, TOLERANCE, Trouble, Values, holds_at_all_times};

/// No model here is differentiated so often.
const MOST: usize = 8;
/// The values were iterated to rounding; a derivative multiplies what is left by slopes.
const SLOPES: f64 = 100.0;

/// All derivatives for which there are values vanish; `Ok` says how many were looked at.
pub fn derivatives_hold(flat: &Flat, values: &Values) -> Result<usize, String> {
    let largest = (values.of.values())
        .filter_map(|value| value.real())
        .fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let mut count = 0;
    for equation in real_equations(flat) {
        for order in 1..=MOST {
            match residual(flat, equation, values, order) {
                Ok((off, met)) => {
                    // Rounding decides which derivative it is.
                    if met.tie {
                        break;
                    }
                    if off.abs() > TOLERANCE * met.scale + SLOPES * NOTHING * largest {
                        return Err(format!(
                            "derivative {order} of `{} = {}` is off by {off:e}, with terms up to {:e}",
                            flat.expression(equation.left),
                            flat.expression(equation.right),
                            met.scale
                        ));
                    }
                    count += 1;
                }
                Err(Trouble::Missing(_)) => break,
                // A root of zero, say: there is no derivative.
                Err(Trouble::Wrong(_)) => break,
            }
        }
    }
    Ok(count)
}

/// Equations between numbers that hold at all times.
pub fn real_equations(flat: &Flat) -> impl Iterator<Item = &Equation> {
    (flat.equations.iter())
        .filter(|one| holds_at_all_times(one) && one.kind != EquationKind::New)
        .filter(|one| !is_truth(flat, one.left))
}

/// The derivative of this order of left - right.
pub fn residual(
    flat: &Flat,
    equation: &Equation,
    values: &Values,
    order: usize,
) -> Result<(f64, Met), Trouble> {
    let mut met = Met::default();
    let left = series(flat, equation.left, values, order, &mut met)?;
    let right = series(flat, equation.right, values, order, &mut met)?;
    Ok(((left[order] - right[order]) * factorial(order), met))
}

/// What is counted of a reduced model.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub states: usize,
    /// Equations that were differentiated, once for each time.
    pub added: usize,
}

/// The bookkeeping of the reduction, without elimination: `Err` says what does not add up.
pub fn counts(solved: &Solved) -> Result<Counts, String> {
    let flat = &solved.flat;
    let continuous: Vec<&Equation> = (flat.equations.iter())
        .filter(|equation| equation.kind.is_continuous())
        .collect();
    // The order of a variable is that of its highest derivative.
    let mut highest = vec![0; flat.variables.len()];
    for equation in &flat.equations {
        for leaf in leaves(flat, equation) {
            let order = leaf.order().unwrap_or(0);
            let place = &mut highest[leaf.variable().index()];
            *place = order.max(*place);
        }
    }
    let (mut unknowns, mut orders, mut states) = (0, 0, 0);
    for id in flat.variable_ids() {
        let variable = flat.variable(id);
        let differentiated = varies(flat, Leaf::Var(id));
        if differentiated && variable.order != highest[id.index()] {
            let (name, order, found) = (flat.name(id), variable.order, highest[id.index()]);
            return Err(format!(
                "{name} is said to be of order {order} and is of {found}"
            ));
        }
        if variable.kind.is_unknown() && variable.kind != Kind::Discrete {
            let (order, own) = (usize::from(variable.order), usize::from(variable.states));
            if own > order {
                return Err(format!("{}: {own} states, order {order}", flat.name(id)));
            }
            unknowns += order + 1 - own;
            orders += order;
            states += own;
        }
    }
    for selection in flat.reduction.iter().flat_map(|done| &done.selections) {
        let chosen = selection.states as usize;
        if selection.choice.len() != chosen || chosen >= selection.candidates.len() {
            return Err(format!("{selection:?}"));
        }
        if let Some(&twice) = (selection.candidates.iter()).find(|&&leaf| flat.is_state(leaf)) {
            let name = flat.leaf_name(twice);
            return Err(format!("{name} is a state and a candidate"));
        }
        states += chosen;
        unknowns -= chosen;
    }
    let derivative = |one: &Equation| matches!(one.kind, EquationKind::Derivative(_));
    let added = continuous.iter().filter(|one| derivative(one)).count();
    let possible: usize = (continuous.iter())
        .filter(|one| !derivative(one) && !is_truth(flat, one.left))
        .map(|one| times(flat, one))
        .sum();
    let equations = continuous.len();
    if unknowns != equations || orders != states + added || added != possible {
        return Err(format!(
            "{equations} equations, {unknowns} unknowns, orders {orders}, states {states}, \
             {added} equations differentiated, {possible} can be"
        ));
    }
    Ok(Counts { states, added })
}

/// A condition, and no number.
fn is_truth(flat: &Flat, id: ExprId) -> bool {
    match flat.exprs.node(id) {
        Node::Bool(_) | Node::Unary(UnaryOp::Not, _) => true,
        Node::Leaf(leaf) => flat.variable(leaf.variable()).ty == Type::Boolean,
        Node::Binary(op, ..) => !matches!(
            op,
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Pow
        ),
        Node::If(_, a, _) => is_truth(flat, a),
        Node::Number(_) | Node::Time | Node::Unary(..) | Node::Call(..) | Node::List(_) => false,
    }
}

/// How often an equation can be differentiated before a derivative is not part of the model.
fn times(flat: &Flat, equation: &Equation) -> usize {
    let all = leaves(flat, equation).into_iter();
    let room = all.filter(|&leaf| varies(flat, leaf)).map(|leaf| {
        let order = flat.variable(leaf.variable()).order;
        usize::from(order - leaf.order().unwrap_or(order))
    });
    room.min().unwrap_or(0)
}

/// A number that changes between events.
pub fn varies(flat: &Flat, leaf: Leaf) -> bool {
    let variable = flat.variable(leaf.variable());
    let kind = variable.kind;
    let changes = kind == Kind::Input || kind.is_unknown() && kind != Kind::Discrete;
    changes && variable.ty == Type::Real && leaf.order().is_some()
}

/// The leaves of both sides, each once, in no order that matters.
pub fn leaves(flat: &Flat, equation: &Equation) -> Vec<Leaf> {
    fn collect(flat: &Flat, id: ExprId, found: &mut Vec<Leaf>) {
        match flat.exprs.node(id) {
            Node::Number(_) | Node::Bool(_) | Node::Time => {}
            Node::Leaf(leaf) if found.contains(&leaf) => {}
            Node::Leaf(leaf) => found.push(leaf),
            Node::Unary(_, a) => collect(flat, a, found),
            Node::Binary(_, a, b) => {
                collect(flat, a, found);
                collect(flat, b, found);
            }
            Node::If(a, b, c) => {
                for part in [a, b, c] {
                    collect(flat, part, found);
                }
            }
            Node::Call(_, args) | Node::List(args) => {
                for &arg in flat.exprs.args(args) {
                    collect(flat, arg, found);
                }
            }
        }
    }
    let mut found = Vec::new();
    collect(flat, equation.left, &mut found);
    collect(flat, equation.right, &mut found);
    found
}
