//! The key vectors of the field structure: inputs and outputs of storages, resistors and sources.
//!
//! The names are those of Hood, Rosenberg, Withers and Zhou 1987, Figure 5. X: energy variables of
//! the storages (momentum of an inertance, displacement of a capacitance); Z: their outputs. Di:
//! inputs of resistors; Do: their outputs. U: outputs of sources; V: their inputs. Storages with
//! derivative causality have vectors of their own, Xd and Zd. Resistors in a loop are the implicit
//! part of Di and Do.

use rustc_hash::FxHashSet;

use super::transfer::{Transfer, Var};
use crate::bond::graph::{BondId, ElementKind, NodeId};
use crate::bond::net::Gives;
use crate::bond::order::natural;

/// A port and the two variables of its bond.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub node: NodeId,
    pub takes: Var,
    pub gives: Var,
}

#[derive(Clone, Debug, Default)]
pub struct Vectors {
    /// X and Z.
    pub storages: Vec<Entry>,
    /// Xd and Zd.
    pub dependent: Vec<Entry>,
    /// Di and Do, explicit and implicit.
    pub explicit: Vec<Entry>,
    pub implicit: Vec<Entry>,
    /// U and V.
    pub sources: Vec<Entry>,
}

impl Vectors {
    pub fn new(transfer: &Transfer<'_>, loops: &[Vec<BondId>]) -> Vectors {
        let graph = transfer.graph;
        let free: FxHashSet<BondId> = loops.iter().flatten().copied().collect();
        let mut nodes: Vec<NodeId> = graph.elements().map(|(id, _)| id).collect();
        nodes.sort_by(|&a, &b| natural(&graph.node(a).name, &graph.node(b).name));
        let mut vectors = Vectors::default();
        for id in nodes {
            let Some(element) = graph.node(id).element() else {
                continue;
            };
            for &bond in &element.ports {
                let Some(is) = transfer.given_by(id, bond) else {
                    continue;
                };
                let entry = Entry {
                    node: id,
                    takes: Var {
                        bond,
                        is: is.other(),
                    },
                    gives: Var { bond, is },
                };
                let integral = match element.kind {
                    ElementKind::C => is == Gives::Effort,
                    _ => is == Gives::Flow,
                };
                let list = match element.kind {
                    ElementKind::C | ElementKind::I if integral => &mut vectors.storages,
                    ElementKind::C | ElementKind::I => &mut vectors.dependent,
                    ElementKind::R | ElementKind::RS if free.contains(&bond) => {
                        &mut vectors.implicit
                    }
                    ElementKind::R | ElementKind::RS => &mut vectors.explicit,
                    ElementKind::Se | ElementKind::Sf if !element.reference && !element.open => {
                        &mut vectors.sources
                    }
                    _ => continue,
                };
                list.push(entry);
            }
        }
        vectors
    }
}
