//! Relations and functions that jump: which ones a model contains ([`find`]), what is kept of each between events, and
//! how that is decided.

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
    /// The value of `floor(x)`; for `mod(x, y)` that of `floor(x/y)`.
    Floor,
    Ceil,
}

impl WatchKind {
    /// The kind of watch that a node needs if its operands change between events.
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

    /// The truth or value that is kept after an event, for a difference of the sides that is not about zero.
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

    /// The distance from the point where the decision changes. It is zero at that point.
    pub fn distance(self, difference: f64, held: f64) -> f64 {
        match self {
            WatchKind::Relation(_) | WatchKind::Sign => difference,
            // Of the two whole numbers around it, the nearer one.
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

    /// Whether it is true only for a moment: `x == 1` where x changes continuously.
    pub fn is_momentary(self) -> bool {
        let momentary = |op| matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
        matches!(self, WatchKind::Relation(op) if momentary(op))
    }

    /// The distance to the nearest point where the decision changes, on either side.
    pub fn nearest(self, difference: f64) -> f64 {
        match self {
            WatchKind::Relation(_) | WatchKind::Sign => difference,
            WatchKind::Floor | WatchKind::Ceil => difference - difference.round(),
        }
    }

    /// The truth or value that is kept after an event if both sides are about equal: their slopes decide.
    pub fn decide_at(self, difference: f64, slope: f64) -> f64 {
        let whole = difference.round();
        match self {
            WatchKind::Relation(_) | WatchKind::Sign => self.decide(slope),
            WatchKind::Floor => whole - f64::from(u8::from(slope < 0.0)),
            WatchKind::Ceil => whole + f64::from(u8::from(slope > 0.0)),
        }
    }

    /// The time until the decision changes, if both sides are linear in time.
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
