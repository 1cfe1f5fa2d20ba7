//! Linear models at a frequency: flat equations evaluated by a plain walk over the expressions that shares no code with
//! the compiler.

use std::collections::HashMap;

use bgm::expr::{BinaryOp, ExprId, Node, UnaryOp};
use bgm::flat::{EquationKind, Flat, Kind, Leaf, VarId};
use nalgebra::{Complex, DMatrix, DVector};

/// The solution of a linear model in the frequency domain: der(x) is s*x. Inputs have the values
/// given; what depends on Time must not occur.
pub fn solve_at(
    flat: &Flat,
    s: Complex<f64>,
    inputs: &[(&str, f64)],
) -> HashMap<String, Complex<f64>> {
    let (unknowns, matrix, right) = system_at(flat, s, inputs);
    let solution = matrix
        .lu()
        .solve(&right)
        .expect("the model is regular at this frequency");
    (unknowns.iter().zip(solution.iter()))
        .map(|(&id, &value)| (flat.name(id), value))
        .collect()
}

/// What det(A + s*E) says of a linear model as it was written: it is a polynomial in s whose roots are the
/// eigenvalues of the model, and whose degree is the number of its states.
pub fn characteristic(flat: &Flat, s: Complex<f64>) -> Complex<f64> {
    let (_, matrix, _) = system_at(flat, s, &[]);
    matrix.determinant()
}

type System = (Vec<VarId>, DMatrix<Complex<f64>>, DVector<Complex<f64>>);

fn system_at(flat: &Flat, s: Complex<f64>, inputs: &[(&str, f64)]) -> System {
    let unknowns: Vec<VarId> = (flat.variable_ids())
        .filter(|&id| flat.variable(id).kind.is_unknown())
        .filter(|&id| !(flat.eliminated.iter()).any(|gone| gone.leaf == Leaf::Var(id)))
        .collect();
    let equations: Vec<_> = (flat.equations.iter())
        .filter(|equation| !matches!(equation.kind, EquationKind::Init | EquationKind::When(..)))
        .collect();
    assert_eq!(
        unknowns.len(),
        equations.len(),
        "{} is not square",
        flat.model()
    );
    let mut values: Vec<Complex<f64>> = flat
        .variable_ids()
        .map(|id| known_value(flat, id, inputs))
        .collect();
    let size = unknowns.len();
    let residuals = |values: &[Complex<f64>]| -> Vec<Complex<f64>> {
        (equations.iter())
            .map(|equation| {
                evaluate(flat, equation.left, values, s) - evaluate(flat, equation.right, values, s)
            })
            .collect()
    };
    let at_zero = residuals(&values);
    let mut matrix = DMatrix::zeros(size, size);
    for (column, id) in unknowns.iter().enumerate() {
        values[id.index()] = Complex::new(1.0, 0.0);
        for (row, residual) in residuals(&values).into_iter().enumerate() {
            matrix[(row, column)] = residual - at_zero[row];
        }
        values[id.index()] = Complex::new(0.0, 0.0);
    }
    let right = DVector::from_iterator(size, at_zero.iter().map(|&residual| -residual));
    (unknowns, matrix, right)
}

fn known_value(flat: &Flat, id: VarId, inputs: &[(&str, f64)]) -> Complex<f64> {
    let name = flat.name(id);
    let real = match flat.variable(id).kind {
        Kind::Input => inputs
            .iter()
            .find(|(input, _)| *input == name)
            .map_or(0.0, |&(_, v)| v),
        Kind::Parameter | Kind::Constant => flat
            .value(id)
            .and_then(|given| given.value.real())
            .unwrap_or(0.0),
        _ => 0.0,
    };
    Complex::new(real, 0.0)
}

fn evaluate(flat: &Flat, id: ExprId, values: &[Complex<f64>], s: Complex<f64>) -> Complex<f64> {
    let of = |id: ExprId| evaluate(flat, id, values, s);
    match flat.exprs.node(id) {
        Node::Number(value) => Complex::new(value.0, 0.0),
        Node::Leaf(Leaf::Var(variable)) => values[variable.index()],
        Node::Leaf(Leaf::Der(variable, order)) => values[variable.index()] * s.powu(order.into()),
        Node::Unary(UnaryOp::Minus, a) => -of(a),
        Node::Binary(BinaryOp::Add, a, b) => of(a) + of(b),
        Node::Binary(BinaryOp::Sub, a, b) => of(a) - of(b),
        Node::Binary(BinaryOp::Mul, a, b) => of(a) * of(b),
        Node::Binary(BinaryOp::Div, a, b) => of(a) / of(b),
        other => panic!("not part of a linear model: {other:?}"),
    }
}
