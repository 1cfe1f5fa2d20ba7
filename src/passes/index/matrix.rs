//! The matrix by which states are chosen: the derivatives of the equations with respect to the highest derivatives in
//! them.
//!
//! Before: how often each equation is differentiated. After: the coefficients of each equation that is. They are the
//! same however often it is differentiated.

use rustc_hash::FxHashMap;

use super::elimination::{Coefficient, Row};
use super::orders::Orders;
use super::wide::Wide;
use crate::expr::ExprId;
use crate::expr::linear::difference;
use crate::flat::{Flat, Leaf};
use crate::passes::vanishing::{Vanishing, constant, vanishing};
use crate::structure::Offsets;

/// The rows of the equations that are differentiated.
pub struct Matrix {
    /// The row of [`Orders`], and its coefficients by column of [`Orders`].
    pub rows: Vec<(u32, Row)>,
}

pub fn matrix(flat: &mut Flat, orders: &Orders, offsets: &Offsets) -> Matrix {
    let mut rows = Vec::new();
    for (row, &id) in orders.equations.iter().enumerate() {
        let times = offsets.rows[row];
        if times == 0 {
            continue;
        }
        let tight: FxHashMap<Leaf, u32> = (orders.incidence.row(row as u32).iter())
            .filter(|&&(column, order)| {
                u32::from(order) + times == offsets.columns[column as usize]
            })
            .map(|&(column, order)| {
                (
                    Leaf::at_order(orders.variables[column as usize], order),
                    column,
                )
            })
            .collect();
        let equation = flat.equations[id.index()];
        let coefficients = (coefficients(flat, (equation.left, equation.right), &tight)
            .into_iter())
        .filter_map(|(column, value)| Some((column, classify(flat, value)?)))
        .collect();
        rows.push((row as u32, coefficients));
    }
    Matrix { rows }
}

/// The derivatives of left - right with respect to some of its leaves, by column.
pub fn coefficients(
    flat: &mut Flat,
    (left, right): (ExprId, ExprId),
    tight: &FxHashMap<Leaf, u32>,
) -> Vec<(u32, ExprId)> {
    let exprs = &mut flat.exprs;
    if let Some(form) = difference(exprs, left, right, &|leaf| tight.get(&leaf).copied()) {
        return form.terms;
    }
    let mut leaves: Vec<(u32, Leaf)> = tight
        .iter()
        .map(|(&leaf, &column)| (column, leaf))
        .collect();
    leaves.sort_unstable_by_key(|&(column, _)| column);
    let mut found = Vec::with_capacity(leaves.len());
    for (column, leaf) in leaves {
        let value = match (exprs.partial(left, leaf), exprs.partial(right, leaf)) {
            (None, None) => continue,
            (Some(left), None) => left,
            (None, Some(right)) => exprs.tidy_minus(right),
            (Some(left), Some(right)) => exprs.tidy_sub(left, right),
        };
        found.push((column, value));
    }
    found
}

/// Returns `None` if the coefficient is zero.
fn classify(flat: &Flat, value: ExprId) -> Option<Coefficient> {
    if let Some(number) = constant(flat, value) {
        return (number != 0.0).then(|| Coefficient::Number(Wide::new(number)));
    }
    match vanishing(flat, value) {
        Vanishing::Never => Some(Coefficient::Sure),
        Vanishing::Perhaps => Some(Coefficient::Doubtful),
        Vanishing::Always => None,
    }
}
