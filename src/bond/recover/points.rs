//! Points where power variables meet: each component of each junction of the flat model.
//!
//! Before: ports, each with the junctions to which it is connected from outside and from inside.
//! After: [`Points`], one for each component of each junction, with the ports that meet there. A
//! point is a point of *power* if an across variable and a through variable meet there; if all cuts
//! have only one of the two, signals are connected. Cuts whose units show that they carry
//! mechanical displacements instead of velocities have no power.

use rustc_hash::FxHashMap;

use crate::flat::{Flat, JunctionId, Pair, PortId, Signed, VarId};

use crate::base::unit::is_energy;
use crate::bond::graph::Quantity;

#[derive(Clone, Copy, Debug)]
pub struct Member {
    pub port: PortId,
    pub pair: Pair,
    /// Whether the port is a cut of the model that contains the junction.
    pub from_inside: bool,
}

#[derive(Clone, Debug)]
pub struct Point {
    pub junction: JunctionId,
    /// The number of the component: which pair of variables of the cuts, if they have several.
    pub component: u32,
    pub members: Vec<Member>,
    pub power: bool,
}

#[derive(Debug)]
pub struct Points {
    pub list: Vec<Point>,
    /// The first point of each junction.
    first: Vec<u32>,
}

/// Whether a pair is a displacement and its force, according to their units: their product is an
/// energy, not a power.
fn is_displacement(flat: &Flat, pair: Pair) -> bool {
    let unit = |one: Option<Signed>| {
        let declaration = flat.declaration(one?.variable());
        declaration.remarks.unit.as_deref()
    };
    match (unit(pair.across), unit(pair.through)) {
        (Some(across), Some(through)) => is_energy(across, through),
        _ => false,
    }
}

impl Points {
    pub fn new(flat: &Flat) -> Self {
        let junctions = flat.ports.junctions.len();
        let mut sizes = vec![0; junctions];
        let sides = |port: PortId| {
            let record = flat.ports.get(port);
            [(record.outside, false), (record.inside, true)]
        };
        for port in flat.ports.ids() {
            for (junction, _) in sides(port) {
                if let Some(junction) = junction {
                    let size: &mut usize = &mut sizes[junction.index()];
                    *size = (*size).max(flat.ports.pairs(port).len());
                }
            }
        }
        let mut list = Vec::new();
        let mut first = Vec::with_capacity(junctions + 1);
        for (at, size) in sizes.into_iter().enumerate() {
            first.push(list.len() as u32);
            list.extend((0..size as u32).map(|component| Point {
                junction: JunctionId::new(at),
                component,
                members: Vec::new(),
                power: false,
            }));
        }
        first.push(list.len() as u32);
        let mut points = Points { list, first };
        for port in flat.ports.ids() {
            for (junction, from_inside) in sides(port) {
                let Some(junction) = junction else {
                    continue;
                };
                for (component, &pair) in flat.ports.pairs(port).iter().enumerate() {
                    let at = points.first[junction.index()] as usize + component;
                    points.list[at].members.push(Member {
                        port,
                        pair,
                        from_inside,
                    });
                }
            }
        }
        for point in &mut points.list {
            let has_across = point.members.iter().any(|m| m.pair.across.is_some());
            let has_through = point.members.iter().any(|m| m.pair.through.is_some());
            let positions = (point.members.iter()).any(|member| is_displacement(flat, member.pair));
            point.power = has_across && has_through && !positions;
        }
        points
    }

    /// Returns the point of a component of a junction.
    pub fn at(&self, junction: JunctionId, component: u32) -> Option<usize> {
        let at = self.first[junction.index()] + component;
        (at < self.first[junction.index() + 1]).then_some(at as usize)
    }

    /// Returns the quantity for which a port has no variable at a point, counted out of its model:
    /// the sum that the others leave, or their common variable. `across` tells which of the two it
    /// lacks.
    pub fn missing(&self, flat: &Flat, at: usize, port: PortId, across: bool) -> Quantity {
        let point = &self.list[at];
        let record = flat.ports.junctions[point.junction.index()];
        let side = |pair: &Pair| if across { pair.across } else { pair.through };
        if record.junction1 != across {
            // The common variable: the across variable of a node, the through variable of a
            // `junction1`.
            let any = point.members.iter().find_map(|member| side(&member.pair));
            // The through variables of a `junction1` are equal without their signs.
            let quantity = |one: Signed| Quantity::of(one.variable(), across && one.negative());
            return any.map_or(Quantity(None), quantity);
        }
        let lacking = (point.members.iter()).filter(|member| side(&member.pair).is_none());
        if lacking.count() != 1 || record.has_terminal {
            return Quantity(None);
        }
        let others = point.members.iter().filter(|member| member.port != port);
        let terms = others.filter_map(|member| {
            let found = side(&member.pair)?;
            let mut negative = found.negative() != member.from_inside;
            if across {
                // The efforts at a `junction1` have the signs of their flows.
                negative ^= member.pair.through.is_none_or(Signed::negative);
            }
            Some((negative, found.variable()))
        });
        // Terms cancel if a part has both ends here.
        let terms: Vec<(bool, VarId)> = terms.collect();
        let mut counts: FxHashMap<VarId, i32> = FxHashMap::default();
        for &(negative, variable) in &terms {
            *counts.entry(variable).or_default() += if negative { -1 } else { 1 };
        }
        let stays = |&(negative, variable): &(bool, VarId)| {
            let left = counts.get_mut(&variable);
            left.is_some_and(|left| {
                let same = if negative { *left < 0 } else { *left > 0 };
                if same {
                    *left -= left.signum();
                }
                same
            })
        };
        let kept: Vec<(bool, VarId)> = terms.iter().copied().filter(stays).collect();
        Quantity(Some(kept))
    }
}
