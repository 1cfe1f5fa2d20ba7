//! Auxiliaries: new variables Q101, Q102, ... for common factors in the formulas of a loop, as in
//! the 1995 paper.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::base::source::Span;
use crate::expr::ExprId;
use crate::flat::{Flat, InstanceId, Kind, Leaf, Type, VarId};

#[derive(Debug)]
pub struct Auxiliaries {
    /// The number of the auxiliary that was made last.
    last: u32,
    /// The variables before this one belong to the model.
    first: u32,
    /// The expression that each auxiliary stands for.
    definitions: Vec<ExprId>,
    /// Names that the model itself has at its top.
    taken: FxHashSet<String>,
}

impl Auxiliaries {
    pub fn new(flat: &Flat) -> Self {
        let top = flat
            .variables
            .iter()
            .enumerate()
            .take_while(|(_, variable)| variable.instance == InstanceId::TOP);
        let taken = top
            .map(|(at, _)| flat.name(VarId(at as u32)))
            .filter(|name| name.starts_with('Q'))
            .collect();
        Auxiliaries {
            last: 100,
            first: flat.variables.len() as u32,
            definitions: Vec::new(),
            taken,
        }
    }

    /// Continues the numbering in a model that has auxiliaries already.
    pub fn after(flat: &Flat) -> Self {
        let top = (flat.variable_ids())
            .filter(|&id| flat.variable(id).instance == InstanceId::TOP)
            .map(|id| flat.name(id));
        Auxiliaries {
            taken: top.filter(|name| name.starts_with('Q')).collect(),
            ..Auxiliaries::new(flat)
        }
    }

    /// Makes a new variable that stands for the expression.
    pub fn name(&mut self, flat: &mut Flat, definition: ExprId, span: Span) -> Leaf {
        let name = loop {
            self.last += 1;
            let name = format!("Q{}", self.last);
            if !self.taken.contains(&name) {
                break name;
            }
        };
        let symbol = Arc::make_mut(&mut flat.names).intern(&name);
        let id = flat.add_variable(symbol, span, Kind::Auxiliary, Type::Real);
        self.definitions.push(definition);
        Leaf::Var(id)
    }

    /// What an auxiliary stands for.
    pub fn definition(&self, leaf: Leaf) -> Option<ExprId> {
        let at = leaf.variable().0.checked_sub(self.first)?;
        self.definitions.get(at as usize).copied()
    }
}
