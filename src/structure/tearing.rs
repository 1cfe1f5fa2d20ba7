//! Tearing of one block: finds few columns to guess, so that the rows can be solved one after the
//! other.
//!
//! Before: a square pattern. An entry whose grade is at most `good` means that its row can be
//! solved for its column. After: [`Torn`]. Four reductions are always optimal (Steward 1965, and
//! their counterparts with rows and columns exchanged): a row with one column left is solved for
//! it; a column with one row left is solved by it, after all others; a column for which no row can
//! be solved is guessed; a row that can be solved for no column is a residual. If no reduction
//! applies, the column is guessed that leaves the most rows with a single column. The same is done
//! with rows and columns exchanged and, in small blocks, with each column as the first guess. The
//! result with the fewest guesses is returned. Finding the least number of guesses is NP-complete.

use crate::base::cancel::glance;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::Incidence;

/// A torn block: the iteration columns are guessed, the inner rows are solved in order, and the
/// residual rows have to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Torn {
    /// Columns, ascending.
    pub iteration: Vec<u32>,
    /// Rows, each with the column it is solved for, in the order of evaluation.
    pub inner: Vec<(u32, u32)>,
    /// Rows, ascending; as many as there are iteration columns.
    pub residuals: Vec<u32>,
}

/// In blocks of up to this many rows, every column is tried as the first guess.
const SMALL: usize = 60;

/// Tears a square pattern. The cost is the number of entries times its logarithm; in a small block
/// this is multiplied by the number of rows.
pub fn tear(incidence: &Incidence, good: u8) -> Torn {
    let transpose = incidence.transposed();
    let by_rows = |strategy: Strategy| Tearing::new(incidence, &transpose, good, strategy).run();
    let by_columns = |strategy: Strategy| {
        Tearing::new(&transpose, incidence, good, strategy)
            .run()
            .transposed()
    };
    let mut best = by_rows(Strategy::SolvesMost);
    // No result is better than one iteration column: a block that needs none is reduced completely.
    let mut keep_better = |make: &dyn Fn() -> Torn| {
        if best.iteration.len() > 1 {
            let torn = make();
            if torn.iteration.len() < best.iteration.len() {
                best = torn;
            }
        }
    };
    keep_better(&|| by_columns(Strategy::SolvesMost));
    keep_better(&|| by_rows(Strategy::InMostRows));
    keep_better(&|| by_columns(Strategy::InMostRows));
    if incidence.rows() <= SMALL {
        for line in 0..incidence.rows() as u32 {
            keep_better(&|| by_rows(Strategy::StartsWith(line)));
            keep_better(&|| by_columns(Strategy::StartsWith(line)));
        }
    }
    best
}

/// Tears a pattern with given guesses: each other column is solved by the first row in which it is
/// the last unknown column. Returns `None` if some columns cannot be solved. The set of solved
/// columns does not depend on the order.
pub fn torn_at(incidence: &Incidence, good: u8, guessed: &[u32]) -> Option<Torn> {
    let transpose = incidence.transposed();
    let mut left: Vec<u32> = (0..incidence.rows() as u32)
        .map(|row| incidence.row(row).len() as u32)
        .collect();
    let mut known = vec![false; incidence.columns()];
    let mut used = vec![false; incidence.rows()];
    let mut inner = Vec::new();
    let mut ready: VecDeque<u32> = (0..incidence.rows() as u32)
        .filter(|&row| left[row as usize] == 1)
        .collect();
    let mut close = |column: u32, known: &mut [bool], ready: &mut VecDeque<u32>| {
        known[column as usize] = true;
        for &(row, _) in transpose.row(column) {
            left[row as usize] -= 1;
            if left[row as usize] == 1 {
                ready.push_back(row);
            }
        }
    };
    for &column in guessed {
        if !known[column as usize] {
            close(column, &mut known, &mut ready);
        }
    }
    let iteration: Vec<u32> = (0..incidence.columns() as u32)
        .filter(|&column| known[column as usize])
        .collect();
    while let Some(row) = ready.pop_front() {
        glance();
        let open = incidence
            .row(row)
            .iter()
            .find(|&&(column, _)| !known[column as usize]);
        if let Some(&(column, grade)) = open
            && grade <= good
        {
            used[row as usize] = true;
            inner.push((row, column));
            close(column, &mut known, &mut ready);
        }
    }
    known.iter().all(|&known| known).then(|| Torn {
        iteration,
        inner,
        residuals: (0..incidence.rows() as u32)
            .filter(|&row| !used[row as usize])
            .collect(),
    })
}

impl Torn {
    /// Exchanges rows and columns: the same pairs in reverse order.
    fn transposed(mut self) -> Self {
        std::mem::swap(&mut self.iteration, &mut self.residuals);
        self.inner.reverse();
        for (row, column) in &mut self.inner {
            std::mem::swap(row, column);
        }
        self
    }
}

/// Which column is guessed next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    /// The column that leaves the most rows with a single column.
    SolvesMost,
    /// The column that is in the most rows.
    InMostRows,
    /// First this column, then as `SolvesMost`.
    StartsWith(u32),
}

/// One side of the pattern: rows, or columns.
#[derive(Debug)]
struct Side {
    open: Vec<bool>,
    /// The number of open entries of each line.
    left: Vec<u32>,
    /// How many of these can be solved for.
    good: Vec<u32>,
}

impl Side {
    fn new(lines: &Incidence, good: u8) -> Self {
        let count = lines.rows() as u32;
        let solvable = |line: u32| lines.row(line).iter().filter(|entry| entry.1 <= good);
        Side {
            open: vec![true; count as usize],
            left: (0..count)
                .map(|line| lines.row(line).len() as u32)
                .collect(),
            good: (0..count)
                .map(|line| solvable(line).count() as u32)
                .collect(),
        }
    }
}

/// The two columns of a row that has only two left. The flag says whether a guess of this column
/// lets the row be solved for the other.
type Pair = Option<[(u32, bool); 2]>;

#[derive(Clone, Copy, Debug)]
enum Line {
    Row(u32),
    Column(u32),
}

struct Tearing<'i> {
    by_row: &'i Incidence,
    by_column: &'i Incidence,
    grade: u8,
    strategy: Strategy,
    rows: Side,
    columns: Side,
    pairs: Vec<Pair>,
    /// For each column, the number of rows that can be solved once the column is guessed.
    points: Vec<u32>,
    /// For every open column an entry whose key is at least as large as the present one.
    queue: BinaryHeap<(u32, u32, Reverse<u32>)>,
    /// The work list: lines that have lost an entry.
    work: Vec<Line>,
    first: Vec<(u32, u32)>,
    /// Pairs that are solved after all others, in reverse order.
    last: Vec<(u32, u32)>,
    iteration: Vec<u32>,
    residuals: Vec<u32>,
}

impl<'i> Tearing<'i> {
    fn new(by_row: &'i Incidence, by_column: &'i Incidence, grade: u8, strategy: Strategy) -> Self {
        let (rows, columns) = (by_row.rows() as u32, by_column.rows() as u32);
        // The work list is a stack, so the order is reversed.
        let work = (0..columns).rev().map(Line::Column);
        let mut tearing = Tearing {
            by_row,
            by_column,
            grade,
            strategy,
            rows: Side::new(by_row, grade),
            columns: Side::new(by_column, grade),
            pairs: vec![None; rows as usize],
            points: vec![0; columns as usize],
            queue: BinaryHeap::new(),
            work: work.chain((0..rows).rev().map(Line::Row)).collect(),
            first: Vec::new(),
            last: Vec::new(),
            iteration: Vec::new(),
            residuals: Vec::new(),
        };
        for row in 0..rows {
            tearing.give_points(row);
        }
        for column in 0..columns {
            tearing.enqueue(column);
        }
        tearing
    }

    fn run(mut self) -> Torn {
        loop {
            while let Some(line) = self.work.pop() {
                glance();
                match line {
                    Line::Row(row) if self.rows.open[row as usize] => self.reduce_row(row),
                    Line::Column(column) if self.columns.open[column as usize] => {
                        self.reduce_column(column);
                    }
                    _ => {}
                }
            }
            let Some(column) = self.choose() else {
                break;
            };
            self.guess(column);
        }
        self.last.reverse();
        self.first.append(&mut self.last);
        self.iteration.sort_unstable();
        self.residuals.sort_unstable();
        Torn {
            iteration: self.iteration,
            inner: self.first,
            residuals: self.residuals,
        }
    }

    fn reduce_row(&mut self, row: u32) {
        if self.rows.good[row as usize] == 0 {
            self.residuals.push(row);
            self.close_row(row);
        } else if self.rows.left[row as usize] == 1
            && let Some(column) = self.open_column(row)
        {
            // Among the rows that could be solved for the column now, this takes the one with the
            // best grade.
            let best = (self.by_column.row(column).iter())
                .filter(|&&(row, _)| {
                    self.rows.open[row as usize] && self.rows.left[row as usize] == 1
                })
                .min_by_key(|&&(row, grade)| (grade, row))
                .map_or(row, |&(row, _)| row);
            self.first.push((best, column));
            self.close_row(best);
            self.close_column(column);
        }
    }

    fn reduce_column(&mut self, column: u32) {
        if self.columns.good[column as usize] == 0 {
            self.guess(column);
        } else if self.columns.left[column as usize] == 1
            && let Some(&(row, _)) =
                (self.by_column.row(column).iter()).find(|&&(row, _)| self.rows.open[row as usize])
        {
            self.last.push((row, column));
            self.close_row(row);
            self.close_column(column);
        }
    }

    fn guess(&mut self, column: u32) {
        self.iteration.push(column);
        self.close_column(column);
    }

    fn open_column(&self, row: u32) -> Option<u32> {
        (self.by_row.row(row).iter().map(|&(column, _)| column))
            .find(|&column| self.columns.open[column as usize])
    }

    fn close_row(&mut self, row: u32) {
        self.rows.open[row as usize] = false;
        self.take_points(row);
        for &(column, grade) in self.by_row.row(row) {
            let at = column as usize;
            if self.columns.open[at] {
                self.columns.left[at] -= 1;
                self.columns.good[at] -= u32::from(grade <= self.grade);
                self.work.push(Line::Column(column));
            }
        }
    }

    fn close_column(&mut self, column: u32) {
        self.columns.open[column as usize] = false;
        for &(row, grade) in self.by_column.row(column) {
            let at = row as usize;
            if self.rows.open[at] {
                self.take_points(row);
                self.rows.left[at] -= 1;
                self.rows.good[at] -= u32::from(grade <= self.grade);
                self.give_points(row);
                self.work.push(Line::Row(row));
            }
        }
    }

    /// If a row with two columns left can be solved for one of them, the other gets a point.
    fn give_points(&mut self, row: u32) {
        if self.rows.left[row as usize] != 2 {
            return;
        }
        let mut open = (self.by_row.row(row).iter())
            .filter(|&&(column, _)| self.columns.open[column as usize]);
        if let (Some(&(a, grade_a)), Some(&(b, grade_b))) = (open.next(), open.next()) {
            let pair = [(a, grade_b <= self.grade), (b, grade_a <= self.grade)];
            self.pairs[row as usize] = Some(pair);
            for (column, _) in pair.into_iter().filter(|&(_, has)| has) {
                self.points[column as usize] += 1;
                self.enqueue(column);
            }
        }
    }

    fn take_points(&mut self, row: u32) {
        if let Some(pair) = self.pairs[row as usize].take() {
            for (column, _) in pair.into_iter().filter(|&(_, has)| has) {
                self.points[column as usize] -= 1;
            }
        }
    }

    fn key(&self, column: u32) -> (u32, u32, Reverse<u32>) {
        let (points, left) = (
            self.points[column as usize],
            self.columns.left[column as usize],
        );
        match self.strategy {
            Strategy::StartsWith(first) if first == column => (u32::MAX, left, Reverse(column)),
            Strategy::SolvesMost | Strategy::StartsWith(_) => (points, left, Reverse(column)),
            Strategy::InMostRows => (left, points, Reverse(column)),
        }
    }

    fn enqueue(&mut self, column: u32) {
        self.queue.push(self.key(column));
    }

    /// Returns the best open column. Entries of the queue may be out of date.
    fn choose(&mut self) -> Option<u32> {
        while let Some(entry) = self.queue.pop() {
            glance();
            let Reverse(column) = entry.2;
            if !self.columns.open[column as usize] {
                continue;
            }
            let now = self.key(column);
            if now == entry {
                return Some(column);
            }
            if now < entry {
                self.queue.push(now);
            }
        }
        None
    }
}
