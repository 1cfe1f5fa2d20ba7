//! Why a net has no causality: few fixed ends that contradict each other, and the nodes between them.
//!
//! Before: a net known to have none. The rules of the nodes are asked for first, then the fixed ends one by one. At the
//! first that fails all before it hold, and just one vertex cannot be covered. The search from it has reached all that
//! could take its place (the Hungarian tree; Edmonds 1965, Gallai 1964): if any fixed end that keeps an outer vertex
//! from being exposed, or from being covered by its bond, were not fixed, there would be a causality. And fixed ends that
//! the search did not meet change nothing. So those it met are a conflict, and none of them can be left out.
//!
//! Nothing follows here from node to node as it does in `causal.rs`: what has been narrowed no longer says why.

use super::causal::Reduced;
use super::{Net, Rule};
use crate::structure::Covering;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflict {
    /// Ends that cannot all give what is marked: bond, and which of its ends. No end can be left out. None at all if the
    /// rules of the nodes are a contradiction by themselves.
    pub ends: Vec<(u32, usize)>,
    /// The nodes whose rules are needed for the contradiction, in order.
    pub nodes: Vec<u32>,
}

pub(super) fn find(net: &Net, reduced: &Reduced) -> Conflict {
    let mut covering = Covering::new(reduced.must.clone(), reduced.edges.clone());
    if covering.cover_all().is_err() {
        return met(net, reduced, &covering, 0);
    }
    let mut last = None;
    for (count, (bond, end, gives)) in net.fixed().enumerate() {
        // Both ends are fixed, and agree or do not; nothing else has to do with this bond.
        if last == Some((bond, 0)) {
            if net.bonds[bond as usize][0].marked == Some(gives) {
                return Conflict {
                    ends: vec![(bond, 0), (bond, 1)],
                    nodes: Vec::new(),
                };
            }
            continue;
        }
        last = Some((bond, end));
        let done = if reduced.is_chosen(bond, end, gives) {
            covering.require(reduced.edges[bond as usize][end])
        } else {
            covering.bar(bond)
        };
        if !done {
            return met(net, reduced, &covering, count + 1);
        }
    }
    Conflict::default()
}

/// What the last search met, of the nodes and of so many fixed ends.
fn met(net: &Net, reduced: &Reduced, covering: &Covering, fixed: usize) -> Conflict {
    let keeps = |&(bond, end, gives): &_| {
        let ends = reduced.edges[bond as usize];
        if reduced.is_chosen(bond, end, gives) {
            covering.is_outer(ends[end])
        } else {
            covering.is_outer(ends[1 - end])
        }
    };
    Conflict {
        ends: (net.fixed().take(fixed).filter(keeps))
            .map(|(bond, end, _)| (bond, end))
            .collect(),
        nodes: (0..net.nodes.len() as u32)
            .filter(|&node| net.nodes[node as usize] == Rule::One && covering.is_reached(node))
            .collect(),
    }
}
