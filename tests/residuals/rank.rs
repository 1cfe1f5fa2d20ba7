//! Whether a model has no unique solution at a point, found from its flat equations alone: the rank of
//! their Jacobian by differences. A case that is skipped should be one of these.

use bgm::expr::Value;
use bgm::flat::{Equation, EquationKind, Flat, Kind, Leaf, Type};
use nalgebra::DMatrix;

use super::oracle::{Met, Values, walk};
use super::point::known;
use super::random::Random;

/// Less than this part of the largest singular value is zero.
const ZERO: f64 = 1e-9;

/// Singular wherever it is looked at (one place is enough where the model is linear).
pub fn is_singular(flat: &Flat, seed: u64) -> bool {
    let mut values = known(flat, seed);
    settle_booleans(flat, &mut values);
    let unknowns = unknowns(flat);
    let mut random = Random::new(seed);
    (0..3).all(|_| {
        for &leaf in &unknowns {
            values.of.insert(leaf, Value::Real(random.real(-1.0, 1.0)));
        }
        rank_is_low(flat, &unknowns, &mut values)
    })
}

fn unknowns(flat: &Flat) -> Vec<Leaf> {
    let mut found = Vec::new();
    for id in flat.variable_ids() {
        let variable = flat.variable(id);
        if variable.ty == Type::Real {
            match variable.kind {
                Kind::Algebraic | Kind::Output => found.push(Leaf::Var(id)),
                Kind::State => found.push(Leaf::Der(id, variable.order)),
                _ => {}
            }
        }
    }
    found
}

/// Booleans that follow from what is known: `b = ...` or `not b = ...`.
fn settle_booleans(flat: &Flat, values: &mut Values) {
    let missing: Vec<Leaf> = (flat.variable_ids())
        .filter(|&id| flat.variable(id).ty == Type::Boolean)
        .map(Leaf::Var)
        .filter(|leaf| !values.of.contains_key(leaf))
        .collect();
    // One that holds one way and not the other is decided; each turn may decide more.
    for _ in 0..missing.len() {
        for &leaf in &missing {
            if values.of.contains_key(&leaf) {
                continue;
            }
            let mut can_be = |truth: bool| {
                values.of.insert(leaf, Value::Bool(truth));
                let fits = booleans(flat).all(|equation| agrees(flat, equation, values));
                values.of.remove(&leaf);
                fits
            };
            let decided = match (can_be(true), can_be(false)) {
                (true, false) => true,
                (false, true) => false,
                _ => continue,
            };
            values.of.insert(leaf, Value::Bool(decided));
        }
    }
}

fn booleans(flat: &Flat) -> impl Iterator<Item = &Equation> {
    (flat.equations.iter()).filter(|equation| at_all_times(equation))
}

fn at_all_times(equation: &Equation) -> bool {
    matches!(
        equation.kind,
        EquationKind::Equation
            | EquationKind::Coupling
            | EquationKind::Sum
            | EquationKind::Reference
            | EquationKind::ZeroFlow
    )
}

/// Not known to be false.
fn agrees(flat: &Flat, equation: &Equation, values: &Values) -> bool {
    let side = |id| walk(flat, id, values, &mut Met::default());
    match (side(equation.left), side(equation.right)) {
        (Ok(Value::Bool(left)), Ok(Value::Bool(right))) => left == right,
        _ => true,
    }
}

fn rank_is_low(flat: &Flat, unknowns: &[Leaf], values: &mut Values) -> bool {
    let residuals = |values: &Values| -> Vec<Option<f64>> {
        (flat.equations.iter())
            .filter(|equation| at_all_times(equation))
            .map(|equation| {
                let side = |id| match walk(flat, id, values, &mut Met::default()) {
                    Ok(Value::Real(number)) => Some(number),
                    _ => None,
                };
                Some(side(equation.left)? - side(equation.right)?)
            })
            .collect()
    };
    let rows = residuals(values).len();
    let mut matrix = DMatrix::zeros(rows, unknowns.len());
    for (column, &leaf) in unknowns.iter().enumerate() {
        const STEP: f64 = 1e-4;
        let middle = values.of[&leaf].real().unwrap_or(0.0);
        let mut at = |value: f64| {
            values.of.insert(leaf, Value::Real(value));
            residuals(values)
        };
        let (above, below) = (at(middle + STEP), at(middle - STEP));
        at(middle);
        for (row, pair) in above.into_iter().zip(below).enumerate() {
            if let (Some(above), Some(below)) = pair {
                matrix[(row, column)] = (above - below) / (2.0 * STEP);
            }
        }
    }
    let values = matrix.singular_values();
    let low = values.iter().filter(|&&value| value > ZERO * values.max());
    low.count() < unknowns.len()
}
