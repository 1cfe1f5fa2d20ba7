//! Names for junctions without a name of their own: cuts, and points where cuts are connected
//! directly.

use super::points::Points;
use rustc_hash::FxHashSet;

use crate::bond::graph::{Bond, BondId, Graph, Node, NodeId, NodeKind};
use crate::bond::order::natural;
use crate::flat::{Flat, PortId};

/// Returns the name of a cut: `R1:A`, `c[2]:p[3]`.
pub fn cut(flat: &Flat, port: PortId) -> String {
    flat.port_name(port, ':')
}

/// Returns the name of a point: that of its node, or else of a cut that ends there; and whether a
/// node has it.
pub fn point(flat: &Flat, points: &Points, at: usize) -> (String, bool) {
    let point = &points.list[at];
    let record = flat.ports.junctions[point.junction.index()];
    let Some(mut name) = flat.node_name(&record) else {
        let cuts = point.members.iter().map(|member| cut(flat, member.port));
        let depth = |name: &String| name.matches('.').count();
        let name = cuts.min_by(|a, b| depth(a).cmp(&depth(b)).then_with(|| natural(a, b)));
        return (
            with_component(name.unwrap_or_default(), point.component),
            false,
        );
    };
    if let Some(part) = record.part {
        name.push_str(&format!(":{part}"));
    }
    (with_component(name, point.component), true)
}

/// Makes the names of nodes unique: the inside and the outside of a cut, or several components of a
/// cut, had the same name. Elements keep their names.
pub fn distinguish(graph: &mut Graph) {
    let mut order: Vec<usize> = (0..graph.nodes.len()).collect();
    let key = |at: usize| {
        let node = &graph.nodes[at];
        (node.junction().is_some(), node.junction(), !node.named)
    };
    order.sort_by(|&a, &b| {
        (graph.nodes[a].name.cmp(&graph.nodes[b].name))
            .then_with(|| key(a).cmp(&key(b)))
            .then(a.cmp(&b))
    });
    let mut taken: FxHashSet<String> = graph.nodes.iter().map(|node| node.name.clone()).collect();
    let mut last: Option<String> = None;
    for at in order {
        let name = graph.nodes[at].name.clone();
        if last.as_ref() != Some(&name) {
            last = Some(name);
            continue;
        }
        let free = (2..)
            .map(|number| format!("{name}'{number}"))
            .find(|new| !taken.contains(new));
        if let Some(new) = free {
            taken.insert(new.clone());
            graph.nodes[at].name = new;
        }
    }
}

/// Sorts nodes and bonds by name, so that later results do not depend on the order of declarations.
pub fn sort(flat: &Flat, graph: &mut Graph) {
    let mut order: Vec<usize> = (0..graph.nodes.len()).collect();
    order.sort_by(|&a, &b| natural(&graph.nodes[a].name, &graph.nodes[b].name).then(a.cmp(&b)));
    let mut place = vec![NodeId(0); order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = NodeId(new as u32);
    }
    let mut nodes: Vec<Option<Node>> = graph.nodes.drain(..).map(Some).collect();
    graph.nodes = order.iter().filter_map(|&old| nodes[old].take()).collect();
    for bond in &mut graph.bonds {
        (bond.from, bond.to) = (place[bond.from.index()], place[bond.to.index()]);
    }
    let mut order: Vec<usize> = (0..graph.bonds.len()).collect();
    let carries = |at: usize| {
        let bond = &graph.bonds[at];
        (bond.effort.text(flat), bond.flow.text(flat))
    };
    order.sort_by(|&a, &b| {
        let ends = |at: usize| graph.bonds[at].ends();
        (ends(a).cmp(&ends(b)))
            .then_with(|| carries(a).cmp(&carries(b)))
            .then(a.cmp(&b))
    });
    let mut place = vec![BondId(0); order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = BondId(new as u32);
    }
    let mut bonds: Vec<Option<Bond>> = graph.bonds.drain(..).map(Some).collect();
    graph.bonds = order.iter().filter_map(|&old| bonds[old].take()).collect();
    for node in &mut graph.nodes {
        if let NodeKind::Element(element) = &mut node.kind {
            for port in &mut element.ports {
                *port = place[port.index()];
            }
        }
    }
}

/// A cut with several components has a junction for each; their names get the number of the
/// component.
fn with_component(name: String, component: u32) -> String {
    match component {
        0 => name,
        _ => format!("{name}'{}", component + 1),
    }
}
