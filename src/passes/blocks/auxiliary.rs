//! Auxiliaries: common factors that a loop's formulas name, Q101, Q102, ... as the 1995 paper does.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::base::source::Span;
use crate::expr::ExprId;
use crate::flat::{Flat, InstanceId, Kind, Leaf, Type, VarId};

#[derive(Debug)]
pub struct Auxiliaries {
    /// The number of the last one.
    last: u32,
    /// Variables before this one are the model's own.
    first: u32,
    /// What each stands for.
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

    /// More of them, in a model that has been solved.
    pub fn after(flat: &Flat) -> Self {
        let top = (flat.variable_ids())
            .filter(|&id| flat.variable(id).instance == InstanceId::TOP)
            .map(|id| flat.name(id));
        Auxiliaries {
            taken: top.filter(|name| name.starts_with('Q')).collect(),
            ..Auxiliaries::new(flat)
        }
    }

    /// A new variable of the model that stands for the expression.
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
