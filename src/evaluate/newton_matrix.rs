//! The step of Newton's method from the slopes of a torn loop.
//!
//! Before: the slopes of inner assignments and of residuals, as numbers. After: a change of the
//! iteration variables for any residuals. Inner changes are put in one after the other, as inner
//! values are computed, so that what is left has the iteration variables only. The order matters: where
//! slopes differ by many orders of magnitude (exp), a solver that is free to choose may find a small
//! change as the difference of two large ones, and lose it. Only where putting in grows too long, or
//! beyond what can be represented, everything is solved together.

use sprs::{CsMat, TriMat};

use super::linear::{Factored, Singular};

/// Slopes by column: iteration variables, then inner ones.
pub type Slopes = Vec<(u32, f64)>;

/// So many slopes of inner variables are kept.
const MOST_SLOPES: usize = 4_000_000;

#[derive(Debug)]
pub struct NewtonMatrix {
    factored: Factored,
    /// Rows of inner assignments that stand before those of residuals.
    before: usize,
    guessed: usize,
}

impl NewtonMatrix {
    /// An inner assignment has slopes of iteration variables and of inner ones before it.
    pub fn new(guessed: usize, inner: &[Slopes], residuals: &[Slopes]) -> Result<Self, Singular> {
        let reduced =
            reduced(guessed, inner, residuals).and_then(|matrix| Factored::new(matrix).ok());
        let (before, factored) = match reduced {
            Some(factored) => (0, factored),
            None => {
                let matrix = whole(guessed, inner, residuals);
                (inner.len(), Factored::new(matrix)?)
            }
        };
        Ok(NewtonMatrix {
            factored,
            before,
            guessed,
        })
    }

    /// By how much the iteration variables are to change, for these residuals to vanish.
    pub fn step(&self, residuals: &[f64]) -> Vec<f64> {
        let mut step = self.changes(residuals);
        step.truncate(self.guessed);
        step
    }

    /// The step, and about how far off it may be where residuals have this noise.
    pub fn step_with_doubt(&self, residuals: &[f64], noise: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut step = self.changes(residuals);
        let mut errors = vec![0.0; self.before];
        errors.extend(noise);
        let mut doubt = self.factored.doubt(&step, &errors);
        step.truncate(self.guessed);
        doubt.truncate(self.guessed);
        (step, doubt)
    }

    /// By how much iteration variables may be off through rounding elsewhere: what is in doubt of a
    /// step, but no more than rounding of the largest value (where the matrix is almost singular,
    /// anything is in doubt).
    pub fn blur(&self, values: &[f64], residuals: &[f64], noise: &[f64]) -> Vec<f64> {
        let (_, mut doubt) = self.step_with_doubt(residuals, noise);
        for (doubt, most) in doubt.iter_mut().zip(self.alike(values)) {
            *doubt = doubt.min(f64::EPSILON * most);
        }
        doubt
    }

    /// For each iteration variable a value as large, beside its slopes, as the largest of these.
    pub fn alike(&self, values: &[f64]) -> Vec<f64> {
        let mut alike = self.factored.alike(values);
        alike.truncate(self.guessed);
        alike
    }

    fn changes(&self, residuals: &[f64]) -> Vec<f64> {
        let mut right = vec![0.0; self.before];
        right.extend(residuals.iter().map(|residual| -residual));
        self.factored.solve(&right)
    }
}

/// Slopes of the residuals by the iteration variables alone; `None` if there are too many on the
/// way, or one is not finite.
fn reduced(guessed: usize, inner: &[Slopes], residuals: &[Slopes]) -> Option<CsMat<f64>> {
    let mut total: Vec<Slopes> = Vec::with_capacity(inner.len());
    let mut sums = vec![0.0; guessed];
    let mut kept = 0;
    for slopes in inner {
        let row = put_in(slopes, &total, &mut sums)?;
        kept += row.len();
        if kept > MOST_SLOPES {
            return None;
        }
        total.push(row);
    }
    let mut matrix = TriMat::new((residuals.len(), guessed));
    for (row, slopes) in residuals.iter().enumerate() {
        for (column, value) in put_in(slopes, &total, &mut sums)? {
            matrix.add_triplet(row, column as usize, value);
        }
    }
    Some(matrix.to_csr())
}

/// `total` has the slopes of inner variables so far; `sums` is zero before and after.
fn put_in(slopes: &Slopes, total: &[Slopes], sums: &mut [f64]) -> Option<Slopes> {
    let mut touched = Vec::new();
    for &(column, slope) in slopes.iter().filter(|(_, slope)| *slope != 0.0) {
        let column = column as usize;
        match column.checked_sub(sums.len()) {
            None => {
                sums[column] += slope;
                touched.push(column as u32);
            }
            Some(at) => {
                for &(column, by) in total.get(at)? {
                    sums[column as usize] += slope * by;
                    touched.push(column);
                }
            }
        }
    }
    touched.sort_unstable();
    touched.dedup();
    let found: Slopes = (touched.into_iter())
        .map(|column| (column, std::mem::take(&mut sums[column as usize])))
        .filter(|(_, value)| *value != 0.0)
        .collect();
    let finite = found.iter().all(|(_, value)| value.is_finite());
    finite.then_some(found)
}

/// Rows: inner assignments (x - value = 0), then residuals.
fn whole(guessed: usize, inner: &[Slopes], residuals: &[Slopes]) -> CsMat<f64> {
    let size = inner.len() + residuals.len();
    let mut matrix = TriMat::new((size, size));
    for (row, slopes) in inner.iter().chain(residuals).enumerate() {
        let is_inner = row < inner.len();
        if is_inner {
            matrix.add_triplet(row, guessed + row, 1.0);
        }
        let sign = if is_inner { -1.0 } else { 1.0 };
        for &(column, value) in slopes {
            matrix.add_triplet(row, column as usize, sign * value);
        }
    }
    matrix.to_csr()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// e = -0.3*x, f = 1e127*e, i = x - f, residual 3*i - e: the step is -r/(3 + 0.9e127 + 0.3).
    #[test]
    fn steps_are_not_lost_beside_large_slopes() {
        let inner = [
            vec![(0, -0.3)],
            vec![(1, 1e127)],
            vec![(0, 1.0), (2, -1.0)],
            vec![(3, 1.0)],
        ];
        let residuals = [vec![(4, 3.0), (1, -1.0)]];
        let matrix = NewtonMatrix::new(1, &inner, &residuals).expect("regular");
        let step = matrix.step(&[-9e126]);
        assert!((step[0] - 1.0).abs() < 1e-14, "{step:?}");
    }

    /// Both forms of one matrix give the same.
    #[test]
    fn together_or_one_after_the_other() {
        let inner = [
            vec![(0, 2.0), (1, -1.0)],
            vec![(2, 3.0)],
            vec![(1, 0.5), (3, -2.0)],
        ];
        let residuals = [vec![(0, 1.0), (4, 1.0)], vec![(2, 5.0), (1, 1.0)]];
        let matrix = NewtonMatrix::new(2, &inner, &residuals).expect("regular");
        assert_eq!(matrix.before, 0);
        let (step, doubt) = matrix.step_with_doubt(&[3.0, -4.0], &[1e-10, 1e-12]);
        let together = NewtonMatrix {
            factored: Factored::new(whole(2, &inner, &residuals)).expect("regular"),
            before: 3,
            guessed: 2,
        };
        let (other, other_doubt) = together.step_with_doubt(&[3.0, -4.0], &[1e-10, 1e-12]);
        for (a, b) in step.iter().zip(&other) {
            assert!((a - b).abs() < 1e-14, "{step:?} {other:?}");
        }
        for (a, b) in doubt.iter().zip(&other_doubt) {
            assert!(a / b > 0.5 && a / b < 2.0, "{doubt:?} {other_doubt:?}");
        }
    }

    /// Slopes whose product is too large are left to be solved together.
    #[test]
    fn what_overflows_is_solved_together() {
        let inner = [vec![(0, 1e200)], vec![(1, 1e200)]];
        let residuals = [vec![(0, 1.0), (2, 1.0)]];
        let matrix = NewtonMatrix::new(1, &inner, &residuals).expect("regular");
        assert_eq!(matrix.before, 2);
        assert!(matrix.step(&[1.0])[0].abs() < 1e-300);
    }
}
