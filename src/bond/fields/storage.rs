//! Storage fields: traces each storage with derivative causality back to what determines it.
//!
//! Before: a graph with its causality. After: for each dependent storage its causal path, the gains
//! of effort and flow along it and the equivalent parameter of the storage at its end, or the
//! reason why there is none. McCalla 1991, chapter 3: the path follows the flow from a dependent
//! inertance, the effort from a dependent capacitance; a gyrator exchanges them. The path has to be
//! unique, its elements have to be linear with constant coefficients, and it has to end at an
//! independent storage. With the gain g_f of `f2 = g_f*f1`, and g_e of the effort that comes back,
//! the equivalent parameter is `m1 - g_e*m2*g_f` (14). It is never less than m1, because power is
//! conserved and so the gains differ in sign.

use super::path::{follow_path, is_end};
use super::transfer::{Transfer, Var};
use crate::bond::causality::ElementCausality;
use crate::bond::graph::{Element, ElementKind, JunctionKind, NodeId};
use crate::bond::net::Gives;
use crate::bond::order::natural;
use crate::expr::linear::{difference, form};
use crate::expr::{Arena, BinaryOp, ExprId, Node};
use crate::flat::{Flat, InstanceId, Kind, Leaf, VarId};
use crate::passes::storages::{Closed, Integral, stores};

/// Why a path does not lead to an equivalent storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The path splits at this junction.
    Split(NodeId, JunctionKind),
    Source(NodeId),
    Resistor(NodeId),
    Switch(NodeId),
    Multiport(NodeId),
    Nonlinear(NodeId),
    Modulated(NodeId),
    /// The path ends at an element that is neither a storage, a source nor a resistor.
    Other(NodeId),
    /// The storage at the end of the path is dependent itself.
    Dependent(NodeId),
    /// The path forms a cycle, or a stroke is not known.
    Lost,
}

#[derive(Clone, Debug)]
pub struct StorageField {
    pub dependent: NodeId,
    /// The nodes from the dependent storage on, as far as the path can be traced.
    pub path: Vec<NodeId>,
    pub outcome: Result<Equivalent, Refusal>,
    /// If the path splits and all its ends are independent storages of the same kind. This goes
    /// beyond the thesis.
    pub matrix: Option<MatrixForm>,
}

/// Several independent storages and the dependent one, written as one storage with several ports:
/// `M + G'*m*G`.
#[derive(Clone, Debug)]
pub struct MatrixForm {
    pub storages: Vec<NodeId>,
    /// The input of the dependent storage is the sum of the outputs of the others, with these
    /// gains.
    pub gains: Vec<ExprId>,
    /// The matrix, by rows.
    pub entries: Vec<Vec<ExprId>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Equivalent {
    /// The independent storage.
    pub into: NodeId,
    /// The gain from the output of the independent storage to the input of the dependent one: of
    /// the flow for an inertance, of the effort for a capacitance.
    pub primary: ExprId,
    /// The gain from the output of the dependent storage back to the input of the independent one.
    pub secondary: ExprId,
    /// Whether the path begins with a flow: the dependent storage is an inertance.
    pub flow_first: bool,
    /// The parameter of the independent storage after the dependent one is removed.
    pub value: ExprId,
    /// The parameter of the dependent storage if the independent one is removed instead.
    pub other_value: ExprId,
}

/// Returns the parameter of a linear one-port storage: `I` of an inertance, `C` of a capacitance.
/// The stored quantity has to be the parameter times its flow or effort, directly (`C*der(e) = f`)
/// or by another equation (`der(q) = f`, `q = C*e`).
pub fn parameter(flat: &mut Flat, instance: InstanceId, element: &Element) -> Option<ExprId> {
    let (wanted, side) = match element.kind {
        ElementKind::I => (Integral::Momentum, 1),
        ElementKind::C => (Integral::Displacement, 0),
        _ => return None,
    };
    let given = match element.quantities.first()?[side].0.as_deref() {
        Some([(_, variable)]) => *variable,
        _ => return None,
    };
    // A mass may also integrate its displacement.
    let all = stores(flat, instance);
    let of_kind: Vec<_> = all.iter().filter(|one| one.integral == wanted).collect();
    let [store] = of_kind[..] else {
        return None;
    };
    let Closed::Is(value) = store.value else {
        return None;
    };
    let is_variable = |leaf: Leaf| {
        let kind = flat.variables[leaf.variable().index()].kind;
        (!matches!(kind, Kind::Parameter | Kind::Constant)).then_some(leaf.variable().0)
    };
    let stored = form(&mut flat.exprs, value, &is_variable)?;
    let [(variable, coefficient)] = stored.terms[..] else {
        return None;
    };
    let rest = flat.exprs.sum(&stored.rest);
    if !flat.exprs.is_zero(rest) {
        return None;
    }
    let factor = match variable == given.0 {
        true => coefficient,
        false => {
            let ratio = ratio(flat, instance, VarId(variable), given)?;
            flat.exprs.tidy_mul(coefficient, ratio)
        }
    };
    Some(flat.exprs.negated(factor).unwrap_or(factor))
}

/// Returns the constant k of `x = k*y`, if an equation of the submodel has this form.
pub fn ratio(flat: &mut Flat, instance: InstanceId, x: VarId, y: VarId) -> Option<ExprId> {
    let laws: Vec<(ExprId, ExprId)> = (flat.ports.laws_of(instance).iter())
        .map(|law| (law.left, law.right))
        .collect();
    for (left, right) in laws {
        let number = |leaf: Leaf| match leaf {
            Leaf::Var(id) if id == x => Some(0),
            Leaf::Var(id) if id == y => Some(1),
            _ => None,
        };
        let Some(form) = difference(&mut flat.exprs, left, right, &number) else {
            continue;
        };
        let rest = flat.exprs.sum(&form.rest);
        let [(0, a), (1, b)] = form.terms[..] else {
            continue;
        };
        if flat.exprs.is_zero(rest) && is_constant(flat, a) && is_constant(flat, b) {
            let b = flat.exprs.tidy_minus(b);
            return Some(quotient(flat, b, a));
        }
    }
    None
}

/// Returns `b/a`. If a is a quotient, it is inverted: for `e = q/C` the result is C.
fn quotient(flat: &mut Flat, b: ExprId, a: ExprId) -> ExprId {
    let exprs = &mut flat.exprs;
    let (minus, a) = match exprs.negated(a) {
        Some(bare) => (true, bare),
        None => (false, a),
    };
    let found = match exprs.node(a) {
        Node::Binary(BinaryOp::Div, above, below) => {
            let product = exprs.tidy_mul(b, below);
            exprs.tidy_div(product, above)
        }
        _ => exprs.tidy_div(b, a),
    };
    match minus {
        true => exprs.tidy_minus(found),
        false => found,
    }
}

/// Returns the fields of all dependent storages, ordered by name.
pub fn storage_fields(
    transfer: &mut Transfer<'_>,
    found: &[ElementCausality],
) -> Vec<StorageField> {
    let graph = transfer.graph;
    let mut dependent: Vec<NodeId> = (graph.elements())
        .filter(|(id, element)| {
            let stores = matches!(element.kind, ElementKind::C | ElementKind::I);
            stores && found[id.index()] == ElementCausality::Derivative
        })
        .map(|(id, _)| id)
        .collect();
    dependent.sort_by(|&a, &b| natural(&graph.node(a).name, &graph.node(b).name));
    (dependent.into_iter())
        .map(|id| trace(transfer, found, id))
        .collect()
}

fn trace(transfer: &mut Transfer<'_>, found: &[ElementCausality], start: NodeId) -> StorageField {
    let mut path = vec![start];
    let outcome = follow_path(transfer, found, start, &mut path);
    let matrix = match outcome {
        Err(Refusal::Split(..)) => matrix_form(transfer, found, start),
        _ => None,
    };
    StorageField {
        dependent: start,
        path,
        outcome,
        matrix,
    }
}

/// Follows all branches of a path and makes the matrix form.
fn matrix_form(
    transfer: &mut Transfer<'_>,
    found: &[ElementCausality],
    start: NodeId,
) -> Option<MatrixForm> {
    let graph = transfer.graph;
    let element = graph.node(start).element()?;
    let own = parameter(transfer.flat, graph.node(start).owner, element)?;
    let is = match element.kind {
        ElementKind::I => Gives::Flow,
        _ => Gives::Effort,
    };
    let takes = Var {
        bond: element.ports[0],
        is,
    };
    let mut known = rustc_hash::FxHashMap::default();
    let sum = transfer.follow(takes, &|_| false, &mut known).ok()?;
    let mut storages = Vec::new();
    let mut gains = Vec::new();
    let mut parameters = Vec::new();
    for (var, gain) in sum {
        let node = transfer.giver(var)?;
        let end = graph.node(node).element()?;
        is_end(transfer, found, node, end, var.is).ok()?;
        if !is_constant(transfer.flat, gain) {
            return None;
        }
        parameters.push(parameter(transfer.flat, graph.node(node).owner, end)?);
        storages.push(node);
        gains.push(gain);
    }
    let exprs = &mut transfer.flat.exprs;
    let entries = (0..storages.len())
        .map(|row| {
            (0..storages.len())
                .map(|column| {
                    let both = match row == column {
                        true => square(exprs, gains[row]),
                        false => exprs.tidy_mul(gains[row], gains[column]),
                    };
                    let taken = exprs.tidy_mul(both, own);
                    match row == column {
                        true => exprs.tidy_add(parameters[row], taken),
                        false => taken,
                    }
                })
                .collect()
        })
        .collect();
    (storages.len() > 1).then_some(MatrixForm {
        storages,
        gains,
        entries,
    })
}

/// Whether an expression contains only parameters and numbers.
pub fn is_constant(flat: &Flat, id: ExprId) -> bool {
    let mut constant = true;
    flat.exprs.leaves(id, |leaf| {
        let kind = flat.variables[leaf.variable().index()].kind;
        constant &= matches!(kind, Kind::Parameter | Kind::Constant);
    });
    constant
}

/// Returns the equivalent parameters of a dependent storage `from` and an independent one `into`,
/// with the gains of the path between them.
pub(super) fn equivalent(
    transfer: &mut Transfer<'_>,
    (from, into): (NodeId, NodeId),
    flow_first: bool,
    (primary, secondary): (ExprId, ExprId),
) -> Result<Equivalent, Refusal> {
    let graph = transfer.graph;
    let mut own = |id: NodeId| {
        let node = graph.node(id);
        (node.element())
            .and_then(|element| parameter(transfer.flat, node.owner, element))
            .ok_or(Refusal::Nonlinear(id))
    };
    let (dependent, independent) = (own(from)?, own(into)?);
    let exprs = &mut transfer.flat.exprs;
    // Transformers and gyrators conserve power, so the two gains are equal except for their sign.
    let taken = by_square(exprs, primary, dependent);
    let value = exprs.tidy_add(independent, taken);
    let one = exprs.number(1.0);
    let inverse = match exprs.node(exprs.negated(primary).unwrap_or(primary)) {
        Node::Binary(BinaryOp::Div, above, below) if above == one => below,
        _ => exprs.tidy_div(one, primary),
    };
    let back = by_square(exprs, inverse, independent);
    let other_value = exprs.tidy_add(dependent, back);
    Ok(Equivalent {
        into,
        primary,
        secondary,
        flow_first,
        value,
        other_value,
    })
}

/// Returns `gain**2 * value`. If `gain` is `1/g`, returns `value/g**2`.
pub fn by_square(exprs: &mut Arena<Leaf>, gain: ExprId, value: ExprId) -> ExprId {
    let one = exprs.number(1.0);
    let bare = exprs.negated(gain).unwrap_or(gain);
    match exprs.node(bare) {
        Node::Binary(BinaryOp::Div, above, below) if above == one => {
            let square = square(exprs, below);
            exprs.tidy_div(value, square)
        }
        _ => {
            let square = square(exprs, bare);
            exprs.tidy_mul(square, value)
        }
    }
}

/// Returns `gain**2`, without a sign of the gain.
fn square(exprs: &mut Arena<Leaf>, gain: ExprId) -> ExprId {
    let bare = exprs.negated(gain).unwrap_or(gain);
    match exprs.as_number(bare) {
        Some(number) => exprs.number(number * number),
        None => {
            let two = exprs.number(2.0);
            exprs.tidy_binary(BinaryOp::Pow, bare, two)
        }
    }
}
