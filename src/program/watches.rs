//! What events are about: relations that are watched, times that are known, `when`s.

use super::code::Register;
use crate::expr::ExprId;
use crate::flat::{EqId, Leaf, WhenId};
use crate::passes::relations::WatchKind;

/// Something that keeps its value between events: a relation, or a function that jumps.
#[derive(Clone, Debug)]
pub struct Watch {
    pub kind: WatchKind,
    /// As it is written.
    pub node: ExprId,
    pub left: ExprId,
    /// Missing for functions of one argument.
    pub right: Option<ExprId>,
    /// Where its truth (or value) is kept.
    pub held: Register,
    /// The two sides, in the steps for relations and in those for events.
    pub sides: (Register, Register),
    pub event_sides: (Register, Register),
    /// Both sides are linear in Time, with coefficients that change only at events.
    pub timed: bool,
}

/// `sample(start, period)`
#[derive(Clone, Debug)]
pub struct Sampler {
    pub node: ExprId,
    pub held: Register,
    pub start: Register,
    pub period: Register,
}

#[derive(Clone, Copy, Debug)]
pub enum WhenAction {
    /// A discrete variable's next value.
    New {
        variable: Leaf,
        to: Register,
        value: Register,
        equation: EqId,
    },
    /// A state goes on from here.
    Restart {
        state: Leaf,
        value: Register,
        equation: EqId,
    },
}

/// A `when` with its branches: condition, what is done.
#[derive(Clone, Debug)]
pub struct When {
    pub id: WhenId,
    pub branches: Vec<(Register, Vec<WhenAction>)>,
}
