//! The bond graph: junctions and elements, and the bonds between them.
//!
//! Nodes `n0, n1, ...` and bonds `b0, b1, ...` are in arenas with typed ids. Nodes are junctions or
//! elements. An element is a submodel with power ports; its equations decide its kind. A bond leads
//! from one node to another in the direction in which its power, effort times flow, counts as
//! positive.
//!
//! After [`super::recover`]: every bond of an element leads to a junction; the bonds of a node are
//! in the order in which its cuts were declared; nothing depends on hash order.

use super::net::Gives;
use crate::base::ids::ids;
use crate::base::words::sign;
use crate::expr::ExprId;
use crate::flat::{Flat, InstanceId, VarId};

ids! {
    /// A junction or an element.
    NodeId "n";
    /// A bond.
    BondId "b";
}

/// A sum of variables, in which those marked `true` are negative; `None` if it is not determined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity(pub Option<Vec<(bool, VarId)>>);

impl Quantity {
    pub fn of(variable: VarId, negative: bool) -> Self {
        Quantity(Some(vec![(negative, variable)]))
    }

    pub fn negated(&self) -> Self {
        let turned = |terms: &Vec<(bool, VarId)>| terms.iter().map(|&(n, v)| (!n, v)).collect();
        Quantity(self.0.as_ref().map(turned))
    }

    /// The variable, if the sum is just one variable.
    pub fn single(&self) -> Option<VarId> {
        match self.0.as_deref() {
            Some([(false, variable)]) => Some(*variable),
            _ => None,
        }
    }

    /// The variable and whether it is negated, if the sum is one variable or its negative.
    pub fn signed(&self) -> Option<(VarId, bool)> {
        match self.0.as_deref() {
            Some([(negative, variable)]) => Some((*variable, *negative)),
            _ => None,
        }
    }

    /// The sum as text: `C1.e`, `U0.Vb - U0.Va`; `?` if it is not determined.
    pub fn text(&self, flat: &Flat) -> String {
        let Some(terms) = &self.0 else {
            return "?".to_string();
        };
        // The text begins with a positive term, if there is one.
        let first = terms.iter().position(|&(negative, _)| !negative);
        let order = (first.into_iter()).chain((0..terms.len()).filter(|&at| Some(at) != first));
        let mut text = String::new();
        for at in order {
            let (negative, variable) = terms[at];
            text.push_str(sign(text.is_empty(), negative));
            flat.write_name(variable, InstanceId::TOP, &mut text);
        }
        match text.is_empty() {
            true => "0".to_string(),
            false => text,
        }
    }
}

/// A bond with its effort and its flow.
#[derive(Clone, Debug)]
pub struct Bond {
    pub from: NodeId,
    pub to: NodeId,
    pub effort: Quantity,
    pub flow: Quantity,
    /// Whether the cuts at its ends belong to hierarchical cuts that were connected as one.
    pub in_bundle: bool,
}

impl Bond {
    pub fn ends(&self) -> [NodeId; 2] {
        [self.from, self.to]
    }

    pub fn other(&self, node: NodeId) -> NodeId {
        if self.from == node {
            self.to
        } else {
            self.from
        }
    }
}

/// The kind of a junction: 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JunctionKind {
    /// One effort, flows that sum to zero.
    Zero,
    /// One flow, efforts that sum to zero.
    One,
}

impl JunctionKind {
    pub fn digit(self) -> u8 {
        match self {
            JunctionKind::Zero => 0,
            JunctionKind::One => 1,
        }
    }

    /// The variable that exactly one end at the junction gives. At a 0-junction this is the flow:
    /// the bond that brings in the effort takes a flow from the junction.
    pub fn gives_once(self) -> Gives {
        match self {
            JunctionKind::Zero => Gives::Flow,
            JunctionKind::One => Gives::Effort,
        }
    }
}

/// The kind of an element, found from its equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ElementKind {
    Se,
    Sf,
    R,
    C,
    I,
    TF,
    GY,
    RS,
    Sw,
    Other,
}

impl ElementKind {
    pub fn text(self) -> &'static str {
        match self {
            ElementKind::Se => "Se",
            ElementKind::Sf => "Sf",
            ElementKind::R => "R",
            ElementKind::C => "C",
            ElementKind::I => "I",
            ElementKind::TF => "TF",
            ElementKind::GY => "GY",
            ElementKind::RS => "RS",
            ElementKind::Sw => "Sw",
            ElementKind::Other => "other",
        }
    }

    pub fn is_source(self) -> bool {
        matches!(self, ElementKind::Se | ElementKind::Sf)
    }
}

/// What an element can give at one of its ports, according to its equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    pub effort: bool,
    pub flow: bool,
    /// For a port of a storage: what it gives if its states are integrated.
    pub integral: Option<Gives>,
}

impl Allowed {
    pub const EITHER: Allowed = Allowed {
        effort: true,
        flow: true,
        integral: None,
    };

    /// What the port gives, if it can give only one of the two.
    pub fn only(self) -> Option<Gives> {
        match (self.effort, self.flow) {
            (true, false) => Some(Gives::Effort),
            (false, true) => Some(Gives::Flow),
            _ => None,
        }
    }
}

/// What an element can give at all of its ports together, according to its equations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Each port is free to give what it can, independently of the others.
    Each(Vec<Allowed>),
    /// Exactly one of the ports gives the variable listed for it, as in transformers and gyrators.
    One(Vec<Gives>),
}

/// An equation of an element, solved for a variable that it computes in one of the element's forms.
#[derive(Clone, Copy, Debug)]
pub struct Assignment {
    pub target: crate::flat::Leaf,
    /// `None` if it cannot be written as a formula.
    pub value: Option<ExprId>,
}

/// How a form computes what it gives at a port. Sets of ports are bit masks.
#[derive(Clone, Debug, Default)]
pub struct Law {
    /// Indices of assignments of the form, operands first; the last one computes what the port
    /// gives. Empty if this is not known.
    pub assignments: Vec<usize>,
    /// Ports whose inputs the law reads.
    pub takes: u32,
    /// Ports whose outputs the law reads.
    pub gives: u32,
}

/// The equations of an element in one causality of its ports.
#[derive(Clone, Debug)]
pub struct Form {
    /// For each port what it gives.
    pub gives: Vec<Gives>,
    pub assignments: Vec<Assignment>,
    /// For each port its law.
    pub laws: Vec<Law>,
    /// Whether all assignments are formulas that can be computed one after the other.
    pub explicit: bool,
}

#[derive(Clone, Debug)]
pub struct Element {
    pub kind: ElementKind,
    /// Signals from outside that its equations contain.
    pub signals: Vec<VarId>,
    /// The bond of each port.
    pub ports: Vec<BondId>,
    /// Effort and flow of each port, in the element's own variables.
    pub quantities: Vec<[Quantity; 2]>,
    pub pattern: Pattern,
    /// The combinations that can be solved, if the ports are neither independent nor obey one rule.
    /// Otherwise empty.
    pub together: Vec<Vec<Gives>>,
    /// Variables that the element differentiates.
    pub states: Vec<VarId>,
    /// The forms of its equations, for elements with few ports.
    pub forms: Vec<Form>,
    /// Variables that matter only in sums, such as the potentials at the two pins of a resistor.
    pub summed: Vec<VarId>,
    /// A reference: it holds an effort (or flow) at zero and takes any flow (or effort), as a
    /// ground or a wall does.
    pub reference: bool,
    /// A source of zero: a reference, a meter or an open end.
    pub idle: bool,
    /// The open end of a cut that is not connected.
    pub open: bool,
}

impl Form {
    /// The ports whose inputs determine what a port gives, directly or through what other ports
    /// give, as a bit mask.
    pub fn reach(&self, port: usize) -> u32 {
        let mut seen = 1u32 << port;
        let (mut work, mut found) = (vec![port], 0);
        while let Some(law) = work.pop().map(|at| self.laws.get(at)) {
            let Some(law) = law else { continue };
            found |= law.takes;
            for at in (0..self.laws.len()).filter(|at| law.gives >> at & 1 == 1) {
                if seen >> at & 1 == 0 {
                    seen |= 1 << at;
                    work.push(at);
                }
            }
        }
        found
    }
}

impl Element {
    /// Makes an element that has no ports and no equations yet.
    pub fn new(kind: ElementKind, pattern: Pattern) -> Self {
        Element {
            kind,
            pattern,
            signals: Vec::new(),
            ports: Vec::new(),
            quantities: Vec::new(),
            together: Vec::new(),
            states: Vec::new(),
            forms: Vec::new(),
            summed: Vec::new(),
            reference: false,
            idle: false,
            open: false,
        }
    }

    /// Whether the element is modulated: a signal changes its law. (The signal of a source is what
    /// the source gives.)
    pub fn is_modulated(&self) -> bool {
        !self.signals.is_empty() && !self.kind.is_source()
    }

    /// The label: `R`, `mTF`, `C2`. It has the number of ports if this is more than usual.
    pub fn label(&self) -> String {
        let usual = match self.kind {
            ElementKind::TF | ElementKind::GY | ElementKind::RS => 2,
            _ => 1,
        };
        let plain = matches!(self.kind, ElementKind::Sw | ElementKind::Other);
        let modulated = self.is_modulated() && !plain;
        let mut text = String::from(if modulated { "m" } else { "" });
        text.push_str(self.kind.text());
        if self.ports.len() != usual && self.kind != ElementKind::Other {
            text.push_str(&self.ports.len().to_string());
        }
        text
    }
}

#[derive(Clone, Debug)]
pub enum NodeKind {
    Junction(JunctionKind),
    Element(Element),
    /// A closed submodel with the name of its type; only in a view.
    Box(String),
}

#[derive(Clone, Debug)]
pub struct Node {
    /// For an element the path of its submodel; for a junction the path of its node, or else of a
    /// cut that ends there.
    pub name: String,
    /// Whether the user gave it this name.
    pub named: bool,
    /// The submodel to which the node belongs: for an element its own submodel, for a junction the
    /// model that contains it.
    pub owner: InstanceId,
    pub kind: NodeKind,
}

impl Node {
    pub fn junction(&self) -> Option<JunctionKind> {
        match self.kind {
            NodeKind::Junction(kind) => Some(kind),
            _ => None,
        }
    }

    pub fn element(&self) -> Option<&Element> {
        match &self.kind {
            NodeKind::Element(element) => Some(element),
            _ => None,
        }
    }
}

/// A signal from an element, or from an input, to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signal {
    pub to: NodeId,
    pub from: SignalSource,
    /// The variable that the signal sets in the element.
    pub variable: VarId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SignalSource {
    Node(NodeId),
    /// An input of the model.
    Input(VarId),
}

#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub bonds: Vec<Bond>,
    pub signals: Vec<Signal>,
}

impl Graph {
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub fn bond(&self, id: BondId) -> &Bond {
        &self.bonds[id.index()]
    }

    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    pub fn bond_ids(&self) -> impl Iterator<Item = BondId> + use<> {
        (0..self.bonds.len() as u32).map(BondId)
    }

    /// The elements with their nodes.
    pub fn elements(&self) -> impl Iterator<Item = (NodeId, &Element)> {
        (self.node_ids()).filter_map(|id| Some((id, self.node(id).element()?)))
    }

    /// The bonds of each node, in the order of their numbers.
    pub fn bonds_of(&self) -> Vec<Vec<BondId>> {
        let mut of = vec![Vec::new(); self.nodes.len()];
        for id in self.bond_ids() {
            let bond = self.bond(id);
            of[bond.from.index()].push(id);
            of[bond.to.index()].push(id);
        }
        of
    }
}
