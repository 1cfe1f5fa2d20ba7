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
pub struct Spot {
    pub port: PortId,
    pub across: Option<Signed>,
    pub through: Option<Signed>,
    /// The point to which it is connected; `None` for an open end.
    pub point: Option<usize>,
}

impl Spot {
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
pub enum Gate {
    Single(Spot),
    /// Several cuts with one through variable, which goes in at one and out at another.
    Series(Vec<Spot>),
    /// Several cuts with one across variable.
    Parallel(Vec<Spot>),
}

impl Gate {
    pub fn spots(&self) -> &[Spot] {
        match self {
            Gate::Single(spot) => std::slice::from_ref(spot),
            Gate::Series(spots) | Gate::Parallel(spots) => spots,
        }
    }
}

#[derive(Clone, Debug)]
pub enum Part {
    /// Passes across and through variables on, or exchanges them.
    Wire {
        instance: InstanceId,
        exchanges: bool,
        ends: [Spot; 2],
    },
    Element {
        instance: InstanceId,
        gates: Vec<Gate>,
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
pub fn parts(flat: &Flat, points: &Points, own: &OwnEquations) -> Vec<Part> {
    let mut found = Vec::new();
    let mut spots: Vec<Spot> = Vec::new();
    let mut owner = InstanceId::TOP;
    for port in flat.ports.ids() {
        let record = flat.ports.get(port);
        if record.instance != owner {
            found.extend(part(flat, own, owner, std::mem::take(&mut spots)));
            owner = record.instance;
        }
        for (position, pair) in flat.ports.pairs(port).iter().enumerate() {
            let power_at = |junction| {
                (points.at(junction, position as u32)).filter(|&at| points.list[at].power)
            };
            let outside = record.outside.and_then(power_at);
            let inside = record.inside.and_then(power_at);
            let spot = |point: Option<usize>| Spot {
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
                (_, Some(inside)) if whole || outside.is_some() => found.push(Part::Wire {
                    instance: record.instance,
                    exchanges: false,
                    ends: [spot(outside), spot(Some(inside))],
                }),
                (Some(outside), _) => spots.push(spot(Some(outside))),
                // No power goes through an unconnected cut, but the equations of its model contain
                // it.
                (None, None) if whole && record.outside.is_none() => spots.push(spot(None)),
                _ => {}
            }
        }
    }
    found.extend(part(flat, own, owner, spots));
    found
}

fn part(flat: &Flat, own: &OwnEquations, instance: InstanceId, spots: Vec<Spot>) -> Option<Part> {
    if spots.iter().all(|spot| spot.point.is_none()) {
        return None;
    }
    if let [a, b] = spots[..]
        && let Some(exchanges) = wire(&a, &b)
        && !constrains(flat, own, instance, &spots)
    {
        return Some(Part::Wire {
            instance,
            exchanges,
            ends: [a, b],
        });
    }
    Some(Part::Element {
        instance,
        gates: gates(spots),
    })
}

/// If two cuts have the same two variables, so that what goes in at one comes out at the other:
/// returns whether across and through are exchanged.
fn wire(a: &Spot, b: &Spot) -> Option<bool> {
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
fn constrains(flat: &Flat, own: &OwnEquations, instance: InstanceId, spots: &[Spot]) -> bool {
    let at_cuts: FxHashSet<VarId> = (spots.iter())
        .flat_map(|spot| [spot.across, spot.through])
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

fn gates(spots: Vec<Spot>) -> Vec<Gate> {
    let mut by_across: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    let mut by_through: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    for (at, spot) in spots.iter().enumerate() {
        if let Some(across) = spot.across {
            by_across.entry(across.variable()).or_default().push(at);
        }
        if let Some(through) = spot.through {
            by_through.entry(through.variable()).or_default().push(at);
        }
    }
    let sharing = |map: &FxHashMap<VarId, Vec<usize>>, one: Option<Signed>| -> Vec<usize> {
        one.and_then(|one| map.get(&one.variable()).cloned())
            .unwrap_or_default()
    };
    let mut gates = Vec::new();
    let mut used = vec![false; spots.len()];
    for (at, spot) in spots.iter().enumerate() {
        if used[at] {
            continue;
        }
        let of_through = sharing(&by_through, spot.through);
        let of_across = sharing(&by_across, spot.across);
        // Several cuts with one through variable and different across variables, or the other way
        // round.
        let series = of_through.len() > 1
            && (of_through.iter()).all(|&at| sharing(&by_across, spots[at].across).len() == 1);
        let parallel = of_across.len() > 1
            && (of_across.iter()).all(|&at| sharing(&by_through, spots[at].through).len() == 1);
        let group = match (series, parallel) {
            (true, _) => of_through,
            (_, true) => of_across,
            _ => vec![at],
        };
        for &member in &group {
            used[member] = true;
        }
        let members: Vec<Spot> = group.iter().map(|&at| spots[at]).collect();
        gates.push(match (series, parallel) {
            (true, _) => Gate::Series(members),
            (_, true) => Gate::Parallel(members),
            _ => Gate::Single(*spot),
        });
    }
    gates
}
