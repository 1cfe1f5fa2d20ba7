//! The bond graph of a flat model, with the causality that follows from its sorted equations.

use super::lower::Aliases;
use super::stages::{NoObserver, Product, Stage, StageObserver, done};
use super::switched::sorted_in_some_mode;
use crate::base::diagnostics::{Code, Diagnostics};
use crate::bond::causality::{Preferences, Wanted};
use crate::bond::recover::recover;
use crate::bond::{BondGraph, causality_with};
use crate::flat::Flat;
use crate::passes::signs::reference::reference;

/// The bond graph of a model and its causality. `None` if the model has no power ports; an error if the preferences cannot be
/// read. A model that cannot be sorted has a graph too.
pub fn bond_graph(
    written: Flat,
    preferences: &[String],
    diagnostics: &mut Diagnostics,
) -> Result<Option<BondGraph>, String> {
    bond_graph_with(written, preferences, &mut NoObserver, diagnostics)
}

/// The same with somebody who looks on.
pub fn bond_graph_with(
    written: Flat,
    preferences: &[String],
    observer: &mut dyn StageObserver,
    diagnostics: &mut Diagnostics,
) -> Result<Option<BondGraph>, String> {
    // No request: a model that is refused has a graph, too, and nothing but its references is wanted here.
    let (mut flat, ..) = reference(written.clone());
    let Some(graph) = recover(&mut flat) else {
        return Ok(None);
    };
    let preferences = Preferences::read(&graph, preferences)?;
    let mut wished = written;
    for preference in &preferences.list {
        let states = graph.node(preference.node).element().map(|one| &one.states);
        let wish = match preference.wanted {
            Wanted::Integral => true,
            Wanted::Derivative => false,
            Wanted::Resistance | Wanted::Conductance => continue,
        };
        for &state in states.into_iter().flatten() {
            wished.wishes.retain(|&(variable, _)| variable != state);
            wished.wishes.push((state, wish));
        }
    }
    wished
        .wishes
        .sort_unstable_by_key(|&(variable, _)| variable);
    let sorted = sorted_in_some_mode(wished, Aliases::Keep, observer, diagnostics);
    let sorted = sorted.map(|(flat, sorted, _)| (flat, sorted));
    observer.before(Stage::Graph);
    let mut causality = causality_with(&flat, &graph, &preferences, sorted.as_ref());
    if sorted.is_none() && diagnostics.iter().any(|one| contradicts(one.code)) {
        causality.contradict();
    }
    let found = BondGraph {
        flat,
        graph,
        causality,
        preferences,
        sorted,
    };
    done(observer, Stage::Graph, Product::Graph(&found));
    Ok(Some(found))
}

/// Whether an error means that equations contradict each other.
fn contradicts(code: Code) -> bool {
    matches!(code, Code::TooManyEquations | Code::UnknownsCancel)
}
