//! Orders of elimination for sparse matrices, and the fill-in that elimination causes.
//!
//! Before: the pattern of a matrix. After: an order with little fill-in. If rows are chosen at run time it orders
//! columns (column approximate minimum degree). If the diagonal gives the pivots it orders rows and columns together
//! (approximate minimum degree of A + A^T), and the fill-in is that of a symmetric matrix.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::linalg::{amd, colamd};
use sprs::{CsMat, CsStructure, PermOwned, transform_mat_papt};

use crate::numeric::{Pattern, by_rows, for_faer};

/// The order of columns for a matrix whose pivots are chosen at run time.
pub fn column_order(pattern: &Pattern) -> Vec<usize> {
    let size = pattern.cols();
    let request = colamd::order_scratch::<usize>(size, size, pattern.nnz());
    ordered(size, request, |order, places, stack| {
        let matrix = for_faer(pattern.view());
        colamd::order(order, places, matrix.as_ref(), Default::default(), stack).is_ok()
    })
}

/// The order of rows and columns for a matrix with pivots on its diagonal.
pub fn order(pattern: &Pattern) -> PermOwned {
    let size = pattern.cols();
    let request = amd::order_scratch::<usize>(size, pattern.nnz() + size);
    PermOwned::new(ordered(size, request, |order, places, stack| {
        let matrix = for_faer(pattern.view());
        amd::order(order, places, matrix.as_ref(), Default::default(), stack).is_ok()
    }))
}

/// The order that is found with twice the memory that the algorithm asks for, else the given one.
fn ordered(
    size: usize,
    request: StackReq,
    find: impl FnOnce(&mut [usize], &mut [usize], &mut MemStack) -> bool,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..size).collect();
    let mut places = order.clone();
    let mut room = MemBuffer::new(StackReq::all_of(&[request, request]));
    match find(&mut order, &mut places, MemStack::new(&mut room)) {
        true => order,
        false => (0..size).collect(),
    }
}

/// The entries of both factors in one matrix, by rows; rows and columns are in the order of elimination.
#[derive(Clone, Debug)]
pub struct Filled {
    pub places: CsStructure,
    /// The index of the diagonal entry of each row.
    pub diagonals: Vec<usize>,
}

/// The fill-in of an elimination in this order, if the pattern were symmetric.
pub fn fill(pattern: &Pattern, order: &PermOwned) -> Filled {
    let size = pattern.cols();
    let ordered: CsMat<u8> = transform_mat_papt(pattern.map(|()| 1).view(), order.view());
    let both_ways = &ordered + &ordered.transpose_view();
    // For each column the rows below the diagonal.
    let mut below: Vec<Vec<u32>> = (both_ways.outer_iterator().enumerate())
        .map(|(column, rows)| {
            let rows = rows.indices().iter().filter(|&&row| row > column);
            rows.map(|&row| row as u32).collect()
        })
        .collect();
    // The entries of a column below its first one also occur in the column of that first one.
    let mut given: Vec<Vec<usize>> = vec![Vec::new(); size];
    let mut seen = vec![usize::MAX; size];
    for column in 0..size {
        let mut rows = std::mem::take(&mut below[column]);
        for from in std::mem::take(&mut given[column]) {
            rows.extend(&below[from][1..]);
        }
        rows.retain(|&row| std::mem::replace(&mut seen[row as usize], column) != column);
        rows.sort_unstable();
        if let Some(&first) = rows.first() {
            given[first as usize].push(column);
        }
        below[column] = rows;
    }
    let right = by_rows(below.iter().map(Vec::as_slice), size).map(|()| 1);
    let places = &(&CsMat::<u8>::eye(size) + &right) + &right.transpose_view();
    let diagonal = |row| places.nnz_index(row, row).map(|found| found.0);
    Filled {
        diagonals: (0..size).filter_map(diagonal).collect(),
        places: places.map(|_| ()),
    }
}

#[cfg(test)]
mod tests {
    use sprs::TriMat;

    use super::*;

    fn pattern(size: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Pattern {
        let mut matrix = TriMat::new((size, size));
        for (row, column) in entries {
            matrix.add_triplet(row, column, 1.0);
        }
        matrix.to_csc().map(|_: &f64| ())
    }

    fn random(size: usize, count: usize, mut seed: u64) -> Pattern {
        let mut roll = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005);
            seed = seed.wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % size
        };
        let diagonal: Vec<_> = (0..size).map(|at| (at, at)).collect();
        let others: Vec<_> = (0..count).map(|_| (roll(), roll())).collect();
        pattern(size, diagonal.into_iter().chain(others))
    }

    /// Elimination of a full matrix of truths.
    fn eliminated(pattern: &Pattern, order: &PermOwned) -> Vec<Vec<bool>> {
        let size = pattern.cols();
        let mut full = vec![vec![false; size]; size];
        for (_, (row, column)) in pattern {
            let (row, column) = (order.at_inv(row), order.at_inv(column));
            full[row][column] = true;
            full[column][row] = true;
        }
        for k in 0..size {
            full[k][k] = true;
            for i in k + 1..size {
                for j in k + 1..size {
                    full[i][j] |= full[i][k] && full[k][j];
                }
            }
        }
        full
    }

    #[test]
    fn what_is_filled_is_what_elimination_fills() {
        for seed in 1..40 {
            let size = 5 + seed as usize;
            let pattern = random(size, 2 * size, seed);
            let order = order(&pattern);
            let filled = fill(&pattern, &order);
            let full = eliminated(&pattern, &order);
            for (row, wanted) in full.iter().enumerate() {
                let found = filled.places.outer_view(row).expect("a row");
                let wanted: Vec<usize> = (0..size).filter(|&column| wanted[column]).collect();
                assert_eq!(found.indices(), wanted, "seed {seed}, row {row}");
                assert_eq!(filled.places.indices()[filled.diagonals[row]], row);
            }
            assert_eq!(PermOwned::new(column_order(&pattern)).dim(), size);
        }
    }

    /// In an arrow matrix the dense column comes last, and a chain causes no fill-in.
    #[test]
    fn arrows_and_chains_are_not_filled() {
        let size = 200;
        let all = 0..size;
        let arrow = all.clone().flat_map(|at| [(at, at), (0, at), (at, 0)]);
        let chain =
            (all.map(|at| (at, at))).chain((1..size).flat_map(|at| [(at, at - 1), (at - 1, at)]));
        for pattern in [pattern(size, arrow), pattern(size, chain)] {
            let filled = fill(&pattern, &order(&pattern));
            assert_eq!(filled.places.nnz(), 3 * size - 2);
        }
    }
}
