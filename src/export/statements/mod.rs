//! What programs in C and in Python share: which statements their functions are made of, and in which order.
//!
//! Before: a [`Model`]. After: the lines of a function, in a language that says how each statement is written
//! ([`Statements`]). What the functions are called and what they are given is a matter of the language.

pub mod blocks;
pub mod events;
pub mod modes;

use super::model::{Action, Model};
use super::write::{Dialect, Text, Writer};
use crate::expr::ExprId;
use crate::flat::Leaf;
use crate::passes::blocks::{Entry, Linear, Nonlinear, Selected};

/// How a language writes the statements of a function.
pub trait Statements<'p> {
    type Dialect: Dialect + 'p;
    /// Stands behind a statement.
    const END: &'static str;

    fn model(&self) -> &'p Model<'p>;
    fn writer(&mut self) -> &mut Writer<'p, Self::Dialect>;
    /// Whether a value is kept, so that it can be set.
    fn has(&self, leaf: Leaf) -> bool;
    /// What is set then.
    fn place(&self, leaf: Leaf) -> String;
    /// The number of a state among all that a run integrates.
    fn state(&self, leaf: Leaf) -> Option<usize>;
    /// Between two statements: where no block is open, a long function may be divided here.
    fn cut(&mut self) {}

    /// A list that has these values; what comes back stands for it.
    fn list(&mut self, name: &str, values: &[ExprId]) -> String;
    /// Values are set to the elements of a list.
    fn unpack(&mut self, leaves: &[Leaf], list: &str);
    /// The run ends where a condition holds: what is wrong, and with what.
    fn fail_if(&mut self, condition: &str, what: &str, about: &str);

    /// At an event a next value is set; between events it is the value of the variable.
    fn set_next(&mut self, next: Leaf, value: &Text);
    /// A next value that only a `when` sets is that of the variable.
    fn keep_next(&mut self, next: Leaf);
    /// Solves a linear loop with a matrix.
    fn solve(&mut self, at: usize, linear: &Linear, matrix: &[Entry], right: &[ExprId]);
    /// Iterates on a loop.
    fn iterate(&mut self, at: usize, nonlinear: &Nonlinear);
    /// Moves candidates, which are states, back onto their constraint where that is asked for.
    fn project(&mut self, at: usize, selected: &Selected);

    /// Before the branches of a `when`.
    fn begin_when(&mut self);
    /// A branch of a `when` by its number among all: what follows is done if its condition has just become true.
    fn begin_branch(&mut self, number: usize, condition: &Text);
    /// What a `when` sets.
    fn act(&mut self, action: &Action, value: &Text, about: &str);

    /// The first part of a row of what jumps: the two sides that are equal afterwards, or nothing yet.
    fn begin_row(&mut self, row: usize, sides: Option<(Text, Text)>);
    /// An element of its matrix.
    fn entry(&self, size: usize, row: usize, column: usize) -> String;
    /// The condition that two sides differ, beside their size and that of some states.
    fn differ(&mut self, left: &Text, right: &Text, states: &[usize]) -> String;

    fn line(&mut self, text: &str) {
        self.writer().line(text);
    }

    fn value(&mut self, id: ExprId) -> Text {
        self.writer().value(id)
    }

    fn set(&mut self, leaf: Leaf, value: &Text) {
        let line = format!("{} = {}{}", self.place(leaf), value.text, Self::END);
        self.line(&line);
    }
}

/// Sets a value, which may be a next value.
fn put<'p>(to: &mut impl Statements<'p>, leaf: Leaf, value: &Text) {
    match leaf {
        Leaf::New(_) => to.set_next(leaf, value),
        _ => to.set(leaf, value),
    }
}
