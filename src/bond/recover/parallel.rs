//! Merges parallel parts: those between the same two nodes have one effort in common.
//!
//! Before: each part with two pins is attached to a 1-junction of its own between its two nodes.
//! After: all parts between the same two nodes are attached to one 0-junction, behind one
//! 1-junction. The equations are equivalent, but now the strokes show that two parallel capacitors
//! away from ground depend on each other. In a cycle of junctions with signs they would appear
//! independent. If one of the nodes is a reference nothing has to be done, because its effort is
//! known.

use std::collections::BTreeMap;

use crate::bond::graph::{Bond, BondId, Graph, JunctionKind, Node, NodeId, NodeKind, Quantity};

/// A part with two pins: its junction, its bond, and the bonds to its nodes.
struct Branch {
    inner: NodeId,
    own: BondId,
    outer: [BondId; 2],
    /// Whether its current enters at the first of its nodes.
    forward: bool,
}

pub fn merge_parallel(graph: &mut Graph) {
    let classes = classes(graph);
    let held_by_reference = held_by_reference(graph, &classes);
    let mut sets: BTreeMap<(NodeId, NodeId, JunctionKind), Vec<Branch>> = BTreeMap::new();
    let bonds_of = graph.bonds_of();
    for id in graph.node_ids() {
        if let Some((key, branch)) = branch(graph, &bonds_of, &classes, id)
            && !held_by_reference[key.0.index()]
            && !held_by_reference[key.1.index()]
        {
            sets.entry(key).or_default().push(branch);
        }
    }
    let mut removed_nodes = vec![false; graph.bonds.len()];
    let mut removed_bonds = vec![false; graph.nodes.len()];
    for ((.., kind), branches) in sets {
        if branches.len() > 1 {
            merge(
                graph,
                kind,
                &branches,
                &mut removed_nodes,
                &mut removed_bonds,
            );
        }
    }
    compact(graph, removed_nodes, removed_bonds);
}

/// Joins junctions of one kind that are connected by bonds; returns the representative of each
/// node.
fn classes(graph: &Graph) -> Vec<NodeId> {
    let mut parent: Vec<NodeId> = graph.node_ids().collect();
    let find = |parent: &mut Vec<NodeId>, mut at: NodeId| {
        while parent[at.index()] != at {
            parent[at.index()] = parent[parent[at.index()].index()];
            at = parent[at.index()];
        }
        at
    };
    for bond in &graph.bonds {
        let kinds = bond.ends().map(|id| graph.node(id).junction());
        if kinds[0].is_some() && kinds[0] == kinds[1] {
            let (a, b) = (find(&mut parent, bond.from), find(&mut parent, bond.to));
            parent[a.index()] = b;
        }
    }
    (graph.node_ids()).map(|id| find(&mut parent, id)).collect()
}

/// Marks the junctions whose common variable a reference fixes.
fn held_by_reference(graph: &Graph, classes: &[NodeId]) -> Vec<bool> {
    let mut held_by_reference = vec![false; graph.nodes.len()];
    for bond in &graph.bonds {
        for (end, other) in [(bond.from, bond.to), (bond.to, bond.from)] {
            if graph.node(end).element().is_some_and(|one| one.reference) {
                held_by_reference[classes[other.index()].index()] = true;
            }
        }
    }
    held_by_reference
}

fn branch(
    graph: &Graph,
    bonds_of: &[Vec<BondId>],
    classes: &[NodeId],
    inner: NodeId,
) -> Option<((NodeId, NodeId, JunctionKind), Branch)> {
    let node = graph.node(inner);
    let kind = node.junction()?;
    let [a, b, c] = bonds_of[inner.index()][..] else {
        return None;
    };
    let far = |bond: BondId| graph.bond(bond).other(inner);
    let is_part = |bond: BondId| {
        let other = graph.node(far(bond));
        other.owner == node.owner
            && other
                .element()
                .is_some_and(|element| element.ports.len() == 1 && !element.open)
    };
    let own = [a, b, c].into_iter().find(|&bond| is_part(bond))?;
    let outer: Vec<BondId> = [a, b, c].into_iter().filter(|&bond| bond != own).collect();
    let is_node =
        |bond: &BondId| (graph.node(far(*bond)).junction()).is_some_and(|other| other != kind);
    // One bond leads in and one leads out, so what goes in at one end comes out at the other.
    let inward = |bond: BondId| graph.bond(bond).to == inner;
    if node.named || !outer.iter().all(is_node) || inward(outer[0]) == inward(outer[1]) {
        return None;
    }
    let ends = [0, 1].map(|at| classes[far(outer[at]).index()]);
    if ends[0] == ends[1] {
        return None;
    }
    let (first, second) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    let entry = if inward(outer[0]) { ends[0] } else { ends[1] };
    Some((
        (first, second, kind),
        Branch {
            inner,
            own,
            outer: [outer[0], outer[1]],
            forward: entry == first,
        },
    ))
}

fn merge(
    graph: &mut Graph,
    kind: JunctionKind,
    branches: &[Branch],
    removed_nodes: &mut [bool],
    removed_bonds: &mut [bool],
) {
    // The first part by name keeps its junction.
    let name = |branch: &Branch| graph.node(branch.inner).name.clone();
    let Some(first) = (branches.iter()).min_by_key(|&branch| name(branch)) else {
        return;
    };
    let (inner, forward) = (first.inner, first.forward);
    let shared = NodeId(graph.nodes.len() as u32);
    let other = match kind {
        JunctionKind::Zero => JunctionKind::One,
        JunctionKind::One => JunctionKind::Zero,
    };
    let node = graph.node(inner);
    graph.nodes.push(Node {
        name: {
            // `C1:0` beside `C1:1`
            let digit = format!(":{}", kind.digit());
            let bare = node.name.strip_suffix(&digit).unwrap_or(&node.name);
            format!("{bare}:{}", other.digit())
        },
        named: false,
        owner: node.owner,
        kind: NodeKind::Junction(other),
    });
    // The common variable is that of the first part; the other parts have the same one, or its
    // negative.
    let own = graph.bond(first.own);
    let first_inward = own.to == inner;
    let common = |bond: &Bond| match kind {
        JunctionKind::One => bond.effort.clone(),
        JunctionKind::Zero => bond.flow.clone(),
    };
    let of_first = common(own);
    let common_in = if first_inward {
        of_first.negated()
    } else {
        of_first
    };
    let mut total: Option<Vec<_>> = Some(Vec::new());
    for branch in branches {
        let same = branch.forward == forward;
        let bond = &mut graph.bonds[branch.own.index()];
        let inward = bond.to == branch.inner;
        // The sign of the power into the part, seen from the shared junction. A source has been
        // turned before.
        let turned = same == inward;
        if turned {
            bond.effort = bond.effort.negated();
            bond.flow = bond.flow.negated();
            // In the element's own variables the sign changes.
            let ends = bond.ends();
            for end in ends {
                if let NodeKind::Element(element) = &mut graph.nodes[end.index()].kind {
                    let ports = element.ports.iter().zip(&mut element.quantities);
                    for (_, pair) in ports.filter(|(port, _)| **port == branch.own) {
                        *pair = [pair[0].negated(), pair[1].negated()];
                    }
                }
            }
        }
        let (flow, negative) = match kind {
            JunctionKind::One => (&bond.flow, inward),
            JunctionKind::Zero => (&bond.effort, inward),
        };
        let terms = flow.0.as_ref();
        total = match (total, terms) {
            (Some(mut total), Some(terms)) => {
                total.extend(terms.iter().map(|&(minus, id)| (minus != negative, id)));
                Some(total)
            }
            _ => None,
        };
        match inward {
            true => bond.to = shared,
            false => bond.from = shared,
        }
        if branch.inner != inner {
            removed_bonds[branch.inner.index()] = true;
            for id in branch.outer {
                removed_nodes[id.index()] = true;
            }
        }
    }
    let total = Quantity(total);
    for id in first.outer {
        let bond = &mut graph.bonds[id.index()];
        match kind {
            JunctionKind::One => bond.flow = total.clone(),
            JunctionKind::Zero => bond.effort = total.clone(),
        }
    }
    let (effort, flow) = match kind {
        JunctionKind::One => (common_in, total),
        JunctionKind::Zero => (total, common_in),
    };
    graph.bonds.push(Bond {
        from: inner,
        to: shared,
        effort,
        flow,
        in_bundle: false,
    });
}

/// Removes nodes and bonds, and renumbers the others.
fn compact(graph: &mut Graph, removed_nodes: Vec<bool>, removed_bonds: Vec<bool>) {
    let is_closed = |at: usize| removed_bonds.get(at).copied().unwrap_or(false);
    let mut nodes = Vec::with_capacity(graph.nodes.len());
    let mut node_place = Vec::with_capacity(graph.nodes.len());
    for (at, node) in graph.nodes.drain(..).enumerate() {
        node_place.push(NodeId(nodes.len() as u32));
        if !is_closed(at) {
            nodes.push(node);
        }
    }
    let mut bonds = Vec::with_capacity(graph.bonds.len());
    let mut bond_place = Vec::with_capacity(graph.bonds.len());
    for (at, mut bond) in graph.bonds.drain(..).enumerate() {
        bond_place.push(BondId(bonds.len() as u32));
        if !removed_nodes.get(at).copied().unwrap_or(false) {
            bond.from = node_place[bond.from.index()];
            bond.to = node_place[bond.to.index()];
            bonds.push(bond);
        }
    }
    for node in &mut nodes {
        if let NodeKind::Element(element) = &mut node.kind {
            for port in &mut element.ports {
                *port = bond_place[port.index()];
            }
        }
    }
    graph.nodes = nodes;
    graph.bonds = bonds;
}
