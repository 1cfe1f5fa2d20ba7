//! Expressions: one shape for all representations.
//!
//! An expression is a [`Node`] in an arena; it refers to its operands by [`ExprId`]. The leaves are a type parameter:
//! names as written in the syntax tree, slots of a class in a template, variables in the flat model. Printing and
//! evaluation are written once for all of them.
//!
//! In every arena operands come before the nodes that use them. So a pass from the leaves to the root is a loop over
//! indices, and no function recurses, however deep an expression is nested.

mod arena;
mod differentiate;
pub mod isolate;
pub mod latex;
pub mod linear;
pub mod op;
pub mod print;
pub mod range;
mod rewrite;
mod simplify;
mod value;
mod verify;
mod walk;

pub use arena::{Arena, Leaf};
pub use op::{Arity, BinaryOp, Function, UnaryOp};
pub use simplify::Term;
pub use value::{
    Value, apply_binary, apply_call, apply_unary, interpolate, show_briefly, show_number,
    write_number,
};
pub use walk::fold;

use std::fmt;
use std::hash::{Hash, Hasher};

/// An expression in its arena. Prints as `e12`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(pub u32);

impl ExprId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for ExprId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.0)
    }
}

/// A range of operands in the arena's pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Args {
    pub first: u32,
    pub len: u32,
}

impl Args {
    pub fn range(self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.len) as usize
    }
}

/// A literal number. Two of them are equal if their bits are.
#[derive(Clone, Copy, Debug)]
pub struct Real(pub f64);

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Real {}

impl Hash for Real {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Short numbers (1, 2, 3 and 0.25) differ only in their upper bits, and the product in rustc-hash carries bits
        // upwards only: so the bits are mixed first.
        let bits = self.0.to_bits();
        (bits ^ (bits >> 32)).hash(state);
    }
}

/// One node of an expression with leaves of type `L`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node<L> {
    Number(Real),
    Bool(bool),
    /// The independent variable.
    Time,
    Leaf(L),
    Unary(UnaryOp, ExprId),
    Binary(BinaryOp, ExprId, ExprId),
    /// Condition, value if true, value if false. An `elseif` is an `If` in the place of the second value.
    If(ExprId, ExprId, ExprId),
    Call(Function, Args),
    /// `[a, b, c]`: the value of an array parameter, or an argument of `table`.
    List(Args),
}
