//! A linear model as the pencil s*E - A: its matrix in the unknowns, and how many finite eigenvalues it has.

use bgm::expr::{BinaryOp, ExprId, Node, UnaryOp};
use bgm::flat::{Flat, Kind, Leaf, VarId};
use nalgebra::DMatrix;

/// The residuals' coefficients; `value` is that of a leaf.
fn evaluate(flat: &Flat, id: ExprId, value: &dyn Fn(Leaf) -> f64) -> f64 {
    let of = |id: ExprId| evaluate(flat, id, value);
    match flat.exprs.node(id) {
        Node::Number(value) => value.0,
        Node::Leaf(leaf) => match flat.variable(leaf.variable()).kind {
            Kind::Parameter | Kind::Constant => {
                let given = flat.value(leaf.variable()).expect("it has a value");
                given.value.real().expect("it is a number")
            }
            _ => value(leaf),
        },
        Node::Unary(UnaryOp::Minus, a) => -of(a),
        Node::Binary(BinaryOp::Add, a, b) => of(a) + of(b),
        Node::Binary(BinaryOp::Sub, a, b) => of(a) - of(b),
        Node::Binary(BinaryOp::Mul, a, b) => of(a) * of(b),
        other => panic!("not part of a linear model: {other:?}"),
    }
}

/// The matrix of the equations in the unknowns: `column` says which a leaf belongs to, and its factor.
pub fn matrix_of(
    flat: &Flat,
    columns: usize,
    column: &dyn Fn(Leaf) -> Option<(usize, f64)>,
) -> DMatrix<f64> {
    let residual = |row: usize, unit: Option<usize>| {
        let equation = &flat.equations[row];
        let value = |leaf: Leaf| match column(leaf) {
            Some((at, factor)) if Some(at) == unit => factor,
            _ => 0.0,
        };
        evaluate(flat, equation.left, &value) - evaluate(flat, equation.right, &value)
    };
    DMatrix::from_fn(flat.equations.len(), columns, |row, column| {
        residual(row, Some(column)) - residual(row, None)
    })
}

pub fn unknowns(flat: &Flat) -> Vec<VarId> {
    (flat.variable_ids())
        .filter(|&id| flat.variable(id).kind.is_unknown())
        .collect()
}

/// The matrix of the pencil; a derivative is s times its variable.
fn pencil(flat: &Flat, s: f64) -> DMatrix<f64> {
    let unknowns = unknowns(flat);
    matrix_of(flat, unknowns.len(), &|leaf| {
        let at = unknowns.iter().position(|&id| id == leaf.variable())?;
        let order = leaf.order().map_or(0, i32::from);
        Some((at, s.powi(order)))
    })
}

/// How many finite eigenvalues the pencil has: the degree of its determinant, from the way it grows. `None`
/// if it vanishes.
pub fn finite_eigenvalues(flat: &Flat) -> Option<f64> {
    let somewhere = pencil(flat, 1.234);
    if !somewhere.is_square() || somewhere.rank(1e-9) < somewhere.nrows() {
        return None;
    }
    let determinant = |s: f64| pencil(flat, s).determinant().abs();
    Some((determinant(1e6) / determinant(1e5)).log10())
}
