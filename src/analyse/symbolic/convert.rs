//! From expressions to quotients of polynomials.
//!
//! Sums, products, quotients and whole powers are computed; anything else is a symbol: a parameter, a value at the point, a
//! function of them. Numbers are exact decimals: 0.1 is 1/10. Of an `if` the branch counts that holds at the point.

use rustc_hash::FxHashMap;

use super::Row;
use super::polynomial::Symbol;
use super::rational::Rational;
use crate::analyse::linearised::Linearised;
use crate::evaluate::{leaves, truth};
use crate::expr::{BinaryOp, ExprId, Node, UnaryOp};
use crate::flat::{Kind, Leaf};

/// What symbols stand for, with their values at the point.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    pub list: Vec<Atom>,
    by_expression: FxHashMap<ExprId, Symbol>,
}

#[derive(Clone, Copy, Debug)]
pub struct Atom {
    pub of: ExprId,
    pub value: f64,
}

impl Atoms {
    pub fn value(&self, symbol: Symbol) -> f64 {
        self.list
            .get(symbol as usize)
            .map_or(f64::NAN, |atom| atom.value)
    }

    fn of(&mut self, linear: &Linearised, of: ExprId) -> Rational {
        let next = self.list.len() as Symbol;
        let symbol = *self.by_expression.entry(of).or_insert(next);
        if symbol == next {
            let value = linear
                .point
                .number(&linear.flat().exprs, of)
                .unwrap_or(f64::NAN);
            self.list.push(Atom { of, value });
        }
        Rational::symbol(symbol)
    }
}

#[derive(Debug, Default)]
pub struct Converter {
    pub atoms: Atoms,
}

impl Converter {
    /// The derivatives of an expression by all columns.
    pub fn row(&mut self, linear: &mut Linearised, root: ExprId) -> Option<Row> {
        let mut row = Row::new();
        for leaf in leaves(&linear.flat().exprs, root) {
            let Some(&column) = linear.columns.get(&leaf) else {
                continue;
            };
            let Some(slope) = linear.solved.flat.exprs.partial(root, leaf) else {
                continue;
            };
            let formula = self.formula(linear, slope)?;
            if !formula.is_zero() {
                row.insert(column, formula);
            }
        }
        Some(row)
    }

    fn formula(&mut self, linear: &Linearised, root: ExprId) -> Option<Rational> {
        let exprs = &linear.flat().exprs;
        let mut known: FxHashMap<ExprId, Rational> = FxHashMap::default();
        let mut work = vec![root];
        while let Some(&id) = work.last() {
            if known.contains_key(&id) {
                work.pop();
                continue;
            }
            let needs: Vec<ExprId> = match exprs.node(id) {
                Node::Unary(UnaryOp::Minus | UnaryOp::Plus, a) => vec![a],
                Node::Binary(
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div,
                    a,
                    b,
                ) => vec![a, b],
                Node::Binary(BinaryOp::Pow, a, b) if self.power(linear, b).is_some() => vec![a],
                Node::If(condition, a, b) => match truth(linear.flat(), &linear.point, condition) {
                    Some(true) => vec![a],
                    Some(false) => vec![b],
                    None => return None,
                },
                _ => Vec::new(),
            };
            let open: Vec<ExprId> = (needs.iter().copied())
                .filter(|need| !known.contains_key(need))
                .collect();
            if !open.is_empty() {
                work.extend(open);
                continue;
            }
            work.pop();
            let of = |at: usize| &known[&needs[at]];
            let value = match exprs.node(id) {
                Node::Number(value) => exact(value.0).unwrap_or_else(|| self.atoms.of(linear, id)),
                Node::Unary(UnaryOp::Minus, _) => of(0).negated(),
                Node::Unary(UnaryOp::Plus, _) | Node::If(..) => of(0).clone(),
                Node::Binary(BinaryOp::Add, ..) => of(0).add(of(1))?,
                Node::Binary(BinaryOp::Sub, ..) => of(0).less(of(1))?,
                Node::Binary(BinaryOp::Mul, ..) => of(0).times(of(1))?,
                Node::Binary(BinaryOp::Div, ..) => of(0).over(of(1))?,
                Node::Binary(BinaryOp::Pow, _, b) if !needs.is_empty() => {
                    let power = self.power(linear, b)?;
                    let mut product = Rational::whole(1);
                    for _ in 0..power.unsigned_abs() {
                        product = product.times(of(0))?;
                    }
                    match power < 0 {
                        true => Rational::whole(1).over(&product)?,
                        false => product,
                    }
                }
                _ => (self.given(linear, id)).unwrap_or_else(|| self.atoms.of(linear, id)),
            };
            known.insert(id, value);
        }
        known.remove(&root)
    }

    /// States, inputs and discrete variables have given values at the point. Those that are short decimals count as numbers,
    /// and functions of them where they are 0, 1 or -1.
    fn given(&self, linear: &Linearised, of: ExprId) -> Option<Rational> {
        let flat = linear.flat();
        let first = linear.first_state() as u32;
        let is_given = |leaf: Leaf| match linear.columns.get(&leaf) {
            Some(&column) => column >= first,
            None => flat.variable(leaf.variable()).kind == Kind::Discrete,
        };
        if !leaves(&flat.exprs, of).into_iter().all(is_given) {
            return None;
        }
        let value = linear.point.number(&flat.exprs, of)?;
        let is_plain = [0.0, 1.0, -1.0].contains(&value);
        match flat.exprs.node(of) {
            Node::Leaf(_) | Node::Time => exact(value),
            _ if is_plain => exact(value),
            _ => None,
        }
    }

    /// A small whole exponent.
    fn power(&self, linear: &Linearised, of: ExprId) -> Option<i32> {
        const MOST: f64 = 12.0;
        let value = crate::evaluate::constant(linear.flat(), of)?;
        let literal = leaves(&linear.flat().exprs, of).is_empty();
        (literal && value.fract() == 0.0 && value.abs() <= MOST).then_some(value as i32)
    }
}

/// A number as it was written, in decimals; `None` if it has too many digits.
fn exact(value: f64) -> Option<Rational> {
    const MOST_DIGITS: usize = 12;
    const MOST_POWER: i32 = 24;
    if !value.is_finite() {
        return None;
    }
    let text = format!("{:e}", value.abs());
    let (digits, power) = text.split_once('e')?;
    let power: i32 = power.parse().ok()?;
    let fraction = digits.split_once('.').map_or(0, |(_, rest)| rest.len());
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    if digits.len() > MOST_DIGITS {
        return None;
    }
    let mut whole: i128 = digits.parse().ok()?;
    if value < 0.0 {
        whole = -whole;
    }
    let power = power - fraction as i32;
    if power.abs() > MOST_POWER {
        return None;
    }
    let scale = Rational::whole(10_i128.pow(power.unsigned_abs()));
    match power < 0 {
        true => Rational::whole(whole).over(&scale),
        false => Rational::whole(whole).times(&scale),
    }
}
