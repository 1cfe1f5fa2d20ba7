//! Attaches elements to junctions.
//!
//! Before: the junctions of all points. After: the element of a submodel with a bond at each of its
//! power ports. A power port of a single cut leads to the junction of its point. A power port whose
//! cuts share a variable leads to a junction of its own, which is connected to the junctions of all
//! these cuts.

use super::power_ports::{CutComponent, PowerPort};
use super::{Builder, kind, names};
use crate::bond::classify::Classified;
use crate::bond::graph::{Element, JunctionKind, Node, NodeId, NodeKind, Quantity};
use crate::bond::net::Gives;
use crate::flat::{Flat, InstanceId, Signed, VarId};

impl Builder<'_> {
    /// Adds the element of a submodel and connects its power ports.
    pub(super) fn element(
        &mut self,
        flat: &Flat,
        instance: InstanceId,
        power_ports: &[PowerPort],
        found: Classified,
    ) {
        let name = match instance {
            InstanceId::TOP => flat.model().to_string(),
            _ => flat.path(instance),
        };
        let is_source = found.kind.is_source();
        let names = found.names;
        let element = self.add(Node {
            name: name.clone(),
            named: true,
            owner: instance,
            kind: NodeKind::Element(Element {
                signals: found.signals,
                together: found.together,
                states: found.states,
                forms: found.forms,
                summed: power_ports.iter().flat_map(summed).collect(),
                reference: found.reference,
                idle: found.idle,
                ..Element::new(found.kind, found.pattern)
            }),
        });
        for (power_port, known) in power_ports.iter().zip(names) {
            match power_port {
                PowerPort::Single(component) => {
                    self.connect_single(flat, element, instance, component);
                }
                PowerPort::Series(components) | PowerPort::Parallel(components) => {
                    let series = matches!(power_port, PowerPort::Series(_));
                    let name = match power_ports.len() {
                        1 => name.clone(),
                        _ => names::cut(flat, components[0].port),
                    };
                    let power_port = SharedPort {
                        components,
                        series,
                        known,
                        swapped: self.swapped(power_port),
                        outward: is_source,
                        name,
                    };
                    self.connect_shared(flat, element, instance, &power_port);
                }
            }
        }
    }

    /// Connects a power port of one cut to the junction of its point.
    fn connect_single(
        &mut self,
        flat: &Flat,
        element: NodeId,
        instance: InstanceId,
        component: &CutComponent,
    ) {
        let quantity =
            |one: Option<Signed>| one.map(|one| Quantity::of(one.variable(), one.negative()));
        let Some((at, junction)) = (component.point).and_then(|at| Some((at, self.nodes[at]?)))
        else {
            // An open end gets a junction of its own, where a source of zero is attached.
            let name = names::cut(flat, component.port);
            let junction = self.add(Node {
                name: format!("{name}:open"),
                named: false,
                owner: instance,
                kind: NodeKind::Junction(JunctionKind::Zero),
            });
            let end = self.fixed_element(name, instance, Gives::Flow, false, true);
            let across = quantity(component.across).unwrap_or(Quantity(None));
            let through = (component.through).map(|one| Quantity::of(one.variable(), false));
            let through = through.unwrap_or(Quantity(None));
            let (from, to) = match component.is_outward() {
                true => (element, end),
                false => (end, element),
            };
            self.bond(from, junction, across.clone(), through.clone(), false);
            self.bond(junction, to, across, through, false);
            return;
        };
        let missing = |across: bool| self.points.missing(flat, at, component.port, across);
        let across = quantity(component.across).unwrap_or_else(|| missing(true));
        // The sign of the through variable decides the direction of the bond.
        let through = (component.through).map(|one| Quantity::of(one.variable(), false));
        let through = through.unwrap_or_else(|| missing(false));
        let (effort, flow) = self.split(at, across, through);
        let in_bundle = self.in_bundle(flat, component);
        match component.is_outward() {
            true => self.bond(element, junction, effort, flow, in_bundle),
            false => self.bond(junction, element, effort, flow, in_bundle),
        };
    }

    /// Connects a power port whose cuts share a variable: the element is attached to a junction
    /// between them.
    fn connect_shared(
        &mut self,
        flat: &Flat,
        element: NodeId,
        instance: InstanceId,
        power_port: &SharedPort<'_>,
    ) {
        let SharedPort {
            components, series, ..
        } = *power_port;
        let kind = kind(series, power_port.swapped);
        let inner = self.add(Node {
            name: format!("{}:{}", power_port.name, kind.digit()),
            named: false,
            owner: instance,
            kind: NodeKind::Junction(kind),
        });
        let sides = |across: Quantity, through: Quantity| match power_port.swapped {
            false => (across, through),
            true => (through, across),
        };
        let mut terms = Vec::with_capacity(components.len());
        let reference = if series {
            components[0].through
        } else {
            components[0].across
        };
        let Some(reference) = reference else {
            return;
        };
        for component in components {
            let (Some(across), Some(through)) = (component.across, component.through) else {
                continue;
            };
            let own = if series { across } else { through };
            let turned = across.negative() ^ through.negative() ^ reference.negative();
            terms.push((turned, own.variable()));
            let sum = Quantity::of(across.variable(), across.negative());
            let (effort, flow) = sides(sum, Quantity::of(through.variable(), false));
            let Some(junction) = component.point.and_then(|at| self.nodes[at]) else {
                // The cut is not connected, and nothing goes through.
                let gives = if power_port.swapped {
                    Gives::Effort
                } else {
                    Gives::Flow
                };
                let name = names::cut(flat, component.port);
                let end = self.fixed_element(name, instance, gives, false, true);
                match through.negative() {
                    true => self.bond(inner, end, effort, flow, false),
                    false => self.bond(end, inner, effort, flow, false),
                };
                continue;
            };
            let in_bundle = self.in_bundle(flat, component);
            match through.negative() {
                true => self.bond(inner, junction, effort, flow, in_bundle),
                false => self.bond(junction, inner, effort, flow, in_bundle),
            };
        }
        let turned = power_port.outward;
        let written = || {
            let terms = terms.iter().map(|&(negative, id)| (negative != turned, id));
            Quantity(Some(terms.collect()))
        };
        let known = power_port.known[usize::from(turned)].map(|id| Quantity::of(id, false));
        let sum = known.unwrap_or_else(written);
        let common = Quantity::of(reference.variable(), false);
        let (effort, flow) = match series {
            true => sides(sum, common),
            false => sides(common, sum),
        };
        match turned {
            true => self.bond(element, inner, effort, flow, false),
            false => self.bond(inner, element, effort, flow, false),
        };
    }
}

/// Returns the variables of a power port that matter only as a sum.
fn summed(power_port: &PowerPort) -> Vec<VarId> {
    let of = |component: &CutComponent| match power_port {
        PowerPort::Single(_) => None,
        PowerPort::Series(_) => component.across,
        PowerPort::Parallel(_) => component.through,
    };
    let found = power_port.components().iter().filter_map(of);
    found.map(Signed::variable).collect()
}

/// A power port whose cuts share a variable.
struct SharedPort<'g> {
    components: &'g [CutComponent],
    /// Whether they share the through variable.
    series: bool,
    /// A variable that equals the sum of the variables that are not shared, and one that equals its
    /// negative.
    known: [Option<VarId>; 2],
    swapped: bool,
    /// Whether positive power leaves the element.
    outward: bool,
    name: String,
}
