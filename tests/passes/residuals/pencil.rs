//! How many states a linear model has, found from its flat equations alone: the degree of the
//! determinant of its pencil, in which the k-th derivative of a variable stands with s**k.

use bgm::expr::{BinaryOp, ExprId, Node, UnaryOp, Value};
use bgm::flat::{Equation, Flat, Kind, Leaf, Type, VarId};

use crate::support::oracle::{Met, Values, holds_at_all_times, walk};

/// The number of finite eigenvalues; `None` if the model is not linear with coefficients that stay
/// the same, or has no unique solution.
pub fn finite_eigenvalues(flat: &Flat) -> Option<usize> {
    let equations: Vec<&Equation> = (flat.equations.iter())
        .filter(|equation| holds_at_all_times(equation))
        .collect();
    let mut columns = vec![usize::MAX; flat.variables.len()];
    let unknowns: Vec<VarId> = (flat.variable_ids())
        .filter(|&id| is_unknown(flat, id))
        .collect();
    for (column, id) in unknowns.iter().enumerate() {
        columns[id.index()] = column;
    }
    if unknowns.len() != equations.len() {
        return None;
    }
    let mut terms = Vec::new();
    let mut most = 0;
    for (row, equation) in equations.iter().enumerate() {
        let difference = binary(
            BinaryOp::Sub,
            form(flat, equation.left)?,
            form(flat, equation.right)?,
        )?;
        for (leaf, coefficient) in difference.terms() {
            let order = leaf.order()?;
            let column = columns[leaf.variable().index()];
            terms.push((row, column, order, coefficient));
        }
    }
    for id in &unknowns {
        most += u64::from(flat.variable(*id).order);
    }
    degree(unknowns.len(), &terms, most)
}

/// The degree of the determinant, which is at most `most`: from its values at so many places and one
/// more, by Newton's divided differences. Exact: in whole numbers modulo a prime, where a
/// coefficient is the fraction that its digits say.
fn degree(size: usize, terms: &[(usize, usize, u8, u64)], most: u64) -> Option<usize> {
    let places: Vec<u64> = (0..=most).map(|at| 1_000_003 + 7919 * at).collect();
    let mut differences: Vec<u64> = (places.iter())
        .map(|&s| {
            let mut matrix = vec![vec![0; size]; size];
            for &(row, column, order, coefficient) in terms {
                let power = (0..order).fold(coefficient, |power, _| field::product(power, s));
                matrix[row][column] = field::sum(matrix[row][column], power);
            }
            determinant(matrix)
        })
        .collect();
    for level in 1..places.len() {
        for at in (level..places.len()).rev() {
            let above = field::difference(differences[at], differences[at - 1]);
            let below = field::difference(places[at], places[at - level]);
            differences[at] = field::product(above, field::inverse(below));
        }
    }
    differences.iter().rposition(|&difference| difference != 0)
}

fn determinant(mut matrix: Vec<Vec<u64>>) -> u64 {
    let mut product = 1;
    for column in 0..matrix.len() {
        let Some(pivot) = (column..matrix.len()).find(|&row| matrix[row][column] != 0) else {
            return 0;
        };
        if pivot != column {
            matrix.swap(pivot, column);
            product = field::difference(0, product);
        }
        product = field::product(product, matrix[column][column]);
        let inverse = field::inverse(matrix[column][column]);
        let (above, below) = matrix.split_at_mut(column + 1);
        let first = &above[column];
        for row in below.iter_mut().filter(|row| row[column] != 0) {
            let factor = field::product(row[column], inverse);
            for (entry, &other) in row.iter_mut().zip(first).skip(column) {
                if other != 0 {
                    *entry = field::difference(*entry, field::product(factor, other));
                }
            }
        }
    }
    product
}

/// Whole numbers modulo the prime 2**61 - 1.
mod field {
    const PRIME: u64 = (1 << 61) - 1;

    pub fn sum(a: u64, b: u64) -> u64 {
        (a + b) % PRIME
    }

    pub fn difference(a: u64, b: u64) -> u64 {
        (a + (PRIME - b)) % PRIME
    }

    pub fn product(a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
    }

    fn power(base: u64, mut exponent: u64) -> u64 {
        let (mut result, mut square) = (1, base);
        while exponent > 0 {
            if exponent % 2 == 1 {
                result = product(result, square);
            }
            square = product(square, square);
            exponent /= 2;
        }
        result
    }

    /// Of what is not zero (Fermat).
    pub fn inverse(a: u64) -> u64 {
        power(a, PRIME - 2)
    }

    /// A finite number as it is written: digits, and a power of ten.
    pub fn of(number: f64) -> u64 {
        let text = format!("{:e}", number.abs());
        let (digits, exponent) = text.split_once('e').expect("it was asked for");
        let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
        let whole: u64 = digits.replace('.', "").parse().expect("up to 17 digits");
        let exponent: i32 = exponent.parse().expect("it was asked for");
        let shift = exponent - places as i32;
        let ten = if shift < 0 { inverse(10) } else { 10 };
        let size = product(whole % PRIME, power(ten, u64::from(shift.unsigned_abs())));
        if number < 0.0 {
            difference(0, size)
        } else {
            size
        }
    }
}

fn is_unknown(flat: &Flat, id: VarId) -> bool {
    let variable = flat.variable(id);
    variable.kind.is_unknown() && variable.kind != Kind::Discrete
}

/// What an expression is made of.
#[derive(Clone)]
enum Form {
    /// Numbers and parameters: the value, exactly and nearly.
    Constant(u64, f64),
    /// Inputs, Time and discrete variables as well.
    Known,
    /// Unknowns with constant factors, and what is known.
    Linear(Vec<(Leaf, u64)>),
}

impl Form {
    fn terms(self) -> Vec<(Leaf, u64)> {
        match self {
            Form::Constant(..) | Form::Known => Vec::new(),
            Form::Linear(terms) => terms,
        }
    }

    fn scaled(self, factor: u64) -> Form {
        match self {
            Form::Linear(mut terms) => {
                for (_, coefficient) in &mut terms {
                    *coefficient = field::product(*coefficient, factor);
                }
                Form::Linear(terms)
            }
            other => other,
        }
    }
}

/// `None` if it is not linear with constant factors.
fn form(flat: &Flat, id: ExprId) -> Option<Form> {
    let of = |id| form(flat, id);
    let minus = field::difference(0, 1);
    Some(match flat.exprs.node(id) {
        Node::Number(number) => Form::Constant(field::of(number.0), number.0),
        Node::Bool(_) | Node::Time => Form::Known,
        Node::Leaf(leaf) => {
            let variable = flat.variable(leaf.variable());
            let given = flat.value(leaf.variable()).map(|given| given.value);
            match (variable.kind, given) {
                (Kind::Parameter | Kind::Constant, Some(Value::Real(value))) => {
                    Form::Constant(field::of(value), value)
                }
                (Kind::Parameter | Kind::Constant | Kind::Input | Kind::Discrete, _) => Form::Known,
                _ if variable.ty == Type::Boolean => return None,
                _ => Form::Linear(vec![(leaf, 1)]),
            }
        }
        Node::Unary(UnaryOp::Minus, a) => match of(a)? {
            Form::Constant(exact, near) => Form::Constant(field::product(exact, minus), -near),
            other => other.scaled(minus),
        },
        Node::Unary(UnaryOp::Plus, a) => of(a)?,
        Node::Binary(op, a, b) => binary(op, of(a)?, of(b)?)?,
        Node::Unary(UnaryOp::Not, a) => known(flat, &[a])?,
        Node::If(a, b, c) => known(flat, &[a, b, c])?,
        Node::Call(_, args) | Node::List(args) => {
            let found = known(flat, flat.exprs.args(args))?;
            // A function of parameters.
            match walk(flat, id, &parameters(flat), &mut Met::default()) {
                Ok(Value::Real(value)) => Form::Constant(field::of(value), value),
                _ => found,
            }
        }
    })
}

/// Without unknowns.
fn known(flat: &Flat, parts: &[ExprId]) -> Option<Form> {
    let linear = |&id: &ExprId| matches!(form(flat, id), None | Some(Form::Linear(_)));
    (!parts.iter().any(linear)).then_some(Form::Known)
}

fn parameters(flat: &Flat) -> Values {
    let mut values = Values {
        time: f64::NAN,
        ..Values::default()
    };
    for given in &flat.values {
        if flat.variable(given.variable).kind != Kind::Input {
            values.of.insert(Leaf::Var(given.variable), given.value);
        }
    }
    values
}

fn binary(op: BinaryOp, a: Form, b: Form) -> Option<Form> {
    use Form::{Constant, Known, Linear};
    Some(match (op, a, b) {
        (BinaryOp::Add, Constant(a, x), Constant(b, y)) => Constant(field::sum(a, b), x + y),
        (BinaryOp::Sub, Constant(a, x), Constant(b, y)) => Constant(field::difference(a, b), x - y),
        (BinaryOp::Mul, Constant(a, x), Constant(b, y)) => Constant(field::product(a, b), x * y),
        (BinaryOp::Div, Constant(a, x), Constant(b, y)) if b != 0 => {
            Constant(field::product(a, field::inverse(b)), x / y)
        }
        (BinaryOp::Pow, Constant(_, x), Constant(_, y)) => {
            Constant(field::of(x.powf(y)), x.powf(y))
        }
        (_, Constant(..) | Known, Constant(..) | Known) => Known,
        (BinaryOp::Add, a, b) => Linear([a.terms(), b.terms()].concat()),
        (BinaryOp::Sub, a, b) => {
            let minus = field::difference(0, 1);
            Linear([a.terms(), b.scaled(minus).terms()].concat())
        }
        (BinaryOp::Mul, Constant(factor, _), other)
        | (BinaryOp::Mul, other, Constant(factor, _)) => other.scaled(factor),
        (BinaryOp::Div, a, Constant(b, _)) if b != 0 => a.scaled(field::inverse(b)),
        _ => return None,
    })
}

#[test]
fn eigenvalues_are_counted() {
    let count = |body: &str| finite_eigenvalues(&super::flat(&format!("model M\n{body}\nend\n")));
    assert_eq!(count("local x\n der(x) = -x"), Some(1));
    assert_eq!(count("local x\n der2(x) = -x"), Some(2));
    // Two inertias on one shaft; a source on a capacitor; a third derivative of a source.
    assert_eq!(
        count("local a, b, T\n der(a) = T\n 0.1*der(b) = -T\n a = 3*b"),
        Some(1)
    );
    assert_eq!(
        count("input u\n local e, f\n 1E-6*der(e) = f\n e = u"),
        Some(0)
    );
    assert_eq!(
        count("local x, y, z\n der(x) = y\n der(y) = z\n x = sin(Time)"),
        Some(0)
    );
    // One large eigenvalue is one; what cancels is none.
    assert_eq!(count("local x, y\n 1E-9*der(x) = y\n y = x"), Some(1));
    assert_eq!(
        count("local x, y\n der(x) - y = 1\n der(x) + y = 0.1*x"),
        Some(1)
    );
    assert_eq!(
        count("local x, y\n der(x) - 0.3*y = 1\n 3*der(x) - 0.9*y = x"),
        Some(0)
    );
    // Not linear, not constant, no solution.
    assert_eq!(count("local x\n der(x) = -x**2"), None);
    assert_eq!(count("local x\n Time*der(x) = -x"), None);
    assert_eq!(count("local x, y\n der(x) = x + y\n der(x) = x + y"), None);
}
