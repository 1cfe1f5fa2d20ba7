//! Converts a graph to a net: junctions and two-ports have one rule for all ends, ports of other
//! elements are independent.

use crate::bond::graph::{BondId, ElementKind, Graph, NodeId, NodeKind, Pattern};
use crate::bond::net::{End, Gives, Net, Rule};

/// Returns the net of an expanded graph. `switches` tells what a switch gives, if its position is
/// fixed.
pub fn net_of(graph: &Graph, switches: &dyn Fn(NodeId) -> Option<Gives>) -> Net {
    let mut marked: Vec<[Option<Gives>; 2]> = vec![[None; 2]; graph.bonds.len()];
    let mut nodes = Vec::with_capacity(graph.nodes.len());
    let mut mark = |bond: BondId, node: NodeId, gives: Option<Gives>| {
        let end = end_at(graph, bond, node);
        marked[bond.index()][end] = gives;
    };
    let bonds_of = graph.bonds_of();
    for id in graph.node_ids() {
        nodes.push(match &graph.node(id).kind {
            NodeKind::Junction(kind) => {
                for &bond in &bonds_of[id.index()] {
                    mark(bond, id, Some(kind.gives_once()));
                }
                Rule::One
            }
            NodeKind::Element(element) => match &element.pattern {
                Pattern::One(marks) => {
                    for (&bond, &gives) in element.ports.iter().zip(marks) {
                        mark(bond, id, Some(gives));
                    }
                    Rule::One
                }
                Pattern::Each(allowed) => {
                    for (&bond, allowed) in element.ports.iter().zip(allowed) {
                        let gives = match element.kind {
                            ElementKind::Sw => switches(id),
                            _ => allowed.only(),
                        };
                        mark(bond, id, gives);
                    }
                    Rule::Each
                }
            },
            NodeKind::Box(_) => Rule::Each,
        });
    }
    let bonds = (graph.bonds.iter().zip(marked))
        .map(|(bond, [from, to])| {
            [
                End {
                    node: bond.from.0,
                    marked: from,
                },
                End {
                    node: bond.to.0,
                    marked: to,
                },
            ]
        })
        .collect();
    Net { nodes, bonds }
}

/// Returns 0 for the end at which a bond begins, 1 for the other.
pub fn end_at(graph: &Graph, bond: BondId, node: NodeId) -> usize {
    usize::from(graph.bond(bond).from != node)
}
