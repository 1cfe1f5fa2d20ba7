//! Relations taken out of the equations, so that all positions share them.
//!
//! Before: a flat model. After: the same, in which each relation of moving numbers (and `sign`, `floor`, `ceil`, `mod`,
//! `sample`) is a discrete variable that keeps its truth, and its sides are variables of their own. A position puts other
//! equations in, eliminates other aliases and has other states; these variables it has like all others, so that what was
//! decided in one position is known in the next. They are for runs only: no listing shows them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::steps::spelled_out;
use crate::evaluate::Walk;
use crate::evaluate::walk::{Errors, Known, Rounded};
use crate::expr::{BinaryOp, ExprId, Value};
use crate::flat::{Equation, EquationKind, Flat, Given, InstanceId, Kind, Leaf, Type, VarId};
use crate::passes::relations::{Inputs, Kept, Moving, Relation, Sample, WatchKind, find};

/// One side of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Of numbers, parameters, discrete variables and Time.
    Given(ExprId),
    /// A variable of its own, and the expression that it is.
    Variable(VarId, ExprId),
}

/// A relation, or a function that jumps.
#[derive(Clone, Copy, Debug)]
pub struct OpenWatch {
    pub kind: WatchKind,
    /// As it was written.
    pub node: ExprId,
    /// What keeps its truth or value.
    pub held: VarId,
    pub left: Side,
    pub right: Option<Side>,
}

/// `sample(start, period)`
#[derive(Clone, Copy, Debug)]
pub struct OpenSampler {
    pub node: ExprId,
    pub held: VarId,
    pub start: ExprId,
    pub period: ExprId,
}

#[derive(Clone, Debug, Default)]
pub struct Opened {
    pub watches: Vec<OpenWatch>,
    pub samplers: Vec<OpenSampler>,
}

pub fn open(flat: &mut Flat, corners: &FxHashSet<ExprId>) -> Opened {
    spelled_out(flat, corners);
    let mut opened = Opened::default();
    let mut by: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut starts: Vec<Given> = Vec::new();
    for kept in kept(flat) {
        let (node, ty) = match kept {
            Kept::Relation(Relation { node, kind, .. }) => match kind {
                WatchKind::Relation(_) => (node, Type::Boolean),
                WatchKind::Sign | WatchKind::Floor | WatchKind::Ceil => (node, Type::Real),
            },
            Kept::Sample(sample) => (sample.node, Type::Boolean),
        };
        let held = variable(flat, node, Kind::Discrete, ty);
        if let Some(value) = at_guesses(flat, node) {
            let expression = match value {
                Value::Real(number) => flat.exprs.number(number),
                Value::Bool(truth) => flat.exprs.bool(truth),
            };
            starts.push(Given {
                variable: held,
                value,
                expression,
                span: flat.instances[0].span,
                depth: Given::IN_MODEL,
            });
        }
        let now = flat.exprs.leaf(Leaf::Var(held));
        let next = flat.exprs.leaf(Leaf::New(held));
        // It is decided by its sides, at events: nothing else changes it.
        equation(flat, next, now, EquationKind::New);
        let mut instead = now;
        match kept {
            Kept::Sample(Sample { start, period, .. }) => opened.samplers.push(OpenSampler {
                node,
                held,
                start,
                period,
            }),
            Kept::Relation(Relation {
                kind, left, right, ..
            }) => {
                // What is kept of mod(x, y) is how often y goes into x.
                if let (WatchKind::Floor, Some(right)) = (kind, right) {
                    let whole = flat.exprs.binary(BinaryOp::Mul, now, right);
                    instead = flat.exprs.binary(BinaryOp::Sub, left, whole);
                }
                opened.watches.push(OpenWatch {
                    kind,
                    node,
                    held,
                    left: Side::Given(left),
                    right: right.map(Side::Given),
                });
            }
        }
        by.insert(node, instead);
    }
    for at in 0..flat.equations.len() {
        let Equation { left, right, .. } = flat.equations[at];
        let left = with(flat, left, &by);
        let right = with(flat, right, &by);
        let equation = &mut flat.equations[at];
        (equation.left, equation.right) = (left, right);
    }
    for at in 0..flat.whens.len() {
        for branch in 0..flat.whens[at].conditions.len() {
            let condition = with(flat, flat.whens[at].conditions[branch].0, &by);
            flat.whens[at].conditions[branch].0 = condition;
        }
    }
    let mut watches = std::mem::take(&mut opened.watches);
    for watch in &mut watches {
        watch.left = side(flat, watch.left, &by);
        watch.right = watch.right.map(|right| side(flat, right, &by));
    }
    for sampler in &mut opened.samplers {
        sampler.start = with(flat, sampler.start, &by);
        sampler.period = with(flat, sampler.period, &by);
    }
    opened.watches = watches;
    flat.starts.extend(starts);
    opened
}

/// The truth or value at the guesses that were given for unknowns, if there are any: loops begin with it.
fn at_guesses(flat: &Flat, node: ExprId) -> Option<Value> {
    let mut guessed = false;
    flat.exprs.leaves(node, |leaf| {
        let id = leaf.variable();
        let kind = flat.variable(id).kind;
        guessed |= matches!(kind, Kind::Algebraic | Kind::Output) && flat.start(id).is_some();
    });
    let leaf = |leaf: Leaf| {
        let id = match leaf {
            Leaf::Der(..) => return None,
            _ => leaf.variable(),
        };
        let given = flat.start(id).or_else(|| flat.value(id));
        let value = given.map(|given| given.value);
        let state = flat.variable(id).kind == Kind::State;
        (value.or(state.then_some(Value::Real(0.0)))).map(Rounded::exact)
    };
    let known = Known {
        time: 0.0,
        leaf: &leaf,
    };
    let value = || Walk::default().value(&flat.exprs, node, &known, Errors::Ignore);
    guessed
        .then(|| value().ok())
        .flatten()
        .map(|found| found.value)
}

fn with(flat: &mut Flat, root: ExprId, by: &FxHashMap<ExprId, ExprId>) -> ExprId {
    (flat.exprs).rewrite(root, &mut |_, id| by.get(&id).copied())
}

/// A side with the relations in it taken out; a variable of its own where unknowns stand in it.
fn side(flat: &mut Flat, given: Side, by: &FxHashMap<ExprId, ExprId>) -> Side {
    let Side::Given(written) = given else {
        return given;
    };
    let value = with(flat, written, by);
    let mut unknown = false;
    flat.exprs.leaves(value, |leaf| {
        let variable = flat.variable(leaf.variable());
        unknown |= matches!(variable.kind, Kind::State | Kind::Algebraic | Kind::Output);
    });
    if !unknown {
        return Side::Given(value);
    }
    let own = variable(flat, written, Kind::Algebraic, Type::Real);
    let left = flat.exprs.leaf(Leaf::Var(own));
    equation(flat, left, value, EquationKind::Equation);
    Side::Variable(own, left)
}

/// A variable for an expression, by its text.
fn variable(flat: &mut Flat, of: ExprId, kind: Kind, ty: Type) -> VarId {
    let text = flat.expression(of);
    let name = Arc::make_mut(&mut flat.names).intern(&text);
    flat.add_variable(name, flat.instances[0].span, kind, ty)
}

fn equation(flat: &mut Flat, left: ExprId, right: ExprId, kind: EquationKind) {
    flat.equations.push(Equation {
        left,
        right,
        origin: InstanceId::TOP,
        span: flat.instances[0].span,
        kind,
    });
}

/// What the equations keep between events; nothing is eliminated yet.
fn kept(flat: &Flat) -> Vec<Kept> {
    let equations = (flat.equations.iter()).filter(|equation| equation.kind != EquationKind::Init);
    let conditions = flat.whens.iter().flat_map(|when| &when.conditions);
    let roots = (equations.flat_map(|equation| [equation.left, equation.right]))
        .chain(conditions.map(|&(condition, _)| condition));
    let gone = FxHashMap::default();
    find(flat, &mut Moving::new(flat, &gone, Inputs::Move), roots).kept
}
