//! A torn loop with its derivatives, for evaluation at any guess.
//!
//! Columns are the iteration variables, then the inner variables; rows are the inner assignments, then the residuals. The
//! expressions are copied into an arena of the loop, in which their derivatives are made.

use rustc_hash::FxHashMap;

use super::Point;
use super::linear::Singular;
use super::newton_matrix::{NewtonMatrix, Slopes};
use super::point::leaves;
use super::walk::{Errors, Known, Rounded, Walk};
use crate::expr::{Arena, ExprId, Node, Value};
use crate::flat::{Flat, Leaf};
use crate::numeric::zero::rounding;
use crate::passes::blocks::Nonlinear;

/// Values of all variables and residuals at one guess of the iteration variables.
#[derive(Clone, Debug)]
pub struct LoopState {
    /// By column.
    pub values: Vec<f64>,
    /// Bounds on the rounding errors of these values; those of iteration variables are zero unless they are given.
    errors: Vec<f64>,
    pub residuals: Vec<f64>,
    /// Bounds on the rounding errors of the residuals.
    pub noise: Vec<f64>,
}

/// Why there are no values at a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadGuess {
    /// The divisor of this inner assignment is zero.
    Divisor(usize),
    /// The value of this inner assignment is not finite.
    Inner(usize),
    /// The value of this residual is not finite.
    Residual(usize),
}

#[derive(Debug)]
struct LoopRow {
    value: ExprId,
    guard: Option<ExprId>,
    /// Derivatives, by column.
    slopes: Vec<(u32, ExprId)>,
}

#[derive(Debug)]
pub struct TornLoop<'s> {
    block: &'s Nonlinear,
    point: &'s Point,
    exprs: Arena<Leaf>,
    columns: FxHashMap<Leaf, u32>,
    inner: Vec<LoopRow>,
    residuals: Vec<LoopRow>,
    /// Subtracted from each residual while a homotopy is followed.
    shift: Vec<f64>,
    walk: Walk,
}

impl<'s> TornLoop<'s> {
    pub fn new(flat: &Flat, block: &'s Nonlinear, point: &'s Point) -> Self {
        Self::with_truths(flat, block, point, &[])
    }

    /// The loop where some relations have these truths, whatever their sides are.
    pub fn with_truths(
        flat: &Flat,
        block: &'s Nonlinear,
        point: &'s Point,
        truths: &[(ExprId, Value)],
    ) -> Self {
        let targets = block.inner.iter().map(|inner| inner.target);
        let all = block.iteration.iter().copied().chain(targets);
        let mut torn_loop = TornLoop {
            block,
            point,
            exprs: Arena::default(),
            columns: all.zip(0..).collect(),
            inner: Vec::with_capacity(block.inner.len()),
            residuals: Vec::with_capacity(block.residuals.len()),
            shift: Vec::new(),
            walk: Walk::default(),
        };
        let mut copies = FxHashMap::default();
        for &(id, held) in truths {
            let held = match held {
                Value::Bool(truth) => torn_loop.exprs.bool(truth),
                Value::Real(number) => torn_loop.exprs.number(number),
            };
            copies.insert(id, held);
        }
        for inner in &block.inner {
            let row = torn_loop.row(flat, inner.value, inner.guard, &mut copies);
            torn_loop.inner.push(row);
        }
        for residual in &block.residuals {
            let row = torn_loop.row(flat, residual.value, None, &mut copies);
            torn_loop.residuals.push(row);
        }
        torn_loop
    }

    fn row(
        &mut self,
        flat: &Flat,
        value: ExprId,
        guard: Option<ExprId>,
        copies: &mut FxHashMap<ExprId, ExprId>,
    ) -> LoopRow {
        let value = copy(&flat.exprs, value, &mut self.exprs, copies);
        let guard = guard.map(|guard| copy(&flat.exprs, guard, &mut self.exprs, copies));
        let mut slopes = Vec::new();
        for leaf in leaves(&self.exprs, value) {
            if let Some(&column) = self.columns.get(&leaf)
                && let Some(slope) = self.exprs.partial(value, leaf)
            {
                slopes.push((column, slope));
            }
        }
        LoopRow {
            value,
            guard,
            slopes,
        }
    }

    /// Iteration variables, then inner ones.
    pub fn leaves(&self) -> impl Iterator<Item = Leaf> + use<'s> {
        let targets = self.block.inner.iter().map(|inner| inner.target);
        self.block.iteration.iter().copied().chain(targets)
    }

    /// The value and the error of an expression, from the values so far; `None` if it is not finite.
    fn number(
        &mut self,
        root: ExprId,
        values: &[f64],
        errors: &[f64],
        bound: Errors,
    ) -> Option<(f64, f64)> {
        let Point { time, .. } = *self.point;
        let leaf = |leaf: Leaf| match self.columns.get(&leaf) {
            Some(&column) => Some(Rounded {
                value: Value::Real(*values.get(column as usize)?),
                error: errors[column as usize],
            }),
            None => self.point.get(leaf).map(Rounded::exact),
        };
        let known = Known { time, leaf: &leaf };
        let found = self.walk.value(&self.exprs, root, &known, bound).ok()?;
        let value = found.value.real().filter(|value| value.is_finite())?;
        Some((value, found.error))
    }

    /// Inner values and residuals at a guess.
    pub fn run(&mut self, guess: &[f64]) -> Result<LoopState, BadGuess> {
        self.run_with(guess, vec![0.0; guess.len()])
    }

    /// Subtracts a part of these values from the residuals in all later evaluations.
    pub fn shift(&mut self, whole: &[f64], part: f64) {
        self.shift = whole.iter().map(|residual| part * residual).collect();
    }

    pub fn guessed(&self) -> usize {
        self.block.iteration.len()
    }

    /// Bounds on the residuals if the iteration variables have these errors.
    pub fn slack(&mut self, state: &LoopState, errors: Vec<f64>) -> Option<Vec<f64>> {
        let guess = &state.values[..self.guessed()];
        let moved = self.run_with(guess, errors).ok()?;
        Some(moved.noise)
    }

    fn run_with(&mut self, guess: &[f64], mut errors: Vec<f64>) -> Result<LoopState, BadGuess> {
        let mut values = guess.to_vec();
        for at in 0..self.inner.len() {
            if let Some(guard) = self.inner[at].guard
                && let Some((0.0, _)) = self.number(guard, &values, &errors, Errors::Ignore)
            {
                return Err(BadGuess::Divisor(at));
            }
            let value = self.inner[at].value;
            let found = self.number(value, &values, &errors, Errors::Bound);
            let (value, error) = found.ok_or(BadGuess::Inner(at))?;
            values.push(value);
            errors.push(error);
        }
        let (mut residuals, mut noise) = (Vec::new(), Vec::new());
        for at in 0..self.residuals.len() {
            let value = self.residuals[at].value;
            let found = self.number(value, &values, &errors, Errors::Bound);
            let (value, error) = found.ok_or(BadGuess::Residual(at))?;
            let shift = self.shift.get(at).copied().unwrap_or(0.0);
            residuals.push(value - shift);
            noise.push(error + rounding(shift));
        }
        Ok(LoopState {
            values,
            errors,
            residuals,
            noise,
        })
    }

    /// The matrix at a state.
    pub fn matrix(&mut self, state: &LoopState) -> Result<NewtonMatrix, Singular> {
        let rows = self.slopes_at(state)?;
        let (inner, residuals) = rows.split_at(self.inner.len());
        NewtonMatrix::new(self.guessed(), inner, residuals)
    }

    /// The slopes of all rows at a state; an error if one is not finite.
    pub fn slopes_at(&mut self, state: &LoopState) -> Result<Vec<Slopes>, Singular> {
        let inner = self.inner.len();
        let mut rows: Vec<Slopes> = Vec::with_capacity(inner + self.residuals.len());
        for row in 0..inner + self.residuals.len() {
            let mut slopes = Vec::new();
            for at in 0..self.slopes(row).len() {
                let (column, slope) = self.slopes(row)[at];
                let value = self.number(slope, &state.values, &state.errors, Errors::Ignore);
                let (value, _) = value.ok_or(Singular {
                    row: Some(row as u32),
                    column: Some(column),
                    pivot: 0.0,
                })?;
                slopes.push((column, value));
            }
            rows.push(slopes);
        }
        Ok(rows)
    }

    fn slopes(&self, row: usize) -> &[(u32, ExprId)] {
        match row.checked_sub(self.inner.len()) {
            None => &self.inner[row].slopes,
            Some(at) => &self.residuals[at].slopes,
        }
    }
}

/// Copies an expression into another arena, shared nodes once.
fn copy(
    from: &Arena<Leaf>,
    root: ExprId,
    to: &mut Arena<Leaf>,
    copies: &mut FxHashMap<ExprId, ExprId>,
) -> ExprId {
    // Operands come before their users: ascending ids are an order to copy in.
    let mut wanted = Vec::new();
    let mut work = vec![root];
    while let Some(id) = work.pop() {
        if copies.contains_key(&id) {
            continue;
        }
        // A preliminary entry, so that the expression is visited once.
        copies.insert(id, id);
        wanted.push(id);
        match from.node(id) {
            Node::Number(_) | Node::Bool(_) | Node::Time | Node::Leaf(_) => {}
            Node::Unary(_, a) => work.push(a),
            Node::Binary(_, a, b) => work.extend([a, b]),
            Node::If(a, b, c) => work.extend([a, b, c]),
            Node::Call(_, args) | Node::List(args) => work.extend(from.args(args)),
        }
    }
    wanted.sort_unstable();
    for id in wanted {
        let of = |id: ExprId| copies.get(&id).copied().unwrap_or(id);
        let list = |args| {
            from.args(args)
                .iter()
                .map(|&arg| of(arg))
                .collect::<Vec<_>>()
        };
        let new = match from.node(id) {
            Node::Number(value) => to.number(value.0),
            Node::Bool(value) => to.bool(value),
            Node::Time => to.time(),
            Node::Leaf(leaf) => to.leaf(leaf),
            Node::Unary(op, a) => to.unary(op, of(a)),
            Node::Binary(op, a, b) => to.binary(op, of(a), of(b)),
            Node::If(a, b, c) => to.if_else(of(a), of(b), of(c)),
            Node::Call(function, args) => to.call(function, &list(args)),
            Node::List(args) => to.list(&list(args)),
        };
        copies.insert(id, new);
    }
    copies.get(&root).copied().unwrap_or(root)
}
