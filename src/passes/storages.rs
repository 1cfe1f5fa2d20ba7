//! Recognises storages by their equations: generalized momentum and displacement.
//!
//! Before: the ports of a submodel and its equations as they were written. After: for each pair of effort and flow at
//! its ports the integral of either, if the equations give a closed form: the displacement `C*e` of `C*der(e) = f`, the
//! momentum `L*i` of `L*der(i) = u`, the displacement `q` of `der(q) = f`. Local variables (`u = Va - Vb`) are
//! replaced. The coefficients must consist of parameters and constants.
//!
//! The effort is the across variable, unless that is a velocity: mechanical parts are also written v/F.

use crate::base::cancel::glance;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::power::sum;
use crate::base::unit::{is_velocity, times_seconds};
use crate::expr::linear::{Form, difference};
use crate::expr::{BinaryOp, ExprId, Node};
use crate::flat::{Flat, InstanceId, Kind, Law, Leaf, PortId, Signed, VarId};
use crate::passes::vanishing::constant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integral {
    /// The integral of an effort.
    Momentum,
    /// The integral of a flow.
    Displacement,
}

/// The momentum or displacement at a pair of a submodel's ports.
#[derive(Clone, Debug)]
pub struct Store {
    pub integral: Integral,
    /// The first port of the pair, and its across variable.
    pub port: PortId,
    pub across: VarId,
    /// The effort or flow into the submodel that is integrated.
    pub rate: ExprId,
    pub unit: Option<String>,
    pub value: Closed,
}

#[derive(Clone, Copy, Debug)]
pub enum Closed {
    Is(ExprId),
    /// The coefficients of this equation are not constant.
    Not(Law),
}

/// A power port of a submodel, with any number of cuts. Its power is the product of two sums, one of which has one
/// term.
struct Gate {
    port: PortId,
    across: Vec<(bool, VarId)>,
    through: Vec<(bool, VarId)>,
}

/// The storages of a submodel.
pub fn stores(flat: &mut Flat, instance: InstanceId) -> Vec<Store> {
    let laws = Laws::new(flat, instance);
    let mut found = Vec::new();
    for gate in gates(flat, instance) {
        let unit_of = |flat: &Flat, side: &[(bool, VarId)]| {
            let first = side.first().map(|&(_, id)| flat.declaration(id));
            first.and_then(|declaration| declaration.remarks.unit.clone())
        };
        let swapped = unit_of(flat, &gate.across).is_some_and(|unit| is_velocity(&unit));
        for (is_across, side) in [(true, &gate.across), (false, &gate.through)] {
            let Some(value) = laws.integral(flat, side) else {
                continue;
            };
            let unit = unit_of(flat, side).and_then(|unit| times_seconds(&unit, 1));
            found.push(Store {
                integral: match is_across != swapped {
                    true => Integral::Momentum,
                    false => Integral::Displacement,
                },
                port: gate.port,
                across: gate.across[0].1,
                rate: sum(flat, side),
                unit,
                value,
            });
        }
    }
    found
}

/// Cuts that share a variable are one power port: the two pins of a coil, the two ends of a shaft.
fn gates(flat: &Flat, instance: InstanceId) -> Vec<Gate> {
    let mut entries: Vec<(PortId, Signed, Signed)> = Vec::new();
    for port in flat.ports.of(instance) {
        for pair in flat.ports.pairs(port) {
            if let (Some(across), Some(through)) = (pair.across, pair.through) {
                entries.push((port, across, through));
            }
        }
    }
    let mut by_across: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    let mut by_through: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    for (at, (_, across, through)) in entries.iter().enumerate() {
        by_across.entry(across.variable()).or_default().push(at);
        by_through.entry(through.variable()).or_default().push(at);
    }
    let mut gates = Vec::new();
    for (at, &(port, across, through)) in entries.iter().enumerate() {
        let of_across = &by_across[&across.variable()];
        let of_through = &by_through[&through.variable()];
        let alone =
            |list: &[usize], side: &dyn Fn(usize) -> usize| list.iter().all(|&at| side(at) == 1);
        // Either one through variable flows in here and out there, or there is one across variable.
        let one_through = of_through[0] == at
            && alone(of_through, &|at| by_across[&entries[at].1.variable()].len());
        let one_across = of_across[0] == at
            && alone(of_across, &|at| by_through[&entries[at].2.variable()].len());
        if one_through {
            let turned = |&at: &usize| {
                let (_, a, t) = entries[at];
                let other = t.negative() != through.negative();
                (a.negative() != other, a.variable())
            };
            gates.push(Gate {
                port,
                across: of_through.iter().map(turned).collect(),
                through: vec![(through.negative(), through.variable())],
            });
        } else if one_across {
            let turned = |&at: &usize| {
                let (_, a, t) = entries[at];
                let other = a.negative() != across.negative();
                (t.negative() != other, t.variable())
            };
            gates.push(Gate {
                port,
                across: vec![(across.negative(), across.variable())],
                through: of_across.iter().map(turned).collect(),
            });
        }
    }
    gates
}

/// The equations of a submodel that are sums of variables and derivatives with constant coefficients.
struct Laws {
    leaves: Vec<Leaf>,
    numbers: FxHashMap<Leaf, u32>,
    list: Vec<(Law, Option<Form>)>,
    /// By variable: the equations that contain it.
    rows: Vec<Vec<usize>>,
}

impl Laws {
    fn new(flat: &mut Flat, instance: InstanceId) -> Self {
        let written: Vec<Law> = flat.ports.laws_of(instance).to_vec();
        let mut laws = Laws {
            leaves: Vec::new(),
            numbers: FxHashMap::default(),
            list: Vec::new(),
            rows: Vec::new(),
        };
        for law in written {
            for side in [law.left, law.right] {
                flat.exprs.leaves(side, |leaf| {
                    let kind = flat.variables[leaf.variable().index()].kind;
                    if !matches!(kind, Kind::Parameter | Kind::Constant) {
                        let next = laws.leaves.len() as u32;
                        let number = *laws.numbers.entry(leaf).or_insert(next);
                        if number == next {
                            laws.leaves.push(leaf);
                            laws.rows.push(Vec::new());
                        }
                        let row = &mut laws.rows[number as usize];
                        if row.last() != Some(&laws.list.len()) {
                            row.push(laws.list.len());
                        }
                    }
                });
            }
            let numbers = &laws.numbers;
            let unknown = |leaf: Leaf| numbers.get(&leaf).copied();
            let form = difference(&mut flat.exprs, law.left, law.right, &unknown);
            let form = form.filter(|form| is_constant(flat, form));
            laws.list.push((law, form));
        }
        laws
    }

    /// The integral of a sum of variables over time. Variables are replaced by their equations, each equation used
    /// once, until only derivatives are left. `None` if that does not succeed.
    fn integral(&self, flat: &mut Flat, target: &[(bool, VarId)]) -> Option<Closed> {
        let one = flat.exprs.number(1.0);
        let minus_one = flat.exprs.constant(-1.0);
        // Coefficients by leaf: variables still to be replaced, and derivatives.
        let mut open: BTreeMap<u32, ExprId> = BTreeMap::new();
        let mut rates: BTreeMap<u32, ExprId> = BTreeMap::new();
        for &(negative, variable) in target {
            let number = *self.numbers.get(&Leaf::Var(variable))?;
            open.insert(number, if negative { minus_one } else { one });
        }
        let mut used = vec![false; self.list.len()];
        while let Some((&number, &coefficient)) = open.first_key_value() {
            let rows = (self.rows[number as usize].iter().copied()).filter(|&row| !used[row]);
            let linear = (rows.clone())
                .filter_map(|row| {
                    let form = self.list[row].1.as_ref()?;
                    let pivot = form.coefficient(number)?;
                    // An equation whose coefficient is zero with the given parameters does not determine this variable.
                    constant(flat, pivot).filter(|&pivot| pivot != 0.0)?;
                    let new = form.terms.iter().map(|&(term, _)| term);
                    let new = new.filter(|&term| !self.is_rate(term) && !open.contains_key(&term));
                    Some((new.count(), row, form))
                })
                .min_by_key(|&(new, row, _)| (new, row));
            let Some((_, row, form)) = linear else {
                // An equation with a derivative that has another form explains the failure.
                return (rows.clone())
                    .find(|&row| self.list[row].1.is_none() && self.has_rate(row))
                    .map(|row| Closed::Not(self.list[row].0));
            };
            used[row] = true;
            let pivot = form.coefficient(number)?;
            for &(term, value) in &form.terms {
                let factor = ratio(flat, value, pivot);
                let change = flat.exprs.tidy_mul(coefficient, factor);
                let list = match self.is_rate(term) {
                    true => &mut rates,
                    false => &mut open,
                };
                let before = list.remove(&term);
                let after = match before {
                    Some(before) if before == change => flat.exprs.number(0.0),
                    Some(before) => flat.exprs.tidy_sub(before, change),
                    None => flat.exprs.tidy_minus(change),
                };
                if term != number && !flat.exprs.is_zero(after) {
                    list.insert(term, after);
                }
            }
        }
        if rates.is_empty() {
            return None;
        }
        let mut terms = Vec::with_capacity(rates.len());
        for (number, coefficient) in rates {
            let Leaf::Der(variable, order) = self.leaves[number as usize] else {
                return None;
            };
            let leaf = flat.exprs.leaf(Leaf::at_order(variable, order - 1));
            let product = flat.exprs.tidy_mul(coefficient, leaf);
            terms.push(match flat.exprs.negated(product) {
                Some(inner) => (true, inner),
                None => (false, product),
            });
        }
        Some(Closed::Is(flat.exprs.sum(&terms)))
    }

    fn is_rate(&self, number: u32) -> bool {
        matches!(self.leaves[number as usize], Leaf::Der(..))
    }

    fn has_rate(&self, row: usize) -> bool {
        let holds = |number: &usize| self.rows[*number].contains(&row);
        (0..self.leaves.len()).any(|number| self.is_rate(number as u32) && holds(&number))
    }
}

/// The quotient of two coefficients; the divisor is not zero. If they differ only in sign, it is a number. A
/// coefficient that is a quotient is inverted: for `der(w) = t/J` the integral is `J*w`.
fn ratio(flat: &mut Flat, value: ExprId, by: ExprId) -> ExprId {
    let exprs = &mut flat.exprs;
    let bare = |id: ExprId, negated: Option<ExprId>| (negated.is_some(), negated.unwrap_or(id));
    let (minus, value) = bare(value, exprs.negated(value));
    let (other, by) = bare(by, exprs.negated(by));
    let quotient = match exprs.node(by) {
        _ if value == by => exprs.number(1.0),
        Node::Binary(BinaryOp::Div, above, below) => {
            let product = exprs.tidy_mul(below, value);
            exprs.tidy_div(product, above)
        }
        _ => exprs.tidy_div(value, by),
    };
    match minus != other {
        true => exprs.tidy_minus(quotient),
        false => quotient,
    }
}

/// Whether the form has no remainder and no coefficient that changes with time.
fn is_constant(flat: &mut Flat, form: &Form) -> bool {
    let rest = flat.exprs.sum(&form.rest);
    let mut stack: Vec<ExprId> = form.terms.iter().map(|&(_, value)| value).collect();
    while let Some(id) = stack.pop() {
        glance();
        if flat.exprs.node(id) == Node::Time {
            return false;
        }
        flat.exprs.operands(id, &mut stack);
    }
    flat.exprs.is_zero(rest)
}
