//! Maximum matching: assigns columns to as many rows as possible, a different column to each.
//!
//! Augmenting paths by depth-first search with look-ahead, in phases of disjoint paths (Pothen and
//! Fan 1990). All entries of better grades are tried before worse ones are admitted. So a row is
//! matched with a column that it can be solved for, if there is a choice.

use super::{Incidence, NONE};
use crate::base::cancel::glance;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// The column of each row, or `NONE`.
    pub column_of: Vec<u32>,
    /// The row of each column, or `NONE`.
    pub row_of: Vec<u32>,
}

#[cfg(debug_assertions)]
thread_local! {
    static BEGUN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How many matchings this thread has begun from nothing. Debug builds count them, for tests of how often the same work is
/// done.
#[cfg(debug_assertions)]
pub fn matchings_begun() -> usize {
    BEGUN.get()
}

impl Matching {
    /// Nothing is matched yet.
    pub fn empty(rows: usize, columns: usize) -> Matching {
        #[cfg(debug_assertions)]
        BEGUN.set(BEGUN.get() + 1);
        Matching {
            column_of: vec![NONE; rows],
            row_of: vec![NONE; columns],
        }
    }

    pub fn len(&self) -> usize {
        self.column_of
            .iter()
            .filter(|&&column| column != NONE)
            .count()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn is_perfect(&self) -> bool {
        self.column_of.len() == self.row_of.len() && self.column_of.iter().all(|&c| c != NONE)
    }

    /// Returns the same matching with rows and columns exchanged.
    pub fn transposed(self) -> Matching {
        Matching {
            column_of: self.row_of,
            row_of: self.column_of,
        }
    }

    fn set(&mut self, row: u32, column: u32) {
        self.column_of[row as usize] = column;
        self.row_of[column as usize] = row;
    }
}

pub fn maximum_matching(incidence: &Incidence) -> Matching {
    let mut matching = Matching::empty(incidence.rows(), incidence.columns());
    grow(incidence, &mut matching);
    matching
}

/// Makes a matching a maximum one. Rows that have a column keep one. Where entries of a worse grade than all others have come to
/// those that it was a maximum one of, the outcome is that of [`maximum_matching`].
pub fn grow(incidence: &Incidence, matching: &mut Matching) {
    let worst = (0..incidence.rows() as u32)
        .flat_map(|row| incidence.row(row).iter().map(|&(_, grade)| grade))
        .max()
        .unwrap_or(0);
    for grade in 0..=worst {
        Search::new(incidence, grade).run(matching);
    }
}

struct Search<'i> {
    incidence: &'i Incidence,
    /// Entries of worse grades are not admitted yet.
    grade: u8,
    /// The phase in which a row was last visited.
    visited: Vec<u32>,
    /// How far the look-ahead has come in each row. All columns before are matched, and stay so.
    ahead: Vec<u32>,
    /// How far the search has come in each row in this phase.
    next: Vec<u32>,
}

impl<'i> Search<'i> {
    fn new(incidence: &'i Incidence, grade: u8) -> Self {
        let rows = incidence.rows();
        Search {
            incidence,
            grade,
            visited: vec![0; rows],
            ahead: vec![0; rows],
            next: vec![0; rows],
        }
    }

    fn run(&mut self, matching: &mut Matching) {
        let mut open: Vec<u32> = (0..self.incidence.rows() as u32)
            .filter(|&row| matching.column_of[row as usize] == NONE)
            .collect();
        let mut phase = 0;
        loop {
            glance();
            phase += 1;
            let before = open.len();
            open.retain(|&row| !self.augment(row, phase, matching));
            if open.len() == before || open.is_empty() {
                return;
            }
        }
    }

    /// Returns an unmatched column of the row. Matched columns stay matched, so the look-ahead of a
    /// row never goes back.
    fn look_ahead(&mut self, row: u32, matching: &Matching) -> Option<u32> {
        let entries = self.incidence.row(row);
        while let Some(&(column, grade)) = entries.get(self.ahead[row as usize] as usize) {
            if grade <= self.grade && matching.row_of[column as usize] == NONE {
                return Some(column);
            }
            self.ahead[row as usize] += 1;
        }
        None
    }

    /// Searches an augmenting path from an unmatched row and flips it.
    fn augment(&mut self, start: u32, phase: u32, matching: &mut Matching) -> bool {
        let mut path = vec![start];
        self.visited[start as usize] = phase;
        self.next[start as usize] = 0;
        while let Some(&row) = path.last() {
            glance();
            if let Some(column) = self.look_ahead(row, matching) {
                let mut column = column;
                while let Some(row) = path.pop() {
                    let freed = matching.column_of[row as usize];
                    matching.set(row, column);
                    column = freed;
                }
                return true;
            }
            let entries = self.incidence.row(row);
            let mut deeper = None;
            while let Some(&(column, grade)) = entries.get(self.next[row as usize] as usize) {
                self.next[row as usize] += 1;
                let owner = matching.row_of[column as usize];
                if grade <= self.grade && owner != NONE && self.visited[owner as usize] != phase {
                    deeper = Some(owner);
                    break;
                }
            }
            match deeper {
                Some(owner) => {
                    self.visited[owner as usize] = phase;
                    self.next[owner as usize] = 0;
                    path.push(owner);
                }
                None => {
                    path.pop();
                }
            }
        }
        false
    }
}
