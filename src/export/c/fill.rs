//! Orders of elimination for sparse matrices, and the places that elimination fills.
//!
//! Before: the pattern of a matrix. After: an order in which little is filled: of columns, where rows are chosen at run time
//! (column approximate minimum degree), or of rows and columns together, where the diagonal is the pivot (approximate minimum
//! degree of A + A^T, which then is filled as a symmetric matrix is).

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::{amd, colamd};

use crate::simulate::integrate::Pattern;

/// The order of columns for a matrix whose pivots are chosen at run time.
pub fn column_order(pattern: &Pattern) -> Vec<usize> {
    let Pattern { size, starts, rows } = pattern;
    let request = colamd::order_scratch::<usize>(*size, *size, rows.len());
    ordered(*size, request, |order, places, stack| {
        let matrix = SymbolicSparseColMatRef::new_checked(*size, *size, starts, None, rows);
        colamd::order(order, places, matrix, Default::default(), stack).is_ok()
    })
}

/// The order of rows and columns for a matrix whose diagonal will do as pivots.
pub fn order(pattern: &Pattern) -> Vec<usize> {
    let Pattern { size, starts, rows } = pattern;
    let request = amd::order_scratch::<usize>(*size, rows.len() + size);
    ordered(*size, request, |order, places, stack| {
        let matrix = SymbolicSparseColMatRef::new_checked(*size, *size, starts, None, rows);
        amd::order(order, places, matrix, Default::default(), stack).is_ok()
    })
}

/// What is found, in twice the room it asks for; else as they stand.
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

/// Places of the two factors in one matrix, by rows, rows and columns in the order of elimination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// By row.
    pub starts: Vec<usize>,
    /// Ascending in each row; the diagonal is among them.
    pub columns: Vec<usize>,
    /// By row, where the diagonal is.
    pub diagonals: Vec<usize>,
}

impl Filled {
    /// Where the entry of a row and a column is.
    pub fn place(&self, row: usize, column: usize) -> Option<usize> {
        let range = self.starts[row]..self.starts[row + 1];
        let found = self.columns[range].binary_search(&column).ok()?;
        Some(self.starts[row] + found)
    }
}

/// What elimination in an order fills, if the pattern were symmetric. `steps` is the inverse of the order.
pub fn fill(pattern: &Pattern, order: &[usize], steps: &[usize]) -> Filled {
    let size = pattern.size;
    // Below the diagonal: the rows of each column, as the columns of each row above it.
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); size];
    for (column, pair) in pattern.starts.windows(2).enumerate() {
        for &row in &pattern.rows[pair[0]..pair[1]] {
            let (a, b) = (steps[row], steps[column]);
            if a != b {
                below[a.min(b)].push(a.max(b));
            }
        }
    }
    // What a column has below its first entry goes on to the column of that entry.
    let mut given: Vec<Vec<usize>> = vec![Vec::new(); size];
    let mut seen = vec![usize::MAX; size];
    for column in 0..size {
        let mut rows = std::mem::take(&mut below[column]);
        for from in std::mem::take(&mut given[column]) {
            rows.extend(&below[from][1..]);
        }
        rows.retain(|&row| std::mem::replace(&mut seen[row], column) != column);
        rows.sort_unstable();
        if let Some(&first) = rows.first() {
            given[first].push(column);
        }
        below[column] = rows;
    }
    let mut left: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
    for (column, rows) in below.iter().enumerate() {
        for &row in rows {
            left[row].push(column);
        }
    }
    let mut filled = Filled {
        starts: vec![0],
        ..Filled::default()
    };
    for row in 0..size {
        filled.columns.append(&mut left[row]);
        filled.diagonals.push(filled.columns.len());
        filled.columns.push(row);
        filled.columns.extend(&below[row]);
        filled.starts.push(filled.columns.len());
    }
    filled
}
