//! Names of what has no name of its own: cuts, and places where cuts are connected directly.

use super::points::Points;
use rustc_hash::FxHashSet;

use crate::bond::graph::{Bond, BondId, Graph, Node, NodeId, What};
use crate::bond::order::natural;
use crate::flat::{Flat, PortId};

/// `R1:A`, `c[2]:p[3]`
pub fn cut(flat: &Flat, port: PortId) -> String {
    flat.port_name(port, ':')
}

/// Where power variables meet: the name of its node, else of a cut that ends there; and whether a node has it.
pub fn point(flat: &Flat, points: &Points, at: usize) -> (String, bool) {
    let point = &points.list[at];
    let record = flat.ports.junctions[point.junction.index()];
    let Some(mut name) = flat.node_name(&record) else {
        let cuts = point.members.iter().map(|member| cut(flat, member.port));
        let depth = |name: &String| name.matches('.').count();
        let name = cuts.min_by(|a, b| depth(a).cmp(&depth(b)).then_with(|| natural(a, b)));
        return (
            with_position(name.unwrap_or_default(), point.position),
            false,
        );
    };
    if let Some(part) = record.part {
        name.push_str(&format!(":{part}"));
    }
    (with_position(name, point.position), true)
}

/// Gives each node a name of its own: the inside of a cut and its outside, several pairs of one cut. Elements keep theirs.
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

/// Brings nodes and bonds into the order of names, so that nothing that follows depends on the order of declarations.
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
        if let What::Element(element) = &mut node.what {
            for port in &mut element.ports {
                *port = place[port.index()];
            }
        }
    }
}

/// Cuts with several pairs of variables meet in several junctions.
fn with_position(name: String, position: u32) -> String {
    match position {
        0 => name,
        _ => format!("{name}'{}", position + 1),
    }
}
