//! Couplings to flat equations.

use crate::base::cancel::glance;
use std::rc::Rc;

use super::couplings::{Coupling, couplings};
use super::flatten::Flattener;
use super::structure::Place;
use crate::base::source::Span;
use crate::expr::{BinaryOp, ExprId, UnaryOp};
use crate::flat::{Equation, EquationKind, InstanceId, Leaf, VarId};

impl Flattener<'_, '_> {
    pub(super) fn couple(&mut self, instance: u32) -> Option<()> {
        let class_id = self.tree.instances[instance as usize].class;
        let class = self.tree.classes.get(class_id);
        if class.submodels.is_empty() && class.connections.is_empty() && instance != 0 {
            return Some(());
        }
        let inner_arrays = class.submodels.iter().any(|submodel| {
            (submodel.class).is_some_and(|inner| self.tree.classes.get(inner).has_arrays)
        });
        let same_everywhere =
            !(class.has_arrays || class.indexed_connections || inner_arrays || instance == 0);
        let found = match self.cache.get(&class_id) {
            Some(found) if same_everywhere => Rc::clone(found),
            _ => {
                // Errors are all reported before giving up.
                let Some(found) = couplings(self.tree, instance) else {
                    return Some(());
                };
                let found = Rc::new(found);
                if same_everywhere {
                    self.cache.insert(class_id, Rc::clone(&found));
                }
                found
            }
        };
        for &(owner, offset) in &found.terminals {
            glance();
            if owner != super::connect::SELF {
                let variable = self.place(instance, owner, offset);
                self.set.insert(variable);
            }
        }
        self.meet(instance, &found.meetings);
        for (coupling, span) in &found.list {
            self.coupling(instance, coupling, *span);
        }
        Some(())
    }

    pub(super) fn place(&self, instance: u32, owner: u32, offset: u32) -> VarId {
        let inner = self.tree.owner_instance(instance, owner);
        VarId(self.tree.instances[inner as usize].variables + offset)
    }

    pub(super) fn leaf(&mut self, instance: u32, place: Place) -> ExprId {
        let variable = self.place(instance, place.owner, place.offset);
        self.parts.exprs.leaf(Leaf::Var(variable))
    }

    pub(super) fn coupling(&mut self, instance: u32, coupling: &Coupling, span: Span) {
        let (left, right, kind) = match coupling {
            Coupling::Equal(a, b) => {
                let left = self.leaf(instance, *a);
                let mut right = self.leaf(instance, *b);
                if a.negative != b.negative {
                    right = self.parts.exprs.unary(UnaryOp::Minus, right);
                }
                (left, right, EquationKind::Coupling)
            }
            Coupling::Sum(terms) => {
                let left = self.sum(instance, terms, false);
                let right = self.sum(instance, terms, true);
                let zero = self.parts.exprs.number(0.0);
                match (left, right) {
                    (Some(left), right) => (left, right.unwrap_or(zero), EquationKind::Sum),
                    (None, right) => (right.unwrap_or(zero), zero, EquationKind::Sum),
                }
            }
            Coupling::Zero(place) => {
                let left = self.leaf(instance, *place);
                (left, self.parts.exprs.number(0.0), EquationKind::ZeroFlow)
            }
        };
        self.parts.equations.push(Equation {
            left,
            right,
            origin: InstanceId(instance),
            span,
            kind,
        });
    }

    /// The terms of one sign: those counted in on the left, those counted out on the right.
    pub(super) fn sum(&mut self, instance: u32, terms: &[Place], negative: bool) -> Option<ExprId> {
        let mut total = None;
        for &term in terms.iter().filter(|term| term.negative == negative) {
            let leaf = self.leaf(instance, term);
            total = Some(match total {
                None => leaf,
                Some(total) => self.parts.exprs.binary(BinaryOp::Add, total, leaf),
            });
        }
        total
    }
}
