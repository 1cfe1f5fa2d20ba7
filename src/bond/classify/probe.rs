//! Tests numerically whether an element conserves power: what goes in at some ports comes out at
//! others.
//!
//! Before: the equations of an element and what it gives at its ports. After: whether the sum of
//! its powers vanished at several points that satisfy the equations, if such points were found.
//! They are found by Newton's method from arbitrary inputs, with parameters at their values and
//! signals at arbitrary values. So the form in which the equations were written does not matter.

use nalgebra::{DMatrix, DVector};
use rustc_hash::FxHashMap;

use super::system::{CausalForm, Port, System};
use crate::evaluate::walk::{Errors, Known, Rounded, Walk};
use crate::expr::Value;
use crate::flat::{Flat, Leaf, Type, VarId};

/// The number of points that are tested.
const POINTS: u64 = 3;
const STEPS: usize = 60;

/// The power that goes in at a port: products of across and through variables, with signs.
pub type Powers = Vec<(VarId, VarId, f64)>;

/// Whether the powers at all ports sum to zero, at several random points. `None` if the equations cannot be evaluated there, or if
/// no power flows.
pub fn keeps_power(
    flat: &Flat,
    system: &System,
    ports: &[Port],
    powers: &[Powers],
    gives_across: &[bool],
    causal_form: CausalForm,
    walk: &mut Walk,
) -> Option<bool> {
    let assigned = system.solve(ports, gives_across, causal_form)?;
    let targets: Vec<Leaf> = assigned.iter().map(|&(_, leaf)| leaf).collect();
    for seed in 1..=POINTS {
        let values = solution(flat, system, &targets, seed, walk)?;
        let (mut sum, mut size) = (0.0, 0.0);
        for &(across, through, sign) in powers.iter().flatten() {
            let power = value(flat, &values, Leaf::Var(across), seed)
                * value(flat, &values, Leaf::Var(through), seed)
                * sign;
            sum += power;
            size += power.abs();
        }
        if size <= 1e-9 {
            return None;
        }
        if f64::abs(sum) > 1e-7 * size {
            return Some(false);
        }
    }
    Some(true)
}

/// Returns values that satisfy the equations, from an arbitrary starting point.
fn solution(
    flat: &Flat,
    system: &System,
    targets: &[Leaf],
    seed: u64,
    walk: &mut Walk,
) -> Option<FxHashMap<Leaf, f64>> {
    let size = targets.len();
    let mut values: FxHashMap<Leaf, f64> = (targets.iter())
        .map(|&leaf| (leaf, arbitrary(leaf.variable(), seed)))
        .collect();
    for _ in 0..STEPS {
        let residual = residuals(flat, system, &values, seed, walk)?;
        let norm = residual.iter().fold(0.0, |most: f64, r| most.max(r.abs()));
        if norm < 1e-11 {
            return Some(values);
        }
        let mut jacobian = DMatrix::zeros(size, size);
        for (column, leaf) in targets.iter().enumerate() {
            let at = values[leaf];
            let step = 1e-6 * at.abs().max(1e-3);
            values.insert(*leaf, at + step);
            let moved = residuals(flat, system, &values, seed, walk)?;
            values.insert(*leaf, at);
            for row in 0..size {
                jacobian[(row, column)] = (moved[row] - residual[row]) / step;
            }
        }
        let change = jacobian.lu().solve(&DVector::from_vec(residual))?;
        for (at, leaf) in targets.iter().enumerate() {
            let value = values.get_mut(leaf)?;
            *value -= change[at];
        }
        let most = change.iter().fold(0.0, |most: f64, c| most.max(c.abs()));
        let largest = values.values().fold(0.0, |most: f64, v| most.max(v.abs()));
        if most <= 1e-13 * largest {
            return Some(values);
        }
    }
    None
}

fn residuals(
    flat: &Flat,
    system: &System,
    values: &FxHashMap<Leaf, f64>,
    seed: u64,
    walk: &mut Walk,
) -> Option<Vec<f64>> {
    let leaf = |leaf: Leaf| {
        Some(Rounded::exact(match flat.variable(leaf.variable()).ty {
            Type::Boolean => Value::Bool(seed.is_multiple_of(2)),
            Type::Real => Value::Real(value(flat, values, leaf, seed)),
        }))
    };
    let known = Known {
        time: 0.7,
        leaf: &leaf,
    };
    let mut side = |id| {
        let found = walk.value(&flat.exprs, id, &known, Errors::Ignore).ok()?;
        found.value.real().filter(|value| value.is_finite())
    };
    (system.rows.iter())
        .map(|&(left, right)| Some(side(left)? - side(right)?))
        .collect()
}

fn value(flat: &Flat, values: &FxHashMap<Leaf, f64>, leaf: Leaf, seed: u64) -> f64 {
    let id = leaf.variable();
    let given = || flat.value(id).and_then(|given| given.value.real());
    (values.get(&leaf).copied())
        .or_else(given)
        .unwrap_or_else(|| arbitrary(id, seed))
}

/// Returns a pseudo-random number between 0.5 and 2.5, the same in every run.
fn arbitrary(id: VarId, seed: u64) -> f64 {
    let mixed = (u64::from(id.0) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (seed << 17);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    0.5 + 2.0 * ((mixed >> 11) as f64 / (1u64 << 53) as f64)
}
