//! The step of Newton's method for a torn loop.
//!
//! Before: the slopes of inner assignments and of residuals, as numbers. After: the change of the iteration variables for any
//! residuals. Inner variables are eliminated in the order of their assignments, so that a matrix of the iteration variables
//! remains. The order matters: if slopes differ by many orders of magnitude (exp), a solver that pivots freely may compute a
//! small change as the difference of two large ones, and lose it to rounding. The whole system is solved at once only if the
//! elimination makes too many slopes, or one that is not finite.

use sprs::{CsMat, TriMat};

use super::linear::{Factored, Singular};
use crate::numeric::zero::rounding;

/// Slopes by column: iteration variables, then inner ones.
pub type Slopes = Vec<(u32, f64)>;

/// The most slopes that the elimination of inner variables may make.
const MOST_SLOPES: usize = 4_000_000;

#[derive(Debug)]
pub struct NewtonMatrix {
    factored: Factored,
    /// The number of rows of inner assignments, before those of residuals.
    before: usize,
    guessed: usize,
}

impl NewtonMatrix {
    /// Each inner assignment has slopes with respect to iteration variables and to earlier inner variables.
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

    /// The change of the iteration variables that makes these residuals vanish.
    pub fn step(&self, residuals: &[f64]) -> Vec<f64> {
        let mut step = self.changes(residuals);
        step.truncate(self.guessed);
        step
    }

    /// The step, and an estimate of its error if residuals have this noise.
    pub fn step_with_doubt(&self, residuals: &[f64], noise: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut step = self.changes(residuals);
        let mut errors = vec![0.0; self.before];
        errors.extend(noise);
        let mut doubt = self.factored.doubt(&step, &errors);
        step.truncate(self.guessed);
        doubt.truncate(self.guessed);
        (step, doubt)
    }

    /// The errors of iteration variables through rounding: the estimated error of a step, but at most the rounding error of
    /// the largest value, because the estimate is unbounded if the matrix is almost singular.
    pub fn blur(&self, values: &[f64], residuals: &[f64], noise: &[f64]) -> Vec<f64> {
        let (_, mut doubt) = self.step_with_doubt(residuals, noise);
        for (doubt, most) in doubt.iter_mut().zip(self.alike(values)) {
            *doubt = doubt.min(rounding(most));
        }
        doubt
    }

    /// For each iteration variable the value that has, after scaling, the size of the largest of these values.
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

/// The slopes of the residuals with respect to the iteration variables alone; `None` if the elimination makes too many
/// slopes, or one that is not finite.
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

/// Replaces slopes with respect to inner variables by those with respect to iteration variables. `total` has the latter for
/// the inner variables so far; `sums` is zero before and after.
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

    /// The eliminated and the whole form of a matrix give the same step.
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

    /// Slopes whose product overflows are solved with the whole matrix.
    #[test]
    fn what_overflows_is_solved_together() {
        let inner = [vec![(0, 1e200)], vec![(1, 1e200)]];
        let residuals = [vec![(0, 1.0), (2, 1.0)]];
        let matrix = NewtonMatrix::new(1, &inner, &residuals).expect("regular");
        assert_eq!(matrix.before, 2);
        assert!(matrix.step(&[1.0])[0].abs() < 1e-300);
    }
}
