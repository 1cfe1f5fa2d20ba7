//! Implicit R-fields: resistors that depend on each other.
//!
//! Before: a graph with its causality, and its algebraic loops. After, for each loop: the counts of
//! Hood, Rosenberg, Withers and Zhou 1987: bonds NB, junctions N0 and N1, their bonds B0 and B1,
//! and from these E and F, equations (8) and (9), the numbers of effort and flow inputs that the
//! junction structure needs (each transformer inside reduces both by one); the resistors in
//! resistance form (r) and in conductance form (g); the iteration vector, which is the flows into r
//! or the efforts into g, whichever are fewer; and the order of evaluation, (10) (15) (11) (14) or
//! (11) (14) (10) (15).
//!
//! Gyrators inside exchange effort and flow, so the efforts and flows of the junction structure are
//! no longer separate. Then the order of evaluation is found from the dependences, as for any loop.

use rustc_hash::FxHashSet;

use super::place::Place;
use super::robust::FormChoice;
use super::sequence::order;
use super::transfer::{Sum, Transfer, TransferError, Var};
use crate::bond::graph::{BondId, ElementKind, JunctionKind, NodeId, NodeKind, Pattern};
use crate::bond::net::Gives;
use crate::bond::order::natural;

/// The counts of a junction structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    pub bonds: usize,
    pub zeros: usize,
    pub ones: usize,
    pub at_zeros: usize,
    pub at_ones: usize,
    pub transformers: usize,
    pub gyrators: usize,
}

impl Numbers {
    /// Equation (8).
    pub fn e(&self) -> i64 {
        let count = |number: usize| number as i64;
        count(self.bonds) + count(self.zeros)
            - count(self.ones)
            - count(self.at_zeros)
            - count(self.transformers)
    }

    /// Equation (9).
    pub fn f(&self) -> i64 {
        let count = |number: usize| number as i64;
        count(self.bonds) + count(self.ones)
            - count(self.zeros)
            - count(self.at_ones)
            - count(self.transformers)
    }
}

/// A step of the order of evaluation.
#[derive(Clone, Debug)]
pub enum Step {
    /// A resistor computes what it gives from what it takes.
    Law { node: NodeId, port: usize },
    /// The junction structure gives a variable as a sum of others.
    Sum { var: Var, sum: Sum },
}

/// Why a field has no order of evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// E or F is less than one, so the inputs need not determine the outputs.
    Numbers,
    /// The loop is a part of the junction structure without a resistor.
    NoResistor,
    /// The field contains a switch, so it has other equations in each mode.
    Switch(NodeId),
    /// The junction structure cannot be traced.
    Transfer(TransferError),
}

#[derive(Clone, Debug)]
pub struct RField {
    pub bonds: Vec<BondId>,
    /// Ordered by name.
    pub resistors: Vec<NodeId>,
    pub numbers: Numbers,
    /// Ports in resistance form and in conductance form.
    pub r: Vec<Port>,
    pub g: Vec<Port>,
    /// The iteration variables.
    pub iteration: Vec<Var>,
    pub sequence: Result<Vec<Step>, Obstacle>,
    /// Where the field is in the sorted equations.
    pub place: Place,
    /// The numerical assessment of the choice of r and g, if there is one.
    pub choice: Option<FormChoice>,
}

/// A port of a resistor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port {
    pub node: NodeId,
    pub port: usize,
    pub bond: BondId,
}

/// Returns the fields of a graph, one for each algebraic loop.
pub fn r_fields(transfer: &mut Transfer<'_>, loops: &[Vec<BondId>]) -> Vec<RField> {
    let mut found = shapes(transfer, loops);
    for field in &mut found {
        if field.sequence.as_ref().err() == Some(&Obstacle::Numbers) {
            order(transfer, field);
        }
    }
    found
}

/// Returns the fields without their order of evaluation; [`Obstacle::Numbers`] is a placeholder for
/// it.
pub fn shapes(transfer: &Transfer<'_>, loops: &[Vec<BondId>]) -> Vec<RField> {
    (loops.iter())
        .filter(|bonds| !bonds.is_empty())
        .map(|bonds| shape(transfer, bonds))
        .collect()
}

/// Counts the nodes and bonds of a field, and finds the ports of its resistors.
fn shape(transfer: &Transfer<'_>, bonds: &[BondId]) -> RField {
    let graph = transfer.graph;
    let inside: FxHashSet<BondId> = bonds.iter().copied().collect();
    let mut nodes: Vec<NodeId> = (bonds.iter())
        .flat_map(|&id| graph.bond(id).ends())
        .collect();
    nodes.sort_unstable();
    nodes.dedup();
    let mut numbers = Numbers {
        bonds: bonds.len(),
        ..Numbers::default()
    };
    let mut ports: Vec<Port> = Vec::new();
    let mut switch = None;
    for &id in &nodes {
        let of = (transfer.bonds_at(id).iter()).filter(|bond| inside.contains(bond));
        let count = of.count();
        match &graph.node(id).kind {
            NodeKind::Junction(JunctionKind::Zero) => {
                numbers.zeros += 1;
                numbers.at_zeros += count;
            }
            NodeKind::Junction(JunctionKind::One) => {
                numbers.ones += 1;
                numbers.at_ones += count;
            }
            NodeKind::Element(element) => match (&element.pattern, element.kind) {
                (Pattern::One(_), ElementKind::GY) => numbers.gyrators += 1,
                (Pattern::One(_), _) => numbers.transformers += 1,
                (_, ElementKind::Sw) => switch = Some(id),
                _ => ports.extend(
                    (element.ports.iter().enumerate())
                        .filter(|(_, bond)| inside.contains(bond))
                        .map(|(port, &bond)| Port {
                            node: id,
                            port,
                            bond,
                        }),
                ),
            },
            NodeKind::Box(_) => {}
        }
    }
    let name = |port: &Port| &graph.node(port.node).name;
    ports.sort_by(|a, b| natural(name(a), name(b)).then(a.cmp(b)));
    let mut resistors: Vec<NodeId> = ports.iter().map(|port| port.node).collect();
    resistors.dedup();
    let gives = |port: &Port| transfer.given_by(port.node, port.bond);
    let (r, g): (Vec<Port>, Vec<Port>) =
        (ports.iter().copied()).partition(|port| gives(port) == Some(Gives::Effort));
    let mut found = RField {
        bonds: bonds.to_vec(),
        resistors,
        numbers,
        iteration: Vec::new(),
        sequence: Err(Obstacle::NoResistor),
        place: Place::Unsorted,
        choice: None,
        r,
        g,
    };
    if let Some(node) = switch {
        found.sequence = Err(Obstacle::Switch(node));
    } else if !found.r.is_empty() || !found.g.is_empty() {
        found.sequence = Err(Obstacle::Numbers);
    }
    found
}
