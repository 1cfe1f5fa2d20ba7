//! Signals: which elements and inputs modulate an element.
//!
//! Before: the graph, and the equation that computes each variable. After: for each signal of an
//! element, the elements and inputs on which it depends. They are found by going back through
//! equations that belong to no element.

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Graph, NodeId, Signal, SignalSource};
use crate::flat::{EqId, Flat, InstanceId, Kind, VarId};

pub fn signals(flat: &Flat, graph: &Graph, determined: &[Option<EqId>]) -> Vec<Signal> {
    let of_instance: FxHashMap<InstanceId, NodeId> = (graph.elements())
        .filter(|(_, element)| !element.reference && !element.open)
        .map(|(id, _)| (graph.node(id).owner, id))
        .collect();
    let mut found = Vec::new();
    for (id, element) in graph.elements() {
        for &variable in &element.signals {
            let sources = sources(flat, &of_instance, determined, variable, id);
            found.extend(sources.into_iter().map(|from| Signal {
                from,
                to: id,
                variable,
            }));
        }
    }
    found
}

fn sources(
    flat: &Flat,
    of_instance: &FxHashMap<InstanceId, NodeId>,
    determined: &[Option<EqId>],
    start: VarId,
    target: NodeId,
) -> Vec<SignalSource> {
    let mut found = Vec::new();
    let mut seen: FxHashSet<VarId> = FxHashSet::default();
    let mut work = vec![start];
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        let variable = flat.variable(id);
        let by = determined[id.index()].map(|by| flat.equations[by.index()]);
        if variable.kind == Kind::Input {
            found.push(SignalSource::Input(id));
            continue;
        }
        // A variable of an element ends the search, if an equation of the element or a connection
        // computes it.
        if let Some(&node) = of_instance.get(&variable.instance)
            && id != start
        {
            let set_outside =
                by.is_some_and(|by| by.origin != variable.instance) && graph_signal(flat, id);
            if !set_outside {
                if node != target {
                    found.push(SignalSource::Node(node));
                }
                continue;
            }
        }
        let Some(by) = by else {
            continue;
        };
        for side in [by.left, by.right] {
            flat.exprs.leaves(side, |leaf| {
                let kind = flat.variable(leaf.variable()).kind;
                if !matches!(kind, Kind::Parameter | Kind::Constant) {
                    work.push(leaf.variable());
                }
            });
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a variable is an input, an output or a terminal, which can be set from outside; a
/// variable of a cut is none.
fn graph_signal(flat: &Flat, id: VarId) -> bool {
    use crate::flat::Role::{Input, Output, Terminal};
    matches!(flat.declaration(id).role, Input | Output | Terminal)
}
