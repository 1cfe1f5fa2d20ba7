//! Causality: which end of each bond computes the effort and which the flow.
//!
//! Before: the expanded graph. After: [`Causality`]: for each bond the end that gives the flow (where the stroke is
//! drawn), for each storage whether it integrates, for each resistor its form, and a verdict. The order is that of the sequential
//! causality assignment procedure (Hood, Rosenberg, Withers and Zhou 1987; Cellier 1990): sources, storages, resistors; but
//! each step is an augmenting path in a covering of the junctions ([`super::net`]), so no step leads into a dead end. What is still open
//! after the storages is an algebraic loop. Where there are switches, the procedure is run for their positions, and
//! a stroke that differs between them is none.

mod assign;
mod loops;
mod net_of;
mod positions;
mod prefer;

pub use prefer::{Preference, Preferences, Wanted};

use super::graph::{BondId, ElementKind, Graph, NodeId};
use super::net::Gives;

/// What is known of a bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BondCausality {
    /// What its `from` end gives; nothing where it depends on a switch, or where there is no causality.
    pub gives: Option<Gives>,
    /// It could also be the other way round, whatever sources and storages do: it is in an algebraic loop.
    pub free: bool,
    /// Its algebraic loop, from 0 on.
    pub in_loop: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementCausality {
    Source,
    Integral,
    Derivative,
    Resistance,
    Conductance,
    /// Some ports one way, others the other way.
    Mixed,
    /// Depends on the position of a switch, or is one.
    Free,
    /// A transformer, gyrator or other element: what it gives says it all.
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

/// Bonds that leave a choice, connected with each other through junctions and through elements whose ports determine each other.
#[derive(Clone, Debug)]
pub struct Loop {
    pub bonds: Vec<BondId>,
    pub elements: Vec<NodeId>,
    /// An implicit R-field; else a part of the junction structure without a resistor.
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
    /// By bond of the expanded graph.
    pub bonds: Vec<BondCausality>,
    /// By node; of a junction nothing.
    pub elements: Vec<ElementCausality>,
    pub loops: Vec<Loop>,
    pub contradiction: Option<Contradiction>,
    /// Ports of storages, and how many of them integrate; without preferences, in the best position of the switches.
    pub storages: usize,
    pub order: usize,
    /// The same in the worst position.
    pub least_order: usize,
    /// Preferences that could not be met, by their place among them.
    pub unmet: Vec<usize>,
    /// The strokes depend on how switches stand.
    pub has_positions: bool,
    /// Positions of the switches that were tried, and how many of them contradict the sources.
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

    /// The equations contradict each other by their signs, which junctions do not show: no causality after all.
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

    /// What an element gives at a bond.
    pub fn gives(&self, graph: &Graph, node: NodeId, bond: BondId) -> Option<Gives> {
        let from_gives = self.bonds[bond.index()].gives?;
        Some(match graph.bond(bond).from == node {
            true => from_gives,
            false => from_gives.other(),
        })
    }
}

/// Finds the causality of an expanded graph. `kept` says of an element whether the sorter keeps all its states, `dropped`
/// how many states it dropped in all.
pub fn causality(
    graph: &Graph,
    preferences: &Preferences,
    kept: &dyn Fn(NodeId) -> bool,
    dropped: usize,
) -> Causality {
    positions::settle(graph, preferences, kept, dropped)
}

/// The elements of a graph that are switches.
fn switches(graph: &Graph) -> Vec<NodeId> {
    (graph.elements())
        .filter(|(_, element)| element.kind == ElementKind::Sw)
        .map(|(id, _)| id)
        .collect()
}
