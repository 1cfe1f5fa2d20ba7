//! Causality: finds which end of each bond computes the effort and which the flow.
//!
//! Before: the expanded graph. After: [`Causality`]: for each bond the end that gives the flow
//! (where the stroke is drawn), for each storage whether it integrates, for each resistor its form,
//! and a verdict. The order is that of the sequential causality assignment procedure (Hood,
//! Rosenberg, Withers and Zhou 1987; Cellier 1990): sources, storages, resistors. But each step is
//! an augmenting path in a covering of the junctions ([`super::net`]), so no step leads into a dead
//! end. Bonds that are still open after the storages are in algebraic loops. If there are switches,
//! the procedure is run for their modes, and a bond whose stroke differs between modes has none.

mod assign;
mod loops;
mod modes;
mod net_of;
mod prefer;

pub use prefer::{Preference, Preferences, Wanted};

use super::graph::{BondId, ElementKind, Graph, NodeId};
use super::net::Gives;

/// The causality of a bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BondCausality {
    /// What its `from` end gives; `None` if this depends on a switch, or if there is no causality.
    pub gives: Option<Gives>,
    /// Whether sources and storages leave the choice open: the bond is in an algebraic loop.
    pub free: bool,
    /// The number of its algebraic loop, from 0 on.
    pub in_loop: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementCausality {
    Source,
    Integral,
    Derivative,
    Resistance,
    Conductance,
    /// Some ports are in resistance form, others in conductance form.
    Mixed,
    /// It depends on the position of a switch, or it is a switch.
    Free,
    /// A transformer, gyrator or other element: its strokes contain all information.
    Plain,
    /// There is no causality.
    None,
}

impl ElementCausality {
    pub fn text(self) -> Option<&'static str> {
        Some(match self {
            ElementCausality::Source => "source",
            ElementCausality::Integral => "integral",
            ElementCausality::Derivative => "derivative",
            ElementCausality::Resistance => "resistance",
            ElementCausality::Conductance => "conductance",
            ElementCausality::Mixed => "mixed",
            ElementCausality::Free => "free",
            ElementCausality::Plain | ElementCausality::None => return None,
        })
    }
}

/// An algebraic loop: free bonds that are connected through junctions and through elements whose
/// ports determine each other.
#[derive(Clone, Debug)]
pub struct Loop {
    pub bonds: Vec<BondId>,
    pub elements: Vec<NodeId>,
    /// Whether the loop is an implicit R-field; otherwise it is a part of the junction structure
    /// without a resistor.
    pub has_resistor: bool,
}

/// Sources that contradict each other, and the junctions between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contradiction {
    pub elements: Vec<NodeId>,
    pub junctions: Vec<NodeId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Causal,
    NonCausal,
    Degenerate,
    Loops,
}

impl Verdict {
    pub fn text(self) -> &'static str {
        match self {
            Verdict::Causal => "causal",
            Verdict::NonCausal => "non-causal",
            Verdict::Degenerate => "degenerate",
            Verdict::Loops => "loops",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Causality {
    /// The causality of each bond of the expanded graph.
    pub bonds: Vec<BondCausality>,
    /// The causality of each node; [`ElementCausality::Plain`] for a junction.
    pub elements: Vec<ElementCausality>,
    pub loops: Vec<Loop>,
    pub contradiction: Option<Contradiction>,
    /// The number of ports of storages, and how many of them integrate: without preferences, in the
    /// mode in which most do.
    pub storages: usize,
    pub order: usize,
    /// The same in the mode in which the fewest integrate.
    pub least_order: usize,
    /// Preferences that could not be met, by their indices.
    pub unmet: Vec<usize>,
    /// Whether strokes depend on the positions of switches.
    pub depends_on_switches: bool,
    /// The number of modes that were tried, and how many of them contradict the sources.
    pub tried: usize,
    pub impossible: usize,
}

impl Causality {
    pub fn verdict(&self) -> Vec<Verdict> {
        if self.contradiction.is_some() {
            return vec![Verdict::NonCausal];
        }
        let mut found = Vec::new();
        if self.least_order < self.storages {
            found.push(Verdict::Degenerate);
        }
        if !self.loops.is_empty() {
            found.push(Verdict::Loops);
        }
        if found.is_empty() {
            found.push(Verdict::Causal);
        }
        found
    }

    /// Marks the graph as non-causal: its equations contradict each other by their signs, which the
    /// strokes of junctions do not show.
    pub fn contradict(&mut self) {
        if self.contradiction.is_none() {
            self.contradiction = Some(Contradiction::default());
            self.loops.clear();
            for bond in &mut self.bonds {
                *bond = BondCausality {
                    gives: None,
                    free: false,
                    in_loop: None,
                };
            }
            for element in &mut self.elements {
                if !matches!(element, ElementCausality::Source | ElementCausality::Plain) {
                    *element = ElementCausality::None;
                }
            }
        }
    }

    /// Returns what an element gives at a bond.
    pub fn gives(&self, graph: &Graph, node: NodeId, bond: BondId) -> Option<Gives> {
        let from_gives = self.bonds[bond.index()].gives?;
        Some(match graph.bond(bond).from == node {
            true => from_gives,
            false => from_gives.other(),
        })
    }
}

/// Finds the causality of an expanded graph. `kept` tells for an element whether the sorter keeps
/// all of its states. `dropped` is the number of states that the sorter dropped in all.
pub fn causality(
    graph: &Graph,
    preferences: &Preferences,
    kept: &dyn Fn(NodeId) -> bool,
    dropped: usize,
) -> Causality {
    modes::causality_of_modes(graph, preferences, kept, dropped)
}

/// Returns the elements of a graph that are switches.
fn switches(graph: &Graph) -> Vec<NodeId> {
    (graph.elements())
        .filter(|(_, element)| element.kind == ElementKind::Sw)
        .map(|(id, _)| id)
        .collect()
}
