//! Numbers for all variables, their derivatives and their next values, so that data about them can be stored in
//! vectors.

use super::{Flat, Kind, Leaf};

/// Numbers for leaves.
#[derive(Debug)]
pub struct Slots<'f> {
    flat: &'f Flat,
    /// The first number of each variable.
    first: Vec<u32>,
}

impl<'f> Slots<'f> {
    pub fn new(flat: &'f Flat) -> Self {
        let mut first = Vec::with_capacity(flat.variables.len() + 1);
        let mut next = 0;
        for variable in &flat.variables {
            first.push(next);
            next += u32::from(variable.order) + 1;
            next += u32::from(variable.kind == Kind::Discrete);
        }
        first.push(next);
        Slots { flat, first }
    }

    pub fn count(&self) -> usize {
        self.first.last().map_or(0, |&end| end as usize)
    }

    /// The number of a leaf. `None` for restarts and values before an event, and for derivatives that the model does
    /// not contain.
    pub fn of(&self, leaf: Leaf) -> Option<usize> {
        let variable = self.flat.variables.get(leaf.variable().index())?;
        let order = match leaf {
            Leaf::New(_) if variable.kind == Kind::Discrete => variable.order + 1,
            _ => leaf.order().filter(|&order| order <= variable.order)?,
        };
        Some(self.first[leaf.variable().index()] as usize + usize::from(order))
    }
}
