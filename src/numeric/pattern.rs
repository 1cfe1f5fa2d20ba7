//! Patterns of sparse matrices, and functions that make them.

use faer::sparse::SymbolicSparseColMat;
use sprs::{CsMat, CsStructure, TriMat};

/// The positions of the entries of a matrix, by columns, with ascending rows.
pub type Pattern = CsStructure;

/// Makes a square matrix by columns from a list of positions (row, column). The value of each entry
/// is its index in the list. No position may be listed twice.
pub fn numbered(size: usize, list: impl IntoIterator<Item = (u32, u32)>) -> CsMat<usize> {
    let places = list
        .into_iter()
        .map(|(row, column)| (row as usize, column as usize));
    let (rows, columns): (Vec<usize>, Vec<usize>) = places.unzip();
    let numbers = (0..rows.len()).collect();
    TriMat::from_triplets((size, size), rows, columns, numbers).to_csc()
}

/// Makes a pattern whose rows are the given lists of ascending columns.
pub fn by_rows<'l>(lists: impl IntoIterator<Item = &'l [u32]>, columns: usize) -> Pattern {
    let lists: Vec<&[u32]> = lists.into_iter().collect();
    let mut places = TriMat::new((lists.len(), columns));
    for (row, list) in lists.into_iter().enumerate() {
        for &column in list {
            places.add_triplet(row, column as usize, 1_u8);
        }
    }
    places.to_csr().map(|_| ())
}

/// Converts a pattern by columns for faer, which factors matrices.
pub fn for_faer(pattern: sprs::CsStructureView<'_>) -> SymbolicSparseColMat<usize> {
    SymbolicSparseColMat::new_checked(
        pattern.rows(),
        pattern.cols(),
        pattern.indptr().to_owned().into_raw_storage(),
        None,
        pattern.indices().to_vec(),
    )
}
