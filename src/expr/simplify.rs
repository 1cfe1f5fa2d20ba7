//! Building with constants, signs and units tidied up.
//!
//! Every rule is local, makes the expression smaller or keeps its size, and is exact: it changes
//! neither a value nor a domain nor a branch. The exceptions, written down:
//! - `0*x`, `x - x` and `x/x` are 0, 0 and 1 for a plain variable or parameter x, although x may be
//!   infinite in floating point, or 0 in the last case;
//! - the sign of a zero may change (`-(a - b)` is `b - a`).

use super::{Arena, BinaryOp, ExprId, Leaf, Node, UnaryOp, Value, apply_binary};

/// A longer product is not reordered.
const MOST_FACTORS: usize = 24;

/// A term of a sum: whether it is subtracted, and its expression.
pub type Term = (bool, ExprId);

impl<L: Leaf> Arena<L> {
    pub fn as_number(&self, id: ExprId) -> Option<f64> {
        match self.node(id) {
            Node::Number(value) => Some(value.0),
            Node::Unary(UnaryOp::Minus, a) => match self.node(a) {
                Node::Number(value) => Some(-value.0),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn is_zero(&self, id: ExprId) -> bool {
        self.as_number(id) == Some(0.0)
    }

    /// A number. A negative one is the negation of a literal, as in parsed texts.
    pub fn constant(&mut self, value: f64) -> ExprId {
        match value < 0.0 {
            true => {
                let positive = self.number(-value);
                self.unary(UnaryOp::Minus, positive)
            }
            // Minus zero would print as `-0`.
            false => self.number(if value == 0.0 { 0.0 } else { value }),
        }
    }

    fn is_leaf(&self, id: ExprId) -> bool {
        matches!(self.node(id), Node::Leaf(_))
    }

    /// The operand, if the expression is a negation.
    pub fn negated(&self, id: ExprId) -> Option<ExprId> {
        match self.node(id) {
            Node::Unary(UnaryOp::Minus, a) => Some(a),
            _ => None,
        }
    }

    /// The leaf, if the expression is one or the negative of one; `true` for the negative.
    pub fn signed_leaf(&self, id: ExprId) -> Option<(L, bool)> {
        let (inner, negative) = match self.negated(id) {
            Some(inner) => (inner, true),
            None => (id, false),
        };
        match self.node(inner) {
            Node::Leaf(leaf) => Some((leaf, negative)),
            _ => None,
        }
    }

    pub fn tidy_minus(&mut self, a: ExprId) -> ExprId {
        if let Some(inner) = self.negated(a) {
            return inner;
        }
        if let Some(value) = self.as_number(a) {
            return self.constant(-value);
        }
        match self.node(a) {
            Node::Binary(BinaryOp::Sub, x, y) => self.binary(BinaryOp::Sub, y, x),
            _ => self.unary(UnaryOp::Minus, a),
        }
    }

    pub fn tidy_unary(&mut self, op: UnaryOp, a: ExprId) -> ExprId {
        match op {
            UnaryOp::Minus => self.tidy_minus(a),
            UnaryOp::Plus => a,
            UnaryOp::Not => match self.node(a) {
                Node::Unary(UnaryOp::Not, inner) => inner,
                Node::Bool(value) => self.bool(!value),
                _ => self.unary(op, a),
            },
        }
    }

    pub fn tidy_add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.tidy_binary(BinaryOp::Add, a, b)
    }

    pub fn tidy_sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.tidy_binary(BinaryOp::Sub, a, b)
    }

    pub fn tidy_mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.tidy_binary(BinaryOp::Mul, a, b)
    }

    pub fn tidy_div(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.tidy_binary(BinaryOp::Div, a, b)
    }

    pub fn tidy_binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let (x, y) = (self.as_number(a), self.as_number(b));
        if let (Some(x), Some(y)) = (x, y)
            && let Some(id) = self.fold(op, x, y)
        {
            return id;
        }
        match op {
            BinaryOp::Add => match (self.negated(a), self.negated(b)) {
                _ if x == Some(0.0) => b,
                _ if y == Some(0.0) => a,
                (_, Some(b)) => self.tidy_sub(a, b),
                (Some(a), None) => self.tidy_sub(b, a),
                _ => self.binary(op, a, b),
            },
            BinaryOp::Sub => match self.negated(b) {
                _ if x == Some(0.0) => self.tidy_minus(b),
                _ if y == Some(0.0) => a,
                _ if a == b && self.is_leaf(a) => self.number(0.0),
                Some(b) => self.tidy_add(a, b),
                None => self.binary(op, a, b),
            },
            BinaryOp::Mul => match (self.negated(a), self.negated(b)) {
                _ if x == Some(1.0) => b,
                _ if y == Some(1.0) => a,
                _ if x == Some(0.0) && self.is_leaf(b) => a,
                _ if y == Some(0.0) && self.is_leaf(a) => b,
                (Some(a), Some(b)) => self.tidy_mul(a, b),
                (Some(a), None) => {
                    let product = self.tidy_mul(a, b);
                    self.tidy_minus(product)
                }
                (None, Some(b)) => {
                    let product = self.tidy_mul(a, b);
                    self.tidy_minus(product)
                }
                (None, None) => self.binary(op, a, b),
            },
            BinaryOp::Div => match (self.negated(a), self.negated(b)) {
                _ if y == Some(1.0) => a,
                _ if a == b && self.is_leaf(a) => self.number(1.0),
                (Some(a), Some(b)) => self.tidy_div(a, b),
                (Some(a), None) => {
                    let quotient = self.tidy_div(a, b);
                    self.tidy_minus(quotient)
                }
                (None, Some(b)) => {
                    let quotient = self.tidy_div(a, b);
                    self.tidy_minus(quotient)
                }
                (None, None) => self.binary(op, a, b),
            },
            // Both rules are exact for every x, also for infinite ones.
            BinaryOp::Pow if y == Some(1.0) => a,
            BinaryOp::Pow if y == Some(0.0) => self.number(1.0),
            BinaryOp::And | BinaryOp::Or => {
                // A false operand decides an `and`, a true one an `or`.
                let decides = op == BinaryOp::Or;
                match (self.node(a), self.node(b)) {
                    (Node::Bool(value), _) if value == decides => a,
                    (Node::Bool(_), _) => b,
                    (_, Node::Bool(value)) if value != decides => a,
                    _ if a == b => a,
                    _ => self.binary(op, a, b),
                }
            }
            _ => self.binary(op, a, b),
        }
    }

    pub fn tidy_if(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        match self.node(condition) {
            Node::Bool(true) => then,
            Node::Bool(false) => otherwise,
            _ if then == otherwise => then,
            _ => self.if_else(condition, then, otherwise),
        }
    }

    /// A sum in which added terms come before subtracted ones.
    pub fn sum(&mut self, terms: &[Term]) -> ExprId {
        let mut total: Option<ExprId> = None;
        for &(_, term) in terms.iter().filter(|(negative, _)| !negative) {
            total = Some(match total {
                None => term,
                Some(total) => self.tidy_add(total, term),
            });
        }
        for &(_, term) in terms.iter().filter(|(negative, _)| *negative) {
            total = Some(match total {
                None => self.tidy_minus(term),
                Some(total) => self.tidy_sub(total, term),
            });
        }
        total.unwrap_or_else(|| self.number(0.0))
    }

    /// A product in a form that is easy to read: a number first, equal factors as a power. The value may differ in the
    /// last digit from that of `a*b`.
    pub fn product(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let (mut minus, mut number) = (false, 1.0);
        // Factors in the order of their first occurrence, each with its exponent.
        let mut factors: Vec<(ExprId, f64)> = Vec::new();
        let mut work = vec![b, a];
        let mut steps = 0;
        while let Some(id) = work.pop() {
            steps += 1;
            // A shared product would become much larger, and would not be easier to read.
            if steps > MOST_FACTORS {
                return self.tidy_mul(a, b);
            }
            let (base, times) = match self.node(id) {
                Node::Binary(BinaryOp::Mul, x, y) => {
                    work.extend([y, x]);
                    continue;
                }
                Node::Unary(UnaryOp::Minus, x) => {
                    minus = !minus;
                    work.push(x);
                    continue;
                }
                Node::Number(value) => {
                    number *= value.0;
                    continue;
                }
                // Only whole powers are merged: x**0.5 is defined only for some x.
                Node::Binary(BinaryOp::Pow, x, exponent) => match self.as_number(exponent) {
                    Some(times) if times > 0.0 && times.fract() == 0.0 => (x, times),
                    _ => (id, 1.0),
                },
                _ => (id, 1.0),
            };
            match factors.iter_mut().find(|(known, _)| *known == base) {
                Some((_, known)) => *known += times,
                None => factors.push((base, times)),
            }
        }
        // Zero, infinity and NaN are left to the rules that are exact.
        if number == 0.0 || !number.is_finite() {
            return self.tidy_mul(a, b);
        }
        let mut product = match number {
            1.0 => None,
            _ => Some(self.number(number)),
        };
        for (base, times) in factors {
            let factor = match times {
                1.0 => base,
                _ => {
                    let times = self.number(times);
                    self.binary(BinaryOp::Pow, base, times)
                }
            };
            product = Some(match product {
                None => factor,
                Some(product) => self.binary(BinaryOp::Mul, product, factor),
            });
        }
        let product = product.unwrap_or_else(|| self.number(number));
        match minus {
            true => self.tidy_minus(product),
            false => product,
        }
    }

    /// The same expression with the sign of a product or quotient moved to its first factor, as one writes it: `-a/b`
    /// for `-(a/b)`.
    pub fn with_sign_inside(&mut self, id: ExprId) -> ExprId {
        let Some(product) = self.negated(id) else {
            return id;
        };
        // The path down to the first factor, and back up.
        let mut way = Vec::new();
        let mut first = product;
        while let Node::Binary(op @ (BinaryOp::Mul | BinaryOp::Div), a, b) = self.node(first) {
            way.push((op, b));
            first = a;
        }
        if way.is_empty() {
            return id;
        }
        let mut result = self.tidy_minus(first);
        for (op, b) in way.into_iter().rev() {
            result = self.binary(op, result, b);
        }
        result
    }

    fn fold(&mut self, op: BinaryOp, x: f64, y: f64) -> Option<ExprId> {
        match apply_binary(op, Value::Real(x), Value::Real(y))? {
            // A value that is not finite is left as it is; the run reports it.
            Value::Real(value) => value.is_finite().then(|| self.constant(value)),
            Value::Bool(value) => Some(self.bool(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_rules() {
        let mut arena: Arena<char> = Arena::default();
        let (x, y) = (arena.leaf('x'), arena.leaf('y'));
        let (zero, one, two) = (arena.number(0.0), arena.number(1.0), arena.number(2.0));
        let minus_x = arena.tidy_minus(x);
        assert_eq!(arena.tidy_minus(minus_x), x);
        assert_eq!(arena.tidy_add(x, zero), x);
        assert_eq!(arena.tidy_mul(one, x), x);
        assert_eq!(arena.tidy_mul(zero, x), zero);
        assert_eq!(arena.tidy_sub(two, one), one);
        let product = arena.tidy_mul(minus_x, y);
        let plain = arena.binary(BinaryOp::Mul, x, y);
        assert_eq!(arena.negated(product), Some(plain));
        // 0*(1/x) is NaN at x = 0, so it is not simplified.
        let inverse = arena.binary(BinaryOp::Div, one, x);
        let kept = arena.tidy_mul(zero, inverse);
        assert_ne!(kept, zero);
        let difference = arena.tidy_sub(x, y);
        let turned = arena.tidy_minus(difference);
        assert_eq!(turned, arena.binary(BinaryOp::Sub, y, x));
        let both = arena.sum(&[(true, x), (false, y)]);
        assert_eq!(both, turned);
        // 1/0 is not simplified.
        let infinite = arena.tidy_div(one, zero);
        assert!(matches!(arena.node(infinite), Node::Binary(..)));
        // For the eye.
        let doubled = arena.tidy_mul(two, x);
        let product = arena.product(x, doubled);
        let square = arena.binary(BinaryOp::Pow, x, two);
        assert_eq!(product, arena.binary(BinaryOp::Mul, two, square));
        let product = arena.product(minus_x, product);
        assert!(arena.negated(product).is_some());
        let condition = arena.binary(BinaryOp::Less, x, y);
        assert_eq!(arena.tidy_if(condition, x, x), x);
    }
}
