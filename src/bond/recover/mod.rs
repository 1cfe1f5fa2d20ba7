//! Recovers the bond graph of a flat model.
//!
//! Before: a flat model, as it was written. After: its expanded [`Graph`], which contains every
//! node, `junction1`, `bond`, `link` and cut of a submodel. Nodes become 0-junctions and
//! `junction1`s 1-junctions, or the other way round where across and through are exchanged
//! ([`roles`]). A part whose two cuts share a through variable is attached to a 1-junction between
//! two nodes, by the rules of Cellier 1990 for circuits; a part whose cuts share an across
//! variable, to a 0-junction. [`super::view`] simplifies the graph.

mod elements;
mod names;
mod parallel;
mod points;
pub mod power_ports;
mod roles;

use rustc_hash::FxHashMap;

use super::classify::Classifier;
use super::graph::{
    Allowed, Bond, BondId, Element, ElementKind, Graph, JunctionKind, Node, NodeId, NodeKind,
    Pattern, Quantity,
};
use super::net::Gives;
use super::signals::signals;
use crate::expr::Node as ExprNode;
use crate::flat::{EquationKind, Flat, InstanceId, JunctionId, Leaf, Signed, VarId};
use points::Points;
use power_ports::{CutComponent, GraphPart, OwnEquations, PowerPort, graph_parts};
use roles::{Roles, roles};

/// Returns the graph of a model, or `None` if it has no power ports. Adds expressions for the forms
/// of elements to the model.
pub fn recover(flat: &mut Flat) -> Option<Graph> {
    let points = Points::new(flat);
    let own = OwnEquations::new(flat);
    let parts = graph_parts(flat, &points, &own);
    if parts.is_empty() {
        return None;
    }
    let roles = roles(flat, &points, &parts);
    let mut classifier = Classifier::new(flat, &own);
    let mut builder = Builder {
        points: &points,
        roles: &roles,
        nodes: vec![None; points.list.len()],
        graph: Graph::default(),
    };
    builder.junctions(classifier.flat);
    for (part, &gyrates) in parts.iter().zip(&roles.gyrates) {
        builder.part(&mut classifier, part, gyrates);
    }
    let determined = std::mem::take(&mut classifier.determined);
    builder.references(flat);
    let mut graph = builder.graph;
    parallel::merge_parallel(&mut graph);
    names::distinguish(&mut graph);
    names::sort(flat, &mut graph);
    graph.signals = signals(flat, &graph, &determined);
    Some(graph)
}

struct Builder<'p> {
    points: &'p Points,
    roles: &'p Roles,
    /// The junction of each point at which power is exchanged.
    nodes: Vec<Option<NodeId>>,
    graph: Graph,
}

fn kind(common_through: bool, swapped: bool) -> JunctionKind {
    match common_through != swapped {
        true => JunctionKind::One,
        false => JunctionKind::Zero,
    }
}

impl Builder<'_> {
    /// Makes a junction of each point at which power is exchanged.
    fn junctions(&mut self, flat: &Flat) {
        for (at, point) in self.points.list.iter().enumerate() {
            if !point.power {
                continue;
            }
            let record = flat.ports.junctions[point.junction.index()];
            let (name, named) = names::point(flat, self.points, at);
            let junction = self.add(Node {
                name,
                named,
                owner: record.origin,
                kind: NodeKind::Junction(kind(record.junction1, self.roles.swapped[at])),
            });
            self.nodes[at] = Some(junction);
            if record.has_terminal && !record.junction1 {
                // A terminal fixes the across variable, and no flow is balanced.
                let across = point.members.iter().find_map(|member| member.pair.across);
                let across = across.map(|one| Quantity::of(one.variable(), one.negative()));
                let (effort, flow) =
                    self.split(at, across.unwrap_or(Quantity(None)), Quantity(None));
                let name = format!("{}:signal", self.graph.node(junction).name);
                let gives = self.given_across(at);
                let source = self.fixed_element(name, record.origin, gives, false, false);
                self.bond(source, junction, effort, flow, false);
            }
        }
    }

    fn given_across(&self, point: usize) -> Gives {
        match self.roles.swapped[point] {
            false => Gives::Effort,
            true => Gives::Flow,
        }
    }

    /// Adds a reference for each potential that was set to zero because nothing else determined it.
    fn references(&mut self, flat: &Flat) {
        let mut wanted: Vec<VarId> = Vec::new();
        for equation in &flat.equations {
            if equation.kind == EquationKind::Reference
                && let ExprNode::Leaf(Leaf::Var(id)) = flat.exprs.node(equation.left)
            {
                wanted.push(id);
            }
        }
        if wanted.is_empty() {
            return;
        }
        let mut found: FxHashMap<VarId, usize> = FxHashMap::default();
        for (at, point) in self.points.list.iter().enumerate() {
            for member in &point.members {
                if let Some(across) = member.pair.across.filter(|_| point.power) {
                    found.entry(across.variable()).or_insert(at);
                }
            }
        }
        for id in wanted {
            let Some(&at) = found.get(&id) else {
                continue;
            };
            let Some(junction) = self.nodes[at] else {
                continue;
            };
            let owner = self.graph.node(junction).owner;
            let name = format!("{}:reference", self.graph.node(junction).name);
            let source = self.fixed_element(name, owner, self.given_across(at), true, false);
            let (effort, flow) = self.split(at, Quantity::of(id, false), Quantity(None));
            self.bond(source, junction, effort, flow, false);
        }
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.graph.nodes.push(node);
        NodeId(self.graph.nodes.len() as u32 - 1)
    }

    /// Adds a bond, and adds it as a port to an element at either end.
    fn bond(
        &mut self,
        from: NodeId,
        to: NodeId,
        effort: Quantity,
        flow: Quantity,
        in_bundle: bool,
    ) -> BondId {
        let id = BondId(self.graph.bonds.len() as u32);
        for end in [from, to] {
            if let NodeKind::Element(element) = &mut self.graph.nodes[end.index()].kind {
                element.ports.push(id);
                element.quantities.push([effort.clone(), flow.clone()]);
            }
        }
        self.graph.bonds.push(Bond {
            from,
            to,
            effort,
            flow,
            in_bundle,
        });
        id
    }

    /// Returns across and through as effort and flow.
    fn split(&self, point: usize, across: Quantity, through: Quantity) -> (Quantity, Quantity) {
        match self.roles.swapped[point] {
            false => (across, through),
            true => (through, across),
        }
    }

    /// Adds a source of zero: a reference, or the end of a cut that is not connected.
    fn fixed_element(
        &mut self,
        name: String,
        owner: InstanceId,
        gives: Gives,
        reference: bool,
        open: bool,
    ) -> NodeId {
        let effort = gives == Gives::Effort;
        let kind = match effort {
            true => ElementKind::Se,
            false => ElementKind::Sf,
        };
        let allowed = Allowed {
            effort,
            flow: !effort,
            integral: None,
        };
        self.add(Node {
            name,
            named: false,
            owner,
            kind: NodeKind::Element(Element {
                reference,
                idle: true,
                open,
                ..Element::new(kind, Pattern::Each(vec![allowed]))
            }),
        })
    }

    fn part(&mut self, classifier: &mut Classifier<'_>, part: &GraphPart, gyrates: bool) {
        match part {
            GraphPart::Wire {
                instance,
                exchanges,
                ends,
            } => self.wire(classifier.flat, *instance, *exchanges && gyrates, ends),
            GraphPart::Element {
                instance,
                power_ports,
            } => {
                let swapped: Vec<bool> = power_ports
                    .iter()
                    .map(|power_port| self.swapped(power_port))
                    .collect();
                let found = classifier.classify(*instance, power_ports, &swapped);
                self.element(classifier.flat, *instance, power_ports, found);
            }
        }
    }

    fn swapped(&self, power_port: &PowerPort) -> bool {
        let point = power_port
            .components()
            .iter()
            .find_map(|component| component.point);
        point.is_some_and(|point| self.roles.swapped[point])
    }

    /// Connects the two points of a submodel that only passes power on, or that is a gyrator.
    fn wire(&mut self, flat: &Flat, instance: InstanceId, gyrates: bool, ends: &[CutComponent; 2]) {
        let node = |at: Option<usize>| at.and_then(|at| self.nodes[at]);
        let (a, b) = (node(ends[0].point), node(ends[1].point));
        let quantities = |component: &CutComponent, at: usize| {
            let of = |one: Option<Signed>| {
                one.map_or(Quantity(None), |one| Quantity::of(one.variable(), false))
            };
            self.split(at, of(component.across), of(component.through))
        };
        let in_bundle = self.in_bundle(flat, &ends[0]);
        match (a, b, ends[0].point, ends[1].point) {
            (Some(a), Some(b), Some(at), Some(other)) if gyrates => {
                let (first, second) = (quantities(&ends[0], at), quantities(&ends[1], other));
                let pattern = Pattern::One(vec![Gives::Effort, Gives::Flow]);
                let gyrator = self.add(Node {
                    name: flat.path(instance),
                    named: true,
                    owner: instance,
                    kind: NodeKind::Element(Element::new(ElementKind::GY, pattern)),
                });
                let (into, out_of) = match ends[0].is_outward() {
                    false => ((a, gyrator), (gyrator, b)),
                    true => ((gyrator, a), (b, gyrator)),
                };
                self.bond(into.0, into.1, first.0, first.1, in_bundle);
                self.bond(out_of.0, out_of.1, second.0, second.1, in_bundle);
            }
            // Both ends are at the same junction. What goes in at one comes out at the other, so
            // its balance does not change.
            (Some(a), Some(b), ..) if a == b => {}
            (Some(a), Some(b), Some(at), _) => {
                let (effort, flow) = quantities(&ends[0], at);
                let (from, to) = if ends[0].is_outward() { (b, a) } else { (a, b) };
                self.bond(from, to, effort, flow, in_bundle);
            }
            (None, Some(junction), _, Some(at)) => {
                self.open_end(flat, instance, &ends[1], at, junction);
            }
            (Some(junction), None, Some(at), _) => {
                self.open_end(flat, instance, &ends[0], at, junction);
            }
            _ => {}
        }
    }

    /// Adds an open end for the other side of a cut, which is not connected: nothing goes through
    /// it.
    fn open_end(
        &mut self,
        flat: &Flat,
        instance: InstanceId,
        component: &CutComponent,
        at: usize,
        junction: NodeId,
    ) {
        let variable = |one: Option<Signed>| {
            one.map_or(Quantity(None), |one| Quantity::of(one.variable(), false))
        };
        let (effort, flow) =
            self.split(at, variable(component.across), variable(component.through));
        let gives = self.given_across(at).other();
        let name = names::cut(flat, component.port);
        let end = self.fixed_element(name, instance, gives, false, true);
        self.bond(end, junction, effort, flow, false);
    }

    fn in_bundle(&self, flat: &Flat, component: &CutComponent) -> bool {
        let record = component.point.map(|at| self.points.list[at].junction);
        record.is_some_and(|junction| flat.ports.junctions[junction.index()].part.is_some())
    }
}

/// Returns the junctions of the flat model, by the names that they have in the graph.
pub fn junctions_by_name(flat: &Flat) -> FxHashMap<String, JunctionId> {
    let points = Points::new(flat);
    let mut found = FxHashMap::default();
    for (at, point) in points.list.iter().enumerate().filter(|(_, one)| one.power) {
        let (name, _) = names::point(flat, &points, at);
        found.entry(name).or_insert(point.junction);
    }
    found
}
