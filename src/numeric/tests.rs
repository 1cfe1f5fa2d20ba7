//! Sparse matrices against full ones: assembly, transposition, products, sums, colours, factors.

use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use sprs::binop::csmat_binop;
use sprs::prod::mul_acc_mat_vec_csc;
use sprs::{CsMat, TriMat};

use super::lu::Lu;
use super::{by_rows, color, numbered};

const MOST: usize = 90;

/// Rows, columns and numbers of a square matrix, in any order, places perhaps more than once.
fn entries() -> impl Strategy<Value = (usize, Vec<(usize, usize, f64)>)> {
    (1..MOST).prop_flat_map(|size| {
        let entry = (0..size, 0..size, -4i32..5);
        let entry = entry.prop_map(|(row, column, value)| (row, column, f64::from(value) / 2.0));
        (Just(size), prop::collection::vec(entry, 0..4 * size))
    })
}

fn assembled(size: usize, entries: &[(usize, usize, f64)]) -> CsMat<f64> {
    let mut matrix = TriMat::new((size, size));
    for &(row, column, value) in entries {
        matrix.add_triplet(row, column, value);
    }
    matrix.to_csc()
}

fn full(size: usize, entries: &[(usize, usize, f64)]) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(size, size);
    for &(row, column, value) in entries {
        matrix[(row, column)] += value;
    }
    matrix
}

fn filled(matrix: &CsMat<f64>) -> DMatrix<f64> {
    let mut filled = DMatrix::zeros(matrix.rows(), matrix.cols());
    for (&value, place) in matrix {
        filled[place] = value;
    }
    filled
}

/// Each place once, in the order of first mention.
fn once(entries: &[(usize, usize, f64)]) -> Vec<(u32, u32)> {
    let mut seen = std::collections::BTreeSet::new();
    (entries.iter())
        .map(|&(row, column, _)| (row as u32, column as u32))
        .filter(|&place| seen.insert(place))
        .collect()
}

proptest! {
    #[test]
    fn matrices_are_what_they_are_in_full((size, entries) in entries()) {
        let (matrix, whole) = (assembled(size, &entries), full(size, &entries));
        prop_assert_eq!(&filled(&matrix), &whole);
        prop_assert_eq!(&filled(&matrix.to_csr()), &whole);
        prop_assert_eq!(filled(&matrix.to_csr().transpose_into()), whole.transpose());
        let x: Vec<f64> = (0..size).map(|at| (at % 7) as f64 - 2.5).collect();
        let mut y = vec![0.0; size];
        mul_acc_mat_vec_csc(matrix.view(), x.as_slice(), y.as_mut_slice());
        prop_assert_eq!(DVector::from_vec(y), &whole * DVector::from_vec(x));
        let product: CsMat<f64> = &matrix * &matrix;
        prop_assert_eq!(filled(&product), &whole * &whole);
        let other = matrix.to_csr().transpose_into();
        let sum: CsMat<f64> = csmat_binop(matrix.view(), other.view(), |a: &f64, b: &f64| a + b);
        prop_assert_eq!(filled(&sum), &whole + whole.transpose());
    }

    #[test]
    fn numbers_in_a_list_stay_with_their_places((size, entries) in entries()) {
        let list = once(&entries);
        let matrix = numbered(size, list.iter().copied());
        prop_assert!(matrix.is_csc());
        prop_assert_eq!(matrix.nnz(), list.len());
        for (&number, (row, column)) in &matrix {
            prop_assert_eq!(list[number], (row as u32, column as u32));
        }
    }

    /// Columns of one colour have no row in common, and rows that are lists are as they were.
    #[test]
    fn columns_of_one_colour_do_not_meet((size, entries) in entries()) {
        let mut lists = vec![Vec::new(); size];
        for (row, column) in once(&entries) {
            lists[row as usize].push(column);
        }
        lists.iter_mut().for_each(|list| list.sort_unstable());
        // Every other row asks for what the one before it asks for.
        let rows: Vec<u32> = (0..size as u32).map(|row| row & !1).collect();
        let found = color(&lists, &rows, size);
        let asked = by_rows(rows.iter().map(|&row| lists[row as usize].as_slice()), size);
        prop_assert!(found.pattern.is_csc());
        prop_assert_eq!(&found.pattern.to_csr(), &asked);
        for row in asked.outer_iterator() {
            let mut met: Vec<u32> = row.indices().iter().map(|&at| found.colors[at]).collect();
            met.sort_unstable();
            prop_assert!(met.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(met.iter().all(|&color| (color as usize) < found.count));
        }
    }

    /// Full and sparse ones, with units of rows that differ by many orders of magnitude.
    #[test]
    fn factors_solve((size, mut entries) in entries()) {
        entries.extend((0..size).map(|at| (at, at, 40.0)));
        let unit = |at: usize| 10f64.powi((at % 5) as i32 * 4 - 8);
        for entry in &mut entries {
            entry.2 *= unit(entry.0);
        }
        let (matrix, whole) = (assembled(size, &entries), full(size, &entries));
        let expected: Vec<f64> = (0..size).map(|at| at as f64 - 3.5).collect();
        let expected = DVector::from_vec(expected);
        let mut found = (&whole * &expected).data.as_vec().clone();
        // Units of columns here.
        let mut across = (whole.transpose() * &expected).data.as_vec().clone();
        let mut lu = Lu::new(matrix.structure_view());
        let place: Vec<u32> = (0..size as u32).collect();
        prop_assume!(lu.factor(matrix.view(), &place));
        lu.solve(&mut found);
        lu.solve_transposed(&mut across);
        for (at, (a, b)) in found.iter().zip(&expected).enumerate() {
            prop_assert!((a - b).abs() < 1e-11 * size as f64, "{}: {} {}", at, a, b);
        }
        for (at, (a, b)) in across.iter().zip(&expected).enumerate() {
            let off = (a - b).abs() * unit(at);
            // Beside the largest unit.
            let most = 1e8 * (size * size) as f64;
            prop_assert!(off < 1e2 * most * f64::EPSILON, "{}: {} {}", at, a, b);
        }
        // What errors of right sides do, for any signs.
        let errors: Vec<f64> = (0..size).map(|at| 1e-9 * unit(at)).collect();
        let bounds = lu.bounds(&errors);
        let mut one: Vec<f64> = (errors.iter().enumerate())
            .map(|(at, error)| if at % 3 == 0 { -error } else { *error })
            .collect();
        lu.solve(&mut one);
        for (bound, value) in bounds.iter().zip(&one) {
            prop_assert!(value.abs() <= bound * 1.001, "{} {}", value, bound);
        }
    }
}

#[test]
fn singular_matrices_have_no_factors() {
    for size in [2, 9, 64, 65, 400] {
        let chain: Vec<(usize, usize, f64)> = (0..size)
            .flat_map(|row| [(row, row, 1.3), (row, (row + 1) % size, -1.3)])
            .collect();
        let matrix = assembled(size, &chain);
        let place: Vec<u32> = (0..size as u32).collect();
        assert!(!Lu::new(matrix.structure_view()).factor(matrix.view(), &place));
    }
}
