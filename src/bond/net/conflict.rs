//! Explains why a net has no causality: a minimal set of fixed ends that contradict each other, and
//! the nodes between them.
//!
//! Before: a net without causality. First the rules of the nodes are imposed, then the fixed ends
//! one by one, until one fails. All earlier ones can be satisfied together, so exactly one vertex
//! stays uncovered. The failed search has built a Hungarian tree (Edmonds 1965, Gallai 1964). A
//! fixed end that the tree meets at an outer vertex is part of the conflict: without it there would
//! be a causality. A fixed end that the tree does not meet has no influence. So the conflict is
//! minimal.
//!
//! Edges are not propagated here as in `causal.rs`, because a deleted edge no longer shows which
//! fixed end is the reason.

use super::causal::Reduced;
use super::{Net, Rule};
use crate::structure::Covering;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflict {
    /// Fixed ends that contradict each other: the bond, and which of its ends. None of them can be
    /// left out. Empty if the rules of the nodes are contradictory by themselves.
    pub ends: Vec<(u32, usize)>,
    /// The nodes whose rules are part of the contradiction, in order.
    pub nodes: Vec<u32>,
}

/// Fixes one end after the other until a node can no longer be satisfied, and explains that node.
pub(super) fn find(net: &Net, reduced: &Reduced) -> Conflict {
    let mut covering = Covering::new(reduced.required.clone(), reduced.edges.clone());
    if covering.cover_all().is_err() {
        return from_search(net, reduced, &covering, 0);
    }
    let mut last = None;
    for (count, (bond, end, gives)) in net.fixed().enumerate() {
        // If both ends are fixed, they agree or contradict each other; no other part of the net
        // matters.
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
            covering.forbid(bond)
        };
        if !done {
            return from_search(net, reduced, &covering, count + 1);
        }
    }
    Conflict::default()
}

/// Collects the conflict from the last search: the nodes that it reached, and those of the first
/// `fixed` fixed ends that it met.
fn from_search(net: &Net, reduced: &Reduced, covering: &Covering, fixed: usize) -> Conflict {
    let is_in_conflict = |&(bond, end, gives): &_| {
        let ends = reduced.edges[bond as usize];
        if reduced.is_chosen(bond, end, gives) {
            covering.is_outer(ends[end])
        } else {
            covering.is_outer(ends[1 - end])
        }
    };
    Conflict {
        ends: (net.fixed().take(fixed).filter(is_in_conflict))
            .map(|(bond, end, _)| (bond, end))
            .collect(),
        nodes: (0..net.nodes.len() as u32)
            .filter(|&node| net.nodes[node as usize] == Rule::One && covering.is_reached(node))
            .collect(),
    }
}
