//! Exact elimination in rows of small integers. It finds which rows are linearly dependent when
//! signs are taken into account.
//!
//! Before: rows, and which of their columns are unknowns and have to be eliminated. After: the rows
//! in which all unknowns have cancelled, each with the linear combination of given rows that it
//! equals; and the free unknowns, each with the unknowns that change with it.
//!
//! A pivot is 1 or -1, so all numbers stay integers; only a column with a single entry may have any
//! pivot. Columns with a single entry are eliminated first, then rows with one unknown, then the
//! shortest row or column. A row or column with two entries causes no fill-in: the smaller
//! neighbour is merged into the larger one, so an entry moves at most log(size) times. In a network
//! all rows and columns become that short, because each current is in two sums and each potential
//! in equations of two terms. For other matrices the effort is limited; what was found before the
//! limit remains valid.
//!
//! The same elimination works modulo a prime ([`super::numbers`]), where any entry may be a pivot.

use crate::base::cancel::glance;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::marker::PhantomData;

use rustc_hash::FxHashMap;

use super::NONE;
use super::integer_rows::{IntegerRows, Links};
use super::numbers::{Integers, Modular, Ring};

/// Rows and columns longer than this are not sorted by length.
const LONGEST: usize = 32;
/// The effort limit: entries visited for each given entry.
const EFFORT: usize = 100;
/// Added to the effort limit, for small matrices.
const LEAST_EFFORT: usize = 10_000;

/// A linear combination: numbers of rows or unknowns, with integer coefficients.
pub type Terms = Vec<(u32, i64)>;

#[derive(Debug)]
pub struct Elimination {
    /// Rows whose unknowns have all cancelled, ascending.
    pub empty: Vec<u32>,
    /// Unknowns without a pivot, ascending.
    pub free: Vec<u32>,
    /// False if the effort limit was reached: there may be more empty rows and free unknowns.
    pub complete: bool,
    /// Row and column of each pivot, in order.
    pivots: Vec<(u32, u32)>,
    /// For each row the step in which it became a pivot row, or `NONE`.
    pivot_times: Vec<u32>,
    /// Each addition to a row: which row was added, with which factor, and the index of the
    /// previous addition to the same row.
    additions: Vec<(u32, i64, u32)>,
    last_addition: Vec<u32>,
    links: Links,
}

/// A row or a column in a queue. Queues are first in, first out, which keeps the combinations
/// short.
#[derive(Clone, Copy)]
enum Line {
    Row(u32),
    Column(u32),
}

struct Eliminator<N> {
    ring: PhantomData<N>,
    links: Links,
    row_done: Vec<bool>,
    column_done: Vec<bool>,
    /// Rows and columns by their number of entries. A line is skipped if its number of entries has
    /// changed since it was queued.
    waiting: Vec<VecDeque<Line>>,
    single_columns: VecDeque<u32>,
    /// Rows with one unknown, those combined from the fewest rows first. So unknowns near a ground
    /// are solved first, along the shortest paths, and loops are closed between neighbours.
    single_rows: BinaryHeap<Reverse<(u32, u32)>>,
    /// An upper bound for the number of given rows that each row was combined from.
    made_of: Vec<u32>,
    empty: Vec<u32>,
    pivots: Vec<(u32, u32)>,
    additions: Vec<(u32, i64, u32)>,
    last_addition: Vec<u32>,
    effort_left: usize,
}

/// Eliminates the unknown columns in integers.
pub fn eliminate(rows: &IntegerRows, unknown: &[bool]) -> Elimination {
    eliminate_in::<Integers>(rows, unknown)
}

/// Eliminates the unknown columns in the given ring.
pub fn eliminate_in<N: Ring>(rows: &IntegerRows, unknown: &[bool]) -> Elimination {
    let mut eliminator = Eliminator::<N> {
        ring: PhantomData,
        links: Links::new(rows, unknown),
        row_done: vec![false; rows.rows()],
        column_done: unknown.iter().map(|&unknown| !unknown).collect(),
        waiting: vec![VecDeque::new(); LONGEST + 1],
        single_columns: VecDeque::new(),
        single_rows: BinaryHeap::new(),
        made_of: vec![1; rows.rows()],
        empty: Vec::new(),
        pivots: Vec::new(),
        additions: Vec::new(),
        last_addition: vec![NONE; rows.rows()],
        effort_left: EFFORT * rows.len() + LEAST_EFFORT,
    };
    let complete = eliminator.run().is_some();
    let mut times = vec![NONE; rows.rows()];
    for (time, &(row, _)) in eliminator.pivots.iter().enumerate() {
        times[row as usize] = time as u32;
    }
    eliminator.empty.sort_unstable();
    // A column that still occurs in a row has not been decided.
    let free = (0..rows.columns() as u32)
        .filter(|_| complete)
        .filter(|&column| !eliminator.column_done[column as usize])
        .filter(|&column| eliminator.links.column_sizes[column as usize] == 0)
        .collect();
    Elimination {
        empty: eliminator.empty,
        free,
        complete: complete && eliminator.row_done.iter().all(|&done| done),
        pivots: eliminator.pivots,
        pivot_times: times,
        additions: eliminator.additions,
        last_addition: eliminator.last_addition,
        links: eliminator.links,
    }
}

impl<N: Ring> Eliminator<N> {
    /// Returns `None` if the effort limit is reached or a number overflows.
    fn run(&mut self) -> Option<()> {
        for row in 0..self.row_done.len() as u32 {
            self.row_changed(row);
        }
        for column in 0..self.column_done.len() as u32 {
            self.column_changed(column);
        }
        while let Some((row, column)) = self.next_pivot()? {
            glance();
            self.pivot(row, column)?;
        }
        Some(())
    }

    fn row_changed(&mut self, row: u32) {
        if self.row_done[row as usize] {
            return;
        }
        match self.links.row_sizes[row as usize] as usize {
            0 => {
                self.row_done[row as usize] = true;
                self.empty.push(row);
            }
            1 => (self.single_rows).push(Reverse((self.made_of[row as usize], row))),
            size => self.waiting[size.min(LONGEST)].push_back(Line::Row(row)),
        }
    }

    fn column_changed(&mut self, column: u32) {
        if self.column_done[column as usize] {
            return;
        }
        match self.links.column_sizes[column as usize] as usize {
            0 => {}
            1 => self.single_columns.push_back(column),
            size => self.waiting[size.min(LONGEST)].push_back(Line::Column(column)),
        }
    }

    /// Returns `Some(None)` when there is no pivot left, and `None` when the effort limit is
    /// reached.
    fn next_pivot(&mut self) -> Option<Option<(u32, u32)>> {
        while let Some(column) = self.single_columns.pop_front() {
            glance();
            if !self.column_done[column as usize]
                && self.links.column_sizes[column as usize] == 1
                && let Some((_, row, _)) = self.links.column(column).next()
            {
                return Some(Some((row, column)));
            }
        }
        while let Some(Reverse((_, row))) = self.single_rows.pop() {
            glance();
            if !self.row_done[row as usize]
                && self.links.row_sizes[row as usize] == 1
                && let Some(column) = self.best_column(row)
            {
                return Some(Some((row, column)));
            }
        }
        for size in 2..=LONGEST {
            while let Some(line) = self.waiting[size].pop_front() {
                let found = match line {
                    Line::Row(row) => {
                        let now = self.links.row_sizes[row as usize] as usize;
                        let stale = self.row_done[row as usize] || now.min(LONGEST) != size;
                        if stale {
                            continue;
                        }
                        self.use_effort(now)?;
                        self.best_column(row).map(|column| (row, column))
                    }
                    Line::Column(column) => {
                        let now = self.links.column_sizes[column as usize] as usize;
                        let stale = self.column_done[column as usize] || now.min(LONGEST) != size;
                        if stale {
                            continue;
                        }
                        self.use_effort(now)?;
                        self.best_row(column).map(|row| (row, column))
                    }
                };
                if found.is_some() {
                    return Some(found);
                }
            }
        }
        Some(None)
    }

    fn use_effort(&mut self, effort: usize) -> Option<()> {
        self.effort_left = self.effort_left.checked_sub(effort)?;
        Some(())
    }

    /// The shortest column that the row has a possible pivot for.
    fn best_column(&self, row: u32) -> Option<u32> {
        (self.links.row(row))
            .filter(|&(_, _, value)| N::is_pivot(value))
            .map(|(_, column, _)| (self.links.column_sizes[column as usize], column))
            .min()
            .map(|(_, column)| column)
    }

    /// The shortest row that has a possible pivot for the column.
    fn best_row(&self, column: u32) -> Option<u32> {
        (self.links.column(column))
            .filter(|&(_, _, value)| N::is_pivot(value))
            .map(|(_, row, _)| (self.links.row_sizes[row as usize], row))
            .min()
            .map(|(_, row)| row)
    }

    fn pivot(&mut self, row: u32, column: u32) -> Option<()> {
        let at = self.links.find(row, column)?;
        let pivot = self.links.value(at);
        let entries: Vec<(u32, u32, i64)> = self.links.row(row).collect();
        let targets: Vec<(u32, u32, i64)> = (self.links.column(column))
            .filter(|&(_, target, _)| target != row)
            .collect();
        self.row_done[row as usize] = true;
        self.column_done[column as usize] = true;
        self.pivots.push((row, column));
        for &(entry, ..) in &entries {
            self.links.hide(entry);
        }
        self.use_effort(entries.len() * (1 + targets.len()))?;
        // If the column has no other row, nothing is added and any pivot is allowed.
        let by = match targets.is_empty() {
            true => 0,
            false => N::negative_inverse(pivot),
        };
        for (entry, target, value) in targets {
            let factor = N::product(value, by)?;
            self.links.remove(entry);
            for &(_, other, value) in &entries {
                if other != column {
                    self.add(target, other, N::product(factor, value)?)?;
                }
            }
            let before = self.last_addition[target as usize];
            self.last_addition[target as usize] = self.additions.len() as u32;
            self.additions.push((row, factor, before));
            let more = self.made_of[row as usize];
            let made_of = &mut self.made_of[target as usize];
            *made_of = made_of.saturating_add(more);
            self.row_changed(target);
        }
        for (_, other, _) in entries {
            self.column_changed(other);
        }
        Some(())
    }

    fn add(&mut self, row: u32, column: u32, value: i64) -> Option<()> {
        let shorter =
            (self.links.row_sizes[row as usize]).min(self.links.column_sizes[column as usize]);
        self.use_effort(shorter as usize)?;
        match self.links.find(row, column) {
            None => self.links.insert(row, column, value),
            Some(at) => match N::sum(self.links.value(at), value)? {
                0 => self.links.remove(at),
                sum => self.links.set(at, sum),
            },
        }
        Some(())
    }
}

impl Elimination {
    /// Returns the linear combination of given rows that a row has become, ascending. Subtracts one
    /// from `effort` for each row visited; returns `None` when it is used up.
    pub fn combination(&self, row: u32, effort: &mut usize) -> Option<Terms> {
        let mut factors: FxHashMap<u32, i64> = FxHashMap::default();
        factors.insert(row, 1);
        // Each row that was added had become a pivot row before. So the latest pivots are expanded
        // first, and each row only once.
        let mut waiting = BinaryHeap::from([(u32::MAX, row)]);
        let mut terms = Vec::new();
        while let Some((_, row)) = waiting.pop() {
            glance();
            let times = factors[&row];
            // Additions may cancel each other; a row with factor zero contributes nothing.
            if times == 0 {
                continue;
            }
            terms.push((row, times));
            let mut addition = self.last_addition[row as usize];
            while addition != NONE {
                *effort = effort.checked_sub(1)?;
                let (source, factor, before) = self.additions[addition as usize];
                let more = times.checked_mul(factor)?;
                let known = factors.entry(source).or_insert_with(|| {
                    waiting.push((self.pivot_times[source as usize], source));
                    0
                });
                *known = known.checked_add(more)?;
                addition = before;
            }
        }
        terms.sort_unstable();
        Some(terms)
    }

    /// Returns a null vector for each free unknown, in the order of `free`: all unknowns that
    /// change with it, ascending, and by how much. A null vector added to a solution gives another
    /// solution. Returns `None` if they are not integers.
    pub fn movements(&self) -> Option<Vec<Terms>> {
        let mut by_column: Vec<Terms> = vec![Vec::new(); self.links.column_sizes.len()];
        let mut moved: Vec<Terms> = Vec::with_capacity(self.free.len());
        let mut effort_left = EFFORT * (self.pivot_times.len() + by_column.len()) + LEAST_EFFORT;
        for (number, &column) in self.free.iter().enumerate() {
            by_column[column as usize].push((number as u32, 1));
            moved.push(vec![(column, 1)]);
        }
        for &(row, column) in self.pivots.iter().rev() {
            let mut sum: Terms = Vec::new();
            let mut divisor = 1;
            for (_, other, value) in self.links.row(row) {
                if other == column {
                    divisor = value;
                    continue;
                }
                let terms = &by_column[other as usize];
                effort_left = effort_left.checked_sub(1 + terms.len())?;
                for &(number, times) in terms {
                    sum.push((number, times.checked_mul(value)?));
                }
            }
            sum.sort_unstable();
            let mut at = 0;
            while at < sum.len() {
                let number = sum[at].0;
                let mut total = 0i64;
                while at < sum.len() && sum[at].0 == number {
                    total = total.checked_add(sum[at].1)?;
                    at += 1;
                }
                if total % divisor != 0 {
                    return None;
                }
                if total != 0 {
                    by_column[column as usize].push((number, -(total / divisor)));
                    moved[number as usize].push((column, -(total / divisor)));
                }
            }
        }
        moved.iter_mut().for_each(|terms| terms.sort_unstable());
        Some(moved)
    }
}

impl Elimination {
    /// After an elimination modulo the prime: returns a random null vector of the rows. With high
    /// probability a column is zero in it only if it is zero in all null vectors.
    pub fn random_solution(&self) -> Vec<i64> {
        let mut values = vec![0; self.links.column_sizes.len()];
        for &column in &self.free {
            values[column as usize] = Modular::random(column, u32::MAX);
        }
        for &(row, column) in self.pivots.iter().rev() {
            let (mut sum, mut divisor) = (0, 1);
            for (_, other, value) in self.links.row(row) {
                match other == column {
                    true => divisor = value,
                    false => {
                        let term = Modular::times(value, values[other as usize]);
                        sum = Modular::plus(sum, term);
                    }
                }
            }
            if sum != 0 {
                let over = Modular::times(sum, Modular::inverse(divisor));
                values[column as usize] = Modular::minus(over);
            }
        }
        values
    }
}
