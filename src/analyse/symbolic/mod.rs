//! A, B, C, D and transfer functions as formulas.
//!
//! Before: linearised equations. After: the same matrices as in [`super::matrices`], by the same elimination block by block, with
//! quotients of polynomials in place of numbers. Their symbols ([`Atoms`]) are parameters; in a nonlinear model also values at
//! the point, and functions of these.

pub mod convert;
pub mod polynomial;
pub mod rational;
pub mod transfer;

use std::collections::BTreeMap;

use super::linearised::Linearised;
use crate::base::cancel::check;
use convert::{Atoms, Converter};
use rational::Rational;

/// A row: columns with their formulas.
type Row = BTreeMap<u32, Rational>;

/// Formulas by row and column.
pub type Grid = Vec<Vec<Rational>>;

#[derive(Clone, Debug)]
pub struct Formulas {
    pub atoms: Atoms,
    pub a: Grid,
    pub b: Vec<Grid>,
    pub c: Grid,
    pub d: Vec<Grid>,
}

/// Why there are no formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

pub fn formulas(linear: &mut Linearised) -> Result<Formulas, TooLong> {
    let mut converter = Converter::default();
    made(linear, &mut converter).ok_or(TooLong)
}

fn made(linear: &mut Linearised, converter: &mut Converter) -> Option<Formulas> {
    let (count, width) = (linear.unknowns.len(), linear.first_input());
    let inputs = linear.inputs.len();
    let orders = usize::from(linear.orders) + 1;
    let mut rows = Vec::with_capacity(count);
    for at in 0..count {
        rows.push(converter.row(linear, linear.residuals[at])?);
    }
    let solution = eliminated(linear, converter, &rows)?;
    let replaced = linear.solved.flat.replacements();
    let rates = linear.states.iter().map(|state| state.rate());
    let leaves: Vec<_> = rates.chain(linear.outputs.iter().copied()).collect();
    let mut whole = Vec::new();
    for leaf in leaves {
        let row = match (linear.columns.get(&leaf), replaced.get(&leaf)) {
            (Some(&column), _) => Row::from([(column, Rational::whole(1))]),
            (None, Some(&by)) => converter.row(linear, by)?,
            (None, None) => Row::new(),
        };
        whole.push(put_in(&row, &solution, count)?);
    }
    let states = linear.states.len();
    let grid = |rows: &[Row], first: usize, columns: usize| -> Grid {
        (rows.iter())
            .map(|row| {
                let at = first as u32..(first + columns) as u32;
                at.map(|column| row.get(&column).cloned().unwrap_or(Rational::whole(0)))
                    .collect()
            })
            .collect()
    };
    let (rates, results) = whole.split_at(states);
    let by_order = |rows: &[Row]| -> Vec<Grid> {
        (0..orders)
            .map(|order| grid(rows, width + order * inputs, inputs))
            .collect()
    };
    Some(Formulas {
        atoms: converter.atoms.clone(),
        a: grid(rates, count, states),
        b: by_order(rates),
        c: grid(results, count, states),
        d: by_order(results),
    })
}

/// The unknowns as rows in states and inputs.
fn eliminated(linear: &Linearised, converter: &Converter, rows: &[Row]) -> Option<Vec<Row>> {
    let count = rows.len();
    let mut solution: Vec<Row> = Vec::with_capacity(count);
    let mut begin = 0;
    for &size in &linear.blocks {
        check();
        let own = begin..begin + size;
        // The rows of the block, with what is known put in.
        let mut block: Vec<Row> = Vec::with_capacity(size);
        for row in &rows[own.clone()] {
            block.push(put_in(row, &solution, begin)?);
        }
        // Gauss and Jordan; pivots that have a value at the point, the shortest first.
        let mut of_column = vec![usize::MAX; size];
        let mut free: Vec<usize> = (0..size).collect();
        for column in own.clone() {
            let usable = |row: &&usize| {
                let entry = block[**row].get(&(column as u32));
                entry.is_some_and(|entry| {
                    let value = entry.value(&|symbol| converter.atoms.value(symbol));
                    value != 0.0 && value.is_finite()
                })
            };
            let pivot = *(free.iter().filter(usable))
                .min_by_key(|&&row| block[row][&(column as u32)].length())?;
            free.retain(|&row| row != pivot);
            of_column[column - begin] = pivot;
            let divisor = block[pivot][&(column as u32)].clone();
            let mut scaled = Row::new();
            for (&at, entry) in &block[pivot] {
                scaled.insert(at, entry.over(&divisor)?);
            }
            block[pivot] = scaled.clone();
            for (row, of) in block.iter_mut().enumerate() {
                if row == pivot {
                    continue;
                }
                if let Some(factor) = of.get(&(column as u32)).cloned() {
                    for (&at, entry) in &scaled {
                        add(of, at, &entry.times(&factor)?.negated())?;
                    }
                }
            }
        }
        for column in own {
            let mut row = block[of_column[column - begin]].clone();
            row.remove(&(column as u32));
            solution.push(
                row.into_iter()
                    .map(|(at, entry)| (at, entry.negated()))
                    .collect(),
            );
        }
        begin += size;
    }
    Some(solution)
}

/// Known unknowns (those before `until`) replaced by their rows.
fn put_in(row: &Row, solution: &[Row], until: usize) -> Option<Row> {
    let mut found = Row::new();
    for (&column, factor) in row {
        if (column as usize) < until {
            for (&at, entry) in &solution[column as usize] {
                add(&mut found, at, &entry.times(factor)?)?;
            }
        } else {
            add(&mut found, column, factor)?;
        }
    }
    Some(found)
}

fn add(row: &mut Row, column: u32, value: &Rational) -> Option<()> {
    let sum = match row.get(&column) {
        None => value.clone(),
        Some(known) => known.add(value)?,
    };
    match sum.is_zero() {
        true => row.remove(&column),
        false => row.insert(column, sum),
    };
    Some(())
}
