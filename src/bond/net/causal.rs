//! A causality for a whole net, kept while more and more of it is fixed.
//!
//! Before: a [`Net`]. After: for each bond what its ends give, such that every rule and everything fixed holds; or a
//! [`Conflict`]. Nothing here prefers one causality to another: who asks, and in which order, decides. That is the
//! sequential assignment of Karnopp and Rosenberg 1968, but each step is answered for the whole net, so that none has to
//! be taken back.
//!
//! A bond is an edge that is *chosen* or not. A node with [`Rule::One`] is a vertex that must be covered: the chosen bond
//! is the one that gives there what is marked. If the marks at the two ends of a bond are unlike, both nodes choose it
//! together or not at all. If they are alike, exactly one of the two chooses it: the bond has a vertex in its middle
//! that must be covered, by the half at the one end or the half at the other. An end at a node with [`Rule::Each`] is a
//! vertex by itself, with no other edge, that may stay exposed. Gyrators make circles of odd length, so the graph need
//! not be bipartite.

use super::conflict::{self, Conflict};
use super::{End, Gives, Net, Rule};
use crate::structure::Covering;

/// What a net asks for as a covering. Vertices are first the nodes; edges are first the bonds, and the first half of a
/// bond with a middle stands for the bond.
#[derive(Clone, Debug)]
pub(super) struct Reduced {
    pub(super) must: Vec<bool>,
    pub(super) edges: Vec<[u32; 2]>,
    /// What the first end of a bond gives if its edge is chosen.
    pub(super) chosen: Vec<Gives>,
}

impl Reduced {
    pub(super) fn new(net: &Net) -> Self {
        let mut must: Vec<bool> = net.nodes.iter().map(|&rule| rule == Rule::One).collect();
        let mut edges = Vec::with_capacity(net.bonds.len());
        let mut second_halves = Vec::new();
        let mut chosen = Vec::with_capacity(net.bonds.len());
        for ends in &net.bonds {
            let [first, second] = ends.each_ref().map(|end| choice(net, end));
            let [a, b] = ends.each_ref().map(|end| {
                if net.rule(end) == Rule::One {
                    end.node
                } else {
                    must.push(false);
                    must.len() as u32 - 1
                }
            });
            if first.is_some() && first == second {
                let middle = must.len() as u32;
                must.push(true);
                edges.push([a, middle]);
                second_halves.push([middle, b]);
            } else {
                edges.push([a, b]);
            }
            let gives = first.or(second.map(Gives::other));
            chosen.push(gives.unwrap_or(Gives::Effort));
        }
        edges.append(&mut second_halves);
        Reduced {
            must,
            edges,
            chosen,
        }
    }

    pub(super) fn is_chosen(&self, bond: u32, end: usize, gives: Gives) -> bool {
        is_chosen(&self.chosen, bond, end, gives)
    }
}

fn is_chosen(chosen: &[Gives], bond: u32, end: usize, gives: Gives) -> bool {
    let at_first = if end == 0 { gives } else { gives.other() };
    at_first == chosen[bond as usize]
}

/// What an end gives if its node chooses it.
fn choice(net: &Net, end: &End) -> Option<Gives> {
    let one = net.rule(end) == Rule::One;
    debug_assert!(!one || end.marked.is_some());
    end.marked.filter(|_| one)
}

/// A causality, and what is fixed of it so far.
#[derive(Clone, Debug)]
pub struct Causal {
    covering: Covering,
    chosen: Vec<Gives>,
}

impl Causal {
    /// Some causality in which all marked ends give what is marked. Most of a usual net follows from its sources without
    /// a search; only where that fails is it asked why.
    pub fn new(net: &Net) -> Result<Causal, Conflict> {
        let reduced = Reduced::new(net);
        let mut covering = Covering::new(reduced.must.clone(), reduced.edges.clone());
        let mut possible = true;
        for (bond, end, gives) in net.fixed() {
            if !reduced.is_chosen(bond, end, gives) {
                covering.take_out(bond);
            } else if covering.is_out(bond) {
                possible = false;
            } else {
                covering.keep(bond);
            }
        }
        // A bond both of whose ends are marked alike may be kept first and taken out then: its ends have nothing left.
        if possible && covering.settle() && covering.cover_all().is_ok() {
            Ok(Causal {
                covering,
                chosen: reduced.chosen,
            })
        } else {
            Err(conflict::find(net, &reduced))
        }
    }

    /// What the two ends of a bond give.
    pub fn gives(&self, bond: u32) -> [Gives; 2] {
        let chosen = self.chosen[bond as usize];
        let first = if self.covering.has(bond) {
            chosen
        } else {
            chosen.other()
        };
        [first, first.other()]
    }

    /// Fixes what an end of a bond gives, if there is a causality with this and all that was fixed before. If there is
    /// none, nothing changes.
    pub fn try_fix(&mut self, bond: u32, end: usize, gives: Gives) -> bool {
        let wanted = is_chosen(&self.chosen, bond, end, gives);
        let covering = &mut self.covering;
        let done =
            wanted == covering.has(bond) || (!covering.is_settled(bond) && covering.flip(bond));
        // Also a refusal says something for good: less is left to be searched the next time.
        decide(covering, bond);
        done
    }

    /// Whether all that is fixed leaves only one possibility for a bond, as far as this follows from node to node.
    pub fn is_settled(&self, bond: u32) -> bool {
        self.covering.is_settled(bond)
    }

    /// For each bond whether its ends could also give the other, in some causality with all that is fixed.
    pub fn free(&self) -> Vec<bool> {
        let mut covering = self.covering.clone();
        let bonds = self.chosen.len() as u32;
        let mut free = vec![false; bonds as usize];
        let mut thin = false;
        for bond in 0..bonds {
            if free[bond as usize] || covering.is_settled(bond) {
                continue;
            }
            if covering.flip(bond) {
                // All on the path have been seen both ways.
                for edge in covering.changed() {
                    if let Some(free) = free.get_mut(edge as usize) {
                        *free = true;
                    }
                }
            } else {
                decide(&mut covering, bond);
                // Where one search fails others may, each of them long; now what is left fails only by parity.
                if !std::mem::replace(&mut thin, true) {
                    covering.thin_out();
                    covering.settle();
                }
            }
        }
        free
    }
}

/// Makes an edge stay as it is.
fn decide(covering: &mut Covering, edge: u32) {
    if covering.is_settled(edge) {
        return;
    }
    if covering.has(edge) {
        covering.keep(edge);
    } else {
        covering.take_out(edge);
    }
    covering.settle();
}
