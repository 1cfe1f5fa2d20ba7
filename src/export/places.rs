//! The places of values in programs: a group for states, one for inputs, and so on, the same in every language.

use rustc_hash::FxHashMap;

use super::model::Model;
use super::names::Names;
use crate::flat::{Leaf, VarId};

/// A group of values of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    States,
    /// Inputs and derivatives of inputs.
    Inputs,
    Parameters,
    Discretes,
    /// Next values of discrete variables.
    Nexts,
    /// Values before an event.
    Before,
    /// Variables that blocks compute.
    Computed,
    /// Eliminated variables.
    Eliminated,
}

impl Place {
    /// The groups in order. A variable that fits several belongs to the first.
    pub const ALL: [Place; 8] = [
        Place::States,
        Place::Inputs,
        Place::Parameters,
        Place::Discretes,
        Place::Nexts,
        Place::Before,
        Place::Computed,
        Place::Eliminated,
    ];
}

impl Model<'_> {
    /// The values of a group, in order.
    pub fn kept_in(&self, place: Place) -> Vec<Leaf> {
        let all = |ids: &[VarId], of: fn(VarId) -> Leaf| ids.iter().map(|&id| of(id)).collect();
        match place {
            Place::States => self.states.clone(),
            Place::Inputs => {
                let inputs = self.inputs.iter().map(|&(id, _)| Leaf::Var(id));
                (inputs.chain(self.slopes.iter().map(|&(leaf, _)| leaf))).collect()
            }
            Place::Parameters => all(&[&self.parameters[..], &self.derived].concat(), Leaf::Var),
            Place::Discretes => all(&self.discretes, Leaf::Var),
            Place::Nexts => all(&self.discretes, Leaf::New),
            Place::Before => all(&self.before, Leaf::Pre),
            Place::Computed => self.computed.clone(),
            Place::Eliminated => self
                .flat
                .eliminated
                .iter()
                .map(|alias| alias.leaf)
                .collect(),
        }
    }

    /// All values with their groups.
    pub fn kept(&self) -> impl Iterator<Item = (Leaf, Place)> {
        (Place::ALL.into_iter()).flat_map(|place| {
            let leaves = self.kept_in(place).into_iter();
            leaves.map(move |leaf| (leaf, place))
        })
    }

    /// Truths of relations and of samples, which are variables in a model with modes, as elements of two lists.
    pub fn truths(&self, held: &str, sampled: &str) -> FxHashMap<Leaf, String> {
        let lists = (self.switched.iter())
            .flat_map(|switched| [(held, &switched.held), (sampled, &switched.sampled)]);
        lists
            .flat_map(|(list, ids)| {
                let elements = ids.iter().enumerate();
                elements.map(move |(at, &id)| (Leaf::Var(id), format!("{list}[{at}]")))
            })
            .collect()
    }
}

impl Names {
    /// Names all values of a program.
    pub fn add_all(&mut self, model: &Model<'_>) {
        for (leaf, _) in model.kept() {
            // A side of a relation that is a variable of its own would have its whole text as its name.
            if !model.is_written(leaf.variable()) && self.get(leaf).is_empty() {
                let name = self.fresh("side");
                self.set(leaf, name);
            }
            self.add(model.flat, leaf);
        }
    }
}
