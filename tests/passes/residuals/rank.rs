//! Whether a model has no unique solution at a point, found from its flat equations alone: the rank of
//! the Jacobian, by differences, of the equations and of as many derivatives of them as the solved
//! model needs. A case that is skipped should be one of these.

use bgm::expr::Value;
use bgm::flat::{Equation, EquationKind, Flat, Kind, Leaf, Type, VarId};
use nalgebra::{DMatrix, DVector};

use super::derivatives::{leaves, real_equations, residual};
use super::point::known;
use crate::support::oracle::{Met, Values, walk};
use crate::support::random::Random;

/// A pivot smaller than this is none.
const ZERO: f64 = 1e-9;

/// Singular wherever it is looked at (one place is enough where the model is linear). The states are
/// those of `reduced`, the model as it was solved.
pub fn is_singular(flat: &Flat, reduced: &Flat, seed: u64) -> bool {
    let mut array = Array::new(flat, reduced, seed);
    let mut random = Random::new(seed);
    (0..3).all(|_| {
        array.start(&mut random, 1.0);
        is_open(&array.matrix(), array.unknowns.wanted.len())
    })
}

/// Whether the equations determine how the model goes on, whatever its states: with s**k for the k-th
/// derivative, the matrix of the variables is regular at some s, wherever it is looked at.
pub fn is_regular(flat: &Flat, seed: u64) -> bool {
    let mut random = Random::new(seed);
    (0..3).all(|_| {
        let mut array = Array::new(flat, flat, random.next());
        array.start(&mut random, 1.0);
        let mut columns: Vec<VarId> = Vec::new();
        for leaf in array.columns() {
            if !columns.contains(&leaf.variable()) {
                columns.push(leaf.variable());
            }
        }
        let orders = (columns.iter()).flat_map(|&id| {
            (0..=flat.variable(id).order).map(move |order| Leaf::at_order(id, order))
        });
        // States are unknowns as well.
        array.unknowns.wanted = orders.collect();
        let (all, s) = (array.matrix(), random.real(1.0, 2.0));
        let mut matrix = DMatrix::zeros(all.nrows(), columns.len());
        for (at, leaf) in array.unknowns.wanted.iter().enumerate() {
            let column = columns.iter().position(|&id| id == leaf.variable());
            let power = s.powi(leaf.order().unwrap_or(0).into());
            let mut column = matrix.column_mut(column.expect("it is there"));
            column += all.column(at) * power;
        }
        matrix.is_square() && !is_open(&matrix, columns.len())
    })
}

/// No solution, as far as one can find out: from several starts, equations and derivatives are brought
/// nearer to zero by steps of least squares (Levenberg and Marquardt), and always end elsewhere.
pub fn has_no_solution(flat: &Flat, reduced: &Flat, seed: u64) -> bool {
    let mut array = Array::new(flat, reduced, seed);
    let mut random = Random::new(seed);
    (1..=6).all(|start| {
        array.start(&mut random, f64::from(start));
        !reaches_zero(&mut array)
    })
}

fn reaches_zero(array: &mut Array<'_>) -> bool {
    let mut damping = 1e-3;
    let mut residuals = array.residuals();
    for _ in 0..40 {
        if residuals.amax() < 1e-8 {
            return true;
        }
        let matrix = array.matrix();
        let square = matrix.transpose() * &matrix;
        let slope = matrix.transpose() * &residuals;
        let before: Vec<f64> = array.values();
        let mut better = false;
        while damping < 1e6 && !better {
            let mut damped = square.clone();
            damped.fill_diagonal(0.0);
            damped.set_diagonal(&square.diagonal().add_scalar(damping));
            let Some(step) = damped.cholesky().map(|factor| factor.solve(&slope)) else {
                damping *= 10.0;
                continue;
            };
            let next: Vec<f64> = before
                .iter()
                .zip(&step)
                .map(|(value, step)| value - step)
                .collect();
            array.set(&next);
            let after = array.residuals();
            // What hardly gets smaller has come to where it ends.
            better = after.norm() < 0.999 * residuals.norm();
            match better {
                true => (residuals, damping) = (after, (damping / 10.0).max(1e-14)),
                false => damping *= 10.0,
            }
        }
        if !better {
            array.set(&before);
            return false;
        }
    }
    false
}

/// The equations and derivatives of them, at values of the unknowns.
struct Array<'f> {
    flat: &'f Flat,
    unknowns: Unknowns,
    values: Values,
    equations: Vec<(&'f Equation, Vec<Leaf>)>,
}

impl<'f> Array<'f> {
    fn new(flat: &'f Flat, reduced: &Flat, seed: u64) -> Self {
        let mut values = known(flat, reduced, seed);
        settle_booleans(flat, &mut values);
        Array {
            flat,
            unknowns: Unknowns::new(flat, reduced, &values),
            values,
            equations: (real_equations(flat))
                .map(|equation| (equation, leaves(flat, equation)))
                .collect(),
        }
    }

    fn columns(&self) -> Vec<Leaf> {
        [&self.unknowns.wanted[..], &self.unknowns.beyond].concat()
    }

    fn start(&mut self, random: &mut Random, size: f64) {
        for leaf in self.columns() {
            let value = Value::Real(random.real(-size, size));
            self.values.of.insert(leaf, value);
        }
    }

    fn values(&self) -> Vec<f64> {
        let columns = self.columns().into_iter();
        let value = |leaf| self.values.of[&leaf].real().unwrap_or(0.0);
        columns.map(value).collect()
    }

    fn set(&mut self, values: &[f64]) {
        for (leaf, &value) in self.columns().into_iter().zip(values) {
            self.values.of.insert(leaf, Value::Real(value));
        }
    }

    fn rows(&self) -> usize {
        usize::from(self.unknowns.times) + 1
    }

    /// One that has no value counts as far away.
    fn residuals(&self) -> DVector<f64> {
        const FAR: f64 = 1e6;
        let rows = self.rows();
        DVector::from_fn(rows * self.equations.len(), |at, _| {
            let equation = self.equations[at / rows].0;
            residual(self.flat, equation, &self.values, at % rows).map_or(FAR, |found| found.0)
        })
    }

    /// By central differences.
    fn matrix(&mut self) -> DMatrix<f64> {
        const STEP: f64 = 1e-4;
        let (rows, columns) = (self.rows(), self.columns());
        let mut matrix = DMatrix::zeros(rows * self.equations.len(), columns.len());
        for (at, (equation, inside)) in self.equations.iter().enumerate() {
            for (column, &leaf) in columns.iter().enumerate() {
                let same = |other: &Leaf| other.variable() == leaf.variable();
                if !inside.iter().any(same) {
                    continue;
                }
                let middle = self.values.of[&leaf].real().unwrap_or(0.0);
                for times in 0..rows {
                    let mut off = |value: f64| {
                        self.values.of.insert(leaf, Value::Real(value));
                        residual(self.flat, equation, &self.values, times)
                    };
                    let (above, below) = (off(middle + STEP), off(middle - STEP));
                    if let (Ok((above, _)), Ok((below, _))) = (above, below) {
                        matrix[(at * rows + times, column)] = (above - below) / (2.0 * STEP);
                    }
                }
                self.values.of.insert(leaf, Value::Real(middle));
            }
        }
        matrix
    }
}

struct Unknowns {
    /// How often the equations are differentiated.
    times: u8,
    /// What the model has to determine.
    wanted: Vec<Leaf>,
    /// Higher derivatives, which may stay open.
    beyond: Vec<Leaf>,
}

impl Unknowns {
    fn new(flat: &Flat, reduced: &Flat, values: &Values) -> Self {
        let order = |flat: &Flat, id| flat.variable(id).order;
        let ids = || (flat.variable_ids()).filter(|&id| flat.variable(id).ty == Type::Real);
        let raised = ids().map(|id| order(reduced, id) - order(flat, id));
        let mut found = Unknowns {
            times: raised.max().unwrap_or(0),
            wanted: Vec::new(),
            beyond: Vec::new(),
        };
        for id in ids() {
            let own = match flat.variable(id).kind {
                Kind::Algebraic | Kind::Output | Kind::State => order(reduced, id),
                Kind::Input => 0,
                _ => continue,
            };
            let highest = own.max(order(flat, id) + found.times);
            for order in 0..=highest {
                let leaf = Leaf::at_order(id, order);
                match order <= own {
                    _ if values.of.contains_key(&leaf) => {}
                    true => found.wanted.push(leaf),
                    false => found.beyond.push(leaf),
                }
            }
        }
        found
    }
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
            | EquationKind::Constraint
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

/// Whether the first columns, those of what is wanted, have less than full rank once the others are
/// eliminated. Rows are of the same size first, and the largest entry is the pivot.
fn is_open(matrix: &DMatrix<f64>, wanted: usize) -> bool {
    let mut rows: Vec<Vec<f64>> = (matrix.row_iter())
        .map(|row| {
            let largest = row.amax();
            let scale = if largest > 0.0 { 1.0 / largest } else { 1.0 };
            row.iter().map(|entry| entry * scale).collect()
        })
        .collect();
    let mut first = 0;
    for column in (wanted..matrix.ncols()).chain(0..wanted) {
        let size = |row: &usize| rows[*row][column].abs();
        let pivot = (first..rows.len()).max_by(|a, b| size(a).total_cmp(&size(b)));
        let Some(pivot) = pivot.filter(|pivot| size(pivot) > ZERO) else {
            if column < wanted {
                return true;
            }
            continue;
        };
        rows.swap(first, pivot);
        let (above, below) = rows.split_at_mut(first + 1);
        let above = &above[first];
        for row in below.iter_mut().filter(|row| row[column] != 0.0) {
            let factor = row[column] / above[column];
            for (entry, other) in row.iter_mut().zip(above) {
                *entry -= factor * other;
            }
            row[column] = 0.0;
        }
        first += 1;
    }
    false
}
