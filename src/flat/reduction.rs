//! The results of index reduction that a flat model keeps beside its equations.

use super::{Equation, Leaf};
use crate::expr::ExprId;

/// What index reduction did to a model.
#[derive(Clone, Debug, Default)]
pub struct Reduction {
    /// The index of the model as it was written.
    pub index: u8,
    /// The equations that were differentiated.
    pub derived: Vec<Derived>,
    /// States that became unknowns, in the order of names.
    pub dropped: Vec<Dropped>,
    /// Sets of variables of which the run chooses the states.
    pub selections: Vec<Selection>,
    /// Derivatives of inputs that the model as written does not contain.
    pub inputs: Vec<Leaf>,
    /// Start values of derivatives that are states, if they follow from start values that were given.
    pub starts: Vec<(Leaf, f64)>,
    /// Factors that are zero with the given parameters; products with them were removed.
    pub zeros: Vec<ExprId>,
}

/// An equation that was differentiated: its original, and how often.
#[derive(Clone, Copy, Debug)]
pub struct Derived {
    pub of: Equation,
    pub times: u8,
}

/// A state that became an unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    pub state: Leaf,
    /// The candidates that it depends on, the most wanted first. Empty if there is no choice.
    pub others: Vec<Leaf>,
    /// Why the first of the others is preferred as a state.
    pub merit: Merit,
}

/// Why one variable is preferred as a state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Merit {
    /// There is no other candidate.
    Alone,
    /// The coefficient of its derivative is zero with the given parameters.
    Zero,
    /// The coefficient of the other variable can vanish.
    Divisor,
    /// A `when` restarts it.
    Restarted,
    /// It is declared `state`, or the other one `nostate`.
    Wish,
    /// The source differentiates it, and does not differentiate the other one.
    Written,
    /// It has a start value.
    Start,
    /// Its start value is given farther outside.
    StartDepth,
    /// Its name has fewer parts.
    Nearer,
    /// It is a through variable, and the other one an across variable.
    Through,
    /// Its name is first in the alphabet.
    Name,
}

/// Variables tied by constraints whose coefficients can vanish. The run chooses at the start which of them are states,
/// and chooses again when the choice becomes ill-conditioned.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// In the order of preference: positions, velocities.
    pub candidates: Vec<Leaf>,
    /// How often the constraints are differentiated: 0 for positions, 1 for velocities.
    pub times: u8,
    /// The number of candidates that are states at a time.
    pub states: u32,
    /// The states at the start.
    pub choice: Vec<Leaf>,
    /// The values of the candidates at the start; empty if they could not be computed.
    pub start: Vec<f64>,
}
