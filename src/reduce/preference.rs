//! Which variables are rather states than others.
//!
//! A rule, so that shuffling a model changes nothing: what a `when` restarts; what is declared
//! `state` and not `nostate`; what has a start value, the outermost first; what the source differentiates (it belongs to a
//! storage); fewer parts in its name; the alphabet.

use rustc_hash::FxHashSet;

use crate::expr::Node;
use crate::flat::{EquationKind, Flat, Leaf, Merit, VarId};

/// Smaller is rather a state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Preference {
    not_restarted: bool,
    /// 0 for `state`, 1 for nothing said, 2 for `nostate`.
    wish: u8,
    no_start: bool,
    /// Of the model that gives the start value.
    start_depth: u32,
    not_written: bool,
    parts: usize,
    name: String,
    order: u8,
}

impl Preference {
    /// Why this one comes before the other.
    pub fn merit_over(&self, other: &Preference) -> Merit {
        match self {
            _ if self.not_restarted != other.not_restarted => Merit::Restarted,
            _ if self.wish != other.wish => Merit::Wish,
            _ if self.no_start != other.no_start => Merit::Start,
            _ if self.start_depth != other.start_depth => Merit::StartDepth,
            _ if self.not_written != other.not_written => Merit::Written,
            _ if self.parts != other.parts => Merit::Nearer,
            _ => Merit::Name,
        }
    }

    pub fn is_wished(&self) -> bool {
        self.wish == 0 || !self.not_restarted
    }
}

/// The preferences of a model as it was written.
pub struct Preferences<'f> {
    flat: &'f Flat,
    restarted: FxHashSet<VarId>,
}

impl<'f> Preferences<'f> {
    pub fn new(flat: &'f Flat) -> Self {
        let restarts = (flat.equations.iter())
            .filter(|equation| matches!(equation.kind, EquationKind::When(..)))
            .filter_map(|equation| match flat.exprs.node(equation.left) {
                Node::Leaf(Leaf::Init(variable)) => Some(variable),
                _ => None,
            });
        Preferences {
            flat,
            restarted: restarts.collect(),
        }
    }

    /// Of a variable, or a derivative, as a state.
    pub fn of(&self, state: Leaf) -> Preference {
        let flat = self.flat;
        let id = state.variable();
        let order = state.order().unwrap_or(0);
        let name = flat.name(id);
        let start = flat.start(id).filter(|_| order == 0);
        Preference {
            not_restarted: !(order == 0 && self.restarted.contains(&id)),
            // A wish for x says nothing of der(x), unless the source speaks of its derivative.
            wish: match flat
                .wish(id)
                .filter(|_| order == 0 || order < flat.variable(id).order)
            {
                Some(true) => 0,
                None => 1,
                Some(false) => 2,
            },
            no_start: start.is_none(),
            start_depth: start.map_or(0, |start| start.depth),
            not_written: order >= flat.variable(id).order,
            parts: name.matches('.').count(),
            name,
            order,
        }
    }
}
