//! The factors of the matrix of a jump. A mode is entered many times, and mostly its matrix is the same each time: the entries are
//! compared, and what follows from them is computed only when they differ.

use rustc_hash::FxHashMap;
use sprs::CsMat;

use crate::numeric::lu::{Lu, bound};

#[derive(Debug, Default)]
pub struct JumpFactors {
    kept: Option<Kept>,
}

#[derive(Debug)]
struct Kept {
    /// The entries of the rows, one row after the other, that `lu` has the factors of; empty if it has none.
    entries: Vec<f64>,
    matrix: CsMat<f64>,
    targets: Vec<u32>,
    lu: Lu,
    /// Rows of the inverse that bounds were asked of.
    inverse: FxHashMap<u32, Vec<f64>>,
}

impl JumpFactors {
    /// Factors the matrix with these entries; false if it is singular. `places` tells for each nonzero of the matrix which
    /// of the entries it is, and is the same in every call.
    pub(super) fn factor(&mut self, places: &CsMat<usize>, entries: &[f64]) -> bool {
        let kept = self.kept.get_or_insert_with(|| {
            let matrix = places.map(|_| 0.0);
            Kept {
                entries: Vec::new(),
                targets: (0..places.cols() as u32).collect(),
                lu: Lu::new(matrix.structure_view()),
                matrix,
                inverse: FxHashMap::default(),
            }
        });
        if kept.entries == entries {
            return true;
        }
        for (value, &at) in kept.matrix.data_mut().iter_mut().zip(places.data()) {
            *value = entries[at];
        }
        kept.entries.clear();
        kept.inverse.clear();
        let regular = kept.lu.factor(kept.matrix.view(), &kept.targets);
        if regular {
            kept.entries.extend_from_slice(entries);
        }
        regular
    }

    /// Solves with the last factors, in place.
    pub(super) fn solve(&mut self, right: &mut [f64]) {
        if let Some(kept) = &mut self.kept {
            kept.lu.solve(right);
        }
    }

    /// A bound on the error of each of the wanted unknowns, if the right sides have these errors.
    pub(super) fn bounds_of(&mut self, wanted: &[u32], errors: &[f64]) -> Vec<f64> {
        let Some(kept) = &mut self.kept else {
            return vec![0.0; wanted.len()];
        };
        if !kept.lu.is_small() {
            return kept.lu.bounds_of(wanted, errors);
        }
        let (lu, inverse) = (&mut kept.lu, &mut kept.inverse);
        let mut of = |&at: &u32| {
            let row = inverse.entry(at).or_insert_with(|| {
                let mut row = vec![0.0; errors.len()];
                lu.row_of_inverse(at, &mut row);
                row
            });
            bound(row, errors)
        };
        wanted.iter().map(&mut of).collect()
    }
}
