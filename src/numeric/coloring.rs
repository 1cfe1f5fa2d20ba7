//! Colouring of a sparse matrix: finds few directions that give all of its derivatives.
//!
//! Columns that have no row in common get the same colour: one directional derivative serves them
//! all (Curtis, Powell and Reid 1974).

use super::Pattern;
use super::pattern::by_rows;

/// The pattern of a matrix with a colour for each column.
#[derive(Clone, Debug)]
pub struct Coloring {
    pub pattern: Pattern,
    /// The colour of each column.
    pub colors: Vec<u32>,
    pub count: usize,
}

/// Colours a matrix of `size` columns. Row i contains the columns `lists[rows[i]]`, ascending. Rows
/// may share a list, and each list is examined only once: after a loop all rows may depend on all
/// columns.
pub fn color(lists: &[Vec<u32>], rows: &[u32], size: usize) -> Coloring {
    let list = |set: &u32| lists[*set as usize].as_slice();
    let mut sets = rows.to_vec();
    sets.sort_unstable();
    sets.dedup();
    const NONE: u32 = u32::MAX;
    let mut colors = vec![NONE; size];
    // For each colour, the last column (plus one) that may not have it.
    let mut forbidden: Vec<usize> = Vec::new();
    let sets_of_columns = by_rows(sets.iter().map(list), size).to_csc();
    for (column, of_column) in sets_of_columns.outer_iterator().enumerate() {
        for &set in of_column.indices() {
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
    Coloring {
        pattern: by_rows(rows.iter().map(list), size).to_csc(),
        colors,
        count: forbidden.len(),
    }
}
