//! The old variables of removed or merged submodels in terms of the remaining variables.
//!
//! Before: the fields of a model, and the removed storages, each with the storage that replaces it. After: for a
//! variable of the old model an equal expression in variables of the new model. A dependent storage has a multiple of
//! the primary variable of the other one; its partner variable is its own parameter times the rate of that. Efforts
//! and flows between them are traced to the elements that determine them. So outputs and plots of removed parts still
//! work.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bond::fields::storage::{parameter, ratio};
use crate::bond::fields::transfer::{Sum, Transfer, Var};
use crate::bond::graph::{NodeId, Quantity};
use crate::bond::net::Gives;
use crate::expr::ExprId;
use crate::flat::{EquationKind, Flat, InstanceId, Leaf, VarId};
use crate::passes::aliases::eliminate;

/// A storage that is removed or that replaces others: its own parameter, and its primary variable as a multiple of
/// that of the remaining storage.
#[derive(Clone, Copy, Debug)]
pub struct MergedStorage {
    pub node: NodeId,
    pub into: NodeId,
    /// 1 for the remaining storage.
    pub gain: ExprId,
    pub own: ExprId,
    /// True for an inertance, whose primary variable is a flow.
    pub is_flow: bool,
}

#[derive(Debug)]
pub struct VariableMap<'m, 'g> {
    pub transfer: &'m mut Transfer<'g>,
    stored: FxHashMap<NodeId, MergedStorage>,
    /// Submodels whose variables change or are removed.
    touched: FxHashSet<InstanceId>,
    /// For each variable of a set of equal variables: the representative, and whether the variable is its negative.
    roots: FxHashMap<VarId, (VarId, bool)>,
    members: FxHashMap<VarId, Vec<(VarId, bool)>>,
    known: FxHashMap<Var, Sum>,
}

impl<'m, 'g> VariableMap<'m, 'g> {
    pub fn new(
        transfer: &'m mut Transfer<'g>,
        stored: &[MergedStorage],
        touched: FxHashSet<InstanceId>,
    ) -> Self {
        let (roots, members) = equal(transfer.flat);
        VariableMap {
            transfer,
            stored: stored.iter().map(|one| (one.node, *one)).collect(),
            touched,
            roots,
            members,
            known: FxHashMap::default(),
        }
    }

    /// Returns the primary variable of a storage: the flow of an inertance, the effort of a capacitance.
    pub fn primary(&self, node: NodeId, is_flow: bool) -> Option<(VarId, bool)> {
        self.quantity(node, 0, if is_flow { Gives::Flow } else { Gives::Effort })?
            .signed()
    }

    fn quantity(&self, node: NodeId, port: usize, is: Gives) -> Option<Quantity> {
        let element = self.transfer.graph.node(node).element()?;
        let pair = element.quantities.get(port)?;
        Some(pair[usize::from(is == Gives::Flow)].clone())
    }

    /// Returns an expression equal to an old variable of a touched submodel; `None` if there is none.
    pub fn was(&mut self, id: VarId) -> Option<ExprId> {
        let root = self.roots.get(&id).copied().unwrap_or((id, false));
        let same = self.members.get(&root.0).cloned();
        let same = same.unwrap_or_else(|| vec![(id, false)]);
        for &(other, negative) in &same {
            let instance = self.transfer.flat.variable(other).instance;
            // Variables of the model itself are skipped, because they may depend on the removed parts.
            let stays = instance != InstanceId::TOP && !self.touched.contains(&instance);
            if stays || self.is_kept(other) {
                let leaf = self.transfer.flat.exprs.leaf(Leaf::Var(other));
                return Some(self.signed(leaf, negative != root.1));
            }
        }
        for &(other, negative) in &same {
            if let Some(found) = self.of_port(other) {
                return Some(self.signed(found, negative != root.1));
            }
        }
        self.of_store(id)
    }

    /// Returns true for the primary variable of a remaining storage, which does not change.
    fn is_kept(&self, id: VarId) -> bool {
        (self.stored.values()).any(|one| {
            one.node == one.into
                && self
                    .primary(one.node, one.is_flow)
                    .is_some_and(|(of, _)| of == id)
        })
    }

    fn signed(&mut self, id: ExprId, negative: bool) -> ExprId {
        match negative {
            true => self.transfer.flat.exprs.tidy_minus(id),
            false => id,
        }
    }

    /// Returns the value of a variable that is the effort or flow at a port.
    fn of_port(&mut self, id: VarId) -> Option<ExprId> {
        let graph = self.transfer.graph;
        let instance = self.transfer.flat.variable(id).instance;
        let (node, element) =
            (graph.elements()).find(|(node, _)| graph.node(*node).owner == instance)?;
        for (port, &bond) in element.ports.iter().enumerate() {
            for is in [Gives::Effort, Gives::Flow] {
                let Some((variable, negative)) = self.quantity(node, port, is)?.signed() else {
                    continue;
                };
                if variable == id {
                    let value = self.value(Var { bond, is })?;
                    return Some(self.signed(value, negative));
                }
            }
        }
        None
    }

    /// Returns the effort or flow of a bond.
    fn value(&mut self, var: Var) -> Option<ExprId> {
        let sum = (self.transfer.follow(var, &|_| false, &mut self.known)).ok()?;
        let mut total: Option<ExprId> = None;
        for (source, factor) in sum {
            let given = self.given(source)?;
            let exprs = &mut self.transfer.flat.exprs;
            let term = exprs.tidy_mul(factor, given);
            total = Some(match total {
                Some(total) => exprs.tidy_add(total, term),
                None => term,
            });
        }
        total.or_else(|| Some(self.transfer.flat.exprs.number(0.0)))
    }

    /// Returns the variable that an element determines at a bond.
    fn given(&mut self, var: Var) -> Option<ExprId> {
        let node = self.transfer.giver(var)?;
        let primary = |stored: &MergedStorage| match stored.is_flow {
            true => Gives::Flow,
            false => Gives::Effort,
        };
        match self.stored.get(&node).copied() {
            // The storage determines the partner variable: parameter times rate, against the direction of power.
            Some(stored) if primary(&stored) != var.is => {
                let into = *self.stored.get(&stored.into)?;
                let (variable, negative) = self.primary(stored.into, into.is_flow)?;
                let sign = self.transfer.sign(node, var.bond);
                let exprs = &mut self.transfer.flat.exprs;
                let rate = exprs.leaf(Leaf::Der(variable, 1));
                let factor = exprs.tidy_mul(stored.own, stored.gain);
                let product = exprs.tidy_mul(factor, rate);
                Some(self.signed(product, negative != (sign < 0.0)))
            }
            _ => {
                let element = self.transfer.graph.node(node).element()?;
                let port = element.ports.iter().position(|&bond| bond == var.bond)?;
                let (variable, negative) = self.quantity(node, port, var.is)?.signed()?;
                let leaf = self.transfer.flat.exprs.leaf(Leaf::Var(variable));
                Some(self.signed(leaf, negative))
            }
        }
    }

    /// Returns the value of another variable of a storage, such as the displacement of a spring.
    fn of_store(&mut self, id: VarId) -> Option<ExprId> {
        let instance = self.transfer.flat.variable(id).instance;
        let stored = *(self.stored.values())
            .find(|one| self.transfer.graph.node(one.node).owner == instance)?;
        let (primary, negative) = self.primary(stored.node, stored.is_flow)?;
        let factor = ratio(self.transfer.flat, instance, id, primary)?;
        let (of, turned) = self.primary(stored.into, self.stored.get(&stored.into)?.is_flow)?;
        let exprs = &mut self.transfer.flat.exprs;
        let leaf = exprs.leaf(Leaf::Var(of));
        let taken = exprs.tidy_mul(stored.gain, leaf);
        let product = exprs.tidy_mul(factor, taken);
        Some(self.signed(product, negative != turned))
    }

    /// Returns the divisor that converts a start value of a removed storage into one of the remaining storage.
    pub fn factor(&mut self, id: VarId) -> Option<ExprId> {
        let instance = self.transfer.flat.variable(id).instance;
        let stored = *(self.stored.values())
            .find(|one| self.transfer.graph.node(one.node).owner == instance)?;
        let (primary, negative) = self.primary(stored.node, stored.is_flow)?;
        let (_, turned) = self.primary(stored.into, self.stored.get(&stored.into)?.is_flow)?;
        let mut factor = stored.gain;
        if primary != id {
            let ratio = ratio(self.transfer.flat, instance, id, primary)?;
            factor = self.transfer.flat.exprs.tidy_mul(ratio, factor);
        }
        Some(self.signed(factor, negative != turned))
    }

    /// Returns the parameter of a storage.
    pub fn parameter(&mut self, node: NodeId) -> Option<ExprId> {
        let of = self.transfer.graph.node(node);
        parameter(self.transfer.flat, of.owner, of.element()?)
    }
}

type Roots = FxHashMap<VarId, (VarId, bool)>;
type Members = FxHashMap<VarId, Vec<(VarId, bool)>>;

/// Finds variables that are equal, or equal up to their sign, by connections and equations of submodels.
fn equal(flat: &Flat) -> (Roots, Members) {
    let mut roots = Roots::default();
    let mut members = Members::default();
    let mut plain = flat.clone();
    plain.equations.retain(|equation| {
        equation.origin != InstanceId::TOP || equation.kind != EquationKind::Equation
    });
    // No request: what is left of the equations is no model, and only what they make equal is wanted.
    let plain = eliminate(plain);
    for alias in &plain.eliminated {
        let (Leaf::Var(id), Some((Leaf::Var(root), negative))) =
            (alias.leaf, plain.exprs.signed_leaf(alias.expression))
        else {
            continue;
        };
        let root = (root, negative);
        roots.insert(id, root);
        let list = members
            .entry(root.0)
            .or_insert_with(|| vec![(root.0, false)]);
        list.push((id, root.1));
    }
    (roots, members)
}
