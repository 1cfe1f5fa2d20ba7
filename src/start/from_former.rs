//! Start values of states, computed from those given for former states.
//!
//! Before: the values at the start, with zero for states without a start value. After: these states have start values that
//! give the former states their given values, if that is possible. They are found by Newton's method with the shortest step
//! and slopes by finite differences. The caller reports values that cannot be reached.

use nalgebra::{DMatrix, DVector};

use super::{of_former_states, tied_to};
use crate::evaluate::{Point, evaluate};
use crate::expr::Value;
use crate::flat::{Given, Leaf};
use crate::passes::blocks::Solved;

/// Larger problems are not solved here.
const MOST: usize = 30;
const STEPS: usize = 40;

pub fn find(solved: &mut Solved, point: Point) -> Point {
    let flat = &solved.flat;
    let agrees =
        |point: &Point, given: &Given| match (point.real(Leaf::Var(given.variable)), given.value) {
            (Some(found), Value::Real(wanted)) => {
                (found - wanted).abs() <= 1e-9 * wanted.abs().max(1e-9)
            }
            _ => true,
        };
    let wanted: Vec<Given> = (of_former_states(flat).into_iter())
        .filter(|given| matches!(given.value, Value::Real(_)))
        .collect();
    if wanted.iter().all(|given| agrees(&point, given)) {
        return point;
    }
    let determined =
        |leaf: Leaf| (solved.start.as_ref()).is_some_and(|start| start.determines(leaf));
    let mut free: Vec<Leaf> = (wanted.iter())
        .flat_map(|given| tied_to(flat, given.variable))
        .filter(|&leaf| flat.is_state(leaf) && flat.start_of(leaf).is_none())
        .filter(|&leaf| !determined(leaf))
        .collect();
    free.sort_by_cached_key(|&leaf| flat.leaf_name(leaf));
    free.dedup();
    if free.is_empty() || free.len() > MOST || wanted.len() > MOST {
        return point;
    }
    let known: Vec<(Leaf, Value)> = (flat.states())
        .filter(|&leaf| determined(leaf))
        .filter_map(|leaf| Some((leaf, point.get(leaf)?)))
        .collect();
    let Some((values, found)) = newton(solved, &known, &free, &wanted) else {
        return point;
    };
    // The result counts only if all former states have their given values.
    if !wanted.iter().all(|given| agrees(&found, given)) {
        return point;
    }
    for (&leaf, &value) in free.iter().zip(&values) {
        if let (Leaf::Der(..), Some(reduction)) = (leaf, &mut solved.flat.reduction) {
            reduction.starts.push((leaf, value));
            continue;
        }
        let span = wanted[0].span;
        let expression = solved.flat.exprs.constant(value);
        solved.flat.starts.push(Given {
            variable: leaf.variable(),
            value: Value::Real(value),
            expression,
            span,
            depth: u32::MAX,
        });
    }
    solved.flat.starts.sort_by_key(|given| given.variable);
    found
}

fn newton(
    solved: &Solved,
    known: &[(Leaf, Value)],
    free: &[Leaf],
    wanted: &[Given],
) -> Option<(Vec<f64>, Point)> {
    let run = |values: &[f64]| -> Option<(Point, DVector<f64>)> {
        let mut point = Point::new(solved);
        for &(leaf, value) in known {
            point.set(leaf, value);
        }
        for (&leaf, &value) in free.iter().zip(values) {
            point.set(leaf, Value::Real(value));
        }
        evaluate(solved, &mut point).ok()?;
        let mut off = Vec::with_capacity(wanted.len());
        for given in wanted {
            let found = point.real(Leaf::Var(given.variable))?;
            off.push(found - given.value.real()?);
        }
        Some((point, DVector::from_vec(off)))
    };
    let mut values = vec![0.0; free.len()];
    let (mut point, mut off) = run(&values)?;
    for _ in 0..STEPS {
        let mut slopes = DMatrix::zeros(wanted.len(), free.len());
        for column in 0..free.len() {
            let step = 1e-6 * values[column].abs().max(1.0);
            let mut moved = values.clone();
            moved[column] += step;
            let (_, there) = run(&moved)?;
            slopes.set_column(column, &((there - &off) / step));
        }
        let step = slopes.svd(true, true).solve(&off, 1e-9).ok()?;
        let next: Vec<f64> = values
            .iter()
            .zip(step.iter())
            .map(|(value, step)| value - step)
            .collect();
        let (there, now) = run(&next)?;
        let done = now.norm() >= off.norm();
        if now.norm() <= off.norm() {
            (values, point, off) = (next, there, now);
        }
        if done {
            break;
        }
    }
    Some((values, point))
}
