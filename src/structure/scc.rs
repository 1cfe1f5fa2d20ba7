//! Strongly connected components: blocks of rows that must be solved together, in an order in which
//! the blocks can be solved one after the other.
//!
//! Tarjan's algorithm (1972) on the rows. A row depends on the rows that its other columns are
//! matched with. A block comes after all blocks on which it depends.

use super::{Incidence, Matching, NONE};
use crate::base::cancel::glance;

/// Returns the blocks, each with its rows ascending. Unmatched rows and columns are ignored.
pub fn blocks(incidence: &Incidence, matching: &Matching) -> Vec<Vec<u32>> {
    blocks_of(1, incidence, matching)
}

/// Returns only the blocks that have more than one row.
pub fn loops(incidence: &Incidence, matching: &Matching) -> Vec<Vec<u32>> {
    blocks_of(2, incidence, matching)
}

fn blocks_of(min_size: usize, incidence: &Incidence, matching: &Matching) -> Vec<Vec<u32>> {
    let rows = incidence.rows();
    let mut tarjan = Tarjan {
        number: vec![NONE; rows],
        low: vec![NONE; rows],
        stacked: vec![false; rows],
        stack: Vec::new(),
        path: Vec::new(),
        min_size,
        blocks: Vec::new(),
        count: 0,
    };
    for row in 0..rows as u32 {
        if tarjan.number[row as usize] == NONE && matching.column_of[row as usize] != NONE {
            tarjan.visit(row, incidence, matching);
        }
    }
    tarjan.blocks
}

struct Tarjan {
    number: Vec<u32>,
    low: Vec<u32>,
    stacked: Vec<bool>,
    stack: Vec<u32>,
    /// The path of the depth-first search: rows, each with the number of its columns that have been
    /// followed.
    path: Vec<(u32, usize)>,
    /// Blocks with fewer rows are not returned.
    min_size: usize,
    blocks: Vec<Vec<u32>>,
    count: u32,
}

impl Tarjan {
    fn enter(&mut self, row: u32) {
        self.number[row as usize] = self.count;
        self.low[row as usize] = self.count;
        self.count += 1;
        self.stack.push(row);
        self.stacked[row as usize] = true;
    }

    fn visit(&mut self, start: u32, incidence: &Incidence, matching: &Matching) {
        self.enter(start);
        self.path.push((start, 0));
        while let Some((row, followed)) = self.path.last_mut() {
            glance();
            let row = *row;
            if let Some(&(column, _)) = incidence.row(row).get(*followed) {
                *followed += 1;
                let next = matching.row_of[column as usize];
                if next == NONE || next == row {
                    continue;
                }
                if self.number[next as usize] == NONE {
                    self.enter(next);
                    self.path.push((next, 0));
                } else if self.stacked[next as usize] {
                    let reached = self.number[next as usize];
                    let low = &mut self.low[row as usize];
                    *low = (*low).min(reached);
                }
                continue;
            }
            self.path.pop();
            let low = self.low[row as usize];
            if let Some(&(above, _)) = self.path.last() {
                let outer = &mut self.low[above as usize];
                *outer = (*outer).min(low);
            }
            if low == self.number[row as usize] {
                if self.min_size > 1 && self.stack.last() == Some(&row) {
                    self.stack.pop();
                    self.stacked[row as usize] = false;
                    continue;
                }
                let mut block = Vec::new();
                while let Some(member) = self.stack.pop() {
                    self.stacked[member as usize] = false;
                    block.push(member);
                    if member == row {
                        break;
                    }
                }
                block.sort_unstable();
                self.blocks.push(block);
            }
        }
    }
}
