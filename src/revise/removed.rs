//! The parts to remove, as they are named in the text: submodels, nodes, and places that become one.
//!
//! Before: the nodes and bonds of the expanded graph to remove. After: [`RemovedParts`]: their submodels, links and
//! bonds that would end nowhere, and nodes that nothing is connected to any more.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::Obstacle;
use super::connections::Residue;
use super::edit::Edits;
use super::script::Script;
use crate::bond::BondGraph;
use crate::bond::fields::superfluous::Removal;
use crate::bond::recover::junctions_by_name;
use crate::flat::{Flat, InstanceId, JunctionId};
use crate::syntax::ast::StatementKind;

#[derive(Debug)]
pub struct RemovedParts {
    pub instances: FxHashSet<InstanceId>,
    pub submodels: BTreeMap<String, Residue>,
    pub nodes: BTreeSet<String>,
    /// Pairs of places that become one node.
    pub joined: Vec<(JunctionId, JunctionId)>,
    /// Parts that only transmit power: links and bonds.
    pub wires: Vec<InstanceId>,
}

/// Finds the submodels and nodes that correspond to the removed part of a graph.
pub fn removed_parts(
    flat: &Flat,
    script: &Script,
    model: &BondGraph,
    removal: &Removal,
) -> Result<RemovedParts, Obstacle> {
    let graph = &model.graph;
    let mut removed = RemovedParts {
        instances: FxHashSet::default(),
        submodels: BTreeMap::new(),
        nodes: BTreeSet::new(),
        joined: Vec::new(),
        wires: Vec::new(),
    };
    let mut elements: FxHashSet<InstanceId> = FxHashSet::default();
    for (id, _) in graph.elements() {
        let owner = graph.node(id).owner;
        elements.insert(owner);
        if removal.nodes[id.index()] {
            script.declared(flat, owner)?;
            removed.instances.insert(owner);
            removed.submodels.insert(flat.path(owner), Residue::Gap);
        }
    }
    let known = junctions_by_name(flat);
    let mut gone_places: BTreeSet<JunctionId> = BTreeSet::new();
    for id in graph.node_ids() {
        let node = graph.node(id);
        if node.junction().is_none() {
            continue;
        }
        let place = known.get(&node.name).copied();
        if removal.nodes[id.index()] {
            gone_places.extend(place);
        } else if removed.instances.contains(&node.owner) {
            // The part is removed but not its internal junction, so its ends become one node.
            let ends: Vec<JunctionId> = (graph.bond_ids())
                .filter(|&bond| !removal.bonds[bond.index()])
                .filter(|&bond| graph.bond(bond).ends().contains(&id))
                .filter_map(|bond| {
                    known
                        .get(&graph.node(graph.bond(bond).other(id)).name)
                        .copied()
                })
                .collect();
            match ends[..] {
                [_, _] if flat.ports.of(node.owner).count() == 2 => {
                    removed
                        .submodels
                        .insert(flat.path(node.owner), Residue::Wire);
                }
                [a, b] => removed.joined.push((a, b)),
                _ => {}
            }
        }
    }
    let parents: FxHashSet<InstanceId> = (flat.instances.iter().skip(1))
        .map(|instance| instance.parent)
        .collect();
    for (at, instance) in flat.instances.iter().enumerate().skip(1) {
        let id = InstanceId(at as u32);
        if instance.parent != InstanceId::TOP || elements.contains(&id) {
            continue;
        }
        let at_gone = (flat.ports.of(id)).any(|port| {
            (flat.ports.get(port).outside).is_some_and(|place| gone_places.contains(&place))
        });
        if parents.contains(&id) {
            if at_gone {
                return Err(Obstacle::Elsewhere(flat.path(id)));
            }
            continue;
        }
        removed.wires.push(id);
        if at_gone {
            script.declared(flat, id)?;
            removed.instances.insert(id);
            removed.submodels.insert(flat.path(id), Residue::Gap);
        }
    }
    for statement in script.body() {
        if let StatementKind::Nodes { nodes, .. } = &statement.kind {
            for node in nodes.iter().filter(|node| node.size.is_none()) {
                let name = script.name(node.name);
                if known
                    .get(name)
                    .is_some_and(|place| gone_places.contains(place))
                {
                    removed.nodes.insert(name.to_string());
                }
            }
        }
    }
    Ok(removed)
}

/// Removes the parts from the declarations.
pub fn remove_declarations(script: &Script, removed: &RemovedParts, edits: &mut Edits) {
    for statement in script.body() {
        let whole = statement.span.range();
        match &statement.kind {
            StatementKind::Submodels { submodels, .. } => {
                let spans: Vec<_> = submodels.iter().map(|one| one.span.range()).collect();
                let gone = |at: usize| {
                    let name = script.name(submodels[at].name);
                    submodels[at].size.is_none() && removed.submodels.contains_key(name)
                };
                edits.drop_items(&script.text, whole, &spans, gone);
            }
            StatementKind::Nodes { nodes, .. } => {
                let spans: Vec<_> = nodes.iter().map(|one| one.name.span.range()).collect();
                let gone = |at: usize| {
                    nodes[at].size.is_none() && removed.nodes.contains(script.name(nodes[at].name))
                };
                if (0..nodes.len()).any(gone) {
                    edits.drop_items(&script.text, whole, &spans, gone);
                }
            }
            StatementKind::Wishes { variables, .. } => {
                let spans: Vec<_> = variables.iter().map(|one| one.span.range()).collect();
                let gone = |at: usize| {
                    let head = script.head(variables[at]);
                    head.is_some_and(|(name, _)| removed.submodels.contains_key(name))
                };
                if (0..variables.len()).any(gone) {
                    edits.drop_items(&script.text, whole, &spans, gone);
                }
            }
            _ => {}
        }
    }
}
