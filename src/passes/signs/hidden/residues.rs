//! The values of expressions at a random point, modulo the prime.
//!
//! Before: a flat model. After: a number for each expression that is asked for. Variables, `Time` and parameters that
//! are given as numbers have random values. A parameter that is given as an expression of others has the value of that
//! expression, a constant its own. Sums, products, quotients and whole powers are computed; anything else has a random value that
//! follows from its operator and the values of its operands. So expressions that are equal for all values (`(a + b)*c` and `a*c + b*c`)
//! have one number, and others have different ones, but for a chance of some in 2**61 (Schwartz 1980). A number
//! stands for the decimal fraction that it was written as.

use crate::base::cancel::glance;

use crate::expr::{Arena, BinaryOp, ExprId, Node, UnaryOp};
use crate::flat::{Flat, Kind, Leaf};
use crate::structure::numbers::{Modular, PRIME};

/// Not computed yet.
const OPEN: i64 = -1;
/// Larger powers are as any other function.
const MOST_POWER: f64 = 1024.0;

#[derive(Debug, Default)]
pub struct Residues {
    /// By expression.
    values: Vec<i64>,
    stack: Vec<ExprId>,
}

impl Residues {
    pub fn of(&mut self, flat: &Flat, root: ExprId) -> i64 {
        if let Some(&value) = self.values.get(root.index())
            && value != OPEN
        {
            return value;
        }
        self.values.resize(flat.exprs.len(), OPEN);
        self.stack.push(root);
        while let Some(&id) = self.stack.last() {
            glance();
            let before = self.stack.len();
            let value = match self.values[id.index()] {
                OPEN => self.value(flat, id),
                known => known,
            };
            // Operands that are not known are on the stack now.
            if self.stack.len() == before {
                self.values[id.index()] = value;
                self.stack.pop();
            }
        }
        self.values[root.index()]
    }

    /// The value of an operand, or anything while it is computed.
    fn operand(&mut self, id: ExprId) -> i64 {
        let value = self.values[id.index()];
        if value == OPEN {
            self.stack.push(id);
        }
        value.max(0)
    }

    fn value(&mut self, flat: &Flat, id: ExprId) -> i64 {
        match flat.exprs.node(id) {
            Node::Number(number) => decimal(number.0),
            Node::Bool(truth) => Modular::mixed(i64::from(truth), 1),
            Node::Time => Modular::mixed(0, 2),
            Node::Leaf(leaf) => match defined(flat, leaf) {
                Some(by) => self.operand(by),
                None => of_leaf(leaf),
            },
            Node::Unary(UnaryOp::Plus, a) => self.operand(a),
            Node::Unary(UnaryOp::Minus, a) => Modular::minus(self.operand(a)),
            Node::Unary(op @ UnaryOp::Not, a) => mixed(op.text(), [self.operand(a)]),
            Node::Binary(op, a, b) => {
                let power = whole(&flat.exprs, b).filter(|_| op == BinaryOp::Pow);
                let (a, b) = (self.operand(a), self.operand(b));
                match (op, power) {
                    (BinaryOp::Add, _) => Modular::plus(a, b),
                    (BinaryOp::Sub, _) => Modular::plus(a, Modular::minus(b)),
                    (BinaryOp::Mul, _) => Modular::times(a, b),
                    (BinaryOp::Div, _) if b != 0 => Modular::times(a, Modular::inverse(b)),
                    (_, Some(power)) => Modular::power(a, power),
                    _ => mixed(op.text(), [a, b]),
                }
            }
            Node::If(a, b, c) => {
                let (a, b, c) = (self.operand(a), self.operand(b), self.operand(c));
                let part = share(a);
                let rest = Modular::plus(1, Modular::minus(part));
                Modular::plus(Modular::times(part, b), Modular::times(rest, c))
            }
            Node::Call(function, args) => {
                let args = flat.exprs.args(args).iter();
                let values: Vec<i64> = args.map(|&arg| self.operand(arg)).collect();
                mixed(function.text(), values)
            }
            Node::List(args) => {
                let args = flat.exprs.args(args).iter();
                let values: Vec<i64> = args.map(|&arg| self.operand(arg)).collect();
                mixed("[", values)
            }
        }
    }

    /// The derivatives of an expression by its operands, at this point: those of what is not computed are random.
    pub fn partials(&mut self, flat: &Flat, id: ExprId, mut visit: impl FnMut(ExprId, i64)) {
        match flat.exprs.node(id) {
            Node::Number(_) | Node::Bool(_) | Node::Time | Node::Leaf(_) => {}
            Node::Unary(UnaryOp::Plus, a) => visit(a, 1),
            Node::Unary(UnaryOp::Minus, a) => visit(a, PRIME - 1),
            Node::Binary(BinaryOp::Add, a, b) => [a, b].into_iter().for_each(|of| visit(of, 1)),
            Node::Binary(BinaryOp::Sub, a, b) => {
                visit(a, 1);
                visit(b, PRIME - 1);
            }
            Node::Binary(BinaryOp::Mul, a, b) => {
                let (of_a, of_b) = (self.of(flat, b), self.of(flat, a));
                visit(a, of_a);
                visit(b, of_b);
            }
            Node::Binary(BinaryOp::Div, a, b) if self.of(flat, b) != 0 => {
                let over = Modular::inverse(self.of(flat, b));
                let value = self.of(flat, id);
                visit(a, over);
                visit(b, Modular::minus(Modular::times(value, over)));
            }
            Node::Binary(BinaryOp::Pow, a, b) if whole(&flat.exprs, b).is_some_and(|n| n > 0) => {
                let power = whole(&flat.exprs, b).unwrap_or(1);
                let less = Modular::power(self.of(flat, a), power - 1);
                visit(a, Modular::times(Modular::of(power), less));
            }
            Node::If(condition, a, b) => {
                let part = share(self.of(flat, condition));
                visit(condition, mixed("if", [self.of(flat, id)]));
                visit(a, part);
                visit(b, Modular::plus(1, Modular::minus(part)));
            }
            Node::Unary(..) | Node::Binary(..) | Node::Call(..) | Node::List(_) => {
                let value = self.of(flat, id);
                let mut place = 0;
                flat.exprs.each_operand(id, |operand| {
                    place += 1;
                    visit(operand, Modular::mixed(value, place));
                });
            }
        }
    }
}

/// What a parameter is given as, if that says more than a number that may be another one.
fn defined(flat: &Flat, leaf: Leaf) -> Option<ExprId> {
    let Leaf::Var(id) = leaf else { return None };
    let kind = flat.variable(id).kind;
    if !matches!(kind, Kind::Parameter | Kind::Constant) {
        return None;
    }
    let given = flat.value(id)?.expression;
    let mut some = kind == Kind::Constant;
    flat.exprs.leaves(given, |_| some = true);
    some.then_some(given)
}

fn of_leaf(leaf: Leaf) -> i64 {
    let (what, order) = match leaf {
        Leaf::Var(_) => (3, 0),
        Leaf::Der(_, order) => (3, order),
        Leaf::New(_) => (4, 0),
        Leaf::Init(_) => (5, 0),
        Leaf::Pre(_) => (6, 0),
    };
    let variable = Modular::mixed(i64::from(leaf.variable().0), what);
    Modular::mixed(variable, i64::from(order))
}

/// The part that the first branch has in the value of an `if`: the sum of both is one.
fn share(condition: i64) -> i64 {
    Modular::mixed(condition, 7)
}

fn mixed(name: &str, values: impl IntoIterator<Item = i64>) -> i64 {
    let seed = (name.bytes()).fold(8, |seed, byte| Modular::mixed(seed, i64::from(byte)));
    (values.into_iter()).fold(seed, Modular::mixed)
}

/// A whole exponent.
fn whole(exprs: &Arena<Leaf>, exponent: ExprId) -> Option<i64> {
    let value = exprs.as_number(exponent)?;
    (value.fract() == 0.0 && value.abs() <= MOST_POWER).then_some(value as i64)
}

/// The decimal fraction that a number is printed as.
fn decimal(number: f64) -> i64 {
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut value = 0;
    let mut exponent: i64 = exponent.parse().unwrap_or(0);
    let mut after_point = 0;
    for byte in digits.bytes() {
        match byte {
            b'0'..=b'9' => {
                let digit = Modular::of(i64::from(byte - b'0'));
                value = Modular::plus(Modular::times(value, 10), digit);
                exponent -= after_point;
            }
            b'.' => after_point = 1,
            _ => {}
        }
    }
    let value = Modular::times(value, Modular::power(10, exponent));
    match number < 0.0 {
        true => Modular::minus(value),
        false => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_fractions() {
        let tenth = decimal(0.1);
        assert_eq!(Modular::times(tenth, 3), decimal(0.3));
        assert_eq!(Modular::plus(decimal(0.2), tenth), decimal(0.3));
        assert_eq!(decimal(-2.5e-3), Modular::minus(decimal(0.0025)));
        assert_eq!(Modular::times(decimal(4e20), decimal(2.5e-21)), 1);
        assert_eq!(decimal(0.0), 0);
    }
}
