//! Places of the entries of a sparse matrix, and what makes them.

use faer::sparse::SymbolicSparseColMat;
use sprs::{CsMat, CsStructure, TriMat};

/// Places of the entries of a matrix, by columns; rows ascend in each.
pub type Pattern = CsStructure;

/// A square matrix by columns, each entry being its number in a list of rows and columns. Each place
/// stands once in the list.
pub fn numbered(size: usize, list: impl IntoIterator<Item = (u32, u32)>) -> CsMat<usize> {
    let places = list
        .into_iter()
        .map(|(row, column)| (row as usize, column as usize));
    let (rows, columns): (Vec<usize>, Vec<usize>) = places.unzip();
    let numbers = (0..rows.len()).collect();
    TriMat::from_triplets((size, size), rows, columns, numbers).to_csc()
}

/// Lists of columns, ascending, as the rows of a pattern.
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

/// A pattern by columns as faer has it, which factors and finds orders.
pub fn for_faer(pattern: sprs::CsStructureView<'_>) -> SymbolicSparseColMat<usize> {
    SymbolicSparseColMat::new_checked(
        pattern.rows(),
        pattern.cols(),
        pattern.indptr().to_owned().into_raw_storage(),
        None,
        pattern.indices().to_vec(),
    )
}
