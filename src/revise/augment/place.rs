//! The place of a junction or bond in the text: the cut at which a storage is inserted, and whether its across
//! variable is the effort.

use rustc_hash::FxHashMap;

use crate::bond::graph::{BondId, Graph, JunctionKind, Quantity};
use crate::flat::{Flat, InstanceId, JunctionId, PortId, VarId};
use crate::revise::Obstacle;
use crate::revise::reduce::TracedModel;

pub fn unnamed(name: &str) -> Obstacle {
    Obstacle::Unwritable(name.to_string())
}

/// Refuses a place inside a submodel, because only the body of the model is edited.
pub fn check_owner(flat: &Flat, place: JunctionId, name: &str) -> Result<(), Obstacle> {
    match flat.ports.junctions[place.index()].origin == InstanceId::TOP {
        true => Ok(()),
        false => Err(Obstacle::Elsewhere(name.to_string())),
    }
}

/// Finds the bond that connects the junction inside a part.
pub fn inner(traced: &TracedModel, name: &str) -> Result<BondId, Obstacle> {
    let graph = &traced.model.graph;
    (graph.bond_ids())
        .find(|&bond| {
            let ends = graph.bond(bond).ends();
            let junctions = ends.iter().all(|&id| graph.node(id).junction().is_some());
            junctions && ends.iter().any(|&id| graph.node(id).name == name)
        })
        .ok_or_else(|| unnamed(name))
}

/// Returns the cut at one end of a bond of the expanded graph, and the node that it is connected to; if possible at
/// the junction of this name.
pub fn port_of(
    traced: &TracedModel,
    known: &FxHashMap<String, JunctionId>,
    bond: BondId,
    junction: &str,
) -> Result<(PortId, JunctionId), Obstacle> {
    let (flat, graph) = (&traced.written, &traced.model.graph);
    let carried = graph.bond(bond);
    let mut ends = carried.ends();
    ends.sort_by_key(|&id| graph.node(id).name != junction);
    let variables: Vec<_> = [&carried.effort, &carried.flow]
        .into_iter()
        .filter_map(|quantity| quantity.0.as_ref())
        .flatten()
        .map(|&(_, id)| id)
        .collect();
    for end in ends {
        let Some(&place) = known.get(&graph.node(end).name) else {
            continue;
        };
        check_owner(flat, place, junction)?;
        let far = graph.node(carried.other(end)).owner;
        let mut found: Vec<(usize, PortId)> = (flat.ports.ids())
            .filter(|&id| flat.ports.get(id).outside == Some(place))
            .map(|id| {
                let pairs = flat.ports.pairs(id).iter();
                let of = pairs.flat_map(|pair| [pair.across, pair.through]).flatten();
                let shared = of.filter(|one| variables.contains(&one.variable())).count();
                (shared + usize::from(flat.ports.get(id).instance == far), id)
            })
            .collect();
        found.sort_by_key(|&(score, id)| (std::cmp::Reverse(score), id));
        if let Some(&(score, port)) = found.first()
            && score > 0
        {
            return Ok((port, place));
        }
    }
    // Both ends are inside parts with two pins: a pin of the element is used, at the junction if one is connected
    // there.
    let owners = ends.map(|id| graph.node(id).owner);
    let wanted = known.get(junction);
    let mut pins: Vec<(bool, PortId, JunctionId)> = (owners.iter())
        .filter(|&&owner| owner != InstanceId::TOP)
        .flat_map(|&owner| flat.ports.of(owner))
        .filter_map(|port| {
            let place = flat.ports.get(port).outside?;
            Some((wanted != Some(&place), port, place))
        })
        .collect();
    pins.sort_unstable();
    let &(_, port, place) = pins.first().ok_or_else(|| unnamed(junction))?;
    check_owner(flat, place, junction)?;
    Ok((port, place))
}

/// Returns true if this is the cut of a link that power flows into.
pub fn is_wire_end(flat: &Flat, port: PortId, flow: &Quantity) -> bool {
    let pairs = flat.ports.pairs(port).iter();
    let mut through = pairs.filter_map(|pair| pair.through);
    through.any(|one| {
        let carries = flow.0.as_ref().is_some_and(|terms| {
            terms
                .iter()
                .any(|&(_, variable)| variable == one.variable())
        });
        carries && !one.negative()
    })
}

/// Returns true if the across variable of a cut is the flow of its bond.
pub fn across_is_flow(flat: &Flat, graph: &Graph, port: PortId, bond: BondId) -> bool {
    let carried = graph.bond(bond);
    let (mut across, mut through) = (Vec::new(), Vec::new());
    for pair in flat.ports.pairs(port) {
        across.extend(pair.across.map(|one| one.variable()));
        through.extend(pair.through.map(|one| one.variable()));
    }
    let has = |quantity: &Quantity, of: &[VarId]| {
        let mut terms = quantity.0.iter().flatten();
        terms.any(|(_, variable)| of.contains(variable))
    };
    if has(&carried.effort, &across) || has(&carried.flow, &through) {
        return false;
    }
    if has(&carried.flow, &across) || has(&carried.effort, &through) {
        return true;
    }
    // If neither is a variable of the cut, the kind of the written junction decides.
    let place = flat.ports.get(port).outside;
    let written = place.is_some_and(|at| flat.ports.junctions[at.index()].junction1);
    let kind = (carried.ends().iter()).find_map(|&id| graph.node(id).junction());
    kind.is_some_and(|kind| (kind == JunctionKind::One) != written)
}
