//! Traces the effort or flow of a bond through the junction structure.
//!
//! Before: a graph with a complete causality. After: any effort or flow as a sum of others with
//! coefficients, traced back to the elements that compute them, or to where the caller stops.
//! Junctions pass a variable on or sum variables, with signs by the directions of power.
//! Transformers and gyrators multiply by a coefficient from their equations. The result is one row
//! of the weighted junction structure of Hood, Rosenberg, Withers and Zhou 1987, equations (3d) to
//! (3f).

use crate::base::cancel::glance;
use rustc_hash::FxHashMap;

use crate::bond::graph::{
    BondId, Element, Graph, JunctionKind, NodeId, NodeKind, Pattern, Quantity,
};
use crate::bond::net::Gives;
use crate::evaluate::{Walk, value_of};
use crate::expr::linear::form;
use crate::expr::{ExprId, Value};
use crate::flat::{Flat, Leaf, VarId};

/// The effort or the flow of a bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var {
    pub bond: BondId,
    pub is: Gives,
}

/// A sum of variables with coefficients, ordered by variable.
pub type Sum = Vec<(Var, ExprId)>;

/// Why a variable cannot be traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferError {
    /// The stroke of the bond depends on a switch, or there is none.
    NoCausality(BondId),
    /// The variable depends on itself.
    Cycle(BondId),
    /// The equations of this element do not have the required form.
    Unreadable(NodeId),
}

/// Cycles of junctions that need more cuts are not solved.
const MOST_CUTS: usize = 8;

/// The variables on which a variable depends.
#[derive(Debug, Default)]
struct Dependences {
    /// Operands first, each with its sum; `None` for an output of an element.
    order: Vec<(Var, Option<Sum>)>,
    /// Variables that depend on themselves; cutting them breaks all cycles.
    cuts: Vec<Var>,
}

#[derive(Debug)]
pub struct Transfer<'g> {
    pub flat: &'g mut Flat,
    pub graph: &'g Graph,
    /// For each bond what its `from` end gives.
    gives: Vec<Option<Gives>>,
    bonds_of: Vec<Vec<BondId>>,
}

impl<'g> Transfer<'g> {
    pub fn new(flat: &'g mut Flat, graph: &'g Graph, gives: Vec<Option<Gives>>) -> Self {
        Transfer {
            bonds_of: graph.bonds_of(),
            flat,
            graph,
            gives,
        }
    }

    /// Returns the node that computes a variable.
    pub fn giver(&self, var: Var) -> Option<NodeId> {
        let bond = self.graph.bond(var.bond);
        let from = self.gives[var.bond.index()]?;
        Some(if from == var.is { bond.from } else { bond.to })
    }

    /// Returns what a node gives at a bond.
    pub fn given_by(&self, node: NodeId, bond: BondId) -> Option<Gives> {
        let from = self.gives[bond.index()]?;
        Some(match self.graph.bond(bond).from == node {
            true => from,
            false => from.other(),
        })
    }

    /// Returns +1 if positive power enters the node, else -1.
    pub fn sign(&self, node: NodeId, bond: BondId) -> f64 {
        match self.graph.bond(bond).to == node {
            true => 1.0,
            false => -1.0,
        }
    }

    /// Returns the bond that determines the common variable of a junction.
    pub fn determining(&self, node: NodeId, kind: JunctionKind) -> Option<BondId> {
        let once = kind.gives_once();
        (self.bonds_of[node.index()].iter().copied())
            .find(|&bond| self.given_by(node, bond) == Some(once))
    }

    pub fn bonds_at(&self, node: NodeId) -> &[BondId] {
        &self.bonds_of[node.index()]
    }

    /// Returns the variables one node back from which a variable is computed; `None` if an element
    /// computes it.
    pub fn step(&mut self, var: Var) -> Result<Option<Sum>, TransferError> {
        let node = self
            .giver(var)
            .ok_or(TransferError::NoCausality(var.bond))?;
        let common = |kind: JunctionKind| match kind {
            JunctionKind::Zero => Gives::Effort,
            JunctionKind::One => Gives::Flow,
        };
        match &self.graph.node(node).kind {
            NodeKind::Junction(kind) if common(*kind) == var.is => {
                let by = self.determining(node, *kind);
                let by = by.ok_or(TransferError::NoCausality(var.bond))?;
                let one = self.flat.exprs.number(1.0);
                Ok(Some(vec![(
                    Var {
                        bond: by,
                        is: var.is,
                    },
                    one,
                )]))
            }
            NodeKind::Junction(_) => {
                let own = self.sign(node, var.bond);
                let others: Vec<BondId> = (self.bonds_of[node.index()].iter().copied())
                    .filter(|&bond| bond != var.bond)
                    .collect();
                let terms = others.into_iter().map(|bond| {
                    let sign = -own * self.sign(node, bond);
                    (Var { bond, is: var.is }, sign)
                });
                let terms: Vec<(Var, f64)> = terms.collect();
                Ok(Some(
                    (terms.into_iter())
                        .map(|(var, sign)| (var, self.flat.exprs.constant(sign)))
                        .collect(),
                ))
            }
            NodeKind::Element(element) if matches!(element.pattern, Pattern::One(_)) => {
                self.through(node, element, var).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Returns what a transformer or gyrator gives, by its equations.
    fn through(&mut self, node: NodeId, element: &Element, var: Var) -> Result<Sum, TransferError> {
        let stuck = TransferError::Unreadable(node);
        let given: Option<Vec<Gives>> = (element.ports.iter())
            .map(|&bond| self.given_by(node, bond))
            .collect();
        let given = given.ok_or(TransferError::NoCausality(var.bond))?;
        // A `bond` that is a gyrator has no equations: the effort of one end and the flow of the
        // other are the same variable.
        let found = (element.forms.iter()).find(|form| form.gives == given);
        let Some(found) = found else {
            return self.exchanged(element, var).ok_or(stuck);
        };
        // These are the element's own variables, because a bond that was made of two has the
        // variables of its other end.
        let quantity = |var: Var| {
            let port = element.ports.iter().position(|&bond| bond == var.bond);
            let at = usize::from(var.is == Gives::Flow);
            port.map_or(Quantity(None), |port| element.quantities[port][at].clone())
        };
        let target = quantity(var).signed().ok_or(stuck)?;
        let inputs: Vec<(Var, (VarId, bool))> = (element.ports.iter().zip(&given))
            .filter_map(|(&bond, gives)| {
                let var = Var {
                    bond,
                    is: gives.other(),
                };
                Some((var, quantity(var).signed()?))
            })
            .collect();
        let assignments = found.assignments.clone();
        let value = (assignments.iter())
            .find(|one| one.target == Leaf::Var(target.0))
            .and_then(|one| one.value)
            .ok_or(stuck)?;
        let number = |leaf: Leaf| match leaf {
            Leaf::Var(id) => {
                (inputs.iter().position(|(_, (input, _))| *input == id)).map(|at| at as u32)
            }
            _ => None,
        };
        let exprs = &mut self.flat.exprs;
        let form = form(exprs, value, &number).ok_or(stuck)?;
        let rest = exprs.sum(&form.rest);
        if !exprs.is_zero(rest) {
            return Err(stuck);
        }
        let mut sum = Vec::new();
        for &(at, coefficient) in &form.terms {
            let (input, (_, negative)) = inputs[at as usize];
            let coefficient = match negative != target.1 {
                true => exprs.tidy_minus(coefficient),
                false => coefficient,
            };
            sum.push((input, coefficient));
        }
        Ok(sum)
    }

    /// Passes through a `bond` that is a gyrator with r = 1.
    fn exchanged(&mut self, element: &Element, var: Var) -> Option<Sum> {
        let other = *element.ports.iter().find(|&&bond| bond != var.bond)?;
        if !element.forms.is_empty() || element.ports.len() != 2 {
            return None;
        }
        let one = self.flat.exprs.number(1.0);
        let var = Var {
            bond: other,
            is: var.is.other(),
        };
        Some(vec![(var, one)])
    }

    /// Returns a variable as a sum of outputs of elements, or of variables at which `stop` ends the
    /// trace. If junctions form a cycle, the variable in it is solved for, provided that the gain
    /// of the cycle is not one.
    pub fn follow(
        &mut self,
        start: Var,
        stop: &dyn Fn(Var) -> bool,
        known: &mut FxHashMap<Var, Sum>,
    ) -> Result<Sum, TransferError> {
        let Dependences { order, cuts } = self.dependences(start, stop, known)?;
        let mut sums: FxHashMap<Var, Sum> = FxHashMap::default();
        let one = self.flat.exprs.number(1.0);
        for (var, step) in &order {
            let sum = match step {
                None => vec![(*var, one)],
                Some(step) => {
                    let mut total = Vec::new();
                    for &(part, factor) in step {
                        let inner = match cuts.contains(&part) {
                            true => &vec![(part, one)],
                            false => (sums.get(&part).or_else(|| known.get(&part)))
                                .ok_or(TransferError::Cycle(part.bond))?,
                        };
                        self.add(inner, factor, &mut total);
                    }
                    self.collected(total)
                }
            };
            sums.insert(*var, sum);
        }
        if !cuts.is_empty() {
            let solved = self.solved(&cuts, &sums)?;
            for (var, _) in &order {
                let mut sum = sums.remove(var).unwrap_or_default();
                for cut in &cuts {
                    sum = self.replaced(&sum, *cut, &solved[cut]);
                }
                sums.insert(*var, sum);
            }
            sums.extend(solved);
        }
        known.extend(sums);
        (known.get(&start).cloned()).ok_or(TransferError::Cycle(start.bond))
    }

    /// Returns the variables on which a variable depends, operands first, and the cuts that make
    /// this order possible.
    fn dependences(
        &mut self,
        start: Var,
        stop: &dyn Fn(Var) -> bool,
        known: &FxHashMap<Var, Sum>,
    ) -> Result<Dependences, TransferError> {
        let mut found = Dependences::default();
        // For each variable that was visited, whether all its operands have been visited.
        let mut seen: FxHashMap<Var, bool> = FxHashMap::default();
        let mut stack: Vec<(Var, Option<Sum>, usize)> = Vec::new();
        let mut next = Some(start).filter(|var| !known.contains_key(var));
        loop {
            glance();
            if let Some(var) = next.take() {
                let step = match stop(var) {
                    true => None,
                    false => self.step(var)?,
                };
                seen.insert(var, false);
                stack.push((var, step, 0));
            }
            let Some((var, step, at)) = stack.last_mut() else {
                return Ok(found);
            };
            match step.as_ref().and_then(|step| step.get(*at)) {
                Some(&(part, _)) => {
                    *at += 1;
                    match seen.get(&part) {
                        _ if known.contains_key(&part) => {}
                        None => next = Some(part),
                        Some(false) if !found.cuts.contains(&part) => found.cuts.push(part),
                        Some(_) => {}
                    }
                }
                None => {
                    seen.insert(*var, true);
                    found.order.push((*var, step.take()));
                    stack.pop();
                }
            }
        }
    }

    /// Returns the sums of the cut variables, with all cut variables eliminated.
    fn solved(
        &mut self,
        cuts: &[Var],
        sums: &FxHashMap<Var, Sum>,
    ) -> Result<FxHashMap<Var, Sum>, TransferError> {
        let mut rows: FxHashMap<Var, Sum> = (cuts.iter())
            .map(|&cut| (cut, sums.get(&cut).cloned().unwrap_or_default()))
            .collect();
        if cuts.len() > MOST_CUTS {
            return Err(TransferError::Cycle(cuts[0].bond));
        }
        for &cut in cuts {
            let row = rows.remove(&cut).unwrap_or_default();
            let (own, rest): (Sum, Sum) = row.into_iter().partition(|&(var, _)| var == cut);
            let exprs = &mut self.flat.exprs;
            let mut left = exprs.number(1.0);
            if let [(_, gain)] = own[..] {
                left = exprs.tidy_sub(left, gain);
            }
            let value = value_of(self.flat, left, &mut Walk::default()).and_then(Value::real);
            if value.is_some_and(|value| value.abs() < 1e-9) {
                return Err(TransferError::Cycle(cut.bond));
            }
            let exprs = &mut self.flat.exprs;
            let rest: Sum = (rest.into_iter())
                .map(|(var, coefficient)| (var, exprs.tidy_div(coefficient, left)))
                .collect();
            for other in cuts.iter().filter(|&&other| other != cut) {
                if let Some(sum) = rows.get(other).cloned() {
                    let sum = self.replaced(&sum, cut, &rest);
                    rows.insert(*other, sum);
                }
            }
            rows.insert(cut, rest);
        }
        Ok(rows)
    }

    /// Returns the sum in which `var` is replaced by the sum `by`.
    fn replaced(&mut self, sum: &Sum, var: Var, by: &Sum) -> Sum {
        let Some(&(_, factor)) = sum.iter().find(|(part, _)| *part == var) else {
            return sum.clone();
        };
        let mut total: Sum = (sum.iter().copied())
            .filter(|(part, _)| *part != var)
            .collect();
        self.add(by, factor, &mut total);
        self.collected(total)
    }

    /// Adds a sum, multiplied by a factor.
    fn add(&mut self, sum: &Sum, factor: ExprId, total: &mut Sum) {
        for &(source, coefficient) in sum {
            let product = self.flat.exprs.tidy_mul(factor, coefficient);
            total.push((source, product));
        }
    }

    /// Adds up the coefficients of the same variable.
    pub fn collected(&mut self, mut terms: Sum) -> Sum {
        terms.sort_by_key(|&(var, _)| var);
        let mut sums: Sum = Vec::with_capacity(terms.len());
        for (var, coefficient) in terms {
            match sums.last_mut() {
                Some((last, total)) if *last == var => {
                    *total = self.flat.exprs.tidy_add(*total, coefficient);
                }
                _ => sums.push((var, coefficient)),
            }
        }
        sums.retain(|&(_, coefficient)| !self.flat.exprs.is_zero(coefficient));
        sums
    }
}
