//! Finds the power ports of each submodel from its cuts.
//!
//! Before: the points where power variables meet. After: the part of the graph that each submodel
//! becomes: a *wire* (`link` passes effort and flow on, `bond` exchanges them), or an element with
//! *power ports*. Cuts that share a variable are one power port: the two pins of a resistor have
//! one current, the two ends of a shaft one speed. If a model connects a cut inside, the cut is a
//! wire between outside and inside.

use rustc_hash::{FxHashMap, FxHashSet};

use super::points::Points;
use crate::flat::{EqId, EquationKind, Flat, InstanceId, PortId, Signed, VarId};

/// One component of a cut: a pair of an across and a through variable.
#[derive(Clone, Copy, Debug)]
pub struct CutComponent {
    pub port: PortId,
    pub across: Option<Signed>,
    pub through: Option<Signed>,
    /// The point to which it is connected; `None` for an open end.
    pub point: Option<usize>,
}

impl CutComponent {
    /// Whether positive power leaves the submodel: `cut B(e/-f)`, and every component that lacks a
    /// variable.
    pub fn is_outward(&self) -> bool {
        match (self.across, self.through) {
            (Some(_), Some(through)) => through.negative(),
            (None, Some(through)) => through.negative(),
            _ => true,
        }
    }
}

/// A power port of an element.
#[derive(Clone, Debug)]
pub enum PowerPort {
    Single(CutComponent),
    /// Several cuts with one through variable, which goes in at one and out at another.
    Series(Vec<CutComponent>),
    /// Several cuts with one across variable.
    Parallel(Vec<CutComponent>),
}

impl PowerPort {
    pub fn components(&self) -> &[CutComponent] {
        match self {
            PowerPort::Single(component) => std::slice::from_ref(component),
            PowerPort::Series(components) | PowerPort::Parallel(components) => components,
        }
    }
}

#[derive(Clone, Debug)]
pub enum GraphPart {
    /// Passes across and through variables on, or exchanges them.
    Wire {
        instance: InstanceId,
        exchanges: bool,
        ends: [CutComponent; 2],
    },
    Element {
        instance: InstanceId,
        power_ports: Vec<PowerPort>,
    },
}

/// The own equations of each submodel.
#[derive(Debug)]
pub struct OwnEquations {
    list: Vec<(InstanceId, EqId)>,
}

impl OwnEquations {
    pub fn new(flat: &Flat) -> Self {
        let own = (flat.equation_ids()).filter(|id| {
            let kind = flat.equations[id.index()].kind;
            matches!(kind, EquationKind::Equation)
        });
        let mut list: Vec<(InstanceId, EqId)> = own
            .map(|id| (flat.equations[id.index()].origin, id))
            .collect();
        list.sort_unstable();
        OwnEquations { list }
    }

    pub fn of(&self, instance: InstanceId) -> impl Iterator<Item = EqId> + '_ {
        let first = self.list.partition_point(|&(owner, _)| owner < instance);
        let end = self.list.partition_point(|&(owner, _)| owner <= instance);
        self.list[first..end].iter().map(|&(_, id)| id)
    }
}

/// Returns the part of the graph for each submodel, in their order.
pub fn graph_parts(flat: &Flat, points: &Points, own: &OwnEquations) -> Vec<GraphPart> {
    let mut found = Vec::new();
    let mut components: Vec<CutComponent> = Vec::new();
    let mut owner = InstanceId::TOP;
    for port in flat.ports.ids() {
        let record = flat.ports.get(port);
        if record.instance != owner {
            found.extend(part(flat, own, owner, std::mem::take(&mut components)));
            owner = record.instance;
        }
        for (number, pair) in flat.ports.pairs(port).iter().enumerate() {
            let power_at =
                |junction| (points.at(junction, number as u32)).filter(|&at| points.list[at].power);
            let outside = record.outside.and_then(power_at);
            let inside = record.inside.and_then(power_at);
            let component = |point: Option<usize>| CutComponent {
                port,
                across: pair.across,
                through: pair.through,
                point,
            };
            let whole = pair.across.is_some() && pair.through.is_some();
            if pair.across.is_none() && pair.through.is_none() {
                continue;
            }
            match (outside, inside) {
                (_, Some(inside)) if whole || outside.is_some() => found.push(GraphPart::Wire {
                    instance: record.instance,
                    exchanges: false,
                    ends: [component(outside), component(Some(inside))],
                }),
                (Some(outside), _) => components.push(component(Some(outside))),
                // No power goes through an unconnected cut, but the equations of its model contain
                // it.
                (None, None) if whole && record.outside.is_none() => {
                    components.push(component(None));
                }
                _ => {}
            }
        }
    }
    found.extend(part(flat, own, owner, components));
    found
}

fn part(
    flat: &Flat,
    own: &OwnEquations,
    instance: InstanceId,
    components: Vec<CutComponent>,
) -> Option<GraphPart> {
    if components.iter().all(|component| component.point.is_none()) {
        return None;
    }
    if let [a, b] = components[..]
        && let Some(exchanges) = wire(&a, &b)
        && !constrains(flat, own, instance, &components)
    {
        return Some(GraphPart::Wire {
            instance,
            exchanges,
            ends: [a, b],
        });
    }
    Some(GraphPart::Element {
        instance,
        power_ports: power_ports(components),
    })
}

/// If two cuts have the same two variables, so that what goes in at one comes out at the other:
/// returns whether across and through are exchanged.
fn wire(a: &CutComponent, b: &CutComponent) -> Option<bool> {
    let (a1, t1, a2, t2) = (a.across?, a.through?, b.across?, b.through?);
    let negatives = [a1, t1, a2, t2].iter().filter(|one| one.negative()).count();
    if negatives % 2 == 0 {
        return None;
    }
    let (va1, vt1) = (a1.variable(), t1.variable());
    let (va2, vt2) = (a2.variable(), t2.variable());
    if va1 == va2 && vt1 == vt2 {
        return Some(false);
    }
    (va1 == vt2 && vt1 == va2).then_some(true)
}

/// Whether the equations of a submodel constrain its cuts: there are more equations than other own
/// variables that they have to determine.
fn constrains(
    flat: &Flat,
    own: &OwnEquations,
    instance: InstanceId,
    components: &[CutComponent],
) -> bool {
    let at_cuts: FxHashSet<VarId> = (components.iter())
        .flat_map(|component| [component.across, component.through])
        .flatten()
        .map(Signed::variable)
        .collect();
    let mut others: FxHashSet<VarId> = FxHashSet::default();
    let mut rows = 0;
    for id in own.of(instance) {
        let equation = &flat.equations[id.index()];
        rows += 1;
        for side in [equation.left, equation.right] {
            flat.exprs.leaves(side, |leaf| {
                let variable = leaf.variable();
                let unknown = flat.variable(variable).kind.is_unknown();
                if unknown && !at_cuts.contains(&variable) {
                    others.insert(variable);
                }
            });
        }
    }
    rows > others.len()
}

fn power_ports(components: Vec<CutComponent>) -> Vec<PowerPort> {
    let mut by_across: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    let mut by_through: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    for (at, component) in components.iter().enumerate() {
        if let Some(across) = component.across {
            by_across.entry(across.variable()).or_default().push(at);
        }
        if let Some(through) = component.through {
            by_through.entry(through.variable()).or_default().push(at);
        }
    }
    let sharing = |map: &FxHashMap<VarId, Vec<usize>>, one: Option<Signed>| -> Vec<usize> {
        one.and_then(|one| map.get(&one.variable()).cloned())
            .unwrap_or_default()
    };
    let mut power_ports = Vec::new();
    let mut used = vec![false; components.len()];
    for (at, component) in components.iter().enumerate() {
        if used[at] {
            continue;
        }
        let of_through = sharing(&by_through, component.through);
        let of_across = sharing(&by_across, component.across);
        // Several cuts with one through variable and different across variables, or the other way
        // round.
        let series = of_through.len() > 1
            && (of_through.iter()).all(|&at| sharing(&by_across, components[at].across).len() == 1);
        let parallel = of_across.len() > 1
            && (of_across.iter())
                .all(|&at| sharing(&by_through, components[at].through).len() == 1);
        let group = match (series, parallel) {
            (true, _) => of_through,
            (_, true) => of_across,
            _ => vec![at],
        };
        for &member in &group {
            used[member] = true;
        }
        let members: Vec<CutComponent> = group.iter().map(|&at| components[at]).collect();
        power_ports.push(match (series, parallel) {
            (true, _) => PowerPort::Series(members),
            (_, true) => PowerPort::Parallel(members),
            _ => PowerPort::Single(*component),
        });
    }
    power_ports
}
