//! A model as a bond graph: its graph, causality and sorted equations together.

use super::causality::{Causality, Preference, Preferences, causality};
use super::graph::{Graph, NodeId};
use crate::flat::Flat;
use crate::passes::order::Sorted;

/// A model as a bond graph.
#[derive(Debug)]
pub struct BondGraph {
    /// The flat model as it was written. The graph refers to its variables and expressions.
    pub flat: Flat,
    /// The expanded graph; [`crate::bond::view`] simplifies it.
    pub graph: Graph,
    pub causality: Causality,
    pub preferences: Preferences,
    /// The sorted equations, with nothing eliminated; `None` if they cannot be sorted.
    pub sorted: Option<(Flat, Sorted)>,
}

impl BondGraph {
    /// Adds preferences for resistors, after those that the user gave, and finds the causality
    /// again. Nothing changes if the new preferences cannot be met.
    pub fn prefer(&mut self, wishes: Vec<Preference>) {
        if wishes.is_empty() {
            return;
        }
        let mut preferences = self.preferences.clone();
        let before = preferences.list.len();
        preferences.list.extend(wishes);
        let sorted = self.sorted.as_ref();
        let causality = causality_with(&self.flat, &self.graph, &preferences, sorted);
        if causality.unmet.iter().all(|&at| at < before) {
            (self.causality, self.preferences) = (causality, preferences);
        }
    }
}

/// Finds the causality of a graph. Storages whose states the sorter keeps are integrated first.
pub fn causality_with(
    flat: &Flat,
    graph: &Graph,
    preferences: &Preferences,
    sorted: Option<&(Flat, Sorted)>,
) -> Causality {
    let kept = |id: NodeId| {
        let (Some(element), Some((reduced, _))) = (graph.node(id).element(), sorted) else {
            return true;
        };
        let whole = |&state: &_| reduced.variable(state).states >= flat.variable(state).states;
        element.states.iter().all(whole)
    };
    let dropped = sorted.map_or(0, |(reduced, _)| {
        (flat.states().count()).saturating_sub(reduced.state_count())
    });
    causality(graph, preferences, &kept, dropped)
}
