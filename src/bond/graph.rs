//! The bond graph: junctions and elements, and the bonds between them.
//!
//! Flat arenas with typed ids, as everywhere: nodes `n0, n1, ...`, bonds `b0, b1, ...`. Nodes are junctions or elements;
//! an element is a submodel with power ports whose equations say what it is. A bond goes from one node to another in
//! the direction in which its power, effort times flow, counts as positive.
//!
//! Holds after [`super::recover`]: every bond of an element leads to a junction; the bonds of a node are in the order
//! in which its cuts were declared; nothing depends on hash order.

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

/// A sum of variables, those marked taken away; nothing where it is not determined.
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

    /// The variable that it is.
    pub fn single(&self) -> Option<VarId> {
        match self.0.as_deref() {
            Some([(false, variable)]) => Some(*variable),
            _ => None,
        }
    }

    /// The variable that it is, or whose negative it is; and whether it is the negative.
    pub fn signed(&self) -> Option<(VarId, bool)> {
        match self.0.as_deref() {
            Some([(negative, variable)]) => Some((*variable, *negative)),
            _ => None,
        }
    }

    /// `C1.e`, `U0.Vb - U0.Va`; `?` where it is not determined.
    pub fn text(&self, flat: &Flat) -> String {
        let Some(terms) = &self.0 else {
            return "?".to_string();
        };
        // A sum begins with what is added, if there is any.
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

/// Effort and flow of a bond.
#[derive(Clone, Debug)]
pub struct Bond {
    pub from: NodeId,
    pub to: NodeId,
    pub effort: Quantity,
    pub flow: Quantity,
    /// The cuts at its ends belong to bundles that were connected as one.
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

/// The sex of a junction.
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

    /// What exactly one end at the junction gives: the bond that brings in the effort of a 0-junction takes a
    /// flow from it.
    pub fn gives_once(self) -> Gives {
        match self {
            JunctionKind::Zero => Gives::Flow,
            JunctionKind::One => Gives::Effort,
        }
    }
}

/// What an element is, found from its equations.
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

/// What the equations of an element let it give at one of its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    pub effort: bool,
    pub flow: bool,
    /// What it gives where its states are integrated; a port of a storage.
    pub integral: Option<Gives>,
}

impl Allowed {
    pub const EITHER: Allowed = Allowed {
        effort: true,
        flow: true,
        integral: None,
    };

    /// The only thing that it can give.
    pub fn only(self) -> Option<Gives> {
        match (self.effort, self.flow) {
            (true, false) => Some(Gives::Effort),
            (false, true) => Some(Gives::Flow),
            _ => None,
        }
    }
}

/// What the equations of an element allow at all of its ports together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Each port by itself.
    Each(Vec<Allowed>),
    /// Exactly one of the ports gives what stands here for it, as in transformers and gyrators.
    One(Vec<Gives>),
}

/// An equation of an element solved for what it gives in one of its forms.
#[derive(Clone, Copy, Debug)]
pub struct Assignment {
    pub target: crate::flat::Leaf,
    /// `None` where it cannot be written as a formula.
    pub value: Option<ExprId>,
}

/// How a form computes what it gives at a port. Ports are bits.
#[derive(Clone, Debug, Default)]
pub struct Law {
    /// Places among the assignments of the form, operands first; the last one is what the port gives. Nothing if it is not known.
    pub assignments: Vec<usize>,
    /// Ports whose input it reads.
    pub takes: u32,
    /// Ports at which it reads what they give.
    pub gives: u32,
}

/// The equations of an element in one causality of its ports.
#[derive(Clone, Debug)]
pub struct Form {
    /// By port.
    pub gives: Vec<Gives>,
    pub assignments: Vec<Assignment>,
    /// By port.
    pub laws: Vec<Law>,
    /// All of them are formulas that can be computed one after the other.
    pub explicit: bool,
}

#[derive(Clone, Debug)]
pub struct Element {
    pub kind: ElementKind,
    /// Signals from outside that its equations contain.
    pub signals: Vec<VarId>,
    /// By port: its bond.
    pub ports: Vec<BondId>,
    /// By port: effort and flow as the element itself calls them.
    pub quantities: Vec<[Quantity; 2]>,
    pub pattern: Pattern,
    /// Combinations that can be solved, where the ports are neither independent nor of one rule.
    pub together: Vec<Vec<Gives>>,
    /// Variables that it differentiates.
    pub states: Vec<VarId>,
    /// The forms of its equations, for elements with few ports.
    pub forms: Vec<Form>,
    /// Variables of which only sums matter: the potentials at the two pins of a resistor.
    pub summed: Vec<VarId>,
    /// Holds a zero and takes any flow or effort: a ground, a wall.
    pub reference: bool,
    /// A source of zero: a reference, a meter, an open end.
    pub idle: bool,
    /// The end of a cut that nothing is connected to.
    pub open: bool,
}

impl Form {
    /// Ports whose input decides what a port gives, by itself or through what other ports give; as bits.
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
    /// Without ports and equations yet.
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

    /// Modulated: a signal changes its law. (The signal of a source is what the source gives.)
    pub fn is_modulated(&self) -> bool {
        !self.signals.is_empty() && !self.kind.is_source()
    }

    /// `R`, `mTF`, `C2`: with the number of ports where it has more than is usual.
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
pub enum What {
    Junction(JunctionKind),
    Element(Element),
    /// A submodel that is not opened, with the name of its type; only in a view.
    Box(String),
}

#[derive(Clone, Debug)]
pub struct Node {
    /// Of an element the path of its submodel; of a junction that of its node, else a cut that ends there.
    pub name: String,
    /// Whether the user gave it this name.
    pub named: bool,
    /// The submodel that it belongs to: an element is its own, a junction is its model's.
    pub owner: InstanceId,
    pub what: What,
}

impl Node {
    pub fn junction(&self) -> Option<JunctionKind> {
        match self.what {
            What::Junction(kind) => Some(kind),
            _ => None,
        }
    }

    pub fn element(&self) -> Option<&Element> {
        match &self.what {
            What::Element(element) => Some(element),
            _ => None,
        }
    }
}

/// A signal from one element, or from outside, into another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signal {
    pub to: NodeId,
    pub from: SignalSource,
    /// What is set in the element.
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

    /// Elements with their nodes.
    pub fn elements(&self) -> impl Iterator<Item = (NodeId, &Element)> {
        (self.node_ids()).filter_map(|id| Some((id, self.node(id).element()?)))
    }

    /// The bonds of each node, by number.
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
