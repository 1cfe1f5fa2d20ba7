//! What index reduction leaves behind in a flat model, beside the equations themselves.

use super::{Equation, Leaf};
use crate::expr::ExprId;

/// Of a model whose index was reduced.
#[derive(Clone, Debug, Default)]
pub struct Reduction {
    /// Of the model as it was written.
    pub index: u8,
    /// What differentiated equations come from.
    pub derived: Vec<Derived>,
    /// States that became unknowns, in the order of names.
    pub dropped: Vec<Dropped>,
    /// Sets of variables of which some are states, now these, now those.
    pub selections: Vec<Selection>,
    /// Derivatives of inputs that the model as written does not mention.
    pub inputs: Vec<Leaf>,
    /// Start values of derivatives that are states, where they follow from others that were given.
    pub starts: Vec<(Leaf, f64)>,
    /// Factors that are zero as given: products with them were left out.
    pub zeros: Vec<ExprId>,
}

/// An equation that was differentiated: as it was, and how often.
#[derive(Clone, Copy, Debug)]
pub struct Derived {
    pub of: Equation,
    pub times: u8,
}

/// A state that became an unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    pub state: Leaf,
    /// What it depends on: other candidates, the best one first. Empty where nothing is left to choose.
    pub others: Vec<Leaf>,
    /// Why the best of the others is rather a state.
    pub merit: Merit,
}

/// Why one variable is rather a state than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Merit {
    /// There is no other to choose.
    Alone,
    /// The coefficient of its derivative is zero as given.
    Zero,
    /// The coefficient of the other could vanish.
    Divisor,
    /// A `when` restarts it.
    Restarted,
    /// Declared `state`, or the other one `nostate`.
    Wish,
    /// The source differentiates it, and not the other.
    Written,
    /// It has a start value.
    Start,
    /// Its start value is given further out.
    StartDepth,
    /// Its name has fewer parts.
    Nearer,
    /// It is a through variable: a flow of momentum's kind rather than an effort.
    Through,
    /// Its name comes first.
    Name,
}

/// Variables tied by constraints whose coefficients can vanish: which of them are states is chosen
/// at the start, and anew when the choice turns bad.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// In the order of preference: positions, velocities.
    pub candidates: Vec<Leaf>,
    /// How often the constraints between them are differentiated: 0 for positions, 1 for velocities.
    pub times: u8,
    /// So many of the candidates are states.
    pub states: u32,
    /// The states at the start.
    pub choice: Vec<Leaf>,
    /// The values of the candidates at the start, where they could be computed; else empty.
    pub start: Vec<f64>,
}
