//! Relations and functions that jump: which there are in a model ([`find`]), what is kept of them between events, and how that is
//! decided.

mod find;
mod moving;

use crate::expr::{BinaryOp, ExprId, Function, Node};
use crate::flat::Flat;

pub use find::{Found, Kept, Relation, Sample, find};
pub use moving::{Inputs, Moving};

/// What a watch keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchKind {
    /// The truth of a relation of two numbers.
    Relation(BinaryOp),
    /// `sign(x)`: -1, 0 or 1.
    Sign,
    /// `floor(x)`, and in `mod(x, y)` that of the quotient.
    Floor,
    Ceil,
}

impl WatchKind {
    /// The kind of watch that a node needs where its operands move.
    pub fn of(flat: &Flat, id: ExprId) -> Option<WatchKind> {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        Some(match flat.exprs.node(id) {
            Node::Binary(op @ (Less | LessEqual | Greater | GreaterEqual), ..) => {
                WatchKind::Relation(op)
            }
            Node::Binary(op @ (Equal | NotEqual), a, _) if !flat.is_boolean(a) => {
                WatchKind::Relation(op)
            }
            Node::Call(Function::Sign, _) => WatchKind::Sign,
            Node::Call(Function::Floor | Function::Mod, _) => WatchKind::Floor,
            Node::Call(Function::Ceil, _) => WatchKind::Ceil,
            _ => return None,
        })
    }

    /// What is kept from now on, when the two sides differ by this and are not about equal.
    pub fn decide(self, difference: f64) -> f64 {
        let truth = |truth: bool| f64::from(u8::from(truth));
        match self {
            WatchKind::Relation(op) => truth(match op {
                BinaryOp::Less => difference < 0.0,
                BinaryOp::LessEqual => difference <= 0.0,
                BinaryOp::Greater => difference > 0.0,
                BinaryOp::GreaterEqual => difference >= 0.0,
                BinaryOp::Equal => difference == 0.0,
                _ => difference != 0.0,
            }),
            WatchKind::Sign if difference == 0.0 => 0.0,
            WatchKind::Sign => difference.signum(),
            WatchKind::Floor => difference.floor(),
            WatchKind::Ceil => difference.ceil(),
        }
    }

    /// How far it is from where the decision changes, as seen from what is kept: zero there.
    pub fn distance(self, difference: f64, held: f64) -> f64 {
        match self {
            WatchKind::Relation(_) | WatchKind::Sign => difference,
            // The nearer of the two whole numbers around.
            WatchKind::Floor => match difference < held + 0.5 {
                true => difference - held,
                false => difference - held - 1.0,
            },
            WatchKind::Ceil => match difference < held - 0.5 {
                true => difference - held + 1.0,
                false => difference - held,
            },
        }
    }

    /// `x == 1` of numbers that move: true for a moment.
    pub fn is_momentary(self) -> bool {
        let momentary = |op| matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
        matches!(self, WatchKind::Relation(op) if momentary(op))
    }

    /// How far it is from where it would be decided otherwise, on either side.
    pub fn nearest(self, difference: f64) -> f64 {
        match self {
            WatchKind::Relation(_) | WatchKind::Sign => difference,
            WatchKind::Floor | WatchKind::Ceil => difference - difference.round(),
        }
    }

    /// What is kept from now on where the two sides are about equal, by the way they move.
    pub fn decide_at(self, difference: f64, slope: f64) -> f64 {
        let whole = difference.round();
        match self {
            WatchKind::Relation(_) | WatchKind::Sign => self.decide(slope),
            WatchKind::Floor => whole - f64::from(u8::from(slope < 0.0)),
            WatchKind::Ceil => whole + f64::from(u8::from(slope > 0.0)),
        }
    }

    /// How long it takes to where it is decided otherwise, both sides being linear in time.
    pub fn ahead(self, difference: f64, held: f64, slope: f64) -> f64 {
        let left = match self {
            WatchKind::Relation(_) | WatchKind::Sign => -difference,
            WatchKind::Floor if slope > 0.0 => held + 1.0 - difference,
            WatchKind::Ceil if slope < 0.0 => held - 1.0 - difference,
            WatchKind::Floor | WatchKind::Ceil => held - difference,
        };
        left / slope
    }
}
