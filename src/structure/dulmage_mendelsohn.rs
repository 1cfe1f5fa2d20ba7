//! What is wrong where a matching is not perfect: the coarse decomposition of Dulmage and
//! Mendelsohn (1958), cut down to one unmatched row or column at a time.
//!
//! From an unmatched row, alternating paths reach the rows that compete with it for the same
//! columns: one row more than columns. From an unmatched column they reach the columns that share
//! the same rows: one column more than rows.

use super::{Incidence, Matching, NONE};

/// Rows and columns, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The unmatched row or column that it was found from.
    pub start: u32,
    pub rows: Vec<u32>,
    pub columns: Vec<u32>,
}

/// For each unmatched row the rows and columns it competes with; the smallest part first. On a large
/// pattern with very many unmatched rows the search ends early: a few parts are all that is read.
pub fn overdetermined(incidence: &Incidence, matching: &Matching) -> Vec<Part> {
    parts(incidence, &matching.column_of, &matching.row_of)
}

/// For each unmatched column the columns and rows it shares; the smallest part first.
pub fn underdetermined(incidence: &Incidence, matching: &Matching) -> Vec<Part> {
    let mut found = parts(
        &incidence.transposed(),
        &matching.row_of,
        &matching.column_of,
    );
    for part in &mut found {
        std::mem::swap(&mut part.rows, &mut part.columns);
    }
    found
}

fn parts(incidence: &Incidence, column_of: &[u32], row_of: &[u32]) -> Vec<Part> {
    let mut seen_row = vec![NONE; incidence.rows()];
    let mut seen_column = vec![NONE; incidence.columns()];
    let mut found: Vec<Part> = Vec::new();
    let mut visits_left = 20 * (incidence.rows() + incidence.columns()) + 1000;
    for start in 0..incidence.rows() as u32 {
        if column_of[start as usize] != NONE {
            continue;
        }
        let mut part = Part {
            start,
            ..Part::default()
        };
        let mut work = vec![start];
        seen_row[start as usize] = start;
        while let Some(row) = work.pop() {
            part.rows.push(row);
            for &(column, _) in incidence.row(row) {
                if std::mem::replace(&mut seen_column[column as usize], start) == start {
                    continue;
                }
                part.columns.push(column);
                let next = row_of[column as usize];
                if next != NONE && std::mem::replace(&mut seen_row[next as usize], start) != start {
                    work.push(next);
                }
            }
        }
        part.rows.sort_unstable();
        part.columns.sort_unstable();
        let visited = part.rows.len() + part.columns.len();
        found.push(part);
        visits_left = visits_left.saturating_sub(visited);
        if visits_left == 0 {
            break;
        }
    }
    found.sort_by_key(|part| {
        (
            part.rows.len() + part.columns.len(),
            part.rows.first().copied(),
        )
    });
    found
}
