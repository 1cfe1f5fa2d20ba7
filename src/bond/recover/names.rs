//! Names of what has no name of its own: cuts, and places where cuts are connected directly.

use super::points::Points;
use rustc_hash::FxHashSet;

use crate::bond::graph::Graph;
use crate::bond::order::natural;
use crate::flat::{Flat, InstanceId, PortId};

/// `R1:A`, `c[2]:p[3]`
pub fn cut(flat: &Flat, port: PortId) -> String {
    let record = flat.ports.get(port);
    let mut name = flat.path(record.instance);
    if record.instance != InstanceId::TOP {
        name.push(':');
    }
    name.push_str(flat.names.name(record.name));
    if record.index > 0 {
        name.push_str(&format!("[{}]", record.index));
    }
    name
}

/// Where power variables meet: the name of its node, else of a cut that ends there; and whether a node has it.
pub fn point(flat: &Flat, points: &Points, at: usize) -> (String, bool) {
    let point = &points.list[at];
    let record = flat.ports.junctions[point.junction.index()];
    let Some((symbol, index)) = record.node else {
        let cuts = point.members.iter().map(|member| cut(flat, member.port));
        let depth = |name: &String| name.matches('.').count();
        let name = cuts.min_by(|a, b| depth(a).cmp(&depth(b)).then_with(|| natural(a, b)));
        return (
            with_position(name.unwrap_or_default(), point.position),
            false,
        );
    };
    let mut name = flat.path(record.origin);
    if record.origin != InstanceId::TOP {
        name.push('.');
    }
    name.push_str(flat.names.name(symbol));
    if index > 0 {
        name.push_str(&format!("[{index}]"));
    }
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

/// Cuts with several pairs of variables meet in several junctions.
fn with_position(name: String, position: u32) -> String {
    match position {
        0 => name,
        _ => format!("{name}'{}", position + 1),
    }
}
