//! One run of the causality assignment procedure: sources, then storages, then resistors.

use super::net_of::{end_at, net_of};
use super::prefer::{Preferences, Wanted};
use crate::bond::graph::{BondId, ElementKind, Graph, NodeId, Pattern};
use crate::bond::net::{Causal, Conflict, Gives};

/// The result of one run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// For each bond what its `from` end gives.
    pub gives: Vec<Gives>,
    /// For each bond whether sources and storages leave a choice.
    pub free: Vec<bool>,
    /// The number of ports of storages that integrate.
    pub integrating: usize,
}

/// The part of the procedure that is the same in all runs.
#[derive(Debug)]
pub struct Plan<'g> {
    pub graph: &'g Graph,
    /// Ports of storages in the order in which they are assigned.
    storages: Vec<Choice>,
    /// Ports of resistors in the order in which they are assigned, each with what it gives if
    /// possible.
    resistors: Vec<(BondId, NodeId, Gives)>,
    /// Elements whose ports have to be assigned together, with the combinations that their
    /// equations allow.
    coupled: Vec<(NodeId, Vec<Vec<Gives>>)>,
}

/// A port of a storage.
#[derive(Clone, Copy, Debug)]
struct Choice {
    node: NodeId,
    bond: BondId,
    integral: Gives,
    /// What the port gives if possible.
    first: Gives,
}

impl<'g> Plan<'g> {
    /// With `as_sorted`, derivative causality is tried first for a storage whose state the sorter
    /// dropped.
    pub fn new(
        graph: &'g Graph,
        preferences: &Preferences,
        kept: &dyn Fn(NodeId) -> bool,
        as_sorted: bool,
    ) -> Plan<'g> {
        let mut storages = Vec::new();
        let mut resistors = Vec::new();
        let mut coupled = Vec::new();
        // Nodes are in the order of names.
        for (id, element) in graph.elements() {
            let Pattern::Each(allowed) = &element.pattern else {
                continue;
            };
            if !element.together.is_empty() {
                coupled.push((id, element.together.clone()));
            }
            for (port, (&bond, allowed)) in element.ports.iter().zip(allowed).enumerate() {
                let fixed = allowed.only().is_some();
                if let Some(gives) = allowed.integral.filter(|_| !element.kind.is_source()) {
                    let wish = preferences.of(id);
                    // Preferred storages come first, in the order of the preferences; then those
                    // whose states the sorter keeps.
                    let rank = wish.map_or((1, usize::from(!kept(id))), |(at, _)| (0, at));
                    let first = match wish {
                        Some((_, Wanted::Derivative)) => gives.other(),
                        None if as_sorted && !kept(id) && element.ports.len() == 1 => gives.other(),
                        _ => gives,
                    };
                    let choice = Choice {
                        node: id,
                        bond,
                        integral: gives,
                        first,
                    };
                    storages.push((rank, choice));
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
                        // At the port where the heat of a resistor leaves, it is a flow.
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
        Plan {
            graph,
            storages: storages.into_iter().map(|(_, one)| one).collect(),
            resistors: resistors.into_iter().map(|(_, one)| one).collect(),
            coupled,
        }
    }

    /// Fixes the ports of an element to the first possible combination. Bonds that another possible
    /// combination would turn are open.
    fn choose(&self, causal: &mut Causal, node: NodeId, choices: &[Vec<Gives>], open: &mut [bool]) {
        let Some(element) = self.graph.node(node).element() else {
            return;
        };
        let mut chosen: Option<(Causal, Vec<bool>)> = None;
        for choice in choices {
            let mut trial = causal.clone();
            let fits = (element.ports.iter().zip(choice)).all(|(&bond, &gives)| {
                trial.try_fix(bond.0, end_at(self.graph, bond, node), gives)
            });
            match &chosen {
                _ if !fits => {}
                None => {
                    let free = trial.free();
                    chosen = Some((trial, free));
                }
                // Bonds that a combination leaves open may differ by chance.
                Some((first, free)) => {
                    let also = trial.free();
                    for (at, open) in open.iter_mut().enumerate() {
                        let settled = !free[at] && !also[at];
                        *open |= settled && first.gives(at as u32) != trial.gives(at as u32);
                    }
                }
            }
        }
        if let Some((chosen, _)) = chosen {
            *causal = chosen;
        }
    }

    pub fn storages(&self) -> usize {
        self.storages.len()
    }

    /// Runs the procedure. `switches` tells what a switch gives, if its position is fixed.
    pub fn run(&self, switches: &dyn Fn(NodeId) -> Option<Gives>) -> Result<RunResult, Conflict> {
        let mut causal = Causal::new(&net_of(self.graph, switches))?;
        let mut integrating = 0;
        for choice in &self.storages {
            let Choice {
                node,
                bond,
                integral,
                first,
            } = *choice;
            let end = end_at(self.graph, bond, node);
            if !causal.try_fix(bond.0, end, first) {
                causal.try_fix(bond.0, end, first.other());
            }
            integrating += usize::from(causal.gives(bond.0)[end] == integral);
        }
        let mut open = vec![false; self.graph.bonds.len()];
        for (node, choices) in &self.coupled {
            self.choose(&mut causal, *node, choices, &mut open);
        }
        let mut free = causal.free();
        for (free, open) in free.iter_mut().zip(open) {
            *free |= open;
        }
        for &(bond, node, gives) in &self.resistors {
            if free[bond.index()] {
                causal.try_fix(bond.0, end_at(self.graph, bond, node), gives);
            }
        }
        for bond in self.graph.bond_ids() {
            if free[bond.index()] {
                causal.try_fix(bond.0, 0, Gives::Effort);
            }
        }
        let gives = (self.graph.bond_ids())
            .map(|bond| causal.gives(bond.0)[0])
            .collect();
        Ok(RunResult {
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
