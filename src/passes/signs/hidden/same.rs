//! Columns that rows of two entries make multiples of each other, merged before anything is eliminated:
//! most rows of a circuit are connections or say `R*i = u`.

use crate::structure::NONE;
use crate::structure::numbers::{Modular, PRIME, Ring};

/// A union-find with factors modulo the prime.
#[derive(Debug)]
pub struct Same {
    /// What a column is a multiple of, and which; itself if it stands for others.
    of: Vec<(u32, i64)>,
}

impl Same {
    pub fn new(columns: usize) -> Self {
        Same {
            of: (0..columns as u32).map(|column| (column, 1)).collect(),
        }
    }

    /// The column that stands for it, and how many times that it is.
    pub fn find(&mut self, column: u32) -> (u32, i64) {
        let (mut at, mut times) = (column, 1);
        while self.of[at as usize].0 != at {
            let (next, factor) = self.of[at as usize];
            // Every other step is made shorter.
            let (after, more) = self.of[next as usize];
            let both = product(factor, more);
            self.of[at as usize] = (after, both);
            times = product(times, both);
            at = after;
        }
        (at, times)
    }

    /// Whether the row has two entries and says something new: then its columns are merged.
    pub fn merge(&mut self, row: &[(u32, i64)]) -> bool {
        let &[(a, of_a), (b, of_b)] = row else {
            return false;
        };
        let ((a, times_a), (b, times_b)) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        let (of_a, of_b) = (product(of_a, times_a), product(of_b, times_b));
        // Dividing by a sign costs nothing.
        let (gone, by, stays, of) = match of_b == 1 || of_b == PRIME - 1 {
            true => (b, of_b, a, of_a),
            false => (a, of_a, b, of_b),
        };
        self.of[gone as usize] = (stays, product(of, Modular::negative_inverse(by)));
        true
    }

    /// Numbers for the columns that stand for others, or `NONE`; and how many these are.
    pub fn numbers(&self) -> (Vec<u32>, usize) {
        let mut count = 0;
        let numbers = (self.of.iter().enumerate())
            .map(|(column, &(of, _))| match of as usize == column {
                true => {
                    count += 1;
                    count - 1
                }
                false => NONE,
            })
            .collect();
        (numbers, count as usize)
    }
}

/// Most factors are one.
fn product(a: i64, b: i64) -> i64 {
    match (a, b) {
        (1, _) => b,
        (_, 1) => a,
        _ => Modular::times(a, b),
    }
}
