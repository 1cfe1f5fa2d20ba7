//! Views of the graph as they are shown: simplified or as written, closed below a depth, numbered.
//!
//! Before: the expanded graph. After: a [`View`], in which each bond refers to the bond of the
//! expanded graph for which it stands. So the causality, which is found in the expanded graph,
//! holds for every view. [`simplify`] leaves out what carries no information: bonds to a reference,
//! neighbours of one kind, junctions that power only passes through (Cellier 1990). [`boxes`]
//! closes submodels. Bonds are numbered along the power, from the sources on. Choices are made by
//! name, so the order of declarations does not matter.

mod boxes;
mod number;
mod simplify;

use super::causality::{BondCausality, Causality, ElementCausality};
use super::graph::{BondId, Graph, NodeId};
use super::net::Gives;

/// What a view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Choice {
    /// Whether nothing is left out.
    pub expanded: bool,
    /// Whether named junctions stay, even if power only passes through them.
    pub keep_named: bool,
    /// Submodels below this depth are closed; the compiled model has depth 0.
    pub depth: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct View {
    /// Bond `b0` has the number 1.
    pub graph: Graph,
    /// For each bond here the bond of the expanded graph.
    pub of: Vec<BondId>,
    /// For each node here the node of the expanded graph; if several were joined, one of them.
    pub nodes_of: Vec<NodeId>,
    /// For each bond here whether it has the opposite direction in the expanded graph.
    reversed: Vec<bool>,
}

impl View {
    pub fn number(bond: BondId) -> u32 {
        bond.0 + 1
    }

    /// Returns the causality of an element.
    pub fn element(&self, found: &Causality, node: NodeId) -> ElementCausality {
        match self.graph.node(node).element() {
            Some(_) => found.elements[self.nodes_of[node.index()].index()],
            None => ElementCausality::Plain,
        }
    }

    /// Returns the causality of a bond.
    pub fn causality(&self, found: &Causality, bond: BondId) -> BondCausality {
        let known = found.bonds[self.of[bond.index()].index()];
        match self.reversed[bond.index()] {
            false => known,
            true => BondCausality {
                gives: known.gives.map(Gives::other),
                ..known
            },
        }
    }
}

pub fn view(flat: &crate::flat::Flat, expanded: &Graph, choice: Choice) -> View {
    let mut simplified = simplify::SimplifiedGraph::new(expanded);
    if let Some(depth) = choice.depth {
        boxes::close(flat, &mut simplified, depth);
    }
    if !choice.expanded {
        simplified.simplify(choice.keep_named);
    }
    number::numbered(flat, simplified)
}
