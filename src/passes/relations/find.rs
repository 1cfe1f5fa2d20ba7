//! The walk that finds everything that keeps its value between events.
//!
//! Before: a flat model, and the expressions that will be evaluated. After: their relations and functions that jump and
//! whose arguments change between events; samples; sines of Time. All are in the order of the arena, so an inner
//! relation comes before the one that contains it.

use super::{Moving, WatchKind};
use crate::expr::{ExprId, Function, Node};
use crate::flat::Flat;

/// A relation, or a function that jumps, whose arguments change between events. It keeps its truth or value until an
/// event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relation {
    pub kind: WatchKind,
    /// The expression as it is written.
    pub node: ExprId,
    pub left: ExprId,
    /// `None` for functions of one argument.
    pub right: Option<ExprId>,
    /// Both sides are linear in Time, with coefficients that change only at events.
    pub timed: bool,
}

/// `sample(start, period)`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    pub node: ExprId,
    pub start: ExprId,
    pub period: ExprId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    Relation(Relation),
    Sample(Sample),
}

#[derive(Clone, Debug, Default)]
pub struct Found {
    pub kept: Vec<Kept>,
    /// Arguments of sines and cosines that are linear in Time.
    pub sines: Vec<ExprId>,
    /// By expression: whether it is a part of the given ones.
    pub used: Vec<bool>,
}

impl Found {
    pub fn relations(&self) -> impl Iterator<Item = Relation> + '_ {
        self.kept.iter().filter_map(|kept| match *kept {
            Kept::Relation(relation) => Some(relation),
            Kept::Sample(_) => None,
        })
    }

    pub fn samples(&self) -> impl Iterator<Item = Sample> + '_ {
        self.kept.iter().filter_map(|kept| match *kept {
            Kept::Sample(sample) => Some(sample),
            Kept::Relation(_) => None,
        })
    }
}

/// `roots` must contain the replacements of eliminated variables.
pub fn find(
    flat: &Flat,
    moving: &mut Moving<'_>,
    roots: impl IntoIterator<Item = ExprId>,
) -> Found {
    let mut found = Found {
        used: flat.exprs.reached(roots),
        ..Found::default()
    };
    for (at, _) in found.used.iter().enumerate().filter(|(_, used)| **used) {
        let node = ExprId(at as u32);
        if let Node::Call(function, args) = flat.exprs.node(node) {
            let args = flat.exprs.args(args);
            match function {
                Function::Sin | Function::Cos if moving.moves(args[0]) => {
                    let timed = moving.is_timed(args[0]);
                    found.sines.extend(timed.then_some(args[0]));
                }
                Function::Sample => found.kept.push(Kept::Sample(Sample {
                    node,
                    start: args[0],
                    period: args[1],
                })),
                _ => {}
            }
        }
        let Some(kind) = WatchKind::of(flat, node).filter(|_| moving.moves(node)) else {
            continue;
        };
        let (left, right) = match flat.exprs.node(node) {
            Node::Binary(_, a, b) => (a, Some(b)),
            Node::Call(function, args) => {
                let args = flat.exprs.args(args);
                (args[0], (function == Function::Mod).then(|| args[1]))
            }
            _ => continue,
        };
        found.kept.push(Kept::Relation(Relation {
            kind,
            node,
            left,
            right,
            timed: moving.are_timed(left, right),
        }));
    }
    found
}
