//! Causality of a graph with switches: finds what is the same in all modes and what is not.
//!
//! A closed switch gives an effort of zero, an open one a flow of zero. If there are few switches,
//! all modes are tried. If there are more, each switch is tried in both positions while the others
//! are left open. A bond that such a run leaves free in a loop with a switch depends on the switch.
//! A mode that contradicts the sources does not occur.

use super::assign::{Plan, RunResult};
use super::loops::loops;
use super::prefer::{Preferences, Wanted};
use super::{BondCausality, Causality, Contradiction, ElementCausality, switches};
use crate::bond::graph::{ElementKind, Graph, NodeId, Pattern};
use crate::bond::net::{Conflict, Gives};

/// Up to this number of switches all modes are tried.
const MAX_ALL_MODES: usize = 6;
/// Up to this number each switch is tried alone.
const MAX_SINGLE: usize = 64;

/// Finds the causality in all modes. If the sorter dropped more states than storages have
/// derivative causality, signs are the reason: a cycle of capacitors away from ground has one state
/// less, which cycles of junctions do not show. In this case the strokes follow the sorter.
pub fn causality_of_modes(
    graph: &Graph,
    preferences: &Preferences,
    kept: &dyn Fn(NodeId) -> bool,
    dropped: usize,
) -> Causality {
    let found = causality_with(graph, preferences, kept, false);
    let seen = found.storages - found.order;
    if found.contradiction.is_some() || seen >= dropped || !switches(graph).is_empty() {
        return found;
    }
    let other = causality_with(graph, preferences, kept, true);
    match other.storages - other.order == dropped {
        true => other,
        false => found,
    }
}

/// Assigns causality in each mode and combines the results.
fn causality_with(
    graph: &Graph,
    preferences: &Preferences,
    kept: &dyn Fn(NodeId) -> bool,
    as_sorted: bool,
) -> Causality {
    let plan = Plan::new(graph, preferences, kept, as_sorted);
    let switches = switches(graph);
    let mut results: Vec<RunResult> = Vec::new();
    let mut conflict: Option<Conflict> = None;
    let modes = modes(switches.len());
    let tried = modes.len();
    for mode in modes {
        let given_by_switch = |id: NodeId| {
            let at = switches.binary_search(&id).ok()?;
            let gives = |open| if open { Gives::Flow } else { Gives::Effort };
            mode[at].map(gives)
        };
        match plan.run(&given_by_switch) {
            Ok(assigned) => results.push(assigned),
            Err(found) => conflict = conflict.or(Some(found)),
        }
    }
    // One run leaves all switches open: bonds that it leaves free are in a loop.
    let open_run = match switches.is_empty() {
        true => results.first().cloned(),
        false => plan.run(&|_| None).ok(),
    };
    let (Some(open_run), false) = (open_run, results.is_empty()) else {
        let culprits = conflict.map(|conflict| contradiction(graph, &conflict));
        return no_causality(graph, plan.storages(), culprits);
    };
    let many = switches.len() > MAX_ALL_MODES;
    let mut result = combine(graph, &plan, &results, &open_run, many);
    result.tried = tried;
    result.impossible = tried - results.len();
    if preferences.list.is_empty() {
        return result;
    }
    for (at, preference) in preferences.list.iter().enumerate() {
        let wanted = match preference.wanted {
            Wanted::Integral => ElementCausality::Integral,
            Wanted::Derivative => ElementCausality::Derivative,
            Wanted::Resistance => ElementCausality::Resistance,
            Wanted::Conductance => ElementCausality::Conductance,
        };
        if result.elements[preference.node.index()] != wanted {
            result.unmet.push(at);
        }
    }
    // A preference for derivative causality does not change the order of the model.
    let plain = causality_with(graph, &Preferences::default(), kept, as_sorted);
    (result.order, result.least_order) = (plain.order, plain.least_order);
    result
}

/// The positions of some switches (`true` is open); `None` for a switch that is left open to
/// either.
type PartialMode = Vec<Option<bool>>;

fn modes(count: usize) -> Vec<PartialMode> {
    match count {
        _ if count <= MAX_ALL_MODES => (0..1u32 << count)
            .map(|mode| (0..count).map(|at| Some(mode >> at & 1 == 1)).collect())
            .collect(),
        _ if count <= MAX_SINGLE => {
            let single = (0..count).flat_map(|at| {
                let one = move |k: usize, open: bool| (k == at).then_some(open);
                [false, true].map(|open| (0..count).map(|k| one(k, open)).collect())
            });
            let alike = [false, true].map(|open| vec![Some(open); count]);
            single.chain(alike).collect()
        }
        _ => vec![vec![None; count]],
    }
}

/// The elements and junctions between which a conflict arises.
fn contradiction(graph: &Graph, conflict: &Conflict) -> Contradiction {
    let mut elements: Vec<NodeId> = (conflict.ends.iter())
        .map(|&(bond, end)| graph.bonds[bond as usize].ends()[end])
        .collect();
    elements.sort_unstable();
    elements.dedup();
    // A reference is named as a culprit only if there is no other.
    let is_reference = |id: &NodeId| {
        let element = graph.node(*id).element();
        element.is_some_and(|element| element.reference)
    };
    if !elements.iter().all(is_reference) {
        elements.retain(|id| !is_reference(id));
    }
    let nodes = conflict.nodes.iter().map(|&node| NodeId(node));
    Contradiction {
        elements,
        junctions: nodes
            .filter(|&id| graph.node(id).junction().is_some())
            .collect(),
    }
}

/// Returns the result for a graph without causality.
fn no_causality(graph: &Graph, storages: usize, culprits: Option<Contradiction>) -> Causality {
    let nothing = BondCausality {
        gives: None,
        free: false,
        in_loop: None,
    };
    Causality {
        bonds: vec![nothing; graph.bonds.len()],
        elements: (graph.nodes.iter())
            .map(|node| match node.element() {
                Some(element) if element.kind.is_source() => ElementCausality::Source,
                _ => ElementCausality::None,
            })
            .collect(),
        loops: Vec::new(),
        contradiction: Some(culprits.unwrap_or_default()),
        storages,
        order: 0,
        least_order: 0,
        unmet: Vec::new(),
        depends_on_switches: false,
        tried: 1,
        impossible: 0,
    }
}

/// What all modes have in common. With many modes not all were tried, so only what is decided without a search counts.
fn combine(
    graph: &Graph,
    plan: &Plan<'_>,
    results: &[RunResult],
    open_run: &RunResult,
    many: bool,
) -> Causality {
    let mut bonds: Vec<BondCausality> = (0..graph.bonds.len())
        .map(|at| BondCausality {
            gives: match many {
                false => same_in_all_modes(results, at),
                true => same_where_decided(results, open_run, at),
            },
            free: open_run.free[at],
            in_loop: None,
        })
        .collect();
    let loops = loops(graph, &mut bonds);
    if many {
        let is_switch = |id: &NodeId| {
            let element = graph.node(*id).element();
            element.is_some_and(|element| element.kind == ElementKind::Sw)
        };
        for one in loops
            .iter()
            .filter(|one| one.elements.iter().any(is_switch))
        {
            for id in &one.bonds {
                bonds[id.index()].gives = None;
            }
        }
    }
    let mut result = Causality {
        elements: Vec::new(),
        loops,
        contradiction: None,
        storages: plan.storages(),
        order: (results.iter().map(|one| one.integrating).max()).unwrap_or(0),
        least_order: (results.iter().map(|one| one.integrating).min()).unwrap_or(0),
        unmet: Vec::new(),
        depends_on_switches: bonds.iter().any(|bond| bond.gives.is_none()),
        tried: 1,
        impossible: 0,
        bonds,
    };
    result.elements = (graph.node_ids())
        .map(|id| of_element(graph, &result, id))
        .collect();
    result
}

/// Returns what the bond gives if this is the same in all modes. If the bond is in a loop in some
/// modes only, its stroke depends on the mode.
fn same_in_all_modes(results: &[RunResult], at: usize) -> Option<Gives> {
    let first = results[0].gives[at];
    let same = results.iter().all(|one| one.gives[at] == first);
    let loops = results.iter().filter(|one| one.free[at]).count();
    (same && (loops == 0 || loops == results.len())).then_some(first)
}

/// Returns the same if switches were left open. A run in which the bond is free does not count.
fn same_where_decided(results: &[RunResult], open_run: &RunResult, at: usize) -> Option<Gives> {
    let first = open_run.gives[at];
    let differs = |one: &RunResult| !one.free[at] && one.gives[at] != first;
    let varies = !open_run.free[at] && results.iter().any(differs);
    (!varies).then_some(first)
}

/// The causality of an element: what its ports give, in the words of its kind.
fn of_element(graph: &Graph, causality: &Causality, id: NodeId) -> ElementCausality {
    let Some(element) = graph.node(id).element() else {
        return ElementCausality::Plain;
    };
    let given: Option<Vec<Gives>> = (element.ports.iter())
        .map(|&bond| causality.gives(graph, id, bond))
        .collect();
    if element.kind.is_source() {
        return ElementCausality::Source;
    }
    let Some(given) = given else {
        return ElementCausality::Free;
    };
    let all = |gives: Gives| given.iter().all(|&one| one == gives);
    match element.kind {
        ElementKind::C | ElementKind::I => {
            let Pattern::Each(allowed) = &element.pattern else {
                return ElementCausality::Plain;
            };
            let integrates = (allowed.iter().zip(&given))
                .all(|(allowed, &gives)| allowed.integral == Some(gives));
            match integrates {
                true => ElementCausality::Integral,
                false => ElementCausality::Derivative,
            }
        }
        ElementKind::RS => resistive(given[0]),
        ElementKind::R if all(Gives::Effort) => ElementCausality::Resistance,
        ElementKind::R if all(Gives::Flow) => ElementCausality::Conductance,
        ElementKind::R => ElementCausality::Mixed,
        _ => ElementCausality::Plain,
    }
}

fn resistive(gives: Gives) -> ElementCausality {
    match gives {
        Gives::Effort => ElementCausality::Resistance,
        Gives::Flow => ElementCausality::Conductance,
    }
}
