//! Explains why a pattern has no perfect matching: the coarse decomposition of Dulmage and
//! Mendelsohn (1958), reduced to one unmatched row or column at a time.
//!
//! From an unmatched row, alternating paths reach the rows that compete with it for the same
//! columns. These are one row more than columns. Such a part is minimal: if any one of its rows is
//! removed, the others can be matched (it is a circuit of the transversal matroid). From an
//! unmatched column, alternating paths reach the columns that share the same rows. These are one
//! column more than rows.
//!
//! Often there is a choice which rows stay unmatched. Rows of higher priority are chosen first;
//! among rows of equal priority, those that make the parts small.

use super::{Incidence, Matching, NONE, maximum_matching};
use crate::base::cancel::glance;

/// The priority of a row or column that is ignored, as if it were not in the pattern.
pub const LEFT_OUT: u8 = u8::MAX;

/// An unmatched row or column, with all rows and columns that compete for each other. Both lists
/// are ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The unmatched row or column.
    pub start: u32,
    pub rows: Vec<u32>,
    pub columns: Vec<u32>,
}

impl Part {
    fn size(&self) -> usize {
        self.rows.len() + self.columns.len()
    }
}

/// Returns a part for each unmatched row, the smallest part first. `priority` has a number for each
/// row, or is empty. The numbers should be small, because the search takes one step for each value.
/// On a large pattern with very many unmatched rows the search ends early, because nobody reads
/// more than a few parts.
pub fn overdetermined(incidence: &Incidence, priority: &[u8]) -> Vec<Part> {
    let priority_of = |row: u32| priority.get(row as usize).copied().unwrap_or(0);
    let incidence = &incidence.without_rows(|row| priority_of(row) == LEFT_OUT);
    let matching =
        maximum_matching(&incidence.with_row_grades(|row| priority_of(row).min(LEFT_OUT - 1)));
    let mut search = Search {
        incidence,
        column_of: matching.column_of,
        row_of: matching.row_of,
        seen_row: vec![NONE; incidence.rows()],
        seen_column: vec![NONE; incidence.columns()],
        from: vec![NONE; incidence.rows()],
        stamp: 0,
        visits_left: 20 * (incidence.rows() + incidence.columns()) + 1000,
    };
    let mut found: Vec<Part> = Vec::new();
    for start in 0..incidence.rows() as u32 {
        if search.column_of[start as usize] == NONE && priority_of(start) != LEFT_OUT {
            found.push(search.part(start));
            if search.visits_left == 0 {
                break;
            }
        }
    }
    search.shrink(&mut found, priority_of);
    found.sort_by_key(|part| (part.size(), part.rows.first().copied()));
    found
}

/// Returns a part for each unmatched column, the smallest part first. `priority` has a number for
/// each column, or is empty.
pub fn underdetermined(incidence: &Incidence, priority: &[u8]) -> Vec<Part> {
    let mut found = overdetermined(&incidence.transposed(), priority);
    for part in &mut found {
        std::mem::swap(&mut part.rows, &mut part.columns);
    }
    found
}

/// Marks the rows that some maximum matching leaves unmatched: those in any overdetermined part.
pub fn disputed_rows(incidence: &Incidence, matching: &Matching) -> Vec<bool> {
    let mut reached: Vec<bool> = matching.column_of.iter().map(|&c| c == NONE).collect();
    let mut work: Vec<u32> = (0..incidence.rows() as u32)
        .filter(|&row| reached[row as usize])
        .collect();
    while let Some(row) = work.pop() {
        glance();
        for &(column, _) in incidence.row(row) {
            let next = matching.row_of[column as usize];
            if next != NONE && !std::mem::replace(&mut reached[next as usize], true) {
                work.push(next);
            }
        }
    }
    reached
}

struct Search<'i> {
    incidence: &'i Incidence,
    column_of: Vec<u32>,
    row_of: Vec<u32>,
    /// The number of the search that last reached each row or column.
    seen_row: Vec<u32>,
    seen_column: Vec<u32>,
    from: Vec<u32>,
    stamp: u32,
    visits_left: usize,
}

impl Search<'_> {
    /// Returns all that alternating paths reach from the unmatched row `start`.
    fn part(&mut self, start: u32) -> Part {
        let stamp = self.stamp;
        self.stamp += 1;
        let mut part = Part {
            start,
            ..Part::default()
        };
        let mut work = vec![start];
        self.seen_row[start as usize] = stamp;
        self.from[start as usize] = NONE;
        while let Some(row) = work.pop() {
            glance();
            part.rows.push(row);
            for &(column, _) in self.incidence.row(row) {
                if std::mem::replace(&mut self.seen_column[column as usize], stamp) == stamp {
                    continue;
                }
                part.columns.push(column);
                let next = self.row_of[column as usize];
                if next != NONE && self.seen_row[next as usize] != stamp {
                    self.seen_row[next as usize] = stamp;
                    self.from[next as usize] = row;
                    work.push(next);
                }
            }
        }
        part.rows.sort_unstable();
        part.columns.sort_unstable();
        self.visits_left = self.visits_left.saturating_sub(part.size());
        part
    }

    /// Where parts overlap, leaves another row of the same priority unmatched if this makes the
    /// parts smaller in total. The effort for these exchanges is limited.
    fn shrink(&mut self, found: &mut Vec<Part>, priority: impl Fn(u32) -> u8) {
        const MAX_PARTS: usize = 20;
        if found.len() < 2 || found.len() > MAX_PARTS {
            return;
        }
        let mut at = 0;
        while at < found.len() {
            let others = found.iter().enumerate().filter(|&(other, _)| other != at);
            let candidates: Vec<u32> = (found[at].rows.iter().copied())
                .filter(|&row| priority(row) == priority(found[at].start))
                .filter(|row| {
                    (others.clone()).any(|(_, part)| part.rows.binary_search(row).is_ok())
                })
                .collect();
            let total = |parts: &[Part]| parts.iter().map(Part::size).sum::<usize>();
            let better = candidates.into_iter().find_map(|row| {
                if self.visits_left == 0 {
                    return None;
                }
                let start = found[at].start;
                self.exchange(start, row);
                let tried: Vec<Part> = (found.iter())
                    .map(|part| match part.start == start {
                        true => self.part(row),
                        false => self.part(part.start),
                    })
                    .collect();
                if total(&tried) < total(found) {
                    return Some(tried);
                }
                self.exchange(row, start);
                None
            });
            match better {
                // The total size decreases each time, so this ends.
                Some(tried) => {
                    *found = tried;
                    at = 0;
                }
                None => at += 1,
            }
        }
    }

    /// Matches the unmatched row `start`, and leaves `row`, which is in its part, unmatched.
    fn exchange(&mut self, start: u32, row: u32) {
        if start == row {
            return;
        }
        self.part(start);
        let mut at = row;
        let mut column = std::mem::replace(&mut self.column_of[row as usize], NONE);
        while at != start && column != NONE {
            at = self.from[at as usize];
            self.row_of[column as usize] = at;
            column = std::mem::replace(&mut self.column_of[at as usize], column);
        }
    }
}
