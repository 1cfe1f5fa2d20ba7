//! A model seen as a bond graph: graph, causality and sorted equations together.

use super::causality::{Causality, Preference, Preferences, causality};
use super::graph::{Graph, NodeId};
use crate::flat::Flat;
use crate::passes::order::Sorted;

/// A model seen as a bond graph.
#[derive(Debug)]
pub struct BondGraph {
    /// As it was written, with what the graph refers to.
    pub flat: Flat,
    /// As it was written, too: [`crate::bond::view`] makes it smaller.
    pub graph: Graph,
    pub causality: Causality,
    pub preferences: Preferences,
    /// The equations sorted, nothing eliminated; nothing if they cannot be.
    pub sorted: Option<(Flat, Sorted)>,
}

impl BondGraph {
    /// The causality with more wishes of resistors, after those that were given; as it was if they cannot be had.
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

/// The causality of a graph whose storages keep the states that the sorter keeps.
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
