//! Transfer functions as quotients of polynomials in s, with formulas as coefficients.
//!
//! By Faddeev and LeVerrier: adj(s - A) = s^(n-1) + s^(n-2) M_2 + ..., and det(s - A) beside it. s is a symbol like the others,
//! so common factors of numerator and denominator, also in s, are found like any others.

use super::polynomial::{Polynomial, Symbol};
use super::rational::Rational;
use super::{Formulas, Grid};

/// Of models with more states, transfer functions are too long to be read.
pub const MOST_STATES: usize = 4;

/// Coefficients by powers of s, from 0 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub input: usize,
    pub output: usize,
    pub top: Vec<Polynomial>,
    pub bottom: Vec<Polynomial>,
}

/// All of them, by output and input; `None` if they are too long.
pub fn transfers(formulas: &Formulas) -> Option<Vec<Transfer>> {
    let size = formulas.a.len();
    if size > MOST_STATES {
        return None;
    }
    let s = formulas.atoms.list.len() as Symbol;
    let (adjoint, determinant) = resolvent(&formulas.a, s)?;
    let inputs = formulas.b[0]
        .first()
        .or(formulas.d[0].first())
        .map_or(0, Vec::len);
    let mut found = Vec::new();
    for output in 0..formulas.c.len() {
        for input in 0..inputs {
            let mut sum = Rational::whole(0);
            let mut power = Rational::whole(1);
            for (b, d) in formulas.b.iter().zip(&formulas.d) {
                let mut part = d[output][input].times(&determinant)?;
                for (c, row) in formulas.c[output].iter().zip(&adjoint) {
                    for (entry, b) in row.iter().zip(b) {
                        let b = &b[input];
                        if !c.is_zero() && !b.is_zero() {
                            part = part.add(&c.times(entry)?.times(b)?)?;
                        }
                    }
                }
                sum = sum.add(&part.times(&power)?)?;
                power = power.times(&Rational::symbol(s))?;
            }
            let whole = sum.over(&determinant)?;
            found.push(Transfer {
                input,
                output,
                top: whole.top.by_powers(s),
                bottom: whole.bottom.by_powers(s),
            });
        }
    }
    Some(found)
}

/// adj(s - A) and det(s - A).
fn resolvent(a: &Grid, s: Symbol) -> Option<(Grid, Rational)> {
    let size = a.len();
    let unit = |row: usize, column: usize| Rational::whole(i128::from(row == column));
    let s = Rational::symbol(s);
    let mut power: Grid = (0..size)
        .map(|row| (0..size).map(|column| unit(row, column)).collect())
        .collect();
    let mut adjoint: Grid = vec![vec![Rational::whole(0); size]; size];
    let mut determinant = Rational::whole(1);
    for step in 1..=size {
        // s adj + M and s det + c: the polynomials in s grow from the highest power on.
        for row in 0..size {
            for column in 0..size {
                adjoint[row][column] = adjoint[row][column].times(&s)?.add(&power[row][column])?;
            }
        }
        let product = product(a, &power)?;
        let mut trace = Rational::whole(0);
        for (at, row) in product.iter().enumerate() {
            trace = trace.add(&row[at])?;
        }
        let coefficient = trace.over(&Rational::whole(-(step as i128)))?;
        determinant = determinant.times(&s)?.add(&coefficient)?;
        power = product;
        for (at, row) in power.iter_mut().enumerate() {
            row[at] = row[at].add(&coefficient)?;
        }
    }
    Some((adjoint, determinant))
}

fn product(a: &Grid, b: &Grid) -> Option<Grid> {
    let size = a.len();
    let mut found = vec![vec![Rational::whole(0); size]; size];
    for (row, to) in found.iter_mut().enumerate() {
        for (column, to) in to.iter_mut().enumerate() {
            for at in 0..size {
                if !a[row][at].is_zero() && !b[at][column].is_zero() {
                    *to = to.add(&a[row][at].times(&b[at][column])?)?;
                }
            }
        }
    }
    Some(found)
}
