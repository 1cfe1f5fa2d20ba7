//! Positions of ideal switches: each is a model of its own, made when it is needed.
//!
//! The 1995 paper (Cellier, Otter and Elmqvist) solves an ideal switch once for both positions where its equation lies
//! in a loop, and leaves open what to do where the index changes with the position. Here a *position* is the truth
//! of all switches. For each that occurs the branches that hold are put in and the model goes through all stages
//! again: signs that cancel, index reduction, choice of states, sorting, solving. So a position has the order and
//! the index that it has, its constraints hold exactly, and nothing drifts. Between positions go the values of all variables,
//! and where they do not satisfy the constraints of the next one, the balance of impulses says what they jump to ([`jump`]).
//!
//! A model without switches, in which something discontinuous is differentiated ([`steps`]), has one position of its own, so
//! that it jumps by the same law.
//!
//! [`switches`] finds the switches, [`open`] takes relations out of the equations so that all positions share them,
//! [`least_norm`] settles what a position leaves open, [`uniform`] tells whether one solved model does for all
//! positions, [`paper`] writes what a switch alone decides in the form of the paper.

pub mod jump;
mod least_norm;
mod modes;
mod names;
mod null_space;
mod open;
mod paper;
mod steps;
mod switches;
mod uniform;

pub use jump::{Before, Jump, JumpFactors, Jumped, Refused, Values};
pub use least_norm::Loose;
pub use modes::{Mode, Shape};
pub use open::{OpenSampler, OpenWatch, Opened, Side};
pub use paper::form;
pub use steps::{Discontinuous, can_be_any};
pub use switches::{Key, Switch, branch, plain, switches};
pub use uniform::uniform;

use rustc_hash::FxHashSet;

use crate::expr::{ExprId, Node};
use crate::flat::{Flat, Leaf};

/// A model with switches, before any position is put in.
#[derive(Clone, Debug)]
pub struct Positions {
    /// As it was flattened, with the experiment in it.
    pub written: Flat,
    /// The same with its relations taken out.
    pub flat: Flat,
    /// Conditions are those of [`Positions::flat`].
    pub switches: Vec<Switch>,
    /// The same switches in [`Positions::written`].
    pub written_switches: Vec<Switch>,
    pub opened: Opened,
    /// The one position that a single set of formulas or of sorted equations is of; nothing if it is of all of them, with
    /// divisors that vanish in some.
    pub shown: Option<Key>,
}

impl Positions {
    /// `None` if there are no switches.
    pub fn new(written: &Flat) -> Option<Positions> {
        let positions = Positions::of(written);
        let count = positions.switches.len();
        (count > 0 && count == positions.written_switches.len()).then_some(positions)
    }

    /// The same of any model: without switches it has one position.
    pub fn of(written: &Flat) -> Positions {
        Positions::with_corners(written, &FxHashSet::default())
    }

    /// The same; these corners are events, too.
    pub fn with_corners(written: &Flat, corners: &FxHashSet<ExprId>) -> Positions {
        let mut flat = written.clone();
        let opened = open::open(&mut flat, corners);
        Positions {
            written: written.clone(),
            switches: switches(&flat),
            written_switches: switches(written),
            flat,
            opened,
            shown: None,
        }
    }

    /// The branches of a mode put in, its relations taken out; and what is open in it.
    pub fn in_mode(&self, key: &[bool]) -> (Flat, Vec<Loose>) {
        in_position(&self.flat, &self.switches, key)
    }

    /// Positions to look at first: all switches alike, then all but one.
    pub fn candidates(&self) -> impl Iterator<Item = Key> + use<> {
        let count = self.switches.len();
        let all = [false, true].map(|truth| vec![truth; count].into_boxed_slice());
        let single = (0..count).flat_map(move |at| {
            [false, true].map(|other| (0..count).map(|k| (k == at) ^ other).collect())
        });
        all.into_iter().chain(single)
    }

    /// Variables that switches themselves hold at zero in a position: `f` of an open one, `e` of a closed one.
    pub fn held_at_zero(&self, key: &[bool]) -> Vec<Leaf> {
        let flat = &self.flat;
        let mut found = Vec::new();
        for (switch, &truth) in self.switches.iter().zip(key) {
            for id in &switch.equations {
                let equation = &flat.equations[id.index()];
                for side in [equation.left, equation.right] {
                    if let Node::If(condition, a, b) = flat.exprs.node(side)
                        && let (condition, negated) = plain(flat, condition)
                        && condition == switch.condition
                        && let Node::Leaf(leaf) =
                            flat.exprs.node(if truth ^ negated { a } else { b })
                    {
                        found.push(leaf);
                    }
                }
            }
        }
        found
    }

    /// The variable that stands alone on the left of a relation.
    pub fn left_leaf(&self, watch: &OpenWatch) -> Option<Leaf> {
        let node = self.flat.exprs.node(watch.node);
        let Node::Binary(_, left, _) = node else {
            return None;
        };
        match self.flat.exprs.node(left) {
            Node::Leaf(leaf) => Some(leaf),
            _ => None,
        }
    }

    /// The equations of a position as they were written, for listings and messages.
    pub fn written_in(&self, key: &[bool]) -> (Flat, Vec<Loose>) {
        in_position(&self.written, &self.written_switches, key)
    }
}

/// What the source differentiates: variables, and derivatives below the highest.
pub fn differentiated(flat: &Flat) -> impl Iterator<Item = Leaf> + '_ {
    flat.variable_ids().flat_map(|id| {
        let variable = flat.variable(id);
        let orders = match variable.kind.is_unknown() {
            true => 0..variable.order,
            false => 0..0,
        };
        orders.map(move |order| Leaf::at_order(id, order))
    })
}

/// The branches put in, and what they leave open settled.
fn in_position(written: &Flat, switches: &[Switch], key: &[bool]) -> (Flat, Vec<Loose>) {
    let mut flat = written.clone();
    switches::put_in(&mut flat, switches, key);
    let mut loose = least_norm::settle(&mut flat, written, switches, key);
    loose.extend(null_space::settle(&mut flat, written, switches, key));
    (flat, loose)
}
