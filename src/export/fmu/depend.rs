//! The states, inputs (with their derivatives) and Time that outputs and derivatives depend on
//! ([`crate::passes::depends`]). Relations count with their sides, because events move them. `None` stands for "all of
//! them" in the standard: if switches change the equations, or if the lists would be too long.

use rustc_hash::FxHashMap;

use crate::export::model::Model;
use crate::expr::ExprId;
use crate::flat::{Leaf, VarId};
use crate::passes::depends::{AtEvents, Graph};

/// A variable that an unknown can depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Leaf(Leaf),
    Time,
}

#[derive(Debug)]
pub struct Dependencies<'g> {
    leaves: Vec<Leaf>,
    /// `None` if switches change the equations.
    found: Option<AtEvents<'g>>,
}

pub fn graph<'m>(model: &'m Model<'_>) -> Graph<'m> {
    Graph::new(model.flat, &model.solved.blocks, &model.replacements)
}

impl<'g> Dependencies<'g> {
    pub fn new(model: &Model<'_>, graph: &'g Graph<'g>) -> Self {
        let mut leaves = model.states.clone();
        leaves.extend(model.inputs.iter().map(|&(id, _)| Leaf::Var(id)));
        leaves.extend(model.slopes.iter().map(|&(leaf, _)| leaf));
        let found = match model.switched {
            Some(_) => None,
            None => Some(AtEvents::new(graph, &leaves, &decided(model))),
        };
        Dependencies { leaves, found }
    }

    pub fn of(&mut self, unknown: Leaf) -> Option<Vec<On>> {
        let columns = self.found.as_mut()?.of(unknown)?.into_iter();
        let on = |column: u32| match self.leaves.get(column as usize) {
            Some(&leaf) => On::Leaf(leaf),
            None => On::Time,
        };
        Some(columns.map(on).collect())
    }
}

/// What a `when` sets depends on the new value, and on the conditions of its branch and of the branches before it.
fn decided(model: &Model<'_>) -> Vec<(VarId, Vec<ExprId>)> {
    let mut sets: FxHashMap<VarId, Vec<ExprId>> = FxHashMap::default();
    for when in &model.whens {
        let mut conditions = Vec::new();
        for (condition, actions) in when {
            conditions.push(*condition);
            for action in actions {
                let set = sets.entry(action.target.variable()).or_default();
                set.push(action.value);
                set.extend(&conditions);
            }
        }
    }
    (model.discretes.iter())
        .map(|&id| (id, sets.remove(&id).unwrap_or_default()))
        .collect()
}
