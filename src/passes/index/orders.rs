//! Which variables an equation contains, and the highest order of each in it.

use crate::flat::{EqId, Flat, Kind, Leaf, Type, VarId};
use crate::structure::{Incidence, NONE, Offsets};

/// The model as Pantelides' algorithm sees it.
#[derive(Debug)]
pub struct Orders {
    /// Equations that hold at all times.
    pub equations: Vec<EqId>,
    /// Unknown variables, each with its derivatives.
    pub variables: Vec<VarId>,
    /// The highest order of each variable in each equation.
    pub incidence: Incidence,
    /// The column of each variable, or `NONE`.
    columns: Vec<u32>,
}

impl Orders {
    pub fn new(flat: &Flat) -> Self {
        let variables: Vec<VarId> = (flat.variable_ids())
            .filter(|&id| {
                let kind = flat.variable(id).kind;
                matches!(kind, Kind::State | Kind::Algebraic | Kind::Output)
            })
            .collect();
        let mut column = vec![NONE; flat.variables.len()];
        for (at, variable) in variables.iter().enumerate() {
            column[variable.index()] = at as u32;
        }
        let equations: Vec<EqId> = (flat.equation_ids())
            .filter(|id| flat.equations[id.index()].kind.is_continuous())
            .collect();
        let mut incidence = Incidence::new(variables.len());
        let mut entries: Vec<(u32, u8)> = Vec::new();
        for id in &equations {
            let equation = &flat.equations[id.index()];
            // A truth is constant between events. What gives it is not differentiated with what it decides.
            let boolean = flat.is_boolean(equation.left);
            entries.clear();
            for side in [equation.left, equation.right] {
                flat.exprs.leaves(side, |leaf| {
                    if (flat.variable(leaf.variable()).ty == Type::Boolean) != boolean {
                        return;
                    }
                    let at = column[leaf.variable().index()];
                    if let (true, Some(order)) = (at != NONE, leaf.order()) {
                        entries.push((at, order));
                    }
                });
            }
            incidence.push_row(entries.iter().copied());
        }
        Orders {
            equations,
            variables,
            incidence,
            columns: column,
        }
    }

    /// The column of an unknown.
    pub fn column(&self, variable: VarId) -> Option<u32> {
        let column = self.columns[variable.index()];
        (column != NONE).then_some(column)
    }

    /// The column whose highest derivative a leaf becomes when its row is differentiated, or `NONE`.
    pub fn tight_column(&self, offsets: &Offsets, row: u32, leaf: Leaf) -> u32 {
        let column = self.columns[leaf.variable().index()];
        match leaf.order() {
            Some(order) if column != NONE => match offsets.is_tight(row, column, order) {
                true => column,
                false => NONE,
            },
            _ => NONE,
        }
    }
}
