//! The linear solver of Newton's method, with a check of each new matrix.
//!
//! Before: a matrix I - c J of an implicit step, with the Jacobian J where the step began. After: solutions of linear systems
//! with it, or an error where J does not describe the rates at the distance of the step.
//!
//! diffsol accepts the first iterate of Newton's method if the correction is far below the tolerance. Where a rate has an
//! unbounded slope (a root near zero), J can be larger than any change of the rates by many orders of magnitude. Every
//! correction is then nearly zero, whatever is still missing, and so is the estimate of the error, which the same matrix damps.
//! So the first correction that a matrix gives is tried out: the rates are evaluated behind it, and the next correction must be
//! smaller. If it is not, the iteration counts as failed, which shortens the step until J holds within it.

use std::cell::{Cell, RefCell};

use diffsol::{LaError, Vector};
use diffsol_la::{LinearOp, LinearSolver};

use super::equations::{Equations, Kind};
use super::first::norm;

/// A correction must shrink to this part, or the matrix does not hold. diffsol asks the same of two corrections in a row.
const SHRINKS: f64 = 0.9;
/// An equation is touched by a correction that changes what is missing in it by this part.
const TOUCHED: f64 = 0.1;
/// What is missing in the equations of a step counts as nothing below this part of the tolerance.
const NOTHING: f64 = 0.01;
/// Corrections of so many units in the last place are rounding.
const ROUNDING: f64 = 8.0;

/// A factored matrix, and the equations with which it is checked.
pub(super) struct CheckedLu<'p, 's, M: Kind> {
    lu: M::Lu,
    check: Option<Check<'p, 's, M>>,
}

struct Check<'p, 's, M: Kind> {
    equations: &'p Equations<'s, M>,
    absolute: &'p [f64],
    relative: f64,
    /// The unknown of Newton's method moves the states by this factor: 1, or the diagonal of a Runge-Kutta method.
    inner: f64,
    matrix: RefCell<Option<M>>,
    /// The factor of the rates in the equation that is solved.
    factor: Cell<f64>,
    unchecked: Cell<bool>,
}

impl<M: Kind> Default for CheckedLu<'_, '_, M> {
    fn default() -> Self {
        CheckedLu {
            lu: M::Lu::default(),
            check: None,
        }
    }
}

impl<'p, 's, M: Kind> CheckedLu<'p, 's, M> {
    pub(super) fn new(
        equations: &'p Equations<'s, M>,
        absolute: &'p [f64],
        relative: f64,
        inner: f64,
    ) -> Self {
        CheckedLu {
            lu: M::Lu::default(),
            check: Some(Check {
                equations,
                absolute,
                relative,
                inner,
                matrix: RefCell::new(None),
                factor: Cell::new(0.0),
                unchecked: Cell::new(false),
            }),
        }
    }
}

impl<M: Kind> Check<'_, '_, M> {
    /// Prepares the check of a new matrix. It is I - c J; one entry of J tells c.
    fn begin<C: LinearOp<V = M::V, T = f64, M = M, C = M::C>>(&self, op: &C) {
        let mut slot = self.matrix.borrow_mut();
        let matrix = slot.get_or_insert_with(|| {
            let size = op.nrows();
            M::new_from_sparsity(size, size, op.sparsity(), op.context().clone())
        });
        op.matrix_inplace(matrix);
        let (row, column, largest) = self.equations.largest_slope.get();
        let unit = match row == column {
            true => self.equations.mass_of(row),
            false => 0.0,
        };
        let c = (unit - matrix.entry(row, column)) / largest;
        let known = largest != 0.0 && c.is_finite() && c != 0.0;
        self.factor.set(c / self.inner);
        self.unchecked.set(known);
        self.equations.record.set(known);
    }

    /// Whether the next correction is smaller than this first one. `residuals` are those before it.
    fn holds(&self, lu: &M::Lu, residuals: &[f64], correction: &M::V) -> Result<bool, LaError> {
        let first = M::slice(correction);
        let equations = self.equations;
        let point = equations.recorded.borrow();
        let states: Vec<f64> = (point.states.iter().zip(first))
            .map(|(state, step)| state - self.inner * step)
            .collect();
        let mut rates = vec![0.0; states.len()];
        if !equations.evaluate(point.time, &states, &mut rates) {
            return Ok(false);
        }
        let missing: Vec<f64> = (0..states.len())
            .map(|k| {
                let change = rates[k] - point.rates[k];
                residuals[k] - equations.mass_of(k) * first[k] - self.factor.get() * change
            })
            .collect();
        let norm = |values: &[f64]| norm(values, &states, self.absolute, self.relative);
        // What is missing in an algebraic equation is no distance of a state.
        let differential = equations.differential();
        let apart = norm(&missing[..differential]);
        if apart <= NOTHING && !equations.has_algebraic() {
            return Ok(true);
        }
        // An equation that misses as much as before was not touched by the correction, however small the other ones are now.
        let untouched = (0..differential).any(|k| {
            let weight = self.absolute[k] + self.relative * states[k].abs();
            let (before, now) = (residuals[k], missing[k]);
            now.abs() > weight && (now - before).abs() <= TOUCHED * before.abs()
        });
        let mut second = M::V::from_vec(missing, M::C::default());
        lu.solve_in_place(&mut second)?;
        let second = M::slice(&second);
        let length = norm(second);
        let shrinks = length <= SHRINKS * norm(first) || (apart <= NOTHING && length <= NOTHING);
        if shrinks && !untouched {
            return Ok(true);
        }
        let rounding =
            |(step, state): (&f64, &f64)| step.abs() <= ROUNDING * f64::EPSILON * state.abs();
        Ok(second.iter().zip(&states).all(rounding))
    }
}

impl<M: Kind> LinearSolver<M> for CheckedLu<'_, '_, M> {
    fn set_linearisation<C: LinearOp<V = M::V, T = f64, M = M, C = M::C>>(&mut self, op: &C) {
        self.lu.set_linearisation(op);
        if let Some(check) = &self.check {
            check.begin(op);
        }
    }

    fn set_sparsity<C: LinearOp<V = M::V, T = f64, M = M, C = M::C>>(&mut self, op: &C) {
        self.lu.set_sparsity(op);
    }

    fn solve_in_place(&self, b: &mut M::V) -> Result<(), LaError> {
        // Only where the right side was just made from rates is it that of Newton's method, and not an estimate of the error.
        let Some(check) = &self.check else {
            return self.lu.solve_in_place(b);
        };
        if !check.unchecked.get() || !check.equations.has_recorded.take() {
            return self.lu.solve_in_place(b);
        }
        check.unchecked.set(false);
        check.equations.record.set(false);
        let residuals = M::slice(b).to_vec();
        self.lu.solve_in_place(b)?;
        match check.holds(&self.lu, &residuals, b)? {
            true => Ok(()),
            false => Err(LaError::Other("the matrix does not hold".to_string())),
        }
    }

    fn solve_transpose_in_place(&self, b: &mut M::V) -> Result<(), LaError> {
        self.lu.solve_transpose_in_place(b)
    }
}
