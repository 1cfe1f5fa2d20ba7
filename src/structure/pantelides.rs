//! Pantelides' algorithm: finds how often each row has to be differentiated.
//!
//! Before: for each row its columns, each with the highest order of its derivative in the row. A
//! perfect matching of rows and columns exists if the orders are ignored; otherwise the algorithm
//! ends at the bound. After: [`Offsets`]. Rows that are differentiated `rows[i]` times determine
//! the derivatives of order `columns[j]`, and each row determines one of them. The offsets are the
//! least possible ones.
//!
//! Pantelides 1988, in the form of Pryce 2001: an entry of order s is *tight* when s + c = d. All
//! rows without a tight column of their own, together with the rows that alternating paths reach
//! from them, are differentiated once more. Then the matching is tried again.

use super::{Incidence, Matching, NONE, grow};
use crate::base::cancel::glance;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// How often each row has to be differentiated.
    pub rows: Vec<u32>,
    /// The order of the highest derivative of each column.
    pub columns: Vec<u32>,
    /// A matching of each differentiated row with the column whose highest derivative it
    /// determines.
    pub matching: Matching,
}

/// `orders` holds the order of each entry as its grade. Returns the rows that would have to be
/// differentiated more than `most` times, if there are such rows. If there is no perfect matching, some always are,
/// unless there are more columns than rows.
pub fn pantelides(orders: &Incidence, most: u32) -> Result<Offsets, Vec<u32>> {
    if orders.rows() != orders.columns() {
        return Err(Vec::new());
    }
    let mut offsets = Offsets {
        rows: vec![0; orders.rows()],
        columns: vec![0; orders.columns()],
        matching: Matching::empty(orders.rows(), orders.columns()),
    };
    for row in 0..orders.rows() as u32 {
        for &(column, order) in orders.row(row) {
            let highest = &mut offsets.columns[column as usize];
            *highest = (*highest).max(u32::from(order));
        }
    }
    loop {
        glance();
        let tight = offsets.tight(orders);
        // A row is raised together with its matched column, so matched entries stay tight.
        grow(&tight, &mut offsets.matching);
        if offsets.matching.is_perfect() {
            return Ok(offsets);
        }
        raise(&tight, &mut offsets);
        if offsets.rows.iter().any(|&times| times > most) {
            let rows = (0u32..).zip(&offsets.rows);
            let beyond = rows.filter(|&(_, &times)| times > most);
            return Err(beyond.map(|(row, _)| row).collect());
        }
    }
}

impl Offsets {
    /// Whether an entry of this order in the undifferentiated row becomes the highest derivative of
    /// its column when the row has been differentiated.
    pub fn is_tight(&self, row: u32, column: u32, order: u8) -> bool {
        u32::from(order) + self.rows[row as usize] == self.columns[column as usize]
    }

    /// The pattern of the tight entries: the highest derivatives in each differentiated row.
    pub fn tight(&self, orders: &Incidence) -> Incidence {
        let mut tight = Incidence::new(orders.columns());
        for row in 0..orders.rows() as u32 {
            tight.push_row(
                (orders.row(row).iter())
                    .filter(|&&(column, order)| self.is_tight(row, column, order))
                    .map(|&(column, _)| (column, 0)),
            );
        }
        tight
    }
}

/// Increases the offsets of the unmatched rows, and of all rows and columns that alternating paths
/// reach from them, by one.
fn raise(tight: &Incidence, offsets: &mut Offsets) {
    let mut row_seen = vec![false; tight.rows()];
    let mut column_seen = vec![false; tight.columns()];
    let mut stack: Vec<u32> = (0..tight.rows() as u32)
        .filter(|&row| offsets.matching.column_of[row as usize] == NONE)
        .collect();
    for &row in &stack {
        row_seen[row as usize] = true;
    }
    while let Some(row) = stack.pop() {
        glance();
        offsets.rows[row as usize] += 1;
        for &(column, _) in tight.row(row) {
            if !std::mem::replace(&mut column_seen[column as usize], true) {
                offsets.columns[column as usize] += 1;
                // No unmatched column can be reached, because the matching is maximum.
                let next = offsets.matching.row_of[column as usize];
                if next != NONE && !std::mem::replace(&mut row_seen[next as usize], true) {
                    stack.push(next);
                }
            }
        }
    }
}
