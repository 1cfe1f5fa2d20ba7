//! Reads strokes from the sorted equations: which end of a bond computes its flow, and which its
//! effort.
//!
//! Before: the expanded graph, and the sorted equations of its model with nothing eliminated.
//! After: for each bond the ends at which its effort and its flow are computed, as far as a single
//! equation or state does this. The equations of an element are solved at the element. A coupling
//! is solved at the junction whose cuts it joins. A state is computed at the element that
//! integrates it. Inside a loop no stroke can be read, because one end may compute both.

use rustc_hash::FxHashMap;

use super::graph::{Bond, Graph, NodeId, Quantity};
use crate::flat::{Equation, EquationKind, Flat, Leaf, VarId};
use crate::passes::order::{Row, Sorted};

/// The ends that compute effort and flow: 0 for the end where the bond begins, 1 for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub effort: Option<usize>,
    pub flow: Option<usize>,
}

impl Reading {
    /// The end that gives the flow, if both ends are known and they differ.
    pub fn stroke(self) -> Option<usize> {
        let (effort, flow) = (self.effort?, self.flow?);
        (effort != flow).then_some(flow)
    }
}

pub fn read(graph: &Graph, flat: &Flat, sorted: &Sorted) -> Vec<Reading> {
    let reader = Reader::new(graph, flat, sorted);
    (graph.bonds.iter())
        .map(|bond| Reading {
            effort: reader.end(bond, &bond.effort),
            flow: reader.end(bond, &bond.flow),
        })
        .collect()
}

struct Reader<'g> {
    graph: &'g Graph,
    flat: &'g Flat,
    /// The equation that alone computes a variable.
    by: FxHashMap<VarId, Equation>,
    /// The junctions at which a variable is coupled.
    junctions: FxHashMap<VarId, Vec<NodeId>>,
    /// Variables that elements use only in sums.
    summed: FxHashMap<VarId, ()>,
}

impl<'g> Reader<'g> {
    fn new(graph: &'g Graph, flat: &'g Flat, sorted: &Sorted) -> Self {
        let mut by = FxHashMap::default();
        for block in &sorted.blocks {
            if let [row] = block[..]
                && let Row::Equation(id) = sorted.rows[row as usize]
                && let Leaf::Var(variable) = sorted.unknowns[row as usize]
            {
                by.insert(variable, written(flat, flat.equations[id.index()]));
            }
        }
        let mut junctions: FxHashMap<VarId, Vec<NodeId>> = FxHashMap::default();
        for bond in &graph.bonds {
            for variable in [bond.effort.single(), bond.flow.single()]
                .into_iter()
                .flatten()
            {
                for node in bond.ends() {
                    if graph.node(node).junction().is_some() {
                        let list = junctions.entry(variable).or_default();
                        if !list.contains(&node) {
                            list.push(node);
                        }
                    }
                }
            }
        }
        let summed = (graph.elements())
            .flat_map(|(_, element)| element.summed.iter().map(|&id| (id, ())))
            .collect();
        Reader {
            graph,
            flat,
            by,
            junctions,
            summed,
        }
    }

    /// Returns the end at which a variable of a bond is computed.
    fn end(&self, bond: &Bond, quantity: &Quantity) -> Option<usize> {
        let variable = quantity.single()?;
        let ends = bond.ends();
        let owner = self.flat.variable(variable).instance;
        if self.flat.is_state(Leaf::Var(variable)) {
            return self.owned(ends, owner, false);
        }
        let equation = self.by.get(&variable)?;
        match equation.kind {
            EquationKind::Equation => {
                let mut sums = false;
                for side in [equation.left, equation.right] {
                    (self.flat.exprs).leaves(side, |leaf| {
                        sums |= self.summed.contains_key(&leaf.variable());
                    });
                }
                self.owned(ends, equation.origin, sums)
            }
            _ => self.coupled(ends, equation),
        }
    }

    /// Returns the end that belongs to a submodel: the element itself or, for its sums, the
    /// junction inside it.
    fn owned(
        &self,
        ends: [NodeId; 2],
        owner: crate::flat::InstanceId,
        sums: bool,
    ) -> Option<usize> {
        let own: Vec<usize> = (0..2)
            .filter(|&at| self.graph.node(ends[at]).owner == owner)
            .collect();
        match own[..] {
            [at] => Some(at),
            [_, _] => {
                (own.into_iter()).find(|&at| self.graph.node(ends[at]).junction().is_some() == sums)
            }
            _ => None,
        }
    }

    /// Returns the end at which all variables of a coupling meet.
    fn coupled(&self, ends: [NodeId; 2], equation: &Equation) -> Option<usize> {
        let mut common: Option<Vec<NodeId>> = None;
        for side in [equation.left, equation.right] {
            self.flat.exprs.leaves(side, |leaf| {
                if let Some(list) = self.junctions.get(&leaf.variable()) {
                    common = Some(match common.take() {
                        None => list.clone(),
                        Some(known) => known.into_iter().filter(|id| list.contains(id)).collect(),
                    });
                }
            });
        }
        let common = common?;
        let at: Vec<usize> = (0..2).filter(|&at| common.contains(&ends[at])).collect();
        match at[..] {
            [at] => Some(at),
            _ => None,
        }
    }
}

/// Returns an equation as it was before it was differentiated.
fn written(flat: &Flat, equation: Equation) -> Equation {
    match (equation.kind, &flat.reduction) {
        (EquationKind::Derivative(at), Some(reduction)) => reduction.derived[at as usize].of,
        _ => equation,
    }
}
