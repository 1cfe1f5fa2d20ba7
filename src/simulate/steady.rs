//! The steady state, in which all rates vanish.
//!
//! Pseudo-transient continuation (Kelley and Keyes 1998): steps of the implicit Euler method, which grow longer as the rates
//! become smaller, so that the method turns into Newton's method on f(x) = 0. A state whose rate does not depend on it (an
//! angle, the charge between two capacitors) ends where the motion leaves it.

use sprs::CsMat;
use sprs::binop::csmat_binop;

use super::integrate::System;
use super::rates::Rates;
use super::run_error::RunError;
use crate::base::cancel::glance;
use crate::numeric::Pattern;
use crate::numeric::lu::Lu;

const MOST_STEPS: usize = 2_000;
/// Steps that are smaller than this, relative to the values, end the search.
const DONE: f64 = 1e-12;
const LONGEST: f64 = 1e30;
/// A step of the explicit Euler method relative to one of the implicit method, where a slope is infinite.
const SHORT: f64 = 1e-3;

/// No steady state was found: the state with the largest rate, and that rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotSteady {
    pub state: usize,
    pub rate: f64,
}

/// Moves the states to values at which their rates vanish.
///
/// `iterate_event` decides relations and the choice of states after each step; true if anything has changed.
pub fn steady(
    rates: &Rates<'_>,
    time: f64,
    states: &mut [f64],
    iterate_event: &mut dyn FnMut(&mut [f64]) -> Result<bool, RunError>,
) -> Result<Result<(), NotSteady>, RunError> {
    let size = states.len();
    let pattern = rates.pattern();
    let mut whole = with_diagonal(pattern);
    let mut lu = Lu::new(whole.matrix.structure_view());
    let place: Vec<u32> = (0..size as u32).collect();
    let mut entries = vec![0.0; pattern.nnz()];
    let (mut f, mut step) = (vec![0.0; size], vec![0.0; size]);
    let mut next = vec![0.0; size];
    rates.rates(time, states, &mut f);
    let mut length = first_length(states, &f);
    let mut size_now = norm(&f);
    for _ in 0..MOST_STEPS {
        glance();
        if !size_now.is_finite() {
            break;
        }
        if f.iter().all(|&rate| rate == 0.0) {
            return Ok(Ok(()));
        }
        rates.jacobian(time, states, &mut entries);
        let smooth = entries.iter().all(|entry| entry.is_finite());
        let matrix = whole.matrix.data_mut();
        matrix.fill(0.0);
        for (&value, &to) in entries.iter().zip(&whole.entries) {
            matrix[to] = -value;
        }
        for &to in &whole.diagonal {
            matrix[to] += 1.0 / length;
        }
        step.copy_from_slice(&f);
        let regular = match smooth {
            true => lu.factor(whole.matrix.view(), &place),
            // A slope is infinite, as that of a root at zero: a short step of the explicit Euler method leads away from it.
            false => {
                step.iter_mut().for_each(|step| *step *= SHORT * length);
                true
            }
        };
        if regular && smooth {
            lu.solve(&mut step);
        }
        if !regular || step.iter().any(|step| !step.is_finite()) {
            // The step is so long that 1/length is lost beside the Jacobian, which is singular if a state is free.
            length *= 1e-3;
            if length < f64::MIN_POSITIVE {
                break;
            }
            continue;
        }
        for at in 0..size {
            next[at] = states[at] + step[at];
        }
        let small = (step.iter().zip(&*states))
            .all(|(step, state)| step.abs() <= DONE * (state.abs() + next_scale(states)));
        rates.rates(time, &next, &mut step);
        let size_next = norm(&step);
        if size_next.is_nan() || size_next > 10.0 * size_now {
            length *= 0.1;
            if length < 1e-30 {
                break;
            }
            continue;
        }
        states.copy_from_slice(&next);
        f.copy_from_slice(&step);
        if iterate_event(states)? {
            // The right sides have changed: the search starts anew from here.
            rates.rates(time, states, &mut f);
            size_now = norm(&f);
            length = first_length(states, &f);
            continue;
        }
        if small && smooth && size_next <= size_now && length >= 1e3 {
            return Ok(Ok(()));
        }
        let gain = (size_now / size_next.max(f64::MIN_POSITIVE)).clamp(0.5, 1e3);
        length = (length * gain.max(2.0)).min(LONGEST);
        size_now = size_next;
    }
    let (state, rate) =
        (f.iter().copied().enumerate()).fold((0, 0.0), |worst: (usize, f64), now| {
            match now.1.abs() > worst.1.abs() || now.1.is_nan() {
                true => now,
                false => worst,
            }
        });
    Ok(Err(NotSteady { state, rate }))
}

/// An absolute scale for all states.
fn next_scale(states: &[f64]) -> f64 {
    let largest = states.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    1e-3 * largest + 1e-9
}

/// About the time in which the states change by as much as their own size.
fn first_length(states: &[f64], rates: &[f64]) -> f64 {
    let rate = norm(rates);
    let size = norm(states).max(1e-3);
    match rate > 0.0 && rate.is_finite() {
        true => (size / rate).clamp(1e-12, 1.0),
        false => 1.0,
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// A matrix for the entries of a pattern and a full diagonal, with the indices of both in its data.
struct WithDiagonal {
    matrix: CsMat<f64>,
    entries: Vec<usize>,
    diagonal: Vec<usize>,
}

fn with_diagonal(pattern: &Pattern) -> WithDiagonal {
    let (eye, ones) = (CsMat::eye_csc(pattern.cols()), pattern.map(|()| 1.0));
    let matrix: CsMat<f64> = csmat_binop(eye.view(), ones.view(), |a: &f64, b: &f64| a + b);
    let place = |row, column| matrix.nnz_index(row, column).map(|found| found.0);
    WithDiagonal {
        entries: (pattern.iter())
            .filter_map(|(_, (row, column))| place(row, column))
            .collect(),
        diagonal: (0..pattern.cols()).filter_map(|at| place(at, at)).collect(),
        matrix,
    }
}
