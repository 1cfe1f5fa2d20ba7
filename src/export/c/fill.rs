//! Orders of elimination for sparse matrices, and the places that elimination fills.
//!
//! Before: the pattern of a matrix. After: an order in which little is filled: of columns, where rows are chosen at run time
//! (column approximate minimum degree), or of rows and columns together, where the diagonal is the pivot (approximate minimum
//! degree of A + A^T, which then is filled as a symmetric matrix is).

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::{amd, colamd};

use crate::numeric::Pattern;

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

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(size: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Pattern {
        let mut columns = vec![std::collections::BTreeSet::new(); size];
        for (row, column) in entries {
            columns[column].insert(row);
        }
        let (mut starts, mut rows) = (vec![0], Vec::new());
        for column in columns {
            rows.extend(column);
            starts.push(rows.len());
        }
        Pattern { size, starts, rows }
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

    fn steps_of(order: &[usize]) -> Vec<usize> {
        let mut steps = vec![usize::MAX; order.len()];
        for (step, &at) in order.iter().enumerate() {
            assert_eq!(steps[at], usize::MAX, "{at} comes twice");
            steps[at] = step;
        }
        steps
    }

    /// Elimination of a full matrix of truths.
    fn eliminated(pattern: &Pattern, steps: &[usize]) -> Vec<Vec<bool>> {
        let size = pattern.size;
        let mut full = vec![vec![false; size]; size];
        for column in 0..size {
            full[column][column] = true;
            for &row in &pattern.rows[pattern.starts[column]..pattern.starts[column + 1]] {
                full[steps[row]][steps[column]] = true;
                full[steps[column]][steps[row]] = true;
            }
        }
        for k in 0..size {
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
            let steps = steps_of(&order);
            let filled = fill(&pattern, &order, &steps);
            let full = eliminated(&pattern, &steps);
            for (row, wanted) in full.iter().enumerate() {
                let found = &filled.columns[filled.starts[row]..filled.starts[row + 1]];
                let wanted: Vec<usize> = (0..size).filter(|&column| wanted[column]).collect();
                assert_eq!(found, wanted, "seed {seed}, row {row}");
                assert_eq!(filled.columns[filled.diagonals[row]], row);
                for &column in found {
                    let place = filled.place(row, column).expect("a place");
                    assert_eq!(filled.columns[place], column);
                }
            }
            assert_eq!(column_order(&pattern).len(), size);
            steps_of(&column_order(&pattern));
        }
    }

    /// One that all others are connected to comes last, and a chain fills nothing.
    #[test]
    fn arrows_and_chains_are_not_filled() {
        let size = 200;
        let all = 0..size;
        let arrow = all.clone().flat_map(|at| [(at, at), (0, at), (at, 0)]);
        let chain =
            (all.map(|at| (at, at))).chain((1..size).flat_map(|at| [(at, at - 1), (at - 1, at)]));
        for pattern in [pattern(size, arrow), pattern(size, chain)] {
            let order = order(&pattern);
            let filled = fill(&pattern, &order, &steps_of(&order));
            assert_eq!(filled.columns.len(), 3 * size - 2);
        }
    }
}
