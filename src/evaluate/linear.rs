//! Systems of linear equations in numbers: A x = b.
//!
//! Before: the entries of A by row and column, finite. After: factors that solve for any right side,
//! or where A is singular. Rows and columns are first brought to one magnitude by powers of two, so
//! that units play no part. Small systems are factored densely with complete pivoting, which shows the
//! rank; large ones by faer's sparse LU with partial pivoting. Each solution is improved by its own
//! residual.

use faer::linalg::solvers::Solve;
use faer::sparse::{SparseColMat, Triplet};
use nalgebra::linalg::FullPivLU;
use nalgebra::{DMatrix, DVector, Dyn, RowDVector};

/// Up to this many unknowns a system is dense.
const DENSE: usize = 200;
/// How often a solution is improved.
const MOST_CORRECTIONS: usize = 8;

/// An entry of the matrix; several for one place add up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    pub row: u32,
    pub column: u32,
    pub value: f64,
}

/// The matrix cannot be solved with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Singular {
    /// The row and the column that are left over, where they are known.
    pub row: Option<u32>,
    pub column: Option<u32>,
    /// The smallest pivot (or, of a large system, what takes its place), that of a regular matrix
    /// being about 1.
    pub pivot: f64,
}

#[derive(Debug)]
enum Factors {
    Dense(FullPivLU<f64, Dyn, Dyn>),
    Sparse(Box<faer::sparse::linalg::solvers::Lu<usize, f64>>),
}

#[derive(Debug)]
pub struct Factored {
    /// Scaled.
    entries: Vec<Number>,
    rows: Vec<f64>,
    columns: Vec<f64>,
    factors: Factors,
}

impl Factored {
    pub fn new(size: usize, mut entries: Vec<Number>) -> Result<Self, Singular> {
        let (rows, columns) = scales(size, &entries)?;
        for entry in &mut entries {
            // One after the other: both together may be too large.
            entry.value *= rows[entry.row as usize];
            entry.value *= columns[entry.column as usize];
        }
        let factors = match size <= DENSE {
            true => {
                let mut matrix = DMatrix::zeros(size, size);
                for entry in &entries {
                    matrix[(entry.row as usize, entry.column as usize)] += entry.value;
                }
                let factors = FullPivLU::new(matrix);
                check_pivots(size, &factors)?;
                Factors::Dense(factors)
            }
            false => {
                let list: Vec<_> = (entries.iter())
                    .map(|entry| {
                        Triplet::new(entry.row as usize, entry.column as usize, entry.value)
                    })
                    .collect();
                let singular = Singular {
                    row: None,
                    column: None,
                    pivot: 0.0,
                };
                let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(size, size, &list)
                    .map_err(|_| singular)?;
                Factors::Sparse(Box::new(matrix.sp_lu().map_err(|_| singular)?))
            }
        };
        let factored = Factored {
            entries,
            rows,
            columns,
            factors,
        };
        if size > DENSE {
            factored.check_growth()?;
        }
        Ok(factored)
    }

    /// Solves for a right side, which has as many elements as there are rows. Corrected as long as
    /// that at least halves by how much the worst row is off, beside its own terms: a row of small
    /// terms counts as much as one of large ones.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let right = product(right, &self.rows);
        let mut solution = self.once(&right);
        let mut last = f64::INFINITY;
        for _ in 0..MOST_CORRECTIONS {
            let mut residual = right.clone();
            let mut terms: Vec<f64> = right.iter().map(|value| value.abs()).collect();
            for entry in &self.entries {
                let term = entry.value * solution[entry.column as usize];
                residual[entry.row as usize] -= term;
                terms[entry.row as usize] += term.abs();
            }
            let off = (residual.iter().zip(&terms))
                .filter(|(off, _)| **off != 0.0)
                .fold(0.0, |most: f64, (off, terms)| most.max(off.abs() / terms));
            if off <= f64::EPSILON || off > last / 2.0 {
                break;
            }
            last = off;
            let correction = self.once(&residual);
            if !correction.iter().all(|value| value.is_finite()) {
                break;
            }
            for (value, more) in solution.iter_mut().zip(correction) {
                *value += more;
            }
        }
        product(&solution, &self.columns)
    }

    /// About how far a solution may be off: by the noise of the right side, and by rounding when it
    /// was solved for. The errors are taken with signs at random a few times; a true bound would
    /// need the inverse.
    pub fn doubt(&self, solution: &[f64], noise: &[f64]) -> Vec<f64> {
        const TIMES: usize = 3;
        let mut errors = product(noise, &self.rows);
        for entry in &self.entries {
            let at = entry.column as usize;
            let term = entry.value * (solution[at] / self.columns[at]);
            errors[entry.row as usize] += f64::EPSILON * term.abs();
        }
        let mut most = vec![0f64; errors.len()];
        let mut signs = Signs::default();
        for _ in 0..TIMES {
            let signed: Vec<f64> = errors.iter().map(|error| error * signs.next()).collect();
            for (most, value) in most.iter_mut().zip(self.once(&signed)) {
                *most = most.max(value.abs());
            }
        }
        product(&most, &self.columns)
    }

    /// For each unknown a value as large, beside its coefficients, as the largest of these is beside its.
    pub fn alike(&self, values: &[f64]) -> Vec<f64> {
        let largest = (values.iter().zip(&self.columns))
            .fold(0.0, |largest: f64, (value, scale)| {
                largest.max((value / scale).abs())
            });
        self.columns.iter().map(|scale| scale * largest).collect()
    }

    /// Right side and solution are scaled.
    fn once(&self, right: &[f64]) -> Vec<f64> {
        match &self.factors {
            Factors::Dense(factors) => {
                let solution = factors.solve(&DVector::from_column_slice(right));
                solution.map_or(vec![f64::NAN; right.len()], |found| {
                    found.iter().copied().collect()
                })
            }
            Factors::Sparse(factors) => {
                let mut column = faer::Mat::from_fn(right.len(), 1, |row, _| right[row]);
                factors.solve_in_place(&mut column);
                (0..right.len()).map(|row| column[(row, 0)]).collect()
            }
        }
    }

    /// A matrix near a singular one blows up a right side of ones; what grows most is undetermined.
    fn check_growth(&self) -> Result<(), Singular> {
        let size = self.rows.len();
        let mut signs = Signs::default();
        let right: Vec<f64> = (0..size).map(|_| signs.next()).collect();
        let solution = self.once(&right);
        let grown = |at: usize| {
            let size = solution[at].abs();
            if size.is_nan() { f64::INFINITY } else { size }
        };
        let worst = (0..size).max_by(|&a, &b| grown(a).total_cmp(&grown(b)));
        let pivot = worst.map_or(1.0, |at| 1.0 / grown(at));
        if pivot > f64::EPSILON {
            return Ok(());
        }
        Err(Singular {
            row: None,
            column: worst.map(|at| at as u32).filter(|_| pivot > 0.0),
            pivot,
        })
    }
}

fn product(values: &[f64], scales: &[f64]) -> Vec<f64> {
    (values.iter().zip(scales))
        .map(|(value, scale)| value * scale)
        .collect()
}

/// Signs in no regular order, so as not to be orthogonal to anything by chance.
struct Signs(u64);

impl Default for Signs {
    fn default() -> Self {
        Signs(1)
    }
}

impl Signs {
    fn next(&mut self) -> f64 {
        self.0 = (self.0)
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        if self.0 >> 63 == 0 { 1.0 } else { -1.0 }
    }
}

/// Powers of two for rows and columns, after which the largest entry of each is about 1.
fn scales(size: usize, entries: &[Number]) -> Result<(Vec<f64>, Vec<f64>), Singular> {
    let mut rows = vec![0f64; size];
    for entry in entries {
        let largest = &mut rows[entry.row as usize];
        *largest = largest.max(entry.value.abs());
    }
    let power = |largest: f64| (-largest.log2().round()).clamp(-1000.0, 1000.0).exp2();
    if let Some(row) = rows.iter().position(|&largest| largest == 0.0) {
        return Err(Singular {
            row: Some(row as u32),
            column: None,
            pivot: 0.0,
        });
    }
    rows.iter_mut().for_each(|row| *row = power(*row));
    let mut columns = vec![0f64; size];
    for entry in entries {
        let largest = &mut columns[entry.column as usize];
        *largest = largest.max((entry.value * rows[entry.row as usize]).abs());
    }
    if let Some(column) = columns.iter().position(|&largest| largest == 0.0) {
        return Err(Singular {
            row: None,
            column: Some(column as u32),
            pivot: 0.0,
        });
    }
    columns
        .iter_mut()
        .for_each(|column| *column = power(*column));
    Ok((rows, columns))
}

/// A pivot at the level of rounding is zero.
fn check_pivots(size: usize, factors: &FullPivLU<f64, Dyn, Dyn>) -> Result<(), Singular> {
    let upper = factors.u();
    let pivot = |at: usize| upper[(at, at)].abs();
    let largest = (0..size).map(pivot).fold(0.0, f64::max);
    let worst = (0..size).min_by(|&a, &b| pivot(a).total_cmp(&pivot(b)));
    let Some(worst) = worst.filter(|&at| pivot(at) <= f64::EPSILON * size as f64 * largest) else {
        return Ok(());
    };
    let mut rows = DVector::from_iterator(size, 0..size as u32);
    factors.p().permute_rows(&mut rows);
    let mut columns = RowDVector::from_iterator(size, 0..size as u32);
    factors.q().permute_columns(&mut columns);
    Err(Singular {
        row: Some(rows[worst]),
        column: Some(columns[worst]),
        pivot: pivot(worst) / largest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(row: u32, column: u32, value: f64) -> Number {
        Number { row, column, value }
    }

    /// A ladder of equal resistors, driven at its end: v[i-1] - 3 v[i] + v[i+1] = 0, dense and
    /// sparse, with units that differ by twelve orders of magnitude.
    #[test]
    fn ladders_are_solved_to_rounding() {
        for size in [1, 2, 10, DENSE, DENSE + 1, 5000] {
            let unit = |at: usize| 10f64.powi(at as i32 % 3 * 6);
            let mut entries = Vec::new();
            let mut right = vec![0.0; size];
            let solution: Vec<f64> = (0..size)
                .map(|at| (((at * 7) % 11) as f64 - 4.0) * unit(at + 1))
                .collect();
            for row in 0..size {
                for column in row.saturating_sub(1)..(row + 2).min(size) {
                    let plain = if row == column { -3.0 } else { 1.0 };
                    let value = plain * unit(row) / unit(column + 1);
                    entries.push(number(row as u32, column as u32, value));
                }
            }
            for entry in &entries {
                right[entry.row as usize] += entry.value * solution[entry.column as usize];
            }
            let factored = Factored::new(size, entries).expect("regular");
            let found = factored.solve(&right);
            for (at, (found, expected)) in found.iter().zip(&solution).enumerate() {
                let off = (found - expected).abs() / unit(at + 1);
                assert!(off < 1e-13, "{size}: {found} {expected}");
            }
        }
    }

    /// Floating: every row of a chain is a difference, so that all may be raised together.
    #[test]
    fn singular_matrices_are_refused() {
        for size in [2, 7, DENSE, DENSE + 1, 3000] {
            let mut entries = Vec::new();
            for row in 0..size {
                let next = (row + 1) % size;
                entries.push(number(row as u32, row as u32, 1.3));
                entries.push(number(row as u32, next as u32, -1.3));
            }
            let singular = Factored::new(size, entries).expect_err("singular");
            assert!(singular.pivot < 1e-14, "{size}: {singular:?}");
        }
    }

    #[test]
    fn what_is_left_over_is_named() {
        // x0 is determined, x1 and x2 only their sum.
        let entries = vec![
            number(0, 0, 2.0),
            number(1, 1, 1e-3),
            number(1, 2, 1e-3),
            number(2, 1, 5.0),
            number(2, 2, 5.0),
        ];
        let singular = Factored::new(3, entries).expect_err("singular");
        assert!(matches!(singular.row, Some(1 | 2)), "{singular:?}");
        assert!(matches!(singular.column, Some(1 | 2)), "{singular:?}");
        let empty_row = Factored::new(2, vec![number(0, 0, 1.0), number(0, 1, 1.0)]);
        assert_eq!(empty_row.map(|_| ()).map_err(|at| at.row), Err(Some(1)));
        let empty_column = Factored::new(2, vec![number(0, 0, 1.0), number(1, 0, 1.0)]);
        assert_eq!(
            empty_column.map(|_| ()).map_err(|at| at.column),
            Err(Some(1))
        );
    }
}
