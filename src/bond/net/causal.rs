//! A causality of a whole net, which is kept valid while more and more of it is fixed.
//!
//! Before: a [`Net`]. After: for each bond what its ends give, such that every rule and all that is
//! fixed holds; or a [`Conflict`]. This file prefers no causality to another; the order in which
//! the caller fixes ends decides. That is the sequential assignment of Karnopp and Rosenberg 1968,
//! but each step is answered for the whole net, so no step has to be taken back.
//!
//! A bond is an edge that is in the covering (*chosen*) or not. A node with [`Rule::One`] is a
//! vertex that must be covered: its chosen bond is the one that gives there what is marked. If the
//! marks at the two ends of a bond differ, both nodes choose the bond, or neither does. If they are
//! equal, exactly one of the two nodes chooses it: then the bond has a vertex in its middle that
//! must be covered, by the half at one end or by the half at the other. An end at a node with
//! [`Rule::Each`] becomes a vertex of its own, which has no other edge and may stay exposed.
//! Gyrators make cycles of odd length, so the graph is not bipartite in general.

use super::conflict::{self, Conflict};
use super::{End, Gives, Net, Rule};
use crate::structure::Covering;

/// A net as a covering problem. The first vertices are the nodes and the first edges are the bonds.
/// If a bond has a middle vertex, its first half has the number of the bond.
#[derive(Clone, Debug)]
pub(super) struct Reduced {
    pub(super) required: Vec<bool>,
    pub(super) edges: Vec<[u32; 2]>,
    /// For each bond, what its first end gives if its edge is chosen.
    pub(super) chosen: Vec<Gives>,
}

impl Reduced {
    pub(super) fn new(net: &Net) -> Self {
        let mut required: Vec<bool> = net.nodes.iter().map(|&rule| rule == Rule::One).collect();
        let mut edges = Vec::with_capacity(net.bonds.len());
        let mut second_halves = Vec::new();
        let mut chosen = Vec::with_capacity(net.bonds.len());
        for ends in &net.bonds {
            let [first, second] = ends.each_ref().map(|end| choice(net, end));
            let [a, b] = ends.each_ref().map(|end| {
                if net.rule(end) == Rule::One {
                    end.node
                } else {
                    required.push(false);
                    required.len() as u32 - 1
                }
            });
            if first.is_some() && first == second {
                let middle = required.len() as u32;
                required.push(true);
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
            required,
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

/// Returns what an end gives if its node chooses the bond.
fn choice(net: &Net, end: &End) -> Option<Gives> {
    let one = net.rule(end) == Rule::One;
    debug_assert!(!one || end.marked.is_some());
    end.marked.filter(|_| one)
}

/// A causality in which some bonds are fixed.
#[derive(Clone, Debug)]
pub struct Causal {
    covering: Covering,
    chosen: Vec<Gives>,
}

impl Causal {
    /// Makes any causality in which all marked ends give what is marked. In a typical net most of
    /// it follows from the sources without a search. The conflict is searched only if there is no
    /// causality.
    pub fn new(net: &Net) -> Result<Causal, Conflict> {
        let reduced = Reduced::new(net);
        let mut covering = Covering::new(reduced.required.clone(), reduced.edges.clone());
        let mut possible = true;
        for (bond, end, gives) in net.fixed() {
            if !reduced.is_chosen(bond, end, gives) {
                covering.delete(bond);
            } else if covering.is_deleted(bond) {
                possible = false;
            } else {
                covering.force(bond);
            }
        }
        // If both ends of a bond are marked alike, the bond is first forced and then deleted: its
        // ends have no edge left.
        if possible && covering.propagate() && covering.cover_all().is_ok() {
            Ok(Causal {
                covering,
                chosen: reduced.chosen,
            })
        } else {
            Err(conflict::find(net, &reduced))
        }
    }

    /// Returns what the two ends of a bond give.
    pub fn gives(&self, bond: u32) -> [Gives; 2] {
        let chosen = self.chosen[bond as usize];
        let first = if self.covering.contains(bond) {
            chosen
        } else {
            chosen.other()
        };
        [first, first.other()]
    }

    /// Fixes what an end of a bond gives, if there is a causality with this and with all that was
    /// fixed before. Otherwise returns false and changes nothing.
    pub fn try_fix(&mut self, bond: u32, end: usize, gives: Gives) -> bool {
        let chosen = is_chosen(&self.chosen, bond, end, gives);
        let covering = &mut self.covering;
        let done = chosen == covering.contains(bond)
            || (!covering.is_decided(bond) && covering.toggle(bond));
        // A refusal also decides the bond, so the next searches are shorter.
        decide(covering, bond);
        done
    }

    /// Whether only one possibility is left for a bond, as far as this follows from node to node
    /// without a search.
    pub fn is_decided(&self, bond: u32) -> bool {
        self.covering.is_decided(bond)
    }

    /// For each bond: whether its stroke could be at the other end, in some causality that keeps all fixed strokes.
    pub fn free(&self) -> Vec<bool> {
        let mut covering = self.covering.clone();
        let bonds = self.chosen.len() as u32;
        let mut free = vec![false; bonds as usize];
        let mut pruned = false;
        for bond in 0..bonds {
            if free[bond as usize] || covering.is_decided(bond) {
                continue;
            }
            if covering.toggle(bond) {
                // All edges on the path have now been seen in both states.
                for edge in covering.changed_edges() {
                    if let Some(free) = free.get_mut(edge as usize) {
                        *free = true;
                    }
                }
            } else {
                decide(&mut covering, bond);
                // After one failed search, others may fail too, and each takes long. Pruning
                // deletes all edges that fail for reasons other than parity.
                if !std::mem::replace(&mut pruned, true) {
                    covering.prune();
                    covering.propagate();
                }
            }
        }
        free
    }
}

/// Fixes an edge in its present state.
fn decide(covering: &mut Covering, edge: u32) {
    if covering.is_decided(edge) {
        return;
    }
    if covering.contains(edge) {
        covering.force(edge);
    } else {
        covering.delete(edge);
    }
    covering.propagate();
}
