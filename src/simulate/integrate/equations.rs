//! An adapter from a system to diffsol.
//!
//! Before: rates and Jacobian entries over slices. After: diffsol's operators over its vectors and matrices. The entries of a
//! sparse Jacobian are written directly into the matrix, in the order of the pattern; an evaluation allocates nothing.

use std::cell::{Cell, RefCell};

use diffsol::{
    ConstantOp, DefaultDenseMatrix, FaerSparseLU, FaerSparseMat, FaerVec, LinearOp, Matrix,
    MatrixCommon, NalgebraLU, NalgebraMat, NalgebraVec, NonLinearOp, NonLinearOpJacobian,
    OdeEquations, OdeEquationsRef, Op, UnitCallable, Vector, VectorCommon,
};
use sprs::prod::mul_acc_mat_vec_csc;

use super::System;
use crate::numeric::{Pattern, for_faer};

/// A kind of matrix, with its vectors as slices.
pub(super) trait Kind: Matrix<T = f64, V: DefaultDenseMatrix<T = f64, C = Self::C>> {
    type Lu: diffsol_la::LinearSolver<Self>;
    fn slice(vector: &Self::V) -> &[f64];
    fn slice_mut(vector: &mut Self::V) -> &mut [f64];
    fn sparsity_of(pattern: &Pattern) -> Option<Self::Sparsity>;
    /// Calls `entries` with a slice to write to, in the order of the pattern, and copies the slice into the matrix.
    fn fill(&mut self, pattern: &Pattern, scratch: &mut [f64], entries: impl FnOnce(&mut [f64]));
    /// The length of the scratch slice for `fill`.
    fn scratch(pattern: &Pattern) -> usize;
    /// An entry; zero outside the pattern.
    fn entry(&self, row: usize, column: usize) -> f64;
}

impl Kind for FaerSparseMat<f64> {
    type Lu = FaerSparseLU<f64>;

    fn slice(vector: &FaerVec<f64>) -> &[f64] {
        vector.inner().col_as_slice(0)
    }

    fn slice_mut(vector: &mut FaerVec<f64>) -> &mut [f64] {
        vector.inner_mut().col_as_slice_mut(0)
    }

    fn sparsity_of(pattern: &Pattern) -> Option<Self::Sparsity> {
        Some(for_faer(pattern.view()))
    }

    fn fill(&mut self, _: &Pattern, _: &mut [f64], entries: impl FnOnce(&mut [f64])) {
        entries(self.inner_mut()[0].val_mut());
    }

    fn scratch(_: &Pattern) -> usize {
        0
    }

    fn entry(&self, row: usize, column: usize) -> f64 {
        self.inner()[0].get(row, column).copied().unwrap_or(0.0)
    }
}

impl Kind for NalgebraMat<f64> {
    type Lu = NalgebraLU<f64>;

    fn slice(vector: &NalgebraVec<f64>) -> &[f64] {
        vector.inner().as_slice()
    }

    fn slice_mut(vector: &mut NalgebraVec<f64>) -> &mut [f64] {
        vector.inner_mut().as_mut_slice()
    }

    fn sparsity_of(_: &Pattern) -> Option<Self::Sparsity> {
        None
    }

    fn fill(&mut self, pattern: &Pattern, scratch: &mut [f64], entries: impl FnOnce(&mut [f64])) {
        entries(scratch);
        let values = self.inner_mut().as_mut_slice();
        values.fill(0.0);
        for (&entry, (_, (row, column))) in scratch.iter().zip(pattern) {
            values[column * pattern.rows() + row] = entry;
        }
    }

    fn scratch(pattern: &Pattern) -> usize {
        pattern.nnz()
    }

    fn entry(&self, row: usize, column: usize) -> f64 {
        self.inner()[(row, column)]
    }
}

/// Where rates were evaluated, and the rates.
#[derive(Default)]
pub(super) struct Evaluated {
    pub(super) time: f64,
    pub(super) states: Vec<f64>,
    pub(super) rates: Vec<f64>,
}

/// The matrix M of M x' = f(t, x): ones for the differential equations, then zeros for the algebraic ones.
pub(super) struct Mass<M: Kind> {
    size: usize,
    differential: usize,
    context: M::C,
}

impl<M: Kind> Op for Mass<M> {
    type T = f64;
    type V = M::V;
    type M = M;
    type C = M::C;

    fn context(&self) -> &Self::C {
        &self.context
    }

    fn nstates(&self) -> usize {
        self.size
    }

    fn nout(&self) -> usize {
        self.size
    }

    fn nparams(&self) -> usize {
        0
    }
}

impl<M: Kind> LinearOp for Mass<M> {
    fn gemv_inplace(&self, x: &M::V, _t: f64, beta: f64, y: &mut M::V) {
        let x = M::slice(x);
        for (k, y) in M::slice_mut(y).iter_mut().enumerate() {
            let own = if k < self.differential { x[k] } else { 0.0 };
            *y = own + beta * *y;
        }
    }

    fn matrix_inplace(&self, _t: f64, y: &mut M) {
        let diagonal = self.pattern();
        let mut scratch = vec![0.0; M::scratch(&diagonal)];
        y.fill(&diagonal, &mut scratch, |entries| {
            entries.fill(0.0);
            entries[..self.differential].fill(1.0);
        });
    }

    fn sparsity(&self) -> Option<M::Sparsity> {
        M::sparsity_of(&self.pattern())
    }
}

impl<M: Kind> Mass<M> {
    fn pattern(&self) -> Pattern {
        let size = self.size;
        Pattern::new_csc(
            (size, size),
            (0..=size).collect(),
            (0..size).collect(),
            vec![(); size],
        )
    }
}

/// The equations x' = f(t, x) of a system.
pub(super) struct Equations<'s, M: Kind> {
    pub(super) system: &'s dyn System,
    context: M::C,
    /// The states at the start.
    initial: Vec<f64>,
    scratch: RefCell<Vec<f64>>,
    pub(super) rates: Cell<u64>,
    pub(super) jacobians: Cell<u64>,
    /// The last rate that was not finite at finite states.
    pub(super) not_finite: Cell<Option<usize>>,
    /// The entry of the last Jacobian that is largest: row, column, value.
    pub(super) largest_slope: Cell<(usize, usize, f64)>,
    /// Whether Newton's method is to leave its evaluations in `recorded`, and whether it has left one.
    pub(super) record: Cell<bool>,
    pub(super) has_recorded: Cell<bool>,
    pub(super) recorded: RefCell<Evaluated>,
    /// Only where there are algebraic equations.
    mass: Option<Mass<M>>,
}

impl<'s, M: Kind> Equations<'s, M> {
    pub(super) fn new(system: &'s dyn System, initial: &[f64]) -> Self {
        let scratch = M::scratch(system.pattern());
        Equations {
            system,
            context: M::C::default(),
            initial: initial.to_vec(),
            scratch: RefCell::new(vec![0.0; scratch]),
            rates: Cell::new(0),
            jacobians: Cell::new(0),
            not_finite: Cell::new(None),
            largest_slope: Cell::new((0, 0, 0.0)),
            record: Cell::new(false),
            has_recorded: Cell::new(false),
            recorded: RefCell::default(),
            mass: (system.algebraic() > 0).then(|| Mass {
                size: system.size(),
                differential: system.size() - system.algebraic(),
                context: M::C::default(),
            }),
        }
    }

    /// The coefficient of the derivative of a state in its own equation.
    pub(super) fn mass_of(&self, state: usize) -> f64 {
        match &self.mass {
            Some(mass) if state >= mass.differential => 0.0,
            _ => 1.0,
        }
    }

    pub(super) fn has_algebraic(&self) -> bool {
        self.mass.is_some()
    }

    /// So many equations are differential.
    pub(super) fn differential(&self) -> usize {
        self.system.size() - self.system.algebraic()
    }

    /// Evaluates the rates into a slice. False, and `not_finite` set, if one is not finite.
    pub(super) fn evaluate(&self, time: f64, states: &[f64], rates: &mut [f64]) -> bool {
        self.rates.set(self.rates.get() + 1);
        self.system.rates(time, states, rates);
        // Each product is zero if its rate is finite, and NaN otherwise.
        let sum: f64 = rates.iter().map(|rate| rate * 0.0).sum();
        let not_finite = match sum == 0.0 {
            true => None,
            false => rates.iter().position(|rate| !rate.is_finite()),
        };
        // States that are not finite come from an earlier rate that was not finite, which is stored already.
        if not_finite.is_some() && states.iter().all(|state| state.is_finite()) {
            self.not_finite.set(not_finite);
        }
        not_finite.is_none()
    }
}

impl<M: Kind> Op for Equations<'_, M> {
    type T = f64;
    type V = M::V;
    type M = M;
    type C = M::C;

    fn context(&self) -> &Self::C {
        &self.context
    }

    fn nstates(&self) -> usize {
        self.system.size()
    }

    fn nout(&self) -> usize {
        self.system.size()
    }

    fn nparams(&self) -> usize {
        0
    }
}

impl<M: Kind> NonLinearOp for Equations<'_, M> {
    fn call_inplace(&self, x: &M::V, t: f64, y: &mut M::V) {
        // A rate that cannot be computed is NaN: Newton's method fails, and the step is shortened.
        self.evaluate(t, M::slice(x), M::slice_mut(y));
        if self.record.get() {
            let mut recorded = self.recorded.borrow_mut();
            recorded.time = t;
            recorded.states.clear();
            recorded.states.extend_from_slice(M::slice(x));
            recorded.rates.clear();
            recorded.rates.extend_from_slice(M::slice(y));
            self.has_recorded.set(true);
        }
    }
}

impl<M: Kind> NonLinearOpJacobian for Equations<'_, M> {
    /// diffsol needs this product only for derivatives with respect to parameters, which are not used here.
    fn jac_mul_inplace(&self, x: &M::V, t: f64, v: &M::V, y: &mut M::V) {
        let pattern = self.system.pattern();
        let mut jacobian = pattern.map(|()| 0.0);
        (self.system).jacobian(t, M::slice(x), jacobian.data_mut());
        let y = M::slice_mut(y);
        y.fill(0.0);
        mul_acc_mat_vec_csc(jacobian.view(), M::slice(v), y);
    }

    fn jacobian_inplace(&self, x: &M::V, t: f64, y: &mut M) {
        self.jacobians.set(self.jacobians.get() + 1);
        let mut scratch = self.scratch.borrow_mut();
        let pattern = self.system.pattern();
        y.fill(pattern, &mut scratch, |entries| {
            self.system.jacobian(t, M::slice(x), entries);
            // After one infinite Jacobian the sparse BDF method failed in all later steps, even with finite Jacobians. A wrong
            // but finite matrix does no harm: the convergence of Newton's method is checked.
            let mut largest = (0, 0, 0.0_f64);
            for (entry, (_, (row, column))) in entries.iter_mut().zip(pattern) {
                if !entry.is_finite() {
                    *entry = 0.0;
                }
                if entry.abs() > largest.2.abs() {
                    largest = (row, column, *entry);
                }
            }
            self.largest_slope.set(largest);
        });
    }

    fn jacobian_sparsity(&self) -> Option<M::Sparsity> {
        M::sparsity_of(self.system.pattern())
    }
}

impl<M: Kind> ConstantOp for Equations<'_, M> {
    fn call_inplace(&self, _t: f64, y: &mut M::V) {
        M::slice_mut(y).copy_from_slice(&self.initial);
    }
}

impl<'a, M: Kind> OdeEquationsRef<'a> for Equations<'_, M> {
    type Mass = &'a Mass<M>;
    type Rhs = &'a Self;
    type Root = UnitCallable<M>;
    type Init = &'a Self;
    type Out = UnitCallable<M>;
    type Reset = UnitCallable<M>;
}

impl<M: Kind> OdeEquations for Equations<'_, M> {
    fn rhs(&self) -> &Self {
        self
    }

    fn mass(&self) -> Option<&Mass<M>> {
        self.mass.as_ref()
    }

    fn init(&self) -> &Self {
        self
    }

    fn set_params(&mut self, _p: &M::V) {}

    fn get_params(&self, _p: &mut M::V) {}
}
