//! Where an R-field is in the sorted equations.
//!
//! Before: the fields of a graph, and the equations of the model sorted with nothing eliminated. After: for each field
//! the loop in which its resistors are solved together. The loop holds the laws of the resistors and what the junctions say, and
//! may hold more: what a signal carries from one resistor to another, and storages that depend on each other.

use rustc_hash::{FxHashMap, FxHashSet};

use super::resistive::RField;
use crate::bond::BondGraph;
use crate::bond::graph::{Graph, NodeId};
use crate::flat::{Flat, InstanceId, Leaf, VarId};
use crate::passes::order::{Row, Sorted};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a loop of the sorted equations, by its number from 1 on, of so many.
    Loop {
        number: usize,
        of: usize,
        equations: usize,
        /// Submodels that are no part of the field and have laws in the loop.
        also: Vec<InstanceId>,
        /// Signals of its resistors and transformers that are solved for in the loop.
        signals: Vec<VarId>,
    },
    /// The resistors are in no loop together.
    Apart,
    /// The equations cannot be sorted.
    Unsorted,
}

/// The loops of sorted equations, looked up by the submodels whose equations are in them.
#[derive(Debug)]
pub struct Loops<'s> {
    sorted: Option<&'s (Flat, Sorted)>,
    of_instance: FxHashMap<InstanceId, Vec<usize>>,
}

impl<'s> Loops<'s> {
    pub fn new(model: &'s BondGraph) -> Loops<'s> {
        let mut of_instance: FxHashMap<InstanceId, Vec<usize>> = FxHashMap::default();
        let sorted = model.sorted.as_ref();
        if let Some((flat, sorted)) = sorted {
            for (number, block) in sorted.loops().enumerate() {
                for origin in (block.iter()).filter_map(|&row| origin(flat, sorted, row)) {
                    let own = of_instance.entry(origin).or_default();
                    if own.last() != Some(&number) {
                        own.push(number);
                    }
                }
            }
        }
        Loops {
            sorted,
            of_instance,
        }
    }

    pub fn place(&self, graph: &Graph, field: &RField) -> Place {
        let Some((flat, sorted)) = self.sorted else {
            return Place::Unsorted;
        };
        let owner = |id| graph.node(id).owner;
        let of = |id| (self.of_instance.get(&owner(id))).map_or(&[][..], |list| &list[..]);
        let mut resistors = field.resistors.iter().copied();
        let first = resistors.next().map_or(&[][..], of);
        let common = first
            .iter()
            .find(|&number| (resistors.clone()).all(|id| of(id).contains(number)));
        let Some(&number) = common else {
            return Place::Apart;
        };
        let Some(block) = sorted.loops().nth(number) else {
            return Place::Apart;
        };
        let mut own: Vec<InstanceId> = elements(graph, field).map(owner).collect();
        own.sort_unstable();
        let mut also: Vec<InstanceId> = (block.iter())
            .filter(|&&row| is_law(flat, sorted, row))
            .filter_map(|&row| origin(flat, sorted, row))
            .filter(|origin| own.binary_search(origin).is_err())
            .collect();
        also.sort_unstable();
        also.dedup();
        let solved: FxHashSet<Leaf> = (block.iter())
            .map(|&row| sorted.unknowns[row as usize])
            .collect();
        let mut signals: Vec<VarId> = (elements(graph, field))
            .filter_map(|id| graph.node(id).element())
            .flat_map(|element| element.signals.iter().copied())
            .filter(|&id| solved.contains(&Leaf::Var(id)))
            .collect();
        signals.sort_unstable();
        signals.dedup();
        Place::Loop {
            number: number + 1,
            of: sorted.loops().count(),
            equations: block.len(),
            also,
            signals,
        }
    }
}

/// Resistors, transformers and gyrators of a field; one that has several of its bonds comes several times.
fn elements(graph: &Graph, field: &RField) -> impl Iterator<Item = NodeId> {
    (field.bonds.iter())
        .flat_map(|&bond| graph.bond(bond).ends())
        .filter(|&id| graph.node(id).element().is_some())
}

fn origin(flat: &Flat, sorted: &Sorted, row: u32) -> Option<InstanceId> {
    match &sorted.rows[row as usize] {
        Row::Equation(id) => Some(flat.equations[id.index()].origin),
        _ => None,
    }
}

/// More than what junctions are made of.
fn is_law(flat: &Flat, sorted: &Sorted, row: u32) -> bool {
    match &sorted.rows[row as usize] {
        Row::Equation(id) => !flat.is_sum(*id),
        _ => true,
    }
}
