//! Finds the columns of a matrix for which its rows are solved; the variables of the other columns become states.
//!
//! Before: rows of coefficients, independent of each other, and a rank for each column. A variable of smaller rank is
//! preferred as a state. After: a pivot for each row, so that the matrix of the pivot columns is proved to be
//! regular. A row without a safe pivot stays open.
//!
//! A row is reduced by the pivots found so far, and solved for the column of the largest rank that is left in it. This
//! choice is optimal: no best choice has a state that depends only on variables preferred to it. Most rows
//! have two terms (a gear, a coupling); their pivots are followed as in a union-find, so that a long chain costs no
//! more than its length.

use crate::base::cancel::glance;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::wide::Wide;
use crate::structure::NONE;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coefficient {
    Number(Wide),
    /// It is not a number, but it cannot vanish.
    Sure,
    /// It can vanish.
    Doubtful,
}

use Coefficient::{Doubtful, Number, Sure};

impl Coefficient {
    fn times(self, other: Coefficient) -> Coefficient {
        match (self, other) {
            (Number(a), Number(b)) => Number(a.times(b)),
            (Doubtful, _) | (_, Doubtful) => Doubtful,
            _ => Sure,
        }
    }

    fn minus_over(self, other: Coefficient) -> Coefficient {
        match (self, other) {
            (Number(a), Number(b)) => Number(a.over(b).minus()),
            (Doubtful, _) => Doubtful,
            _ => Sure,
        }
    }
}

pub type Row = Vec<(u32, Coefficient)>;

/// The most columns that are looked at for one explanation.
const LOOKED_AT: usize = 200;

#[derive(Clone, Debug, Default)]
pub struct Eliminated {
    /// The column that each row is solved for, or `NONE`.
    pub pivots: Vec<u32>,
    /// The rows without a pivot, each with the columns that are left in it and are not solved for.
    pub open: Vec<(u32, Vec<u32>)>,
    /// Rows that became zero.
    pub dependent: Vec<u32>,
    /// For each solved column, the sum that it equals.
    terms: Vec<Option<Row>>,
}

/// A protected column is solved for only if the row has no other column left, safe or not.
pub fn eliminate(rows: &[Row], ranks: &[u32], protected: &[bool]) -> Eliminated {
    let mut work = Eliminator {
        ranks,
        protected,
        terms: vec![None; ranks.len()],
        times: vec![NONE; ranks.len()],
        count: 0,
        values: vec![None; ranks.len()],
        touched: Vec::new(),
        heap: BinaryHeap::new(),
    };
    let mut result = Eliminated {
        pivots: vec![NONE; rows.len()],
        ..Eliminated::default()
    };
    // Rows of numbers come first, and short rows before long ones: doubtful coefficients then spread to fewer rows.
    let mut left: Vec<u32> = (0..rows.len() as u32).collect();
    left.sort_by_cached_key(|&row| {
        let row = &rows[row as usize];
        let plain = row.iter().all(|(_, value)| matches!(value, Number(_)));
        // The order of the columns is by rank, and does not depend on the order of the rows.
        let mut columns: Vec<u32> = (row.iter())
            .map(|&(column, _)| ranks[column as usize])
            .collect();
        columns.sort_unstable();
        (!plain, row.len(), columns)
    });
    // A row without a pivot may get one after other rows have been solved.
    loop {
        glance();
        let before = left.len();
        let mut open = Vec::new();
        left.retain(|&row| {
            let reduced = work.reduce(&rows[row as usize]);
            if reduced.is_empty() {
                result.dependent.push(row);
                return false;
            }
            let Some(column) = work.pivot(&reduced) else {
                open.push((row, reduced.iter().map(|&(column, _)| column).collect()));
                return true;
            };
            result.pivots[row as usize] = column;
            work.solve(reduced, column);
            false
        });
        if left.len() == before || left.is_empty() {
            result.open = open;
            break;
        }
    }
    // Shortens the paths of all columns, so that `depends_on` finds near columns.
    for column in 0..ranks.len() as u32 {
        work.follow(column);
    }
    result.terms = work.terms;
    result
}

impl Eliminated {
    /// The columns that a solved column depends on in the end, `most` of them; each with whether the row can certainly
    /// be solved for that column as well.
    pub fn depends_on(&self, column: u32, most: usize) -> Vec<(u32, bool)> {
        let mut found = Vec::new();
        let mut work = vec![(column, true)];
        let mut seen = vec![column];
        while let Some((at, sure)) = work.pop() {
            glance();
            match &self.terms[at as usize] {
                Some(terms) => {
                    for &(next, value) in terms {
                        if !seen.contains(&next) {
                            seen.push(next);
                            work.push((next, sure && value != Doubtful));
                        }
                    }
                }
                None => found.push((at, sure)),
            }
            if found.len() >= most || seen.len() > LOOKED_AT {
                break;
            }
        }
        found
    }
}

struct Eliminator<'r> {
    ranks: &'r [u32],
    protected: &'r [bool],
    terms: Vec<Option<Row>>,
    /// The order in which the columns were solved.
    times: Vec<u32>,
    count: u32,
    /// The row at hand. Beside each entry is the largest number that was added to it.
    values: Vec<Option<(Coefficient, Wide)>>,
    touched: Vec<u32>,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
}

impl Eliminator<'_> {
    /// Replaces the solved columns of a row.
    fn reduce(&mut self, row: &Row) -> Row {
        for &(column, value) in row {
            self.add(column, value);
        }
        while let Some(Reverse((_, column))) = self.heap.pop() {
            glance();
            let Some((factor, _)) = self.values[column as usize].take() else {
                continue;
            };
            let Some(terms) = self.terms[column as usize].take() else {
                continue;
            };
            for &(next, value) in &terms {
                self.add(next, factor.times(value));
            }
            self.terms[column as usize] = Some(terms);
        }
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        let mut left = Vec::with_capacity(touched.len());
        for column in touched.drain(..) {
            match self.values[column as usize].take() {
                Some((Number(value), scale)) if value.is_rounding_of(scale) => {}
                Some((value, _)) => left.push((column, value)),
                None => {}
            }
        }
        self.touched = touched;
        left
    }

    fn add(&mut self, column: u32, value: Coefficient) {
        let (column, factor) = self.follow(column);
        let value = value.times(factor);
        let size = match value {
            Number(value) => value,
            _ => Wide::ZERO,
        };
        let slot = &mut self.values[column as usize];
        *slot = Some(match *slot {
            None => (value, size.size_with(Wide::ZERO)),
            Some((Number(a), scale)) => match value {
                Number(b) => (Number(a.plus(b)), scale.size_with(b)),
                _ => (Doubtful, scale),
            },
            Some((_, scale)) => (Doubtful, scale),
        });
        self.touched.push(column);
        if self.terms[column as usize].is_some() {
            self.heap
                .push(Reverse((self.times[column as usize], column)));
        }
    }

    /// Follows columns that are multiples of one other column, to the last, and shortens the path.
    fn follow(&mut self, start: u32) -> (u32, Coefficient) {
        let one = Number(Wide::new(1.0));
        let next = |work: &Self, at: u32| match work.terms[at as usize].as_deref() {
            Some(&[(next, factor)]) => Some((next, factor)),
            _ => None,
        };
        let mut way: Vec<(u32, Coefficient)> = Vec::new();
        let mut at = start;
        while let Some((further, factor)) = next(self, at) {
            glance();
            way.push((at, factor));
            at = further;
        }
        let mut product = one;
        for &(column, factor) in way.iter().rev() {
            product = factor.times(product);
            self.terms[column as usize] = Some(vec![(at, product)]);
        }
        (at, product)
    }

    /// The least wanted column that can safely be divided by.
    fn pivot(&self, row: &Row) -> Option<u32> {
        (row.iter())
            .filter(|(_, value)| !matches!(value, Doubtful))
            .map(|&(column, _)| column)
            .max_by_key(|&column| self.ranks[column as usize])
            .filter(|&column| {
                let others = row.iter().filter(|(other, _)| *other != column);
                let mut open = others.filter(|(other, _)| !self.protected[*other as usize]);
                !self.protected[column as usize] || open.next().is_none()
            })
    }

    fn solve(&mut self, row: Row, column: u32) {
        let Some(&(_, divisor)) = row.iter().find(|(other, _)| *other == column) else {
            return;
        };
        let terms = (row.into_iter())
            .filter(|(other, _)| *other != column)
            .map(|(other, value)| (other, value.minus_over(divisor)))
            .collect();
        self.terms[column as usize] = Some(terms);
        self.times[column as usize] = self.count;
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(row: &[(u32, f64)]) -> Row {
        (row.iter())
            .map(|&(column, value)| (column, Number(Wide::new(value))))
            .collect()
    }

    #[test]
    fn the_most_wanted_column_is_left_over() {
        let rows = [
            numbers(&[(0, 1.0), (1, -2.0)]),
            numbers(&[(1, 1.0), (2, -3.0)]),
            numbers(&[(2, 1.0), (3, -1.0)]),
        ];
        for wanted in 0..4u32 {
            let ranks: Vec<u32> = (0..4)
                .map(|column| u32::from(column != wanted) * (column + 1))
                .collect();
            let found = eliminate(&rows, &ranks, &vec![false; ranks.len()]);
            assert!(found.open.is_empty() && found.dependent.is_empty());
            assert!(
                !found.pivots.contains(&wanted),
                "{wanted}: {:?}",
                found.pivots
            );
        }
    }

    #[test]
    fn rows_that_say_the_same_are_found() {
        let rows = [
            numbers(&[(0, 1.0), (1, 1.0), (2, 1.0)]),
            numbers(&[(0, 2.0), (1, -1.0)]),
            numbers(&[(0, 3.0), (2, 1.0)]),
        ];
        let found = eliminate(&rows, &[0, 1, 2], &[false; 3]);
        assert_eq!(found.dependent.len(), 1);
    }

    #[test]
    fn a_doubtful_coefficient_is_no_pivot() {
        let rows = [vec![(0, Doubtful), (1, Doubtful)]];
        let found = eliminate(&rows, &[0, 1], &[false; 2]);
        assert_eq!(found.open, vec![(0, vec![0, 1])]);
        let rows = [vec![(0, Doubtful), (1, Sure)]];
        // This holds although the other column is less wanted.
        let found = eliminate(&rows, &[1, 0], &[false; 2]);
        assert_eq!(found.pivots, vec![1]);
    }

    #[test]
    fn long_chains_of_gears_cost_no_more_than_their_length() {
        let count = 20_000u32;
        let rows: Vec<Row> = (0..count)
            .map(|at| numbers(&[(at, 1.0), (at + 1, -10.0)]))
            .collect();
        let ranks: Vec<u32> = (0..=count).map(|at| (at * 7919) % (count + 1)).collect();
        let found = eliminate(&rows, &ranks, &vec![false; ranks.len()]);
        assert!(found.open.is_empty() && found.dependent.is_empty());
    }
}
