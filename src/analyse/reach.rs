//! What the inputs cannot move, and what the outputs do not show.
//!
//! A mode is uncontrollable if its left vector is orthogonal to what the inputs give to the rates (Hautus); it is named by the
//! states in that vector, whose weighed sum no input moves. Unobservable alike, with right vectors and outputs. Of multiple
//! poles all left vectors are looked at together. States that no path leads to from an input are uncontrollable in models of
//! any size.

use faer::{Mat, c64};

use super::matrices::Matrices;
use super::poles::{MOST, Pole, full};
use crate::numeric::eigen::{Square, balance};

/// States by their places, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unreached {
    pub uncontrollable: Vec<usize>,
    pub unobservable: Vec<usize>,
}

/// Products below this, relative to their factors, are rounding.
const ROUNDING: f64 = 1e-9;
/// Entries of a vector below this, relative to the largest, do not take part.
const PART: f64 = 1e-6;

/// Without inputs (or outputs) nothing is said of them.
pub fn unreached(matrices: &Matrices, poles: &[Pole]) -> Unreached {
    let size = matrices.a.rows.len();
    let (inputs, outputs) = (matrices.b[0].columns, matrices.c.rows.len());
    let (mut no_input, mut no_output) = (vec![false; size], vec![false; size]);
    if inputs > 0 {
        let first = (0..size).filter(|&row| matrices.b.iter().any(|b| !b.rows[row].is_empty()));
        let reached = reached(matrices, first.collect(), true);
        (0..size).for_each(|at| no_input[at] = !reached[at]);
    }
    if outputs > 0 {
        let first: Vec<usize> = (matrices.c.rows.iter().flatten())
            .map(|&(column, _)| column as usize)
            .collect();
        let reached = reached(matrices, first, false);
        (0..size).for_each(|at| no_output[at] = !reached[at]);
    }
    if size < MOST && poles.len() == size {
        let mut balanced = full(matrices);
        let scales = balance(&mut balanced);
        let of = Modes {
            matrices,
            balanced,
            scales,
        };
        let mut done: Vec<c64> = Vec::new();
        for pole in poles {
            // A conjugate pair has the same states.
            if pole.value.im < 0.0 {
                continue;
            }
            let near = |known: &c64| (known - pole.value).norm() <= 1e-6 * pole.value.norm();
            if pole.multiple && (done.iter().any(near) || done.contains(&pole.value)) {
                continue;
            }
            done.push(pole.value);
            if inputs > 0 {
                of.mark(pole, true, &mut no_input);
            }
            if outputs > 0 {
                of.mark(pole, false, &mut no_output);
            }
        }
    }
    let listed = |marks: &[bool]| (0..size).filter(|&at| marks[at]).collect();
    Unreached {
        uncontrollable: listed(&no_input),
        unobservable: listed(&no_output),
    }
}

/// States that paths lead to from some, along A or against it.
fn reached(matrices: &Matrices, first: Vec<usize>, along: bool) -> Vec<bool> {
    let size = matrices.a.rows.len();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); size];
    for (row, column, _) in matrices.a.entries() {
        match along {
            true => next[column].push(row),
            false => next[row].push(column),
        }
    }
    let mut found = vec![false; size];
    let mut work = first;
    while let Some(at) = work.pop() {
        if !std::mem::replace(&mut found[at], true) {
            work.extend(&next[at]);
        }
    }
    found
}

struct Modes<'m> {
    matrices: &'m Matrices,
    balanced: Square,
    scales: Vec<f64>,
}

impl Modes<'_> {
    /// What the inputs give to the rates at s, or the outputs show of the states: vectors in balanced coordinates.
    fn ends(&self, s: c64, inputs: bool) -> Vec<Vec<c64>> {
        let size = self.scales.len();
        let zero = c64::new(0.0, 0.0);
        if inputs {
            let mut columns = vec![vec![zero; size]; self.matrices.b[0].columns];
            let mut power = c64::new(1.0, 0.0);
            for b in &self.matrices.b {
                for (row, column, value) in b.entries() {
                    columns[column][row] += power * (value / self.scales[row]);
                }
                power *= s;
            }
            return columns;
        }
        let rows = self.matrices.c.rows.iter();
        rows.map(|row| {
            let mut vector = vec![zero; size];
            for &(column, value) in row {
                vector[column as usize] = c64::new(value * self.scales[column as usize], 0.0);
            }
            vector
        })
        .collect()
    }

    fn mark(&self, pole: &Pole, inputs: bool, marks: &mut [bool]) {
        let ends = self.ends(pole.value, inputs);
        let vectors = match pole.multiple {
            true => self.hidden(pole.value, &ends, inputs),
            false => {
                let vector: Vec<c64> = match inputs {
                    true => pole
                        .left
                        .iter()
                        .zip(&self.scales)
                        .map(|(w, d)| w * *d)
                        .collect(),
                    false => pole
                        .right
                        .iter()
                        .zip(&self.scales)
                        .map(|(v, d)| v / *d)
                        .collect(),
                };
                let is_hidden = ends.iter().all(|end| {
                    let product: c64 = vector.iter().zip(end).map(|(a, b)| a * b).sum();
                    product.norm() <= ROUNDING * norm(&vector) * norm(end)
                });
                if is_hidden { vec![vector] } else { Vec::new() }
            }
        };
        for vector in vectors {
            let most = vector.iter().map(|value| value.norm()).fold(0.0, f64::max);
            for (mark, value) in marks.iter_mut().zip(&vector) {
                *mark |= value.norm() > PART * most;
            }
        }
    }

    /// All left (or right) vectors of a value that are orthogonal to the ends: the null space of [A - s, B] from the left.
    fn hidden(&self, s: c64, ends: &[Vec<c64>], inputs: bool) -> Vec<Vec<c64>> {
        let size = self.scales.len();
        let of = |row: usize, column: usize| {
            let value = match inputs {
                true => self.balanced.get(column, row),
                false => self.balanced.get(row, column),
            };
            let value = c64::new(value, 0.0);
            if row == column { value - s } else { value }
        };
        let scale =
            (self.balanced.values.iter()).fold(s.norm(), |most, value| most.max(value.abs()));
        let whole: Mat<c64> =
            Mat::from_fn(size + ends.len(), size, |row, column| match row < size {
                true => of(row, column) / scale,
                false => {
                    let end = &ends[row - size];
                    end[column] / norm(end).max(f64::MIN_POSITIVE)
                }
            });
        let Ok(svd) = whole.svd() else {
            return Vec::new();
        };
        let (values, vectors) = (svd.S().column_vector(), svd.V());
        (0..size)
            .filter(|&at| values[at].re <= 1e-8)
            .map(|at| (0..size).map(|row| vectors[(row, at)]).collect())
            .collect()
    }
}

fn norm(vector: &[c64]) -> f64 {
    vector
        .iter()
        .map(|value| value.norm_sqr())
        .sum::<f64>()
        .sqrt()
}
