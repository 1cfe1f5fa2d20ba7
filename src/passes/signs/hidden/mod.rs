//! Loops that are singular although their structure is not: signs cancel in them, and what is left has
//! fewer unknowns than it seems.
//!
//! Before: a flat model, a perfect matching of its rows with their unknowns. After: sums of equations in
//! which unknowns of a loop cancel, so that fewer unknowns than rows are left without them; none if
//! no loop is singular. `c = a - b` and `u = a - b` are a loop in a and b; their difference `c = u` says that the state
//! c equals what is determined elsewhere. Put in place of one of the two it shows what the model is.
//!
//! A loop is a matrix of signs and of coefficients: Murota's mixed matrix (2000). For almost all values of parameters and
//! variables its rank is that at a random point modulo a prime ([`residues`]), so one sparse elimination tells whether
//! the loop is regular, and most are. Where it is not, the unknowns that are not zero in a random solution are the columns of its
//! underdetermined part (the horizontal tail of Murota's canonical form): eliminated exactly from the rows of signs they
//! leave rows without them, more than there are other unknowns. A term that is no variable (`R*i`) is one
//! column, as in [`crate::passes::signs::reference`].
//!
//! Where signs alone show nothing, coefficients do: `u = r*i1`, `u = -r*i2`, `c = i1 + i2` leave `r*c = 0` (a gyrator with both ports on
//! the same nodes). The rows that depend on each other are told, and [`crate::passes::index`] eliminates in
//! them with coefficients as factors. Loops that are singular only for certain values of parameters are found when they are solved.

mod coefficients;
mod residues;
mod same;

use crate::base::cancel::glance;
use rustc_hash::FxHashMap;

use crate::expr::{ExprId, Node};
use crate::flat::{EqId, Flat, Leaf};
use crate::passes::signs::reference::next_term;
use crate::structure::numbers::Modular;
use crate::structure::signs::{Terms, eliminate, eliminate_in};
use crate::structure::{Incidence, IntegerRows, Matching, NONE, loops};
use coefficients::Coefficients;
use same::Same;

pub use residues::Residues;

/// The most rows that are visited to find the equations that a row without these unknowns was made of.
const EFFORT: usize = 1_000_000;

/// The model as rows, each with its unknowns.
pub struct System<'a> {
    pub flat: &'a Flat,
    pub pattern: &'a Incidence,
    /// A perfect matching.
    pub matching: &'a Matching,
    /// The equation of a row, and how often it is differentiated; `None` for a row that is not an equation.
    pub equation: &'a dyn Fn(u32) -> Option<(EqId, u32)>,
    /// The column of a variable or derivative that the row contained before it was differentiated, or `NONE`.
    pub column: &'a dyn Fn(u32, Leaf) -> u32,
}

/// What loops hide.
#[derive(Debug, Default)]
pub struct Hidden {
    /// Sums of equations, independent of each other.
    pub sums: Vec<Vec<(EqId, i64)>>,
    /// For each loop in which no sum shows it.
    pub dependent: Vec<Dependent>,
}

/// Rows that depend on each other in the unknowns of their loop.
#[derive(Debug)]
pub struct Dependent {
    pub rows: Vec<u32>,
    /// All unknowns of the loop, ascending.
    pub columns: Vec<u32>,
}

impl Hidden {
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty() && self.dependent.is_empty()
    }
}

/// Finds what the loops of a model hide.
pub fn hidden(system: &System<'_>) -> Hidden {
    let mut local = vec![NONE; system.pattern.columns()];
    let mut found = Hidden::default();
    let mut coefficients = Coefficients::default();
    for rows in loops(system.pattern, system.matching) {
        let columns = || (rows.iter()).map(|&row| system.matching.column_of[row as usize]);
        for (at, column) in columns().enumerate() {
            local[column as usize] = at as u32;
        }
        Loop {
            system,
            rows: &rows,
            local: &local,
        }
        .look(&mut coefficients, &mut found);
        for column in columns() {
            local[column as usize] = NONE;
        }
    }
    found
}

struct Loop<'a> {
    system: &'a System<'a>,
    rows: &'a [u32],
    /// The number of each column in this loop, or `NONE`.
    local: &'a [u32],
}

impl Loop<'_> {
    fn look(&self, coefficients: &mut Coefficients, found: &mut Hidden) {
        let Some(moving) = self.moving(coefficients) else {
            return;
        };
        let before = found.sums.len();
        self.sums(coefficients, &moving, &mut found.sums);
        if found.sums.len() == before {
            found.dependent.extend(self.dependent(coefficients));
        }
    }

    fn sums(
        &self,
        coefficients: &mut Coefficients,
        moving: &[i64],
        found: &mut Vec<Vec<(EqId, i64)>>,
    ) {
        let (equations, rows) = self.rows_of_signs(coefficients, moving);
        let elimination = eliminate(&rows, &vec![true; rows.columns()]);
        let mut effort = EFFORT;
        for &row in &elimination.empty {
            let Some(sum) = elimination.combination(row, &mut effort) else {
                return;
            };
            if sum.len() > 1 {
                let equation = |&(row, times): &(u32, i64)| (equations[row as usize], times);
                let mut sum: Vec<(EqId, i64)> = sum.iter().map(equation).collect();
                sum.sort_unstable();
                found.push(sum);
            }
        }
    }

    /// The rows in a random sum, with coefficients as factors, in which all unknowns of the loop cancel.
    fn dependent(&self, coefficients: &mut Coefficients) -> Option<Dependent> {
        let count = self.rows.len();
        let mut by_column: Vec<Terms> = vec![Vec::new(); count];
        let mut entries: Terms = Vec::new();
        for (at, &row) in self.rows.iter().enumerate() {
            entries.clear();
            self.entries(coefficients, row, &mut Vec::new(), &mut entries);
            for (column, value) in coefficients::merged(&mut entries) {
                by_column[column as usize].push((at as u32, value));
            }
        }
        let mut turned = IntegerRows::new(count);
        by_column.into_iter().for_each(|row| turned.push_row(row));
        let elimination = eliminate_in::<Modular>(&turned, &vec![true; count]);
        if elimination.free.is_empty() || !elimination.complete {
            return None;
        }
        let factors = elimination.random_solution();
        let rows: Vec<u32> = (self.rows.iter().zip(factors))
            .filter(|&(_, factor)| factor != 0)
            .map(|(&row, _)| row)
            .collect();
        let known = rows.iter().all(|&row| self.equation(row).is_some());
        let columns = self.rows.iter();
        let mut columns: Vec<u32> = columns
            .map(|&row| self.system.matching.column_of[row as usize])
            .collect();
        columns.sort_unstable();
        known.then_some(Dependent { rows, columns })
    }

    /// The coefficients of a row; of one that is no sum any.
    fn entries(
        &self,
        coefficients: &mut Coefficients,
        row: u32,
        work: &mut Vec<(ExprId, i64)>,
        entries: &mut Terms,
    ) {
        match self.equation(row) {
            Some((id, _)) => self.terms(id, work, |term, sign| {
                let column = |leaf| self.column(row, leaf);
                coefficients.add(self.system.flat, term, sign, column, entries);
            }),
            None => {
                for &(column, _) in self.system.pattern.row(row) {
                    let at = self.local[column as usize];
                    if at != NONE {
                        entries.push((at, Modular::random(row, column)));
                    }
                }
            }
        }
    }

    /// The equation of a row, if it holds at all times and is real: only then it is a sum of terms.
    fn equation(&self, row: u32) -> Option<(EqId, u32)> {
        let (id, times) = (self.system.equation)(row)?;
        let flat = self.system.flat;
        let equation = &flat.equations[id.index()];
        let real = equation.kind.is_continuous() && !flat.is_boolean(equation.left);
        real.then_some((id, times))
    }

    fn column(&self, row: u32, leaf: Leaf) -> u32 {
        match (self.system.column)(row, leaf) {
            NONE => NONE,
            column => self.local[column as usize],
        }
    }

    fn terms(&self, id: EqId, work: &mut Vec<(ExprId, i64)>, mut visit: impl FnMut(ExprId, i64)) {
        let equation = &self.system.flat.equations[id.index()];
        work.extend([(equation.right, -1), (equation.left, 1)]);
        while let Some((term, sign)) = next_term(self.system.flat, work) {
            glance();
            visit(term, sign);
        }
    }

    /// A random solution of the loop with random coefficients. `None` if only zero is a solution, or if the loop is too
    /// large to decide; then the pass that solves examines it.
    fn moving(&self, coefficients: &mut Coefficients) -> Option<Vec<i64>> {
        let columns = self.rows.len();
        let mut same = Same::new(columns);
        let mut work = Vec::new();
        let mut entries: Terms = Vec::new();
        let mut ends: Vec<usize> = Vec::new();
        for &row in self.rows {
            let start = entries.len();
            self.entries(coefficients, row, &mut work, &mut entries);
            match same.merge(&entries[start..]) {
                true => entries.truncate(start),
                false => ends.push(entries.len()),
            }
        }
        let (numbers, count) = same.numbers();
        let mut matrix = IntegerRows::new(count);
        let mut start = 0;
        for end in ends {
            let row = &mut entries[start..end];
            for (column, value) in &mut *row {
                let (of, times) = same.find(*column);
                (*column, *value) = (numbers[of as usize], Modular::times(*value, times));
            }
            matrix.push_row(coefficients::merged(row));
            start = end;
        }
        let elimination = eliminate_in::<Modular>(&matrix, &vec![true; count]);
        if elimination.free.is_empty() || !elimination.complete {
            return None;
        }
        let solution = elimination.random_solution();
        let value = |column: u32| {
            let (of, times) = same.find(column);
            Modular::times(solution[numbers[of as usize] as usize], times)
        };
        Some((0..columns as u32).map(value).collect())
    }

    /// The rows that are sums, restricted to the columns that are not zero in a solution.
    fn rows_of_signs(
        &self,
        coefficients: &mut Coefficients,
        moving: &[i64],
    ) -> (Vec<EqId>, IntegerRows) {
        let flat = self.system.flat;
        // Terms that are not variables get numbers after the unknowns. A term that is differentiated is another term.
        let mut numbers: FxHashMap<(ExprId, u32), u32> = FxHashMap::default();
        let mut next = moving.len() as u32;
        let mut inside: Terms = Vec::new();
        let mut work = Vec::new();
        let mut equations = Vec::new();
        let mut all: Vec<Terms> = Vec::new();
        for &row in self.rows {
            let Some((id, times)) = self.equation(row) else {
                continue;
            };
            let mut entries: Terms = Vec::new();
            self.terms(id, &mut work, |term, sign| {
                if let Node::Leaf(leaf) = flat.exprs.node(term) {
                    let at = self.column(row, leaf);
                    if at != NONE && moving[at as usize] != 0 {
                        entries.push((at, sign));
                    }
                    return;
                }
                inside.clear();
                coefficients.add(flat, term, 1, |leaf| self.column(row, leaf), &mut inside);
                let moved = (inside.iter()).fold(0, |sum, &(at, value)| {
                    Modular::plus(sum, Modular::times(value, moving[at as usize]))
                });
                if moved != 0 {
                    let number = numbers.entry((term, times)).or_insert_with(|| {
                        next += 1;
                        next - 1
                    });
                    entries.push((*number, sign));
                }
            });
            equations.push(id);
            all.push(entries);
        }
        let mut rows = IntegerRows::new(next as usize);
        for entries in all {
            rows.push_row(entries);
        }
        (equations, rows)
    }
}
