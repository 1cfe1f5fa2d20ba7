//! The graph as it is shown: simplified, or as written; to a chosen depth; numbered.
//!
//! Before: the expanded graph. After: a [`View`] whose bonds know the bonds of the expanded graph that they stand for,
//! so that causality, which is found there, holds for every view. What [`simplify`] leaves out says nothing: bonds to a
//! reference, neighbours of one kind, junctions that power only passes through (Cellier 1990). [`boxes`] closes
//! submodels. Bonds are numbered along the power, from the sources on, and names decide where there is a choice: the
//! order of declarations does not matter.

mod boxes;
mod number;
mod simplify;

use super::causality::{BondCausality, Causality, ElementCausality};
use super::graph::{BondId, Graph, NodeId};
use super::net::Gives;

/// What is to be seen of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Choice {
    /// As it was written, with nothing left out.
    pub expanded: bool,
    /// Junctions that have a name stay, even if power only passes through them.
    pub keep_named: bool,
    /// Submodels below this depth are closed; the compiled model has depth 0.
    pub depth: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct View {
    /// Bond `b0` has the number 1.
    pub graph: Graph,
    /// The bond of the expanded graph for each bond here.
    pub of: Vec<BondId>,
    /// The node of the expanded graph for each node here; of several that were joined one of them.
    pub nodes_of: Vec<NodeId>,
    /// It goes the other way there.
    turned: Vec<bool>,
}

impl View {
    pub fn number(bond: BondId) -> u32 {
        bond.0 + 1
    }

    /// What was found of an element.
    pub fn element(&self, found: &Causality, node: NodeId) -> ElementCausality {
        match self.graph.node(node).element() {
            Some(_) => found.elements[self.nodes_of[node.index()].index()],
            None => ElementCausality::Plain,
        }
    }

    /// What was found of a bond.
    pub fn causality(&self, found: &Causality, bond: BondId) -> BondCausality {
        let known = found.bonds[self.of[bond.index()].index()];
        match self.turned[bond.index()] {
            false => known,
            true => BondCausality {
                gives: known.gives.map(Gives::other),
                ..known
            },
        }
    }
}

pub fn view(flat: &crate::flat::Flat, expanded: &Graph, choice: Choice) -> View {
    let mut shrunk = simplify::Shrunk::new(expanded);
    if let Some(depth) = choice.depth {
        boxes::close(flat, &mut shrunk, depth);
    }
    if !choice.expanded {
        shrunk.simplify(choice.keep_named);
    }
    number::numbered(flat, shrunk)
}
