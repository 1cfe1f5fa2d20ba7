//! Merges columns that are multiples of each other by rows of two entries, before the elimination: most rows of a
//! circuit are connections, or say `R*i = u`.

use crate::structure::NONE;
use crate::structure::numbers::{Modular, PRIME, Ring};

/// A union-find with factors modulo the prime.
#[derive(Debug)]
pub struct Same {
    /// For each column its parent and the factor; a root is its own parent.
    of: Vec<(u32, i64)>,
}

impl Same {
    pub fn new(columns: usize) -> Self {
        Same {
            of: (0..columns as u32).map(|column| (column, 1)).collect(),
        }
    }

    /// The root of a column, and the factor.
    pub fn find(&mut self, column: u32) -> (u32, i64) {
        let (mut at, mut times) = (column, 1);
        while self.of[at as usize].0 != at {
            let (next, factor) = self.of[at as usize];
            // Path shortening at every other step.
            let (after, more) = self.of[next as usize];
            let both = product(factor, more);
            self.of[at as usize] = (after, both);
            times = product(times, both);
            at = after;
        }
        (at, times)
    }

    /// Merges the columns of a row if it has two entries and these are not merged yet. Returns whether it did.
    pub fn merge(&mut self, row: &[(u32, i64)]) -> bool {
        let &[(a, of_a), (b, of_b)] = row else {
            return false;
        };
        let ((a, times_a), (b, times_b)) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        let (of_a, of_b) = (product(of_a, times_a), product(of_b, times_b));
        // A division by 1 or -1 is cheap.
        let (replaced, by, stays, of) = match of_b == 1 || of_b == PRIME - 1 {
            true => (b, of_b, a, of_a),
            false => (a, of_a, b, of_b),
        };
        self.of[replaced as usize] = (stays, product(of, Modular::negative_inverse(by)));
        true
    }

    /// Numbers the roots (`NONE` for other columns), and returns how many there are.
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

/// Most factors are one, so this case has a shortcut.
fn product(a: i64, b: i64) -> i64 {
    match (a, b) {
        (1, _) => b,
        (_, 1) => a,
        _ => Modular::times(a, b),
    }
}
