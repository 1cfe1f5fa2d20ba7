//! One run of the procedure: sources, then storages, then resistors.

use super::net_of::{end_at, net_of};
use super::prefer::{Preferences, Wanted};
use crate::bond::graph::{BondId, ElementKind, Graph, NodeId, Pattern};
use crate::bond::net::{Causal, Conflict, Gives};
use crate::bond::order::natural;

/// What came of it.
#[derive(Clone, Debug)]
pub struct Assigned {
    /// What the `from` end of each bond gives.
    pub gives: Vec<Gives>,
    /// Sources and storages leave a choice.
    pub free: Vec<bool>,
    /// Ports of storages that integrate.
    pub integrating: usize,
}

/// What does not change from one run to the next.
#[derive(Debug)]
pub struct Plan<'g> {
    pub graph: &'g Graph,
    /// Ports of storages in the order in which they choose, with what they give when they integrate.
    storages: Vec<(NodeId, BondId, Gives)>,
    /// Ports of resistors in the order in which they choose, with what they would like to give.
    resistors: Vec<(BondId, NodeId, Gives)>,
    /// All other bonds, by the names of their ends.
    others: Vec<BondId>,
}

impl<'g> Plan<'g> {
    pub fn new(
        graph: &'g Graph,
        preferences: &Preferences,
        kept: &dyn Fn(NodeId) -> bool,
    ) -> Plan<'g> {
        let mut by_name: Vec<NodeId> = graph.node_ids().collect();
        by_name.sort_by(|&a, &b| natural(&graph.node(a).name, &graph.node(b).name).then(a.cmp(&b)));
        let mut storages = Vec::new();
        let mut resistors = Vec::new();
        for &id in &by_name {
            let Some(element) = graph.node(id).element() else {
                continue;
            };
            let Pattern::Each(allowed) = &element.pattern else {
                continue;
            };
            for (port, (&bond, allowed)) in element.ports.iter().zip(allowed).enumerate() {
                let fixed = allowed.only().is_some();
                if let Some(gives) = allowed.integral.filter(|_| !element.kind.is_source()) {
                    let wish = preferences.of(id);
                    // Wishes first, in their order; then the states that the sorter keeps.
                    let rank = wish.map_or((1, usize::from(!kept(id))), |(at, _)| (0, at));
                    storages.push((rank, (id, bond, gives)));
                } else if !fixed && matches!(element.kind, ElementKind::R | ElementKind::RS) {
                    let wish = preferences
                        .of(id)
                        .map(|(at, wanted)| (at, gives_of(wanted)));
                    let explicit = |gives: Gives| {
                        (element.forms.iter())
                            .any(|form| form.explicit && form.gives.get(port) == Some(&gives))
                    };
                    let one_way = explicit(Gives::Effort) != explicit(Gives::Flow);
                    let heats = element.kind == ElementKind::RS && port == 1;
                    let (rank, gives) = match wish {
                        Some((at, gives)) if !heats => ((0, at), gives),
                        // Where the heat comes out, it is a flow of it.
                        _ if heats => ((1, 0), Gives::Flow),
                        _ if one_way && explicit(Gives::Flow) => ((2, 0), Gives::Flow),
                        _ if one_way => ((2, 0), Gives::Effort),
                        _ => ((3, 0), Gives::Effort),
                    };
                    resistors.push((rank, (bond, id, gives)));
                }
            }
        }
        storages.sort_by_key(|&(rank, _)| rank);
        resistors.sort_by_key(|&(rank, _)| rank);
        let mut place = vec![0; graph.nodes.len()];
        for (at, id) in by_name.iter().enumerate() {
            place[id.index()] = at;
        }
        let mut others: Vec<BondId> = graph.bond_ids().collect();
        others.sort_by_key(|&id| {
            let bond = graph.bond(id);
            (place[bond.from.index()], place[bond.to.index()], id)
        });
        Plan {
            graph,
            storages: storages.into_iter().map(|(_, one)| one).collect(),
            resistors: resistors.into_iter().map(|(_, one)| one).collect(),
            others,
        }
    }

    pub fn storages(&self) -> usize {
        self.storages.len()
    }

    /// Runs the procedure with switches as given; without preferences if there are none.
    pub fn run(
        &self,
        preferences: &Preferences,
        switches: &dyn Fn(NodeId) -> Option<Gives>,
    ) -> Result<Assigned, Conflict> {
        let mut causal = Causal::new(&net_of(self.graph, switches))?;
        let mut integrating = 0;
        for &(node, bond, integral) in &self.storages {
            let first = match preferences.of(node) {
                Some((_, Wanted::Derivative)) => integral.other(),
                _ => integral,
            };
            let end = end_at(self.graph, bond, node);
            if !causal.try_fix(bond.0, end, first) {
                causal.try_fix(bond.0, end, first.other());
            }
            integrating += usize::from(causal.gives(bond.0)[end] == integral);
        }
        let free = causal.free();
        for &(bond, node, gives) in &self.resistors {
            if free[bond.index()] {
                causal.try_fix(bond.0, end_at(self.graph, bond, node), gives);
            }
        }
        for &bond in &self.others {
            if free[bond.index()] {
                causal.try_fix(bond.0, 0, Gives::Effort);
            }
        }
        let gives = (self.graph.bond_ids())
            .map(|bond| causal.gives(bond.0)[0])
            .collect();
        Ok(Assigned {
            gives,
            free,
            integrating,
        })
    }
}

fn gives_of(wanted: Wanted) -> Gives {
    match wanted {
        Wanted::Conductance => Gives::Flow,
        _ => Gives::Effort,
    }
}
