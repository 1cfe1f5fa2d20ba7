//! Sparse pencils P(s) = M + s N, factored at complex s: frequency responses, and eigenvectors near a point.
//!
//! The pattern is analysed once; at each s only numbers change. Rows are scaled by powers of two, so that units do not decide
//! on pivots.

use faer::c64;
use faer::linalg::solvers::SolveCore;
use faer::sparse::linalg::solvers::{Lu as SparseLu, SymbolicLu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use sprs::{CsStructure, TriMat};

use super::for_faer;

/// One entry: row, column, and its parts in M and in N.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    pub row: u32,
    pub column: u32,
    pub constant: f64,
    pub slope: f64,
}

#[derive(Debug)]
pub struct Pencil {
    size: usize,
    pattern: SymbolicSparseColMat<usize>,
    symbolic: Option<SymbolicLu<usize>>,
    rows: Vec<usize>,
    constant: Vec<f64>,
    slope: Vec<f64>,
    scaled: Vec<c64>,
    scale: Vec<f64>,
    factors: Option<SparseLu<usize, c64>>,
}

impl Pencil {
    /// Entries at one place are added.
    pub fn new(size: usize, entries: &[Entry]) -> Pencil {
        let mut places = TriMat::with_capacity((size, size), entries.len());
        for entry in entries {
            places.add_triplet(entry.row as usize, entry.column as usize, 1_u8);
        }
        let structure: CsStructure = places.to_csc::<usize>().map(|_| ());
        let (mut constant, mut slope) = (vec![0.0; structure.nnz()], vec![0.0; structure.nnz()]);
        for entry in entries {
            let place = structure.nnz_index(entry.row as usize, entry.column as usize);
            if let Some(place) = place {
                constant[place.0] += entry.constant;
                slope[place.0] += entry.slope;
            }
        }
        let pattern = for_faer(structure.view());
        Pencil {
            size,
            symbolic: match size {
                0 => None,
                _ => SymbolicLu::try_new(pattern.as_ref()).ok(),
            },
            pattern,
            rows: structure.indices().to_vec(),
            scaled: vec![c64::new(0.0, 0.0); constant.len()],
            scale: vec![0.0; size],
            constant,
            slope,
            factors: None,
        }
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// Factors P(s); false if it is singular.
    pub fn factor(&mut self, s: c64) -> bool {
        self.factors = None;
        if self.size == 0 {
            return true;
        }
        self.scale.fill(0.0);
        for at in 0..self.constant.len() {
            let value = c64::new(self.constant[at], 0.0) + s * self.slope[at];
            self.scaled[at] = value;
            let most = &mut self.scale[self.rows[at]];
            *most = most.max(value.re.abs().max(value.im.abs()));
        }
        if !(self.scale.iter()).all(|most| *most > 0.0 && most.is_finite()) {
            return false;
        }
        for most in &mut self.scale {
            *most = (-most.log2().round()).clamp(-1000.0, 1000.0).exp2();
        }
        for (value, &row) in self.scaled.iter_mut().zip(&self.rows) {
            *value *= self.scale[row];
        }
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), &self.scaled);
        self.factors = (self.symbolic.clone())
            .and_then(|symbolic| SparseLu::try_new_with_symbolic(symbolic, matrix).ok());
        self.factors.is_some()
    }

    /// Solves P(s) x = b in place; false where the result is not finite.
    pub fn solve(&self, right: &mut [c64]) -> bool {
        for (value, scale) in right.iter_mut().zip(&self.scale) {
            *value *= *scale;
        }
        if let Some(factors) = &self.factors {
            let view = faer::MatMut::from_column_major_slice_mut(right, self.size, 1);
            factors.solve_in_place_with_conj(faer::Conj::No, view);
        }
        is_finite(right)
    }

    /// Solves with the transposed matrix (not conjugated), in place.
    pub fn solve_transposed(&self, right: &mut [c64]) -> bool {
        if let Some(factors) = &self.factors {
            let view = faer::MatMut::from_column_major_slice_mut(right, self.size, 1);
            factors.solve_transpose_in_place_with_conj(faer::Conj::No, view);
        }
        for (value, scale) in right.iter_mut().zip(&self.scale) {
            *value *= *scale;
        }
        is_finite(right)
    }
}

fn is_finite(values: &[c64]) -> bool {
    values
        .iter()
        .all(|value| value.re.is_finite() && value.im.is_finite())
}
