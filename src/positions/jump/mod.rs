//! What states jump to when a position begins, or at another event, and the impulses that make them.
//!
//! Before: the equations of a position, each followed by its derivatives, as index reduction leaves them. After: the
//! system of the jump. An equation that is differentiated c times holds, with its derivatives up to the order c - 1, just after the
//! event: of the highest of these the values after the jump are the unknowns. Any other equation is integrated over the
//! instant: der(x) becomes the difference of x after and before, an algebraic variable its impulse, and what is finite
//! drops out. So charge, flux and momentum are conserved. The unknowns are those of the position itself, one order
//! lower, and the matrix is the same: a position that can be solved has one jump.
//!
//! A coefficient that depends on what jumps is integrated along with it where it depends on nothing else that jumps
//! (a capacity gamma/e); otherwise the jump is refused by name. So is one of a derivative that an event changes at the instant at
//! which its variable jumps: C*der(u) does not say what becomes of the charge.
//!
//! Where a `when` restarts a variable, its value holds after the jump in place of the integrated equation of its derivative: what
//! sets it acts on that storage from outside. At the start only what was given is a value before: of other variables that follow
//! from constraints nothing is conserved.

mod acceptance;
mod build;
mod coefficients;
mod integral;
mod memory;

use rustc_hash::FxHashSet;
use sprs::CsMat;

use crate::evaluate::Numbers;
use crate::expr::ExprId;
use crate::flat::{Equation, Flat, Leaf, LeafValues};
use crate::numeric::zero::{product, rounding};

use memory::{Evaluated, Factors};

pub use memory::JumpMemory;

/// A coefficient: a number as given, with the expression of parameters that it is, or an expression of what moves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coefficient {
    Number(f64, ExprId),
    Expression(ExprId),
}

impl Coefficient {
    pub(crate) fn expression(self) -> ExprId {
        match self {
            Coefficient::Number(_, id) | Coefficient::Expression(id) => id,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// As it is shown.
    pub(crate) equation: Equation,
    /// Holds after the jump: left - right; `None` where it is integrated over the instant.
    pub(crate) holds: Option<(ExprId, ExprId)>,
    /// Of lower orders: these have to hold already.
    pub(crate) lower: Vec<(ExprId, ExprId)>,
    /// By column.
    pub(crate) entries: Vec<(u32, Coefficient)>,
}

/// The system of a position.
#[derive(Clone, Debug)]
pub struct Jump {
    /// What jumps: a variable, or a derivative of lower order; or what has an impulse.
    pub(crate) columns: Vec<Leaf>,
    pub(crate) impulsive: Vec<bool>,
    pub(crate) rows: Vec<Row>,
    /// By columns, which of the entries of the rows, one row after the other: it is the same in every jump.
    places: CsMat<usize>,
    /// No coefficient depends on what may jump.
    linear: bool,
}

/// Values just after the jump.
#[derive(Clone, Debug, Default)]
pub struct Jumped {
    /// Of everything that may jump; of all else, the values before.
    pub after: Values,
    /// Impulses other than zero.
    pub impulses: Values,
}

/// Why there is no jump.
#[derive(Clone, Debug)]
pub enum Refused {
    /// A constraint on positions does not hold: no impulse can move them.
    Apart(Box<Equation>, f64),
    /// The coefficient of a leaf depends on something else that jumps.
    Coefficient(Box<Equation>, Leaf),
    /// The event changes the coefficient of a derivative whose variable jumps.
    Changed(Box<Equation>, Leaf),
    /// A variable is restarted that the constraints determine.
    Restart(Leaf),
    /// No values satisfy the constraints.
    NoSolution,
}

/// Values that the equations are evaluated at.
pub type Values = LeafValues;

/// What a jump begins from.
#[derive(Clone, Copy, Debug)]
pub struct Before<'v> {
    pub values: &'v Values,
    /// Nobody gave these values: they follow from others, and take nothing from them.
    pub free: &'v FxHashSet<Leaf>,
    /// Variables that `when`s restart, with their values.
    pub restarts: &'v [(Leaf, f64)],
}

/// What only the caller knows of a jump.
pub trait Judge {
    /// How large a leaf was so far: rounding of that size is no displacement.
    fn scale(&self, leaf: Leaf) -> f64;
    /// Whether these values are others than those before: if not, nobody asks for impulses.
    fn jumps(&self, after: &Values) -> bool;
}

const MOST_STEPS: usize = 50;

impl Jump {
    /// Whether the values satisfy what the position asks of them; then nothing jumps.
    pub fn holds(&self, flat: &Flat, time: f64, before: &Values, memory: &mut JumpMemory) -> bool {
        let mut numbers = Numbers::with_memory(flat, time, std::mem::take(&mut memory.numbers));
        let mut all = self.rows.iter().flat_map(|row| {
            let highest = row.holds.iter().copied();
            highest.chain(row.lower.iter().copied())
        });
        let error =
            |leaf: Leaf, value: f64| rounding(value) + acceptance::error_before(time, before, leaf);
        let holds = all.all(|sides| {
            let difference = acceptance::difference(&mut numbers, sides, before, &error);
            difference.is_some_and(|(off, error)| acceptance::is_met(off, error))
        });
        memory.numbers = numbers.into_memory();
        holds
    }

    /// Whether a constraint ties a variable to others, or to Time.
    pub fn ties(&self, flat: &Flat, leaf: Leaf) -> bool {
        let mut found = false;
        for (left, right) in self.rows.iter().filter_map(|row| row.holds) {
            flat.exprs.leaves(left, |other| found |= other == leaf);
            flat.exprs.leaves(right, |other| found |= other == leaf);
        }
        found
    }

    /// Solves for the values after the jump.
    pub fn solve(
        &self,
        flat: &Flat,
        time: f64,
        before: Before<'_>,
        judge: &dyn Judge,
        memory: &mut JumpMemory,
    ) -> Result<Jumped, Refused> {
        let mut numbers = Numbers::with_memory(flat, time, std::mem::take(&mut memory.numbers));
        let done = self.solved_from(flat, &mut numbers, before, judge, memory);
        memory.numbers = numbers.into_memory();
        done
    }

    fn solved_from(
        &self,
        flat: &Flat,
        numbers: &mut Numbers<'_>,
        before: Before<'_>,
        judge: &dyn Judge,
        memory: &mut JumpMemory,
    ) -> Result<Jumped, Refused> {
        self.apart(flat, numbers, before.values, judge)?;
        match self.solved(numbers, before, judge, memory) {
            // With them as values before there may be a solution.
            Err(Refused::NoSolution) if !before.free.is_empty() => {
                let free = FxHashSet::default();
                let from = Before {
                    free: &free,
                    ..before
                };
                self.solved(numbers, from, judge, memory)
            }
            done => done,
        }
    }

    fn solved(
        &self,
        numbers: &mut Numbers<'_>,
        before: Before<'_>,
        judge: &dyn Judge,
        memory: &mut JumpMemory,
    ) -> Result<Jumped, Refused> {
        let value = |leaf: &Leaf| before.values.get(leaf).copied().unwrap_or(0.0);
        let start: Vec<f64> = (self.columns.iter().zip(&self.impulsive))
            .map(|(leaf, &impulsive)| if impulsive { 0.0 } else { value(leaf) })
            .collect();
        let mut now = start.clone();
        let mut values = before.values.clone();
        let restarted = self.restarted(numbers, before, &start, memory)?;
        let (factors, rows) = (&mut memory.factors, &mut memory.rows);
        let mut last = f64::INFINITY;
        let mut has_stepped = false;
        for step in 0..=MOST_STEPS {
            let moved = (&start[..], &now[..], &values);
            self.evaluate(numbers, before.free, moved, &restarted, rows)?;
            // The second solution mends what elimination has rounded: where rows differ much in size, a current that an open switch
            // holds at zero has an impulse after the first one.
            if step > 1 && self.is_linear() || acceptance::all_met(&rows.right, &rows.errors) {
                break;
            }
            let excess = acceptance::excess(&rows.right, &rows.errors);
            // No step makes them smaller.
            let stays = excess >= last;
            if stays && acceptance::all_nearly_met(&rows.right, &rows.errors) {
                break;
            }
            if step == MOST_STEPS || !factors.factor(&self.places, &rows.entries) {
                return Err(Refused::NoSolution);
            }
            last = excess;
            factors.solve(&mut rows.right);
            if rows.right.iter().any(|value| !value.is_finite()) {
                return Err(Refused::NoSolution);
            }
            for (j, delta) in rows.right.iter().enumerate() {
                now[j] += delta;
                if !self.impulsive[j] {
                    values.insert(self.columns[j], now[j]);
                }
            }
            has_stepped = true;
            if self.is_linear() && !judge.jumps(&values) {
                return Ok(Jumped {
                    after: values,
                    impulses: Values::default(),
                });
            }
        }
        let errors = has_stepped.then(|| rows.errors.clone());
        self.drop_rounding(&mut now, |now| {
            let moved = (&start[..], now, &values);
            let evaluated = self.evaluate(numbers, before.free, moved, &restarted, rows);
            evaluated.is_ok() && acceptance::all_met(&rows.right, &rows.errors)
        });
        Ok(Jumped {
            impulses: self.impulses(&now, errors.as_deref(), factors),
            after: values,
        })
    }

    /// For each row, the variable that a `when` restarts in its place, by column, with its value.
    fn restarted(
        &self,
        numbers: &mut Numbers<'_>,
        before: Before<'_>,
        start: &[f64],
        memory: &mut JumpMemory,
    ) -> Result<Vec<Option<(u32, f64)>>, Refused> {
        let mut restarted: Vec<Option<(u32, f64)>> = vec![None; self.rows.len()];
        let rows = &mut memory.rows;
        for &(leaf, value) in before.restarts {
            let Some(j) = self.columns.iter().position(|&column| column == leaf) else {
                return Err(Refused::Restart(leaf));
            };
            let mut found = false;
            for at in 0..self.rows.len() {
                if restarted[at].is_some() || !self.integrates(at, j as u32) {
                    continue;
                }
                restarted[at] = Some((j as u32, value));
                let moved = (start, start, before.values);
                let evaluated = self.evaluate(numbers, before.free, moved, &restarted, rows);
                found = evaluated.is_ok() && memory.factors.factor(&self.places, &rows.entries);
                if found {
                    break;
                }
                restarted[at] = None;
            }
            if !found {
                return Err(Refused::Restart(leaf));
            }
        }
        Ok(restarted)
    }

    /// Impulses that are small beside others become zero if the rows are met then as well: elimination carries rounding from one
    /// part of a circuit into another one that is at rest.
    fn drop_rounding(&self, now: &mut Vec<f64>, met: impl FnOnce(&[f64]) -> bool) {
        const SMALL: f64 = 1e-9;
        let impulses = || (0..now.len()).filter(|&j| self.impulsive[j]);
        let most = impulses().fold(0.0, |most: f64, j| most.max(now[j].abs()));
        let is_small = |&j: &usize| now[j] != 0.0 && now[j].abs() <= SMALL * most;
        let small: Vec<usize> = impulses().filter(is_small).collect();
        if small.is_empty() {
            return;
        }
        let mut dropped = now.clone();
        for j in small {
            dropped[j] = 0.0;
        }
        if met(&dropped) {
            *now = dropped;
        }
    }

    /// Whether a row is integrated over the instant, the derivative of this variable in it.
    fn integrates(&self, row: usize, column: u32) -> bool {
        let row = &self.rows[row];
        row.holds.is_none() && (row.entries.iter()).any(|&(other, _)| other == column)
    }

    fn evaluate(
        &self,
        numbers: &mut Numbers<'_>,
        free: &FxHashSet<Leaf>,
        (start, now, values): (&[f64], &[f64], &Values),
        restarted: &[Option<(u32, f64)>],
        rows: &mut Evaluated,
    ) -> Result<(), Refused> {
        rows.clear();
        let rounded = |_: Leaf, value: f64| rounding(value);
        for (at, row) in self.rows.iter().enumerate() {
            if let Some((column, value)) = restarted[at] {
                let unit = |&(other, _): &(u32, Coefficient)| f64::from(u8::from(other == column));
                rows.entries.extend(row.entries.iter().map(unit));
                rows.right.push(value - now[column as usize]);
                rows.errors
                    .push(rounding(value) + rounding(now[column as usize]));
                continue;
            }
            let (mut off, mut error) = (0.0, 0.0);
            if let Some(sides) = row.holds {
                (off, error) = acceptance::difference(numbers, sides, values, &rounded)
                    .ok_or(Refused::NoSolution)?;
            }
            for &(column, coefficient) in &row.entries {
                let j = column as usize;
                if row.holds.is_none() && !self.impulsive[j] && free.contains(&self.columns[j]) {
                    rows.entries.push(0.0);
                    continue;
                }
                let (here, doubt) = match coefficient {
                    Coefficient::Number(number, _) => (number, rounding(number)),
                    Coefficient::Expression(id) => {
                        (numbers.bounded(id, values, &rounded)).ok_or(Refused::NoSolution)?
                    }
                };
                rows.entries.push(here);
                if row.holds.is_none() {
                    let moved = (start[j], now[j]);
                    let term = self.integral(numbers, (j, coefficient), moved, values)?;
                    off += term;
                    let both = rounding(start[j]) + rounding(now[j]);
                    // The coefficient is rounded, the term, and the sum.
                    error += product(here, both) + product(doubt, now[j] - start[j]);
                    error += rounding(term) + rounding(off);
                }
            }
            rows.right.push(-off);
            rows.errors.push(error);
        }
        Ok(())
    }

    /// The impulses that rounding does not explain: `errors` bound those of the right sides, and without them every impulse other
    /// than zero counts.
    fn impulses(&self, now: &[f64], errors: Option<&[f64]>, factors: &mut Factors) -> Values {
        let found: Vec<u32> = (0..now.len())
            .filter(|&j| self.impulsive[j] && now[j] != 0.0)
            .map(|j| j as u32)
            .collect();
        let bounds = match errors {
            Some(errors) => factors.bounds_of(&found, errors),
            None => vec![0.0; found.len()],
        };
        (found.into_iter().zip(bounds))
            .map(|(j, bound)| (self.columns[j as usize], now[j as usize], bound))
            .filter(|&(_, impulse, bound)| !acceptance::is_met(impulse, bound))
            .map(|(leaf, impulse, _)| (leaf, impulse))
            .collect()
    }

    /// What has a value after the jump.
    pub fn moving(&self) -> impl Iterator<Item = Leaf> + '_ {
        let all = self.columns.iter().zip(&self.impulsive);
        all.filter(|(_, impulsive)| !**impulsive)
            .map(|(leaf, _)| *leaf)
    }

    /// What has an impulse where anything jumps.
    pub fn algebraic(&self) -> impl Iterator<Item = Leaf> + '_ {
        let all = self.columns.iter().zip(&self.impulsive);
        all.filter(|(_, impulsive)| **impulsive)
            .map(|(leaf, _)| *leaf)
    }

    /// Whether one step is enough: no coefficient depends on what may jump.
    pub fn is_linear(&self) -> bool {
        self.linear
    }

    /// Constraints of lower order hold already.
    fn apart(
        &self,
        flat: &Flat,
        numbers: &mut Numbers<'_>,
        before: &Values,
        judge: &dyn Judge,
    ) -> Result<(), Refused> {
        for row in &self.rows {
            for &(left, right) in &row.lower {
                let values = [left, right].map(|side| numbers.value(side, before));
                let [Some(a), Some(b)] = values else {
                    return Err(Refused::NoSolution);
                };
                let mut size = a.abs() + b.abs();
                for side in [left, right] {
                    flat.exprs
                        .leaves(side, |leaf| size = size.max(judge.scale(leaf)));
                }
                if acceptance::apart(a - b, size) {
                    return Err(Refused::Apart(Box::new(row.equation), a - b));
                }
            }
        }
        Ok(())
    }
}
