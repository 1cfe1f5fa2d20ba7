//! LU factors of small dense and large sparse matrices, for loops that are solved at run time.
//!
//! A sparse pattern is analysed once; after that only the numbers change. Rows and columns are
//! scaled by their largest entries. So the units have no influence on the choice of pivots and on
//! what counts as singular: a column of femtofarads is not taken for a column of zeros.

use faer::sparse::linalg::solvers::{Lu as SparseLu, SymbolicLu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use sprs::{CsMatView, CsStructureView};

use super::for_faer;
use super::zero::product;

/// Matrices of up to this many unknowns are dense.
const MAX_DENSE: usize = 64;

#[derive(Debug)]
pub struct Lu {
    size: usize,
    storage: Storage,
}

#[derive(Debug)]
enum Storage {
    Dense {
        /// By rows.
        matrix: Vec<f64>,
        order: Vec<usize>,
        weights: Vec<f64>,
        /// The largest scaled entry of each column.
        columns: Vec<f64>,
        scratch: Vec<f64>,
    },
    Sparse(Box<Sparse>),
}

#[derive(Debug)]
struct Sparse {
    pattern: SymbolicSparseColMat<usize>,
    symbolic: Option<SymbolicLu<usize>>,
    factors: Option<SparseLu<usize, f64>>,
    /// Powers of two that scale rows, and then columns, to a largest entry of about 1.
    rows: Vec<f64>,
    columns: Vec<f64>,
    scaled: Vec<f64>,
    scratch: Vec<f64>,
}

impl Default for Lu {
    fn default() -> Self {
        Lu::full(0)
    }
}

impl Lu {
    /// Makes a dense solver for matrices of a size. Their patterns may differ.
    pub fn full(size: usize) -> Self {
        Lu {
            size,
            storage: Storage::Dense {
                matrix: vec![0.0; size * size],
                order: vec![0; size],
                weights: vec![0.0; size],
                columns: vec![0.0; size],
                scratch: vec![0.0; size],
            },
        }
    }

    /// Makes a solver for square matrices of one pattern, given by columns.
    pub fn new(pattern: CsStructureView<'_>) -> Self {
        let size = pattern.cols();
        if size <= MAX_DENSE {
            return Lu::full(size);
        }
        let (entries, pattern) = (pattern.nnz(), for_faer(pattern));
        Lu {
            size,
            storage: Storage::Sparse(Box::new(Sparse {
                symbolic: SymbolicLu::try_new(pattern.as_ref()).ok(),
                pattern,
                factors: None,
                rows: vec![0.0; size],
                columns: vec![0.0; size],
                scaled: vec![0.0; entries],
                scratch: vec![0.0; size],
            })),
        }
    }

    /// Factors a matrix. `targets` gives for each given column its place in a dense matrix; columns
    /// with `u32::MAX` are left out, and a sparse matrix ignores it. Returns false if the matrix is
    /// singular.
    pub fn factor(&mut self, of: CsMatView<'_, f64>, targets: &[u32]) -> bool {
        let size = self.size;
        match &mut self.storage {
            Storage::Dense {
                matrix,
                order,
                weights,
                columns,
                ..
            } => {
                matrix.fill(0.0);
                for (column, &to) in of.outer_iterator().zip(targets) {
                    if to == u32::MAX {
                        continue;
                    }
                    for (row, &value) in column.iter() {
                        matrix[row * size + to as usize] = value;
                    }
                }
                factor_dense(size, matrix, order, (weights, columns))
            }
            Storage::Sparse(sparse) => sparse.factor(of),
        }
    }

    /// Solves for a right side, in place.
    pub fn solve(&mut self, right: &mut [f64]) {
        let size = self.size;
        match &mut self.storage {
            Storage::Dense {
                matrix,
                order,
                scratch,
                ..
            } => {
                for row in 0..size {
                    let from = &matrix[row * size..row * size + row];
                    let known: f64 = from.iter().zip(&*scratch).map(|(a, b)| a * b).sum();
                    scratch[row] = right[order[row]] - known;
                }
                for row in (0..size).rev() {
                    let from = &matrix[row * size..(row + 1) * size];
                    let known: f64 = (from[row + 1..].iter().zip(&scratch[row + 1..]))
                        .map(|(a, b)| a * b)
                        .sum();
                    scratch[row] = (scratch[row] - known) / from[row];
                }
                right.copy_from_slice(scratch);
            }
            Storage::Sparse(sparse) => sparse.solve(right),
        }
    }
}

impl Lu {
    /// Solves with the transposed matrix, in place.
    pub fn solve_transposed(&mut self, right: &mut [f64]) {
        let size = self.size;
        match &mut self.storage {
            Storage::Dense {
                matrix,
                order,
                scratch,
                ..
            } => {
                scratch.copy_from_slice(right);
                for row in 0..size {
                    scratch[row] /= matrix[row * size + row];
                    let known = scratch[row];
                    let from = &matrix[row * size + row + 1..(row + 1) * size];
                    for (to, from) in scratch[row + 1..].iter_mut().zip(from) {
                        *to -= from * known;
                    }
                }
                for row in (0..size).rev() {
                    let known = scratch[row];
                    let from = &matrix[row * size..row * size + row];
                    for (to, from) in scratch[..row].iter_mut().zip(from) {
                        *to -= from * known;
                    }
                    right[order[row]] = known;
                }
            }
            Storage::Sparse(sparse) => sparse.solve_transposed(right),
        }
    }

    /// Bounds on the unknowns whose right sides have these errors: how much each may be wrong.
    pub fn bounds(&mut self, errors: &[f64]) -> Vec<f64> {
        let all: Vec<u32> = (0..self.size as u32).collect();
        self.bounds_of(&all, errors)
    }

    /// Bounds on some of the unknowns. Small systems are bounded, row by row of the inverse; of large ones it is estimated, by
    /// a few right sides with irregular signs.
    pub fn bounds_of(&mut self, wanted: &[u32], errors: &[f64]) -> Vec<f64> {
        const TIMES: usize = 4;
        const TIMES_MORE: f64 = 3.0;
        let size = self.size;
        let mut row = vec![0.0; size];
        if self.is_small() {
            let bound = |&at: &u32| {
                self.row_of_inverse(at, &mut row);
                bound(&row, errors)
            };
            return wanted.iter().map(bound).collect();
        }
        let mut most = vec![0.0f64; wanted.len()];
        let mut signs = Signs::default();
        for _ in 0..TIMES {
            for (value, error) in row.iter_mut().zip(errors) {
                *value = signs.next() * error;
            }
            self.solve(&mut row);
            for (most, &at) in most.iter_mut().zip(wanted) {
                *most = most.max(TIMES_MORE * row[at as usize].abs());
            }
        }
        most
    }

    /// Whether bounds follow from rows of the inverse.
    pub fn is_small(&self) -> bool {
        self.size <= MAX_DENSE
    }

    pub fn row_of_inverse(&mut self, at: u32, row: &mut [f64]) {
        row.fill(0.0);
        row[at as usize] = 1.0;
        self.solve_transposed(row);
    }
}

/// How much an unknown may be wrong, from its row of the inverse and the errors of the right sides.
pub fn bound(row: &[f64], errors: &[f64]) -> f64 {
    let terms = row.iter().zip(errors);
    terms.map(|(&slope, &error)| product(slope, error)).sum()
}

/// Gaussian elimination with scaled partial pivoting. Returns false if no pivot is left.
fn factor_dense(
    size: usize,
    matrix: &mut [f64],
    order: &mut [usize],
    (weights, columns): (&mut [f64], &mut [f64]),
) -> bool {
    columns.fill(0.0);
    for row in 0..size {
        order[row] = row;
        let of = &matrix[row * size..(row + 1) * size];
        let largest = of
            .iter()
            .fold(0.0, |most: f64, value| most.max(value.abs()));
        if largest == 0.0 || !largest.is_finite() || of.iter().any(|value| value.is_nan()) {
            return false;
        }
        weights[row] = 1.0 / largest;
        for (most, value) in columns.iter_mut().zip(of) {
            *most = most.max(value.abs() * weights[row]);
        }
    }
    for step in 0..size {
        let mut best = step;
        let mut most = 0.0;
        for row in step..size {
            let scaled_value = matrix[row * size + step].abs() * weights[row];
            if scaled_value > most {
                (best, most) = (row, scaled_value);
            }
        }
        if most <= SINGULAR * columns[step] {
            return false;
        }
        if best != step {
            order.swap(best, step);
            weights.swap(best, step);
            for column in 0..size {
                matrix.swap(best * size + column, step * size + column);
            }
        }
        let pivot = matrix[step * size + step];
        for row in step + 1..size {
            let factor = matrix[row * size + step] / pivot;
            matrix[row * size + step] = factor;
            if factor != 0.0 {
                let (above, below) = matrix.split_at_mut(row * size);
                let from = &above[step * size + step + 1..(step + 1) * size];
                for (to, from) in below[step + 1..size].iter_mut().zip(from) {
                    *to -= factor * from;
                }
            }
        }
    }
    true
}

/// A pivot below this is taken for zero, in a matrix whose rows and columns have the magnitude 1.
const SINGULAR: f64 = 1e-15;

impl Sparse {
    fn factor(&mut self, of: CsMatView<'_, f64>) -> bool {
        self.factors = None;
        self.rows.fill(0.0);
        for (&row, value) in of.indices().iter().zip(of.data()) {
            self.rows[row] = self.rows[row].max(value.abs());
        }
        let is_usable = |most: &f64| *most > 0.0 && most.is_finite();
        // `max` ignores NaN, so NaN must be searched for separately.
        if !self.rows.iter().all(is_usable) || of.data().iter().any(|value| value.is_nan()) {
            return false;
        }
        self.rows
            .iter_mut()
            .for_each(|most| *most = inverse_power_of_two(*most));
        for (most, column) in self.columns.iter_mut().zip(of.outer_iterator()) {
            let scaled_value = column
                .iter()
                .map(|(row, value)| value.abs() * self.rows[row]);
            *most = scaled_value.fold(0.0, f64::max);
        }
        if !self.columns.iter().all(is_usable) {
            return false;
        }
        self.columns
            .iter_mut()
            .for_each(|most| *most = inverse_power_of_two(*most));
        let starts = of.indptr().into_raw_storage();
        for (range, scale) in starts.windows(2).zip(&self.columns) {
            let range = range[0]..range[1];
            let entries = of.indices()[range.clone()]
                .iter()
                .zip(&of.data()[range.clone()]);
            for (scaled, (&row, value)) in self.scaled[range].iter_mut().zip(entries) {
                *scaled = value * self.rows[row] * scale;
            }
        }
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), &self.scaled);
        self.factors = (self.symbolic.clone())
            .and_then(|symbolic| SparseLu::try_new_with_symbolic(symbolic, matrix).ok());
        if self.factors.is_some() && self.is_nearly_singular() {
            self.factors = None;
        }
        self.factors.is_some()
    }

    /// Solves with a right side of 1 and -1 in irregular order. The matrix is nearly singular if
    /// the solution is huge.
    fn is_nearly_singular(&mut self) -> bool {
        let mut signs = Signs::default();
        self.scratch.fill_with(|| signs.next());
        let mut scratch = std::mem::take(&mut self.scratch);
        self.solve_scaled(&mut scratch);
        let grown = scratch
            .iter()
            .any(|value| value.is_nan() || value.abs() >= 1.0 / SINGULAR);
        self.scratch = scratch;
        grown
    }

    fn solve_scaled(&self, right: &mut [f64]) {
        use faer::linalg::solvers::SolveCore;
        match &self.factors {
            Some(factors) => {
                let size = right.len();
                let view = faer::MatMut::from_column_major_slice_mut(right, size, 1);
                factors.solve_in_place_with_conj(faer::Conj::No, view);
            }
            None => right.fill(f64::NAN),
        }
    }

    /// (R A C)' (y/R) = C c.
    fn solve_transposed(&mut self, right: &mut [f64]) {
        use faer::linalg::solvers::SolveCore;
        for (value, scale) in right.iter_mut().zip(&self.columns) {
            *value *= scale;
        }
        match &self.factors {
            Some(factors) => {
                let size = right.len();
                let view = faer::MatMut::from_column_major_slice_mut(right, size, 1);
                factors.solve_transpose_in_place_with_conj(faer::Conj::No, view);
            }
            None => right.fill(f64::NAN),
        }
        for (value, scale) in right.iter_mut().zip(&self.rows) {
            *value *= scale;
        }
    }

    fn solve(&mut self, right: &mut [f64]) {
        for (value, scale) in right.iter_mut().zip(&self.rows) {
            *value *= scale;
        }
        self.solve_scaled(right);
        for (value, scale) in right.iter_mut().zip(&self.columns) {
            *value *= scale;
        }
    }
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
        self.0 = (self.0.wrapping_mul(6364136223846793005)).wrapping_add(1442695040888963407);
        if self.0 >> 63 == 0 { 1.0 } else { -1.0 }
    }
}

/// Returns the power of two that scales `largest` to about 1.
fn inverse_power_of_two(largest: f64) -> f64 {
    (-largest.log2().round()).clamp(-1000.0, 1000.0).exp2()
}
