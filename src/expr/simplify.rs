//! Building with signs and units tidied up: exact rules only.
//!
//! Nothing here changes a value, a domain or a branch, with one exception that is written down:
//! `0*x` is 0 for a plain variable or parameter x, although x may be infinite in floating point.

use super::{Arena, BinaryOp, ExprId, Leaf, Node, UnaryOp};

impl<L: Leaf> Arena<L> {
    fn as_number(&self, id: ExprId) -> Option<f64> {
        match self.node(id) {
            Node::Number(value) => Some(value.0),
            _ => None,
        }
    }

    /// What is negated, if the expression is a negation.
    fn negated(&self, id: ExprId) -> Option<ExprId> {
        match self.node(id) {
            Node::Unary(UnaryOp::Minus, a) => Some(a),
            _ => None,
        }
    }

    pub fn tidy_minus(&mut self, a: ExprId) -> ExprId {
        if let Some(inner) = self.negated(a) {
            return inner;
        }
        match self.as_number(a) {
            Some(0.0) => a,
            Some(value) if value < 0.0 => self.number(-value),
            _ => self.unary(UnaryOp::Minus, a),
        }
    }

    pub fn tidy_unary(&mut self, op: UnaryOp, a: ExprId) -> ExprId {
        match op {
            UnaryOp::Minus => self.tidy_minus(a),
            UnaryOp::Plus => a,
            UnaryOp::Not => match self.node(a) {
                Node::Unary(UnaryOp::Not, inner) => inner,
                _ => self.unary(op, a),
            },
        }
    }

    pub fn tidy_binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let (x, y) = (self.as_number(a), self.as_number(b));
        match op {
            BinaryOp::Add => match (self.negated(a), self.negated(b)) {
                _ if x == Some(0.0) => b,
                _ if y == Some(0.0) => a,
                (_, Some(b)) => self.tidy_binary(BinaryOp::Sub, a, b),
                (Some(a), None) => self.binary(BinaryOp::Sub, b, a),
                _ => self.binary(op, a, b),
            },
            BinaryOp::Sub => match self.negated(b) {
                _ if x == Some(0.0) => self.tidy_minus(b),
                _ if y == Some(0.0) => a,
                Some(b) => self.tidy_binary(BinaryOp::Add, a, b),
                None => self.binary(op, a, b),
            },
            BinaryOp::Mul => match (self.negated(a), self.negated(b)) {
                _ if x == Some(1.0) => b,
                _ if y == Some(1.0) => a,
                _ if x == Some(0.0) && matches!(self.node(b), Node::Leaf(_)) => a,
                _ if y == Some(0.0) && matches!(self.node(a), Node::Leaf(_)) => b,
                (Some(a), Some(b)) => self.binary(op, a, b),
                (Some(a), None) => {
                    let product = self.binary(op, a, b);
                    self.tidy_minus(product)
                }
                (None, Some(b)) => {
                    let product = self.binary(op, a, b);
                    self.tidy_minus(product)
                }
                (None, None) => self.binary(op, a, b),
            },
            BinaryOp::Div => match (self.negated(a), self.negated(b)) {
                _ if y == Some(1.0) => a,
                (Some(a), Some(b)) => self.binary(op, a, b),
                (Some(a), None) => {
                    let quotient = self.binary(op, a, b);
                    self.tidy_minus(quotient)
                }
                (None, Some(b)) => {
                    let quotient = self.binary(op, a, b);
                    self.tidy_minus(quotient)
                }
                (None, None) => self.binary(op, a, b),
            },
            _ => self.binary(op, a, b),
        }
    }
}
