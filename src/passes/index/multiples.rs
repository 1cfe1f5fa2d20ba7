//! Constraints that show only where equations are multiplied by coefficients and added up.
//!
//! Before: rows that depend on each other in the unknowns of a loop ([`crate::passes::signs::hidden`]). After: one equation
//! of each sum found has given way to what the sum leaves. From `u = r*i1`, `u = -r*i2` and `c = i1 + i2` follows `r*c = 0`.
//!
//! The sums are found by elimination without divisions, with coefficients as they are written; whether one is zero is
//! decided at a random point ([`Residues`]), not by its form. A sum is the same as an equation that gives way if the factor of that
//! equation never is zero. These are the linear combinations of Tan, Nedialkov and Pryce 2017.

use crate::base::cancel::glance;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::constraints::{preferred, replace};
use super::derive::rate;
use super::orders::Orders;
use crate::expr::linear::{Form, difference, form};
use crate::expr::{ExprId, Node};
use crate::flat::{EqId, Flat, Kind, Leaf};
use crate::passes::signs::hidden::{Dependent, Residues};
use crate::passes::signs::reference::{Combination, next_term};
use crate::passes::vanishing::{Vanishing, vanishing};
use crate::structure::Offsets;
use crate::structure::numbers::{Modular, PRIME};

/// Larger loops are left to solving.
const MOST_ROWS: usize = 400;
/// The most entries of rows that elimination computes; then it gives up.
const EFFORT: usize = 100_000;

/// An expression with its value at the random point, which is not zero.
#[derive(Clone, Copy, Debug)]
struct Factor {
    value: i64,
    expression: ExprId,
}

/// By column, or by row.
type Row = BTreeMap<u32, Factor>;

/// Variables and what else there is, in the order in which they come, with factors that are not zero.
#[derive(Default)]
struct Terms {
    list: Vec<(ExprId, Option<Factor>)>,
    places: FxHashMap<ExprId, usize>,
}

struct Sums<'a> {
    flat: &'a mut Flat,
    residues: Residues,
    /// The coefficients of each row, and the factors of the equations that it was made of.
    rows: Vec<(Row, Row)>,
    effort: usize,
}

/// Gives what was put in, and in place of what; rows and columns are numbers of [`Orders`].
pub fn put_in(
    flat: &mut Flat,
    orders: &Orders,
    offsets: &Offsets,
    Dependent { rows, columns }: &Dependent,
) -> Vec<(EqId, Combination)> {
    if rows.len() > MOST_ROWS {
        return Vec::new();
    }
    let equation = |at: u32| orders.equations[rows[at as usize] as usize];
    let times = |at: u32| offsets.rows[rows[at as usize] as usize];
    let mut sums = Sums {
        flat,
        residues: Residues::default(),
        rows: Vec::with_capacity(rows.len()),
        effort: EFFORT,
    };
    for (at, &row) in (0..).zip(rows) {
        let tight = |leaf| {
            let column = orders.tight_column(offsets, row, leaf);
            columns.binary_search(&column).is_ok().then_some(column)
        };
        if sums.push(at, equation(at), &tight).is_none() {
            return Vec::new();
        }
    }
    let mut found: Vec<(EqId, Vec<(u32, Factor)>)> = Vec::new();
    for sum in sums.eliminated(&times) {
        let factors: Vec<(u32, Factor)> = sum.into_iter().collect();
        let least = factors.iter().map(|&(at, _)| times(at)).min();
        // No sum before may need what goes.
        let needed = |at: u32| {
            let mut before = found.iter().flat_map(|(_, factors)| factors);
            before.any(|&(other, _)| other == at)
        };
        let replaced = (factors.iter())
            .filter(|&&(at, _)| Some(times(at)) == least && !needed(at))
            .filter_map(|&(at, factor)| {
                let (id, doubt) = (equation(at), sums.sure(factor)?);
                let text = sums.flat.equation_text(id);
                Some((Reverse(doubt), preferred(sums.flat, id), text, id))
            })
            .max();
        if let Some((.., replaced)) = replaced {
            found.push((replaced, factors));
        }
    }
    // What is left was found in the equations as they were.
    let mut put_in = Vec::new();
    for (replaced, factors) in found {
        let least = factors.iter().map(|&(at, _)| times(at)).min().unwrap_or(0);
        let highest = |leaf: Leaf| {
            let column = orders.column(leaf.variable())?;
            let order = u32::from(leaf.order()?);
            (order + least == offsets.columns[column as usize]).then_some(column)
        };
        let mut terms = Terms::default();
        for &(at, factor) in &factors {
            sums.add(
                &mut terms,
                (equation(at), factor),
                times(at) - least,
                &highest,
            );
        }
        let combination = Combination {
            equations: factors.iter().map(|&(at, _)| (equation(at), 1)).collect(),
            rest: sums.rest(terms),
        };
        put_in.push((replaced, combination));
    }
    for (replaced, combination) in &put_in {
        replace(sums.flat, *replaced, combination);
    }
    put_in
}

impl Sums<'_> {
    /// `None` if it is not linear in these unknowns.
    fn push(&mut self, at: u32, id: EqId, tight: &impl Fn(Leaf) -> Option<u32>) -> Option<()> {
        let equation = self.flat.equations[id.index()];
        let form = difference(&mut self.flat.exprs, equation.left, equation.right, tight)?;
        let mut row = Row::default();
        for (column, expression) in form.terms {
            let value = self.residues.of(self.flat, expression);
            if value != 0 {
                row.insert(column, Factor { value, expression });
            }
        }
        let one = self.one();
        self.rows.push((row, Row::from_iter([(at, one)])));
        Some(())
    }

    fn one(&mut self) -> Factor {
        Factor {
            value: 1,
            expression: self.flat.exprs.number(1.0),
        }
    }

    /// The factors of the rows that are left without unknowns. Rows that are differentiated more often are used
    /// first, so that others are left.
    fn eliminated(&mut self, times: &impl Fn(u32) -> u32) -> Vec<Row> {
        let mut open: Vec<u32> = (0..self.rows.len() as u32).collect();
        while let Some((row, column)) = self.pivot(&open, times) {
            glance();
            open.retain(|&other| other != row);
            for &other in &open {
                if self.subtract(row, other, column).is_none() {
                    return Vec::new();
                }
            }
        }
        open.iter()
            .map(|&row| std::mem::take(&mut self.rows[row as usize].1))
            .collect()
    }

    /// One or minus one rather than anything else, what surely is no zero, then what makes fewest entries.
    fn pivot(&self, open: &[u32], times: &impl Fn(u32) -> u32) -> Option<(u32, u32)> {
        let mut uses: FxHashMap<u32, usize> = FxHashMap::default();
        for &row in open {
            for &column in self.rows[row as usize].0.keys() {
                *uses.entry(column).or_default() += 1;
            }
        }
        let mut best = None;
        for &row in open {
            let entries = &self.rows[row as usize].0;
            for (&column, factor) in entries {
                let doubt = self.sure(*factor).unwrap_or(u8::MAX);
                let fill = (entries.len() - 1) * (uses[&column] - 1);
                let rank = (doubt, u32::MAX - times(row), fill, row, column);
                if best.is_none_or(|known| rank < known) {
                    best = Some(rank);
                }
            }
        }
        best.map(|(.., row, column)| (row, column))
    }

    /// How plain a factor is that never is zero; `None` if it may be.
    fn sure(&self, factor: Factor) -> Option<u8> {
        match factor.value {
            value if value == 1 || value == PRIME - 1 => Some(0),
            _ => (vanishing(self.flat, factor.expression) == Vanishing::Never).then_some(1),
        }
    }

    /// Makes the entry of a row zero: `row*a - pivot*b`.
    fn subtract(&mut self, pivot: u32, row: u32, column: u32) -> Option<()> {
        let Some(&b) = self.rows[row as usize].0.get(&column) else {
            return Some(());
        };
        let a = self.rows[pivot as usize].0[&column];
        let minus_b = self.minus(b);
        let one = self.one();
        let (by_row, by_pivot) = match (a.value, b.value) {
            (a, b) if a == b => (one, self.minus(one)),
            (a, b) if Modular::plus(a, b) == 0 => (one, one),
            (1, _) => (one, minus_b),
            (a, _) if a == PRIME - 1 => (one, b),
            _ => (a, minus_b),
        };
        let (coefficients, factors) = self.rows[pivot as usize].clone();
        let (old, made_of) = std::mem::take(&mut self.rows[row as usize]);
        let mut coefficients = self.added(&old, by_row, &coefficients, by_pivot)?;
        coefficients.remove(&column);
        let factors = self.added(&made_of, by_row, &factors, by_pivot)?;
        self.rows[row as usize] = (coefficients, factors);
        Some(())
    }

    fn added(&mut self, a: &Row, by_a: Factor, b: &Row, by_b: Factor) -> Option<Row> {
        self.effort = self.effort.checked_sub(a.len() + b.len())?;
        let mut keys: Vec<u32> = a.keys().chain(b.keys()).copied().collect();
        keys.sort_unstable();
        keys.dedup();
        let mut sum = Row::default();
        for key in keys {
            glance();
            let of_a = a.get(&key).map(|&x| self.times(x, by_a));
            let of_b = b.get(&key).map(|&x| self.times(x, by_b));
            let entry = match (of_a, of_b) {
                (Some(x), Some(y)) => self.plus(x, y),
                (x, y) => x.or(y),
            };
            if let Some(entry) = entry {
                sum.insert(key, entry);
            }
        }
        Some(sum)
    }

    fn minus(&mut self, a: Factor) -> Factor {
        Factor {
            value: Modular::minus(a.value),
            expression: self.flat.exprs.tidy_minus(a.expression),
        }
    }

    fn times(&mut self, a: Factor, b: Factor) -> Factor {
        Factor {
            value: Modular::times(a.value, b.value),
            expression: self.flat.exprs.product(a.expression, b.expression),
        }
    }

    fn plus(&mut self, a: Factor, b: Factor) -> Option<Factor> {
        let value = Modular::plus(a.value, b.value);
        let expression = match self.flat.exprs.negated(b.expression) {
            Some(b) => self.flat.exprs.tidy_sub(a.expression, b),
            None => self.flat.exprs.tidy_add(a.expression, b.expression),
        };
        (value != 0).then_some(Factor { value, expression })
    }

    /// Adds an equation, differentiated so often, to the terms of a sum.
    fn add(
        &mut self,
        terms: &mut Terms,
        (id, factor): (EqId, Factor),
        times: u32,
        highest: &impl Fn(Leaf) -> Option<u32>,
    ) {
        let equation = self.flat.equations[id.index()];
        let (mut left, mut right) = (equation.left, equation.right);
        for _ in 0..times {
            (left, right) = (rate(self.flat, left), rate(self.flat, right));
        }
        let mut work = vec![(right, -1), (left, 1)];
        while let Some((term, sign)) = next_term(self.flat, &mut work) {
            glance();
            let signed = match sign < 0 {
                true => self.minus(factor),
                false => factor,
            };
            for (atom, coefficient) in self.parts(term, highest) {
                let more = self.times(signed, coefficient);
                let place = *terms.places.entry(atom).or_insert_with(|| {
                    terms.list.push((atom, None));
                    terms.list.len() - 1
                });
                terms.list[place].1 = match terms.list[place].1 {
                    None => Some(more),
                    Some(known) => self.plus(known, more),
                };
            }
        }
    }

    /// What is left of a sum.
    fn rest(&mut self, terms: Terms) -> Vec<(ExprId, i64)> {
        let mut rest = Vec::new();
        for (atom, factor) in terms.list {
            let Some(factor) = factor else { continue };
            let product = self.flat.exprs.product(factor.expression, atom);
            rest.push(match self.flat.exprs.negated(product) {
                Some(product) => (product, -1),
                None => (product, 1),
            });
        }
        rest
    }

    /// A term as variables with coefficients, if it is linear in them, or in the highest derivatives; and what else
    /// there is in it.
    fn parts(
        &mut self,
        term: ExprId,
        highest: &impl Fn(Leaf) -> Option<u32>,
    ) -> Vec<(ExprId, Factor)> {
        let one = self.one();
        if matches!(self.flat.exprs.node(term), Node::Leaf(_)) {
            return vec![(term, one)];
        }
        let mut moving: Vec<Leaf> = Vec::new();
        let flat = &*self.flat;
        flat.exprs.leaves(term, |leaf| {
            let kind = flat.variable(leaf.variable()).kind;
            if (kind.is_unknown() || kind == Kind::Input) && !moving.contains(&leaf) {
                moving.push(leaf);
            }
        });
        let linear = self.linear(term, &moving).or_else(|| {
            moving.retain(|&leaf| highest(leaf).is_some());
            self.linear(term, &moving)
        });
        let Some(linear) = linear else {
            return vec![(term, one)];
        };
        let mut parts = Vec::new();
        for (at, expression) in linear.terms {
            let atom = self.flat.exprs.leaf(moving[at as usize]);
            let value = self.residues.of(self.flat, expression);
            if value != 0 {
                parts.push((atom, Factor { value, expression }));
            }
        }
        let minus = self.minus(one);
        for (negative, term) in linear.rest {
            parts.push((term, if negative { minus } else { one }));
        }
        parts
    }

    fn linear(&mut self, term: ExprId, by: &[Leaf]) -> Option<Form> {
        let number = |leaf: Leaf| Some(by.iter().position(|&known| known == leaf)? as u32);
        match by {
            [] => None,
            _ => form(&mut self.flat.exprs, term, &number),
        }
    }
}
