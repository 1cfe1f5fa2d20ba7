//! Places of the entries of a sparse matrix.

/// Places of the entries of a matrix, by columns: rows of column j are
/// `rows[starts[j]..starts[j + 1]]`, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    pub size: usize,
    pub starts: Vec<usize>,
    pub rows: Vec<usize>,
}
