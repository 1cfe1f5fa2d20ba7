//! Finds where an R-field is in the sorted equations.
//!
//! Before: the fields of a graph, and the sorted equations of the model with nothing eliminated.
//! After: for each field the loop in which its ports are solved together. It is found by the
//! variables that are solved for, because a resistor with several ports can be in several loops.
//! The loop contains the laws of the resistors and the equations of the junctions. It may also
//! contain signals from one resistor to another, and storages that depend on each other.

use rustc_hash::{FxHashMap, FxHashSet};

use super::resistive::RField;
use crate::bond::BondGraph;
use crate::bond::graph::{Graph, NodeId};
use crate::flat::{Flat, InstanceId, Leaf, VarId};
use crate::passes::order::{Row, Sorted};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In one loop of the sorted equations: its number from 1 on, and the number of all loops.
    Loop {
        number: usize,
        of: usize,
        equations: usize,
        /// Submodels outside the field whose laws are in the loop.
        also: Vec<InstanceId>,
        /// Signals of the field's resistors and transformers that the loop solves for.
        signals: Vec<VarId>,
    },
    /// Its ports are solved in several loops. `numbers` are those of the loops (from 1 on), `of` is
    /// the number of all loops.
    Several { numbers: Vec<usize>, of: usize },
    /// Its ports are in no loop.
    Apart,
    /// The equations cannot be sorted.
    Unsorted,
}

/// The loops of the sorted equations, found by the variables that they solve for.
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

    /// Returns the loops that solve for efforts and flows of the ports of a field.
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

/// Returns the resistors, transformers and gyrators of a field. An element with several bonds of
/// the field is returned several times.
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

/// Whether a row is an equation of an element, not of a junction.
fn is_law(flat: &Flat, sorted: &Sorted, row: u32) -> bool {
    match &sorted.rows[row as usize] {
        Row::Equation(id) => !flat.is_sum(*id),
        _ => true,
    }
}
