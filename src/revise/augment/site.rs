//! Sites where a storage would help: junctions on the causal paths of dependent storages, and in implicit R-fields.

use crate::bond::graph::{BondId, ElementKind, Graph, JunctionKind, NodeId, NodeKind};
use crate::bond::order::natural;
use crate::revise::reduce::TracedModel;

/// The purpose of a new storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Inserted into this bond, it makes this storage independent.
    Free { bond: BondId, storage: NodeId },
    /// It makes the R-field of this number explicit.
    Break(usize),
}

#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// A node of the graph with named junctions.
    pub junction: NodeId,
    pub purpose: Purpose,
    /// True for a compliance, false for an inertance.
    pub is_c: bool,
}

/// Returns all sites: along the paths of dependent storages, then in R-fields.
pub fn sites(traced: &TracedModel) -> Vec<Site> {
    let fields = &traced.fields;
    let graph = &fields.named.graph;
    let mut found = Vec::new();
    for field in &fields.storage_fields {
        let Some(element) = graph.node(field.dependent).element() else {
            continue;
        };
        let mut flow = element.kind == ElementKind::I;
        for (at, &id) in field.path.iter().enumerate() {
            match &graph.node(id).kind {
                NodeKind::Element(element) if element.kind == ElementKind::GY => flow = !flow,
                NodeKind::Junction(_) => {
                    if let Some(bond) = insertion_bond(graph, &field.path, at) {
                        found.push(Site {
                            junction: id,
                            purpose: Purpose::Free {
                                bond,
                                storage: field.dependent,
                            },
                            is_c: flow,
                        });
                    }
                }
                _ => {}
            }
        }
    }
    let shown = &fields.view.graph;
    for (number, field) in fields.r_fields.iter().enumerate() {
        let mut junctions: Vec<&str> = (field.bonds.iter())
            .flat_map(|&bond| shown.bond(bond).ends())
            .filter(|&id| shown.node(id).junction().is_some())
            .map(|id| shown.node(id).name.as_str())
            .collect();
        junctions.sort_by(|a, b| natural(a, b));
        junctions.dedup();
        for name in junctions {
            let node = (graph.node_ids()).find(|&id| graph.node(id).name == name);
            let Some((junction, kind)) = node.and_then(|id| Some((id, graph.node(id).junction()?)))
            else {
                continue;
            };
            found.push(Site {
                junction,
                purpose: Purpose::Break(number),
                is_c: kind == JunctionKind::Zero,
            });
        }
    }
    found
}

/// Returns the bond of a junction on a path into which a storage is inserted: preferably one that continues the path,
/// not one to an element at its end.
fn insertion_bond(graph: &Graph, path: &[NodeId], at: usize) -> Option<BondId> {
    let bond = |other: NodeId| {
        (graph.bond_ids()).find(|&bond| {
            let ends = graph.bond(bond).ends();
            ends.contains(&path[at]) && ends.contains(&other)
        })
    };
    let leads_on = |node: NodeId| match &graph.node(node).kind {
        NodeKind::Element(element) => element.ports.len() > 1,
        _ => true,
    };
    let next = path.get(at + 1).copied();
    let last = path[at.checked_sub(1)?];
    match next.filter(|&next| leads_on(next)) {
        Some(next) => bond(next),
        None => bond(last),
    }
}
