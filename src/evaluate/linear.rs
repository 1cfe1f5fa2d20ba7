//! Systems of linear equations in numbers: A x = b.
//!
//! Before: a finite matrix A by rows. After: factors that solve for any right side, or the row and column at which A is
//! singular. Rows and columns are first scaled by powers of two, so that units have no influence. Small systems are factored
//! densely with complete pivoting, which reveals the rank; large ones by faer's sparse LU with partial pivoting. Each solution
//! is refined iteratively.

use faer::linalg::solvers::Solve;
use faer::sparse::SparseColMat;
use nalgebra::linalg::FullPivLU;
use nalgebra::{DMatrix, DVector, Dyn, RowDVector};
use sprs::CsMat;

use crate::numeric::for_faer;
use crate::numeric::zero::rounding;

/// Up to this many unknowns a system is dense.
const DENSE: usize = 200;
/// The most steps of iterative refinement.
const MOST_CORRECTIONS: usize = 8;

/// The matrix is singular.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Singular {
    /// The row and the column without a pivot, if they are known.
    pub row: Option<u32>,
    pub column: Option<u32>,
    /// The smallest pivot, or an estimate of it for a large system. That of a regular matrix is about 1.
    pub pivot: f64,
}

#[derive(Debug)]
enum Factors {
    Dense(FullPivLU<f64, Dyn, Dyn>),
    Sparse(Box<faer::sparse::linalg::solvers::Lu<usize, f64>>),
}

#[derive(Debug)]
pub struct Factored {
    /// Scaled, by rows.
    matrix: CsMat<f64>,
    rows: Vec<f64>,
    columns: Vec<f64>,
    factors: Factors,
}

impl Factored {
    /// Factors a square matrix, given by rows.
    pub fn new(mut matrix: CsMat<f64>) -> Result<Self, Singular> {
        let size = matrix.rows();
        let (rows, columns) = scales(&matrix)?;
        for (mut entries, row) in matrix.outer_iterator_mut().zip(&rows) {
            for (column, value) in entries.iter_mut() {
                // Multiplied one after the other, because the product of the scales may overflow.
                *value *= row;
                *value *= columns[column];
            }
        }
        let factors = match size <= DENSE {
            true => {
                let mut dense = DMatrix::zeros(size, size);
                for (&value, place) in &matrix {
                    dense[place] = value;
                }
                let factors = FullPivLU::new(dense);
                check_pivots(size, &factors)?;
                Factors::Dense(factors)
            }
            false => {
                let by_columns = matrix.to_csc();
                let pattern = for_faer(by_columns.structure_view());
                let singular = Singular {
                    row: None,
                    column: None,
                    pivot: 0.0,
                };
                let factors = SparseColMat::new(pattern, by_columns.data().to_vec()).sp_lu();
                Factors::Sparse(Box::new(factors.map_err(|_| singular)?))
            }
        };
        let factored = Factored {
            matrix,
            rows,
            columns,
            factors,
        };
        if size > DENSE {
            factored.check_growth()?;
        }
        Ok(factored)
    }

    /// Solves for a right side, which has as many elements as there are rows. The refinement goes on as long as each step at
    /// least halves the largest residual, each relative to the terms of its row.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let right = product(right, &self.rows);
        let mut solution = self.once(&right);
        let mut last = f64::INFINITY;
        for _ in 0..MOST_CORRECTIONS {
            let mut residual = right.clone();
            let mut terms: Vec<f64> = right.iter().map(|value| value.abs()).collect();
            for (value, (row, column)) in &self.matrix {
                let term = value * solution[column];
                residual[row] -= term;
                terms[row] += term.abs();
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

    /// An estimate of the error of a solution, from the noise of the right side and from rounding errors. The errors are
    /// propagated a few times with random signs; an exact bound would need the inverse.
    pub fn doubt(&self, solution: &[f64], noise: &[f64]) -> Vec<f64> {
        const TIMES: usize = 3;
        let mut errors = product(noise, &self.rows);
        for (value, (row, column)) in &self.matrix {
            let term = value * (solution[column] / self.columns[column]);
            errors[row] += rounding(term);
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

    /// For each unknown the value that has, after scaling, the size of the largest of these values.
    pub fn alike(&self, values: &[f64]) -> Vec<f64> {
        let largest = (values.iter().zip(&self.columns))
            .fold(0.0, |largest: f64, (value, scale)| {
                largest.max((value / scale).abs())
            });
        self.columns.iter().map(|scale| scale * largest).collect()
    }

    /// Solves once by the factors; right side and solution are scaled.
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

    /// An error if the matrix is almost singular: then the solution for a right side of ones is huge, and its largest element
    /// belongs to the unknown that is not determined.
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

/// Pseudorandom signs, so that a right side made of them is not orthogonal to a singular direction.
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
fn scales(matrix: &CsMat<f64>) -> Result<(Vec<f64>, Vec<f64>), Singular> {
    let mut rows = vec![0f64; matrix.rows()];
    for (value, (row, _)) in matrix {
        rows[row] = rows[row].max(value.abs());
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
    let mut columns = vec![0f64; matrix.cols()];
    for (value, (row, column)) in matrix {
        columns[column] = columns[column].max((value * rows[row]).abs());
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

/// An error if the smallest pivot is at the level of rounding errors.
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
    use sprs::TriMat;

    use super::*;

    fn factored(size: usize, entries: &[(usize, usize, f64)]) -> Result<Factored, Singular> {
        let mut matrix = TriMat::new((size, size));
        for &(row, column, value) in entries {
            matrix.add_triplet(row, column, value);
        }
        Factored::new(matrix.to_csr())
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
                    entries.push((row, column, value));
                }
            }
            for &(row, column, value) in &entries {
                right[row] += value * solution[column];
            }
            let factored = factored(size, &entries).expect("regular");
            let found = factored.solve(&right);
            for (at, (found, expected)) in found.iter().zip(&solution).enumerate() {
                let off = (found - expected).abs() / unit(at + 1);
                assert!(off < 1e-13, "{size}: {found} {expected}");
            }
        }
    }

    /// Each row of a ring is a difference, so that a constant can be added to all unknowns.
    #[test]
    fn singular_matrices_are_refused() {
        for size in [2, 7, DENSE, DENSE + 1, 3000] {
            let mut entries = Vec::new();
            for row in 0..size {
                let next = (row + 1) % size;
                entries.push((row, row, 1.3));
                entries.push((row, next, -1.3));
            }
            let singular = factored(size, &entries).expect_err("singular");
            assert!(singular.pivot < 1e-14, "{size}: {singular:?}");
        }
    }

    #[test]
    fn what_is_left_over_is_named() {
        // x0 is determined, x1 and x2 only their sum.
        let entries = [
            (0, 0, 2.0),
            (1, 1, 1e-3),
            (1, 2, 1e-3),
            (2, 1, 5.0),
            (2, 2, 5.0),
        ];
        let singular = factored(3, &entries).expect_err("singular");
        assert!(matches!(singular.row, Some(1 | 2)), "{singular:?}");
        assert!(matches!(singular.column, Some(1 | 2)), "{singular:?}");
        let empty_row = factored(2, &[(0, 0, 1.0), (0, 1, 1.0)]);
        assert_eq!(empty_row.map(|_| ()).map_err(|at| at.row), Err(Some(1)));
        let empty_column = factored(2, &[(0, 0, 1.0), (1, 0, 1.0)]);
        assert_eq!(
            empty_column.map(|_| ()).map_err(|at| at.column),
            Err(Some(1))
        );
    }
}
