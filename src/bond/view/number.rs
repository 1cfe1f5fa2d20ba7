//! Numbers the bonds of a graph along the power, breadth first from the sources on. Names decide
//! where there is a choice.

use crate::base::cancel::glance;
use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::View;
use super::simplify::SimplifiedGraph;
use crate::bond::graph::{BondId, Graph, NodeId, NodeKind, Signal, SignalSource};
use crate::bond::order::natural;
use crate::flat::Flat;

pub fn numbered(flat: &Flat, mut simplified: SimplifiedGraph) -> View {
    let count = simplified.nodes.len();
    let roots: Vec<NodeId> = (0..count as u32)
        .map(|at| simplified.find(NodeId(at)))
        .collect();
    let alive: Vec<usize> = (0..count)
        .filter(|&at| roots[at].index() == at && !simplified.removed[at])
        .collect();
    let mut of: Vec<Vec<BondId>> = vec![Vec::new(); count];
    for (at, bond) in simplified.bonds.iter_mut().enumerate() {
        if let Some(bond) = bond {
            (bond.from, bond.to) = (roots[bond.from.index()], roots[bond.to.index()]);
            of[bond.from.index()].push(BondId(at as u32));
            of[bond.to.index()].push(BondId(at as u32));
        }
    }
    let rank = ranks(&simplified, &alive);
    let far = |at: usize, id: BondId| {
        let bond = simplified.bonds[id.index()].as_ref();
        bond.map_or(at, |bond| bond.other(NodeId(at as u32)).index())
    };
    // Two bonds between the same nodes are distinguished by their variables.
    let carries = |id: BondId| {
        let bond = simplified.bonds[id.index()].as_ref();
        bond.map(|bond| format!("{} {}", bond.effort.text(flat), bond.flow.text(flat)))
    };
    for &at in &alive {
        // One-port elements come before nodes from which the search goes on.
        let key = |id: BondId| {
            let other = far(at, id);
            let bond = simplified.bonds[id.index()].as_ref();
            let inward = bond.is_some_and(|bond| bond.from.index() != at);
            (one_port_class(&simplified, other), rank[other], inward)
        };
        of[at].sort_by(|&a, &b| {
            (key(a).cmp(&key(b)))
                .then_with(|| carries(a).cmp(&carries(b)))
                .then(a.cmp(&b))
        });
    }
    let mut starts = alive;
    // A source that delivers power comes before one that takes power.
    let takes = |at: usize| {
        let bond = of[at]
            .first()
            .and_then(|id| simplified.bonds[id.index()].as_ref());
        bond.is_some_and(|bond| bond.from.index() != at)
    };
    starts.sort_by_key(|&at| (start_class(&simplified, at), takes(at), rank[at]));
    let mut seen = vec![false; count];
    let mut order: Vec<BondId> = Vec::new();
    let mut nodes: Vec<usize> = Vec::new();
    let mut taken = vec![false; simplified.bonds.len()];
    let mut queue = VecDeque::new();
    for start in starts {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        queue.push_back(start);
        while let Some(at) = queue.pop_front() {
            glance();
            nodes.push(at);
            for &id in &of[at] {
                if !std::mem::replace(&mut taken[id.index()], true) {
                    order.push(id);
                }
                let next = far(at, id);
                if !std::mem::replace(&mut seen[next], true) {
                    queue.push_back(next);
                }
            }
        }
    }
    renumbered(simplified, &nodes, order, &roots)
}

/// Sort key: 0 for a one-port element, 1 for any other node.
fn one_port_class(simplified: &SimplifiedGraph, at: usize) -> u8 {
    match &simplified.nodes[at].kind {
        NodeKind::Element(element) if element.ports.len() == 1 => 0,
        _ => 1,
    }
}

fn start_class(simplified: &SimplifiedGraph, at: usize) -> u8 {
    match &simplified.nodes[at].kind {
        NodeKind::Element(element) if element.kind.is_source() && !element.idle => 0,
        NodeKind::Box(_) => 1,
        NodeKind::Element(_) => 2,
        NodeKind::Junction(_) => 3,
    }
}

/// Returns the rank of the name of each node.
fn ranks(simplified: &SimplifiedGraph, alive: &[usize]) -> Vec<u32> {
    let mut by_name = alive.to_vec();
    by_name.sort_by(|&a, &b| {
        natural(&simplified.nodes[a].name, &simplified.nodes[b].name).then_with(|| a.cmp(&b))
    });
    let mut rank = vec![0; simplified.nodes.len()];
    for (place, at) in by_name.into_iter().enumerate() {
        rank[at] = place as u32;
    }
    rank
}

fn renumbered(
    mut simplified: SimplifiedGraph,
    nodes: &[usize],
    order: Vec<BondId>,
    roots: &[NodeId],
) -> View {
    let mut new = vec![None; simplified.nodes.len()];
    for (place, &at) in nodes.iter().enumerate() {
        new[at] = Some(NodeId(place as u32));
    }
    let places: FxHashMap<BondId, BondId> = (order.iter().enumerate())
        .map(|(place, &id)| (id, BondId(place as u32)))
        .collect();
    let mut graph = Graph::default();
    for &at in nodes {
        let mut node = simplified.nodes[at].clone();
        if let NodeKind::Element(element) = &mut node.kind {
            for port in &mut element.ports {
                *port = places.get(port).copied().unwrap_or(*port);
            }
        }
        graph.nodes.push(node);
    }
    let shown = |id: NodeId| new[roots[id.index()].index()];
    for id in &order {
        if let Some(mut bond) = simplified.bonds[id.index()].take()
            && let (Some(from), Some(to)) = (shown(bond.from), shown(bond.to))
        {
            (bond.from, bond.to) = (from, to);
            graph.bonds.push(bond);
        }
    }
    for signal in &simplified.signals {
        let Some(to) = shown(signal.to) else {
            continue;
        };
        let from = match signal.from {
            SignalSource::Node(node) => match shown(node) {
                Some(from) if from != to => SignalSource::Node(from),
                _ => continue,
            },
            input => input,
        };
        let signal = Signal {
            from,
            to,
            variable: signal.variable,
        };
        graph.signals.push(signal);
    }
    graph.signals.sort_unstable();
    graph.signals.dedup();
    View {
        nodes_of: nodes.iter().map(|&at| NodeId(at as u32)).collect(),
        graph,
        reversed: order
            .iter()
            .map(|id| simplified.reversed[id.index()])
            .collect(),
        of: order,
    }
}
