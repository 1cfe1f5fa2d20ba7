//! What each position is: its order, its index, the storages that it takes out of play.

use rustc_hash::FxHashSet;

use super::{Key, Positions};
use crate::flat::{Flat, Kind, Leaf, Type};

/// With at most this many switches all modes are examined; with more, those in which at most one switch differs from
/// the others.
const FEW: usize = 6;

/// One position.
#[derive(Clone, Debug)]
pub struct Mode {
    pub key: Key,
    /// `None` for a position that is impossible.
    pub shape: Option<Shape>,
}

#[derive(Clone, Debug)]
pub struct Shape {
    /// How many states there are.
    pub order: usize,
    pub index: u8,
    /// States of the source that are no states here, with the variables that they follow from.
    pub dropped: Vec<(Leaf, Vec<Leaf>)>,
    /// Something is not determined, and has the least norm.
    pub loose: bool,
}

impl Positions {
    /// The modes to be looked at, and whether these are all.
    pub fn keys(&self) -> (Vec<Key>, bool) {
        let count = self.switches.len();
        let all = count <= FEW;
        let mut keys: Vec<Key> = match all {
            true => (0..1u32 << count)
                .map(|number| (0..count).map(|at| number >> at & 1 == 1).collect())
                .collect(),
            false => self.candidates().collect(),
        };
        let mut seen: FxHashSet<Key> = FxHashSet::default();
        keys.retain(|key| seen.insert(key.clone()));
        (keys, all)
    }

    /// The shape of a mode as it was written, whose index is reduced.
    pub fn shape(&self, flat: &Flat, loose: bool) -> Shape {
        let dropped = (flat.reduction.iter())
            .flat_map(|reduction| &reduction.dropped)
            .filter(|dropped| is_state(&self.written, dropped.state))
            .map(|dropped| (dropped.state, dropped.others.clone()))
            .collect();
        Shape {
            order: flat.state_count(),
            index: index(flat),
            dropped,
            loose,
        }
    }
}

fn is_state(written: &Flat, leaf: Leaf) -> bool {
    let variable = written.variable(leaf.variable());
    leaf.order().is_some_and(|order| order < variable.states)
}

/// Of a model as it was written: 0 without algebraic unknowns, else 1, and more where it was reduced.
fn index(flat: &Flat) -> u8 {
    if let Some(reduction) = &flat.reduction {
        return reduction.index;
    }
    let algebraic = flat.variables.iter().any(|variable| {
        matches!(variable.kind, Kind::Algebraic | Kind::Output) && variable.ty == Type::Real
    });
    u8::from(algebraic)
}
