//! How many directions give all derivatives of a sparse matrix.
//!
//! Columns that no row has in common get one colour: one direction serves them all (Curtis, Powell and
//! Reid 1974).

use super::Pattern;

/// The pattern of a matrix with its columns in groups.
#[derive(Clone, Debug, Default)]
pub struct Coloring {
    pub pattern: Pattern,
    /// By column.
    pub colors: Vec<u32>,
    pub count: usize,
}

/// By column, which of some lists of columns have it.
fn by_column<'l>(
    lists: impl Iterator<Item = &'l [u32]> + Clone,
    size: usize,
) -> (Vec<usize>, Vec<usize>) {
    let mut starts = vec![0usize; size + 1];
    for &column in lists.clone().flatten() {
        starts[column as usize + 1] += 1;
    }
    for at in 0..size {
        starts[at + 1] += starts[at];
    }
    let mut next = starts.clone();
    let mut found = vec![0usize; starts[size]];
    for (at, columns) in lists.enumerate() {
        for &column in columns {
            found[next[column as usize]] = at;
            next[column as usize] += 1;
        }
    }
    (starts, found)
}

/// Rows are sets of columns, by the places of their lists. Rows with the same set ask for the same, so
/// that each set is looked at once: behind a loop all rows may have all columns.
pub fn color(lists: &[Vec<u32>], rows: &[u32], size: usize) -> Coloring {
    let list = |set: &u32| lists[*set as usize].as_slice();
    let mut sets = rows.to_vec();
    sets.sort_unstable();
    sets.dedup();
    let (starts, of_columns) = by_column(sets.iter().map(list), size);
    const NONE: u32 = u32::MAX;
    let mut colors = vec![NONE; size];
    // By colour, the last column it was forbidden to.
    let mut forbidden: Vec<usize> = Vec::new();
    for column in 0..size {
        for &set in &of_columns[starts[column]..starts[column + 1]] {
            for &other in list(&sets[set]) {
                let color = colors[other as usize];
                if color != NONE {
                    forbidden[color as usize] = column + 1;
                }
            }
        }
        let free = forbidden.iter().position(|&last| last != column + 1);
        let color = free.unwrap_or(forbidden.len());
        if free.is_none() {
            forbidden.push(0);
        }
        colors[column] = color as u32;
    }
    let (starts, rows) = by_column(rows.iter().map(list), size);
    Coloring {
        pattern: Pattern { size, starts, rows },
        colors,
        count: forbidden.len(),
    }
}
