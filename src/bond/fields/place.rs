//! Where an R-field is in the sorted equations.
//!
//! Before: the fields of a graph, and the equations of the model sorted with nothing eliminated. After: for each field
//! the loop in which its ports are solved together: by the variables that are solved for, as a resistor with several ports can be in several. The loop holds the laws of the resistors and what the junctions say, and
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
    /// Its ports are solved in several loops, by their numbers from 1 on, of so many.
    Several { numbers: Vec<usize>, of: usize },
    /// Its ports are in no loop.
    Apart,
    /// The equations cannot be sorted.
    Unsorted,
}

/// The loops of sorted equations, looked up by the variables that are solved for in them.
#[derive(Debug)]
pub struct Loops<'s> {
    sorted: Option<&'s (Flat, Sorted)>,
    of_variable: FxHashMap<VarId, usize>,
}

impl<'s> Loops<'s> {
    pub fn new(model: &'s BondGraph) -> Loops<'s> {
        let mut of_variable: FxHashMap<VarId, usize> = FxHashMap::default();
        let sorted = model.sorted.as_ref();
        if let Some((_, sorted)) = sorted {
            for (number, block) in sorted.loops().enumerate() {
                for &row in block {
                    if let Leaf::Var(id) = sorted.unknowns[row as usize] {
                        of_variable.insert(id, number);
                    }
                }
            }
        }
        Loops {
            sorted,
            of_variable,
        }
    }

    /// The loops in which efforts and flows of the ports of a field are solved for.
    fn of_ports(&self, graph: &Graph, field: &RField) -> Vec<usize> {
        let mut found: Vec<usize> = (field.r.iter().chain(&field.g))
            .filter_map(|port| Some((graph.node(port.node).element()?, port.port)))
            .flat_map(|(element, port)| &element.quantities[port])
            .flat_map(|quantity| quantity.0.iter().flatten())
            .filter_map(|(_, id)| self.of_variable.get(id).copied())
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    pub fn place(&self, graph: &Graph, field: &RField) -> Place {
        let Some((flat, sorted)) = self.sorted else {
            return Place::Unsorted;
        };
        let owner = |id| graph.node(id).owner;
        let number = match self.of_ports(graph, field)[..] {
            [] => return Place::Apart,
            [number] => number,
            ref several => {
                return Place::Several {
                    numbers: several.iter().map(|number| number + 1).collect(),
                    of: sorted.loops().count(),
                };
            }
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
