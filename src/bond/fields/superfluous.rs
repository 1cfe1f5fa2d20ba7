//! Finds the nodes that serve no purpose once a storage is removed.
//!
//! Before: the expanded graph, and elements that are removed because others replace them. Each
//! leaves a zero behind: a dependent inertance an effort of zero, a dependent capacitance a flow of
//! zero. After: [`Removal`]: all nodes and bonds that have to be removed. A bond is simply left out
//! if its zero does not change the balance of its junction: effort zero at a 1-junction, flow zero
//! at a 0-junction. At any other junction the zero is the common variable of all its bonds, so the
//! junction and these bonds are removed. Transformers pass the zero on, gyrators exchange it.
//! Junctions, transformers and gyrators that are left with one bond are removed, too (McCalla 1991,
//! section 3.2, step 8).

use crate::base::cancel::glance;
use crate::bond::graph::{BondId, ElementKind, Graph, JunctionKind, NodeId, NodeKind};
use crate::bond::net::Gives;

#[derive(Clone, Debug)]
pub struct Removal {
    /// For each node whether it is removed.
    pub nodes: Vec<bool>,
    /// For each bond whether it is removed.
    pub bonds: Vec<bool>,
}

/// Why a storage cannot be removed: an element that is needed would be removed with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needed(pub NodeId);

impl JunctionKind {
    /// The variable that is zero at a bond that may be left out.
    fn zero(self) -> Gives {
        match self {
            JunctionKind::Zero => Gives::Flow,
            JunctionKind::One => Gives::Effort,
        }
    }
}

/// Removes these elements, each of which leaves a zero behind, with all that serves no purpose any
/// more. If this would remove an element that is needed, removes only what has to be removed.
pub fn without(graph: &Graph, elements: &[(NodeId, Gives)]) -> Result<Removal, Needed> {
    remove(graph, elements, true).or_else(|_| remove(graph, elements, false))
}

/// Removes the elements, and passes the zero that each leaves behind from node to node. An
/// error names a node that is still needed.
fn remove(graph: &Graph, elements: &[(NodeId, Gives)], tidy: bool) -> Result<Removal, Needed> {
    let bonds_of = graph.bonds_of();
    let mut removal = Removal {
        nodes: vec![false; graph.nodes.len()],
        bonds: vec![false; graph.bonds.len()],
    };
    let mut work: Vec<(BondId, NodeId, Gives)> = Vec::new();
    for &(id, zero) in elements {
        removal.nodes[id.index()] = true;
        for &bond in &bonds_of[id.index()] {
            removal.bonds[bond.index()] = true;
            work.push((bond, graph.bond(bond).other(id), zero));
        }
    }
    while let Some((bond, node, zero)) = work.pop() {
        glance();
        if removal.nodes[node.index()] {
            continue;
        }
        let open = |removal: &Removal| -> Vec<BondId> {
            (bonds_of[node.index()].iter().copied())
                .filter(|one| !removal.bonds[one.index()])
                .collect()
        };
        let zero_beyond = match &graph.node(node).kind {
            NodeKind::Junction(kind) if kind.zero() == zero => {
                // If one bond is left and it leads to a two-port or a junction, this junction is
                // removed too.
                let ([last], true) = (&open(&removal)[..], tidy) else {
                    continue;
                };
                let last = *last;
                let beyond = graph.node(graph.bond(last).other(node));
                match &beyond.kind {
                    NodeKind::Junction(_) => zero,
                    NodeKind::Element(element) if is_two_port(element.kind) => zero,
                    _ => continue,
                }
            }
            NodeKind::Junction(_) => zero,
            NodeKind::Element(element)
                if element.ports.len() == 2 && element.signals.is_empty() =>
            {
                match element.kind {
                    ElementKind::TF => zero,
                    ElementKind::GY => zero.other(),
                    _ => return Err(Needed(node)),
                }
            }
            _ => return Err(Needed(node)),
        };
        debug_assert!(removal.bonds[bond.index()]);
        removal.nodes[node.index()] = true;
        for next in open(&removal) {
            removal.bonds[next.index()] = true;
            work.push((next, graph.bond(next).other(node), zero_beyond));
        }
    }
    Ok(removal)
}

fn is_two_port(kind: ElementKind) -> bool {
    matches!(kind, ElementKind::TF | ElementKind::GY)
}
