//! What programs in C and Python share: which statements their functions consist of, and in which order.
//!
//! Before: a [`Model`]. After: the lines of a function, in a language that defines how each statement is written
//! ([`Statements`]). The names and parameters of the functions belong to the language.

pub mod blocks;
pub mod events;
pub mod modes;

use super::model::{Action, Model};
use super::write::{Dialect, Writer};
use crate::expr::ExprId;
use crate::expr::print::Text;
use crate::flat::Leaf;
use crate::passes::blocks::{Entry, Linear, Nonlinear, Selected};

/// How a language writes the statements of a function.
pub trait Statements<'p> {
    type Dialect: Dialect + 'p;
    /// The end of a statement.
    const END: &'static str;

    fn model(&self) -> &'p Model<'p>;
    fn writer(&mut self) -> &mut Writer<'p, Self::Dialect>;
    /// Whether a variable has a place, so that it can be set.
    fn has(&self, leaf: Leaf) -> bool;
    /// The text of its place.
    fn place(&self, leaf: Leaf) -> String;
    /// The number of a state among all that a run integrates.
    fn state(&self, leaf: Leaf) -> Option<usize>;
    /// Called between two statements: if no block is open, a long function can be divided here.
    fn cut(&mut self) {}

    /// Writes a list with these values, and returns its text.
    fn list(&mut self, name: &str, values: &[ExprId]) -> String;
    /// Sets variables to the elements of a list.
    fn unpack(&mut self, leaves: &[Leaf], list: &str);
    /// Ends the run if a condition holds, with a text and a name.
    fn fail_if(&mut self, condition: &str, what: &str, about: &str);

    /// Sets a next value at an event; between events it is the value of the variable.
    fn set_next(&mut self, next: Leaf, value: &Text);
    /// A next value that only a `when` sets is at first the value of the variable.
    fn keep_next(&mut self, next: Leaf);
    /// Solves a linear loop with a matrix.
    fn solve(&mut self, at: usize, linear: &Linear, matrix: &[Entry], right: &[ExprId]);
    /// Solves a nonlinear loop by iteration.
    fn iterate(&mut self, at: usize, nonlinear: &Nonlinear);
    /// Projects the candidates of a selection, which are states, back onto their constraints when the run requests it.
    fn project(&mut self, at: usize, selected: &Selected);

    /// Called before the branches of a `when`.
    fn begin_when(&mut self);
    /// Begins a branch of a `when`, which is executed if its condition has just become true. Branches are numbered over
    /// all `when`s.
    fn begin_branch(&mut self, number: usize, condition: &Text);
    /// An action of a `when`.
    fn act(&mut self, action: &Action, value: &Text, about: &str);

    /// The beginning of a row in the system for a jump: two sides that are equal afterwards, or none.
    fn begin_row(&mut self, row: usize, sides: Option<(Text, Text)>);
    /// An element of the matrix of that system.
    fn entry(&self, size: usize, row: usize, column: usize) -> String;
    /// The condition that two sides differ, relative to their size and that of some states.
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

/// Assigns a value, which may be a next value.
fn put<'p>(to: &mut impl Statements<'p>, leaf: Leaf, value: &Text) {
    match leaf {
        Leaf::New(_) => to.set_next(leaf, value),
        _ => to.set(leaf, value),
    }
}
