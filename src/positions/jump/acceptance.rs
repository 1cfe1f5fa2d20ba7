//! What counts as met, as apart, as changed in a jump: nothing else in this folder decides it.

use super::Values;
use crate::evaluate::Numbers;
use crate::expr::ExprId;
use crate::flat::Leaf;
use crate::numeric::zero::{self, product, resolution, rounding};

/// What constraints on positions may be off beside their terms: the steps of the integration satisfy them less accurately.
const APART: f64 = 1e-6;

pub(super) use crate::numeric::zero::{all_met, all_nearly_met, is_met};

/// A bound on the error of a value before the event. That was located in time only to the last digits: what moves has moved
/// by then.
pub(super) fn error_before(time: f64, before: &Values, leaf: Leaf) -> f64 {
    let faster = (leaf.order()).map(|order| Leaf::at_order(leaf.variable(), order + 1));
    let rate = faster.and_then(|leaf| before.get(&leaf));
    product(resolution(time), rate.copied().unwrap_or(0.0))
}

/// The difference of two sides, with a bound on its error.
pub(super) fn difference(
    numbers: &mut Numbers<'_>,
    (left, right): (ExprId, ExprId),
    values: &Values,
    error: &dyn Fn(Leaf, f64) -> f64,
) -> Option<(f64, f64)> {
    let (a, of_a) = numbers.bounded(left, values, error)?;
    let (b, of_b) = numbers.bounded(right, values, error)?;
    Some((a - b, of_a + of_b + rounding(a - b)))
}

/// Whether sides differ, beside values of this size, by more than steps of integration leave.
pub(super) fn apart(off: f64, size: f64) -> bool {
    off.abs() > APART * size
}

/// How far residuals are from being met.
pub(super) fn excess(residuals: &[f64], errors: &[f64]) -> f64 {
    zero::excess(residuals, errors)
}

/// Whether a coefficient is another one.
pub(super) fn differs(a: f64, b: f64) -> bool {
    (a - b).abs() > 1e-7 * (a.abs() + b.abs())
}
