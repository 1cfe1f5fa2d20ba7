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
mod factors;

use rustc_hash::{FxHashMap, FxHashSet};
use sprs::CsMat;

use crate::evaluate::{Numbers, leaves};
use crate::expr::ExprId;
use crate::flat::{Equation, Flat, Leaf};
use crate::numeric::zero::{product, rounding};

pub use factors::JumpFactors;

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
    /// Of everything that may jump.
    pub after: FxHashMap<Leaf, f64>,
    /// Impulses other than zero.
    pub impulses: FxHashMap<Leaf, f64>,
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
pub type Values = FxHashMap<Leaf, f64>;

/// What a jump begins from.
#[derive(Clone, Copy, Debug)]
pub struct Before<'v> {
    pub values: &'v Values,
    /// Nobody gave these values: they follow from others, and take nothing from them.
    pub free: &'v FxHashSet<Leaf>,
    /// Variables that `when`s restart, with their values.
    pub restarts: &'v [(Leaf, f64)],
}

const MOST_STEPS: usize = 50;

/// The rows at some values: their entries, one row after the other, what is missing on the right side, and bounds on the errors
/// of that.
#[derive(Default)]
struct Evaluated {
    entries: Vec<f64>,
    right: Vec<f64>,
    errors: Vec<f64>,
}

impl Jump {
    /// Whether the values satisfy what the position asks of them; then nothing jumps.
    pub fn holds(&self, flat: &Flat, time: f64, before: &Values) -> bool {
        let mut numbers = Numbers::new(flat, time);
        let all = self.rows.iter().flat_map(|row| {
            let highest = row.holds.iter().copied();
            highest.chain(row.lower.iter().copied())
        });
        let error =
            |leaf: Leaf, value: f64| rounding(value) + acceptance::error_before(time, before, leaf);
        for sides in all {
            match acceptance::difference(&mut numbers, sides, before, &error) {
                Some((off, error)) if acceptance::is_met(off, error) => {}
                _ => return false,
            }
        }
        true
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

    /// Solves for the values after the jump. `scale` says how large a leaf was so far: rounding of that size is no
    /// displacement.
    pub fn solve(
        &self,
        flat: &Flat,
        time: f64,
        before: Before<'_>,
        scale: impl Fn(Leaf) -> f64,
        factors: &mut JumpFactors,
    ) -> Result<Jumped, Refused> {
        let mut numbers = Numbers::new(flat, time);
        self.apart(flat, &mut numbers, before.values, &scale)?;
        match self.solved(&mut numbers, before, factors) {
            // With them as values before there may be a solution.
            Err(Refused::NoSolution) if !before.free.is_empty() => {
                let free = FxHashSet::default();
                self.solved(
                    &mut numbers,
                    Before {
                        free: &free,
                        ..before
                    },
                    factors,
                )
            }
            done => done,
        }
    }

    fn solved(
        &self,
        numbers: &mut Numbers<'_>,
        before: Before<'_>,
        factors: &mut JumpFactors,
    ) -> Result<Jumped, Refused> {
        let value = |leaf: &Leaf| before.values.get(leaf).copied().unwrap_or(0.0);
        let start: Vec<f64> = (self.columns.iter().zip(&self.impulsive))
            .map(|(leaf, &impulsive)| if impulsive { 0.0 } else { value(leaf) })
            .collect();
        let mut now = start.clone();
        let mut values = before.values.clone();
        let mut restarted: Vec<Option<(u32, f64)>> = vec![None; self.rows.len()];
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
                let moved = (&start[..], &now[..], &values);
                let rows = self.evaluate(numbers, before.free, moved, &restarted);
                found = rows.is_ok_and(|rows| factors.factor(&self.places, &rows.entries));
                if found {
                    break;
                }
                restarted[at] = None;
            }
            if !found {
                return Err(Refused::Restart(leaf));
            }
        }
        // Bounds on the errors of the right sides of the last step.
        let mut last_errors = None;
        let mut last = f64::INFINITY;
        for step in 0..=MOST_STEPS {
            let moved = (&start[..], &now[..], &values);
            let rows = self.evaluate(numbers, before.free, moved, &restarted)?;
            let (mut right, errors) = (rows.right, rows.errors);
            let is_done = step > 0 && self.is_linear() || acceptance::all_met(&right, &errors);
            let excess = acceptance::excess(&right, &errors);
            // No step makes them smaller.
            let stays = excess >= last;
            let is_done = is_done || stays && acceptance::all_nearly_met(&right, &errors);
            if step > 0 {
                last_errors = Some(errors);
            }
            if is_done {
                break;
            }
            if step == MOST_STEPS || !factors.factor(&self.places, &rows.entries) {
                return Err(Refused::NoSolution);
            }
            last = excess;
            factors.solve(&mut right);
            if right.iter().any(|value| !value.is_finite()) {
                return Err(Refused::NoSolution);
            }
            for (j, delta) in right.iter().enumerate() {
                now[j] += delta;
                if !self.impulsive[j] {
                    values.insert(self.columns[j], now[j]);
                }
            }
        }
        Ok(self.jumped(&now, last_errors.as_deref(), factors))
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
    ) -> Result<Evaluated, Refused> {
        let mut rows = Evaluated::default();
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
        Ok(rows)
    }

    /// The values after the jump, and the impulses that rounding does not explain: `errors` bound those of the right sides,
    /// and without them every impulse other than zero counts.
    fn jumped(&self, now: &[f64], errors: Option<&[f64]>, factors: &mut JumpFactors) -> Jumped {
        let mut jumped = Jumped::default();
        let mut impulses = Vec::new();
        for (j, &leaf) in self.columns.iter().enumerate() {
            if !self.impulsive[j] {
                jumped.after.insert(leaf, now[j]);
            } else if now[j] != 0.0 {
                impulses.push(j as u32);
            }
        }
        let bounds = match errors {
            Some(errors) => factors.bounds_of(&impulses, errors),
            None => vec![0.0; impulses.len()],
        };
        for (j, bound) in impulses.into_iter().zip(bounds) {
            let impulse = now[j as usize];
            if !acceptance::is_met(impulse, bound) {
                jumped.impulses.insert(self.columns[j as usize], impulse);
            }
        }
        jumped
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

    fn coefficient(
        &self,
        numbers: &mut Numbers<'_>,
        coefficient: Coefficient,
        values: &Values,
    ) -> Result<f64, Refused> {
        match coefficient {
            Coefficient::Number(number, _) => Ok(number),
            Coefficient::Expression(id) => numbers.value(id, values).ok_or(Refused::NoSolution),
        }
    }

    /// What a term adds over the instant: its coefficient integrated over what its leaf passes through.
    fn integral(
        &self,
        numbers: &mut Numbers<'_>,
        (j, coefficient): (usize, Coefficient),
        (from, to): (f64, f64),
        values: &Values,
    ) -> Result<f64, Refused> {
        let leaf = self.columns[j];
        let id = match coefficient {
            Coefficient::Expression(id) if !self.impulsive[j] && from != to => id,
            _ => {
                let value = self.coefficient(numbers, coefficient, values)?;
                return Ok(value * (to - from));
            }
        };
        if !leaves(numbers.exprs(), id).contains(&leaf) {
            let value = numbers.value(id, values).ok_or(Refused::NoSolution)?;
            return Ok(value * (to - from));
        }
        // Gauss and Legendre, on parts in which the value at most doubles.
        let ratio = (to / from).abs();
        let parts = match ratio.is_finite() && ratio > 0.0 && from.signum() == to.signum() {
            true => (ratio.log2().abs().ceil() as usize).clamp(1, 64),
            false => 8,
        };
        let mut moved = values.clone();
        let mut sum = 0.0;
        for part in 0..parts {
            let (a, b) = match parts == 8 && from.signum() != to.signum() {
                true => {
                    let width = (to - from) / parts as f64;
                    (from + part as f64 * width, from + (part + 1) as f64 * width)
                }
                false => {
                    let root = (to / from).powf(1.0 / parts as f64);
                    (
                        from * root.powi(part as i32),
                        from * root.powi(part as i32 + 1),
                    )
                }
            };
            for (node, weight) in GAUSS {
                for sign in [-1.0, 1.0] {
                    moved.insert(leaf, 0.5 * (a + b) + 0.5 * sign * node * (b - a));
                    let value = numbers.value(id, &moved).ok_or(Refused::NoSolution)?;
                    sum += 0.5 * weight * (b - a) * value;
                }
            }
        }
        Ok(sum)
    }

    /// Constraints of lower order hold already.
    fn apart(
        &self,
        flat: &Flat,
        numbers: &mut Numbers<'_>,
        before: &Values,
        scale: &impl Fn(Leaf) -> f64,
    ) -> Result<(), Refused> {
        for row in &self.rows {
            for &(left, right) in &row.lower {
                let values = [left, right].map(|side| numbers.value(side, before));
                let [Some(a), Some(b)] = values else {
                    return Err(Refused::NoSolution);
                };
                let mut size = a.abs() + b.abs();
                for side in [left, right] {
                    flat.exprs.leaves(side, |leaf| size = size.max(scale(leaf)));
                }
                if acceptance::apart(a - b, size) {
                    return Err(Refused::Apart(Box::new(row.equation), a - b));
                }
            }
        }
        Ok(())
    }
}

/// Nodes and weights of Gauss and Legendre with 10 points, of the upper half.
const GAUSS: [(f64, f64); 5] = [
    (0.148_874_338_981_631_2, 0.295_524_224_714_752_9),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_4),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];
