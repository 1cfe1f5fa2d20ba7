//! The choice of states at the start, where it is left to the run.
//!
//! Before: a block with more unknowns than equations, and start values for some of them. After: values that satisfy the
//! equations, with the given start values if that is possible, and the states, from which the other unknowns can best be
//! computed. The other unknowns are the pivots of a QR decomposition of the Jacobian with column pivoting: in each step the
//! column with the longest part orthogonal to the columns before. The candidates that are left over are states. Of columns of
//! equal length the less preferred candidate is taken as pivot. Candidates with a start value become states if the smallest
//! pivot is not much smaller then.

use crate::base::cancel::glance;
use nalgebra::{DMatrix, DVector};

use super::Point;
use super::torn_loop::{LoopState, TornLoop};
use crate::flat::{EqId, Flat, Leaf};
use crate::numeric::zero::rounding;
use crate::passes::blocks::Selected;

/// Larger blocks keep the choice of the compiler, because the matrices here are dense.
const LARGEST: usize = 400;
const MOST_STEPS: usize = 100;
const MOST_HALVINGS: usize = 40;
/// Guesses for unknowns without a start value.
const GUESSES: [f64; 6] = [0.0, 1.0, -1.0, 0.1, 10.0, -10.0];
/// A preferred choice is taken if its smallest pivot, relative to that of the best choice, is at least this.
const GOOD: f64 = 0.1;
/// Columns count as equally long up to this relative difference.
const EQUAL: f64 = 1e-6;
/// Start values may be rounded by this relative error.
const ROUNDED: f64 = 1e-3;

#[derive(Clone, Debug)]
pub struct Chosen {
    /// The selections of the flat model that the block contains.
    pub selections: Vec<u32>,
    pub equations: Vec<EqId>,
    pub states: Vec<Leaf>,
    /// The values of all unknowns of the block.
    pub values: Vec<(Leaf, f64)>,
    /// The values agree with the given start values; false if these contradict each other.
    pub kept: bool,
    /// An unknown without a start value had to move away from zero: the start values do not determine the start.
    pub moved: bool,
}

/// `None` where no consistent values are found.
pub fn choose(
    flat: &Flat,
    selected: &Selected,
    point: &Point,
    is_given: &dyn Fn(Leaf) -> bool,
) -> Option<Chosen> {
    if selected.unknowns.len() > LARGEST {
        return None;
    }
    let selected = &by_name(flat, selected);
    let unknowns = &selected.unknowns;
    let block = selected.iterated_on(unknowns.clone());
    let mut torn_loop = TornLoop::new(flat, &block, point);
    let given: Vec<bool> = unknowns.iter().map(|&leaf| is_given(leaf)).collect();
    let nothing = vec![false; unknowns.len()];
    let start: Vec<f64> = (unknowns.iter())
        .map(|&leaf| point.real(leaf).unwrap_or(0.0))
        .collect();
    let start = follow(&mut torn_loop, start, &given)?;
    let tried = starts(&start, &given);
    let (state, kept) = match consistent(&mut torn_loop, &tried, &given, NEARLY) {
        // The given values are rounded, so all values may move by that much.
        Some(state) => (
            project(&mut torn_loop, state.values, &nothing, EXACTLY)?,
            true,
        ),
        None => {
            let state = consistent(&mut torn_loop, &tried, &nothing, EXACTLY)?;
            let near = |(now, before): (&f64, &f64)| {
                (now - before).abs() <= ROUNDED * (now.abs() + before.abs())
            };
            let mut moves = state.values.iter().zip(&start).zip(&given);
            let kept = moves.all(|(values, &given)| !given || near(values));
            (state, kept)
        }
    };
    let matrix = dense(&mut torn_loop, &state)?;
    let quotas = Quotas::new(flat, selected);
    let free = quotas.pick(&matrix, &nothing)?;
    // Without start values the point is arbitrary, so the choice of the compiler is preferred.
    let preferred = || -> Vec<bool> {
        (unknowns.iter())
            .map(|leaf| {
                let mut all = selected.selections.iter();
                all.any(|&at| flat.selections()[at as usize].choice.contains(leaf))
            })
            .collect()
    };
    let wishes: Vec<Option<bool>> = (unknowns.iter())
        .map(|leaf| flat.wish(leaf.variable()))
        .collect();
    let wished = match given.contains(&true) || wishes.iter().any(Option::is_some) {
        true => (wishes.iter().zip(&given))
            .map(|(wish, &given)| wish.unwrap_or(given))
            .collect(),
        false => preferred(),
    };
    let states = match quotas.pick(&matrix, &wished) {
        Some(wished) if wished.smallest >= GOOD * free.smallest => wished.states,
        _ => free.states,
    };
    let moved = (state.values.iter().zip(&start).zip(&given))
        .any(|((now, before), given)| !given && (now - before).abs() > 1e-9);
    Some(Chosen {
        selections: selected.selections.clone(),
        equations: selected.equations.clone(),
        states: states.iter().map(|&at| unknowns[at]).collect(),
        values: unknowns.iter().copied().zip(state.values).collect(),
        kept,
        moved,
    })
}

/// Whether the other unknowns can be computed from these states at the point. If the Jacobian is almost singular, they would
/// keep the value of their guess: y of a pendulum with the state x, when its rod is level.
pub fn follows(flat: &Flat, selected: &Selected, states: &[Leaf], point: &Point) -> bool {
    /// The least ratio of the smallest singular value for the other unknowns to that for all unknowns.
    const HARDLY: f64 = 1e-6;
    let unknowns = &selected.unknowns;
    if unknowns.len() > LARGEST {
        return true;
    }
    let block = selected.iterated_on(unknowns.clone());
    let mut torn_loop = TornLoop::new(flat, &block, point);
    let values: Vec<f64> = (unknowns.iter())
        .map(|&leaf| point.real(leaf).unwrap_or(0.0))
        .collect();
    let slopes = (torn_loop.run(&values).ok()).and_then(|state| dense(&mut torn_loop, &state));
    let Some(mut all) = slopes else {
        return false;
    };
    scale_rows(&mut all);
    let columns: Vec<usize> = (0..unknowns.len())
        .filter(|&at| !states.contains(&unknowns[at]))
        .collect();
    let others = all.select_columns(&columns);
    // An empty matrix has no singular values.
    if others.is_empty() {
        return columns.is_empty() && others.nrows() == 0;
    }
    let least = |matrix: DMatrix<f64>| matrix.singular_values().min();
    least(others) > HARDLY * least(all)
}

fn scale_rows(matrix: &mut DMatrix<f64>) {
    for mut row in matrix.row_iter_mut() {
        let largest = row.amax();
        if largest > 0.0 {
            row /= largest;
        }
    }
}

/// The block sorted by name, so that rounding errors do not depend on the order of declarations.
fn by_name(flat: &Flat, selected: &Selected) -> Selected {
    let mut sorted = selected.clone();
    (sorted.unknowns).sort_by_cached_key(|&leaf| flat.leaf_name(leaf));
    (sorted.residuals).sort_by_cached_key(|residual| flat.equation_text(residual.equation));
    sorted.equations = (sorted.residuals.iter())
        .map(|residual| residual.equation)
        .collect();
    sorted
}

fn dense(torn_loop: &mut TornLoop<'_>, state: &LoopState) -> Option<DMatrix<f64>> {
    let rows = torn_loop.slopes_at(state).ok()?;
    let mut matrix = DMatrix::zeros(rows.len(), state.values.len());
    for (at, row) in rows.iter().enumerate() {
        for &(column, value) in row {
            matrix[(at, column as usize)] += value;
        }
    }
    Some(matrix)
}

/// Residuals may be so many times their rounding errors.
const EXACTLY: f64 = 100.0;
/// The same for start values that are given with a few digits.
const NEARLY: f64 = 1e11;

/// Unknowns are rounded, too: speeds of 0.5 that have to be equal may differ in their last digit.
fn holds(torn_loop: &mut TornLoop<'_>, state: &LoopState, times: f64) -> bool {
    let errors = state.values.iter().map(|&value| rounding(value)).collect();
    let slack = torn_loop.slack(state, errors);
    slack.is_some_and(|slack| {
        let mut rows = state.residuals.iter().zip(&slack);
        rows.all(|(residual, noise)| residual.abs() <= times * noise)
    })
}

/// Computes unknowns from the given values where one equation after the other has a single unknown left, as in `X0 = x`.
fn follow(torn_loop: &mut TornLoop<'_>, mut values: Vec<f64>, given: &[bool]) -> Option<Vec<f64>> {
    let mut known = given.to_vec();
    let mut served = vec![false; torn_loop.run(&values).ok()?.residuals.len()];
    loop {
        glance();
        let Ok(state) = torn_loop.run(&values) else {
            return Some(values);
        };
        let Ok(rows) = torn_loop.slopes_at(&state) else {
            return Some(values);
        };
        let mut found = false;
        for (at, row) in rows.iter().enumerate() {
            let mut open = row.iter().filter(|(column, _)| !known[*column as usize]);
            if let (false, Some(&(column, slope)), None) = (served[at], open.next(), open.next())
                && slope != 0.0
            {
                values[column as usize] -= state.residuals[at] / slope;
                known[column as usize] = true;
                served[at] = true;
                found = true;
            }
        }
        if !found {
            return Some(values);
        }
    }
}

/// Points to start from: the given values, with zeros and then with guesses for all other unknowns. Guesses differ a little
/// from each other, because symmetric points may be singular.
fn starts(start: &[f64], given: &[bool]) -> Vec<Vec<f64>> {
    (GUESSES.iter())
        .map(|&guess| {
            (start.iter().zip(given).enumerate())
                .map(|(place, (&value, &given))| match given || guess == 0.0 {
                    true => value,
                    false => guess * (1.0 + 0.03 * (place % 7) as f64),
                })
                .collect()
        })
        .collect()
}

/// Values near one of the starts that satisfy the equations; fixed values do not change.
fn consistent(
    torn_loop: &mut TornLoop<'_>,
    starts: &[Vec<f64>],
    fixed: &[bool],
    times: f64,
) -> Option<LoopState> {
    (starts.iter()).find_map(|start| project(torn_loop, start.clone(), fixed, times))
}

/// Newton's method for more unknowns than equations: each step is the shortest solution of the linear equations.
fn project(
    torn_loop: &mut TornLoop<'_>,
    start: Vec<f64>,
    fixed: &[bool],
    times: f64,
) -> Option<LoopState> {
    let mut state = torn_loop.run(&start).ok()?;
    for _ in 0..MOST_STEPS {
        if holds(torn_loop, &state, EXACTLY) {
            return Some(state);
        }
        let mut matrix = dense(torn_loop, &state)?;
        for (column, _) in fixed.iter().enumerate().filter(|(_, fixed)| **fixed) {
            matrix.column_mut(column).fill(0.0);
        }
        if matrix.is_empty() {
            return None;
        }
        let residual = DVector::from_vec(state.residuals.clone());
        let largest = matrix.amax();
        let step = (matrix.svd(true, true).solve(&residual, 1e-10 * largest)).ok()?;
        let size = residual.norm();
        let mut length = 1.0;
        let mut next = None;
        for _ in 0..MOST_HALVINGS {
            let values: Vec<f64> = (state.values.iter().zip(step.iter()))
                .map(|(value, step)| value - length * step)
                .collect();
            let tried = torn_loop.run(&values).ok().filter(|tried| {
                let now = DVector::from_vec(tried.residuals.clone()).norm();
                now < size || holds(torn_loop, tried, EXACTLY)
            });
            if tried.is_some() {
                next = tried;
                break;
            }
            length /= 2.0;
        }
        match next {
            Some(next) => state = next,
            None => break,
        }
    }
    holds(torn_loop, &state, times).then_some(state)
}

/// The number of candidates of each selection that are no states, and the columns of the candidates.
#[derive(Clone, Debug)]
pub struct Quotas {
    /// By column: the selection, and the rank in its order of preference; `None` if the column is no candidate.
    of: Vec<Option<(usize, usize)>>,
    dependent: Vec<usize>,
}

#[derive(Clone, Debug)]
pub struct Picked {
    /// Candidates that are no pivots.
    pub states: Vec<usize>,
    /// The smallest pivot among candidates.
    pub smallest: f64,
}

impl Quotas {
    pub fn new(flat: &Flat, selected: &Selected) -> Self {
        let lists: Vec<_> = (selected.selections.iter())
            .map(|&at| &flat.selections()[at as usize])
            .collect();
        let of = (selected.unknowns.iter())
            .map(|leaf| {
                (lists.iter().enumerate()).find_map(|(at, selection)| {
                    let place = selection.candidates.iter().position(|other| other == leaf);
                    place.map(|place| (at, place))
                })
            })
            .collect();
        Quotas {
            of,
            dependent: (lists.iter())
                .map(|selection| selection.candidates.len() - selection.states as usize)
                .collect(),
        }
    }

    /// Takes columns as pivots until each row has one; columns in `wished` are taken last. `None` if the other columns do not
    /// suffice.
    pub fn pick(&self, matrix: &DMatrix<f64>, wished: &[bool]) -> Option<Picked> {
        let mut work = matrix.clone();
        scale_rows(&mut work);
        let mut left: Vec<usize> = (0..work.ncols()).collect();
        let mut quotas = self.dependent.clone();
        let mut smallest = f64::INFINITY;
        for _ in 0..work.nrows() {
            // Columns that are no candidates come first, then candidates within their quotas.
            let open = |column: usize| match self.of[column] {
                None => Some(0),
                Some((selection, _)) if quotas[selection] == 0 => None,
                Some(_) if wished[column] => Some(2),
                Some(_) => Some(1),
            };
            let class = left.iter().filter_map(|&column| open(column)).min()?;
            let best = (left.iter().copied())
                .filter(|&column| open(column) == Some(class))
                .map(|column| (work.column(column).norm(), column))
                .reduce(|best, next| {
                    let place = |column: usize| self.of[column].map(|(_, place)| place);
                    let longer = next.0 > best.0 * (1.0 + EQUAL);
                    let equal = next.0 >= best.0 * (1.0 - EQUAL);
                    match longer || equal && place(next.1) > place(best.1) {
                        true => next,
                        false => best,
                    }
                })?;
            let (norm, column) = best;
            if norm <= 1e-12 {
                return None;
            }
            if let Some((selection, _)) = self.of[column] {
                quotas[selection] -= 1;
                smallest = smallest.min(norm);
            }
            left.retain(|&other| other != column);
            let direction = work.column(column) / norm;
            for &other in &left {
                let along = direction.dot(&work.column(other));
                work.column_mut(other).axpy(-along, &direction, 1.0);
            }
        }
        let states: Vec<usize> = (left.into_iter())
            .filter(|&column| self.of[column].is_some())
            .collect();
        Some(Picked { states, smallest })
    }
}
