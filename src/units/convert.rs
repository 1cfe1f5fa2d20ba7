//! Conversions: of values with units, of what is given to a submodel, and at connections.
//!
//! Before: the units of all variables. After: no value with a unit is left, and what is handed on is in the scale of what it
//! is handed to. An equation of a connection gets a factor, and an offset between degC and K; nothing else is changed.

use super::form::{Known, Walker};
use super::spread::Origin;
use crate::base::cancel::glance;
use crate::base::diagnostics::Diagnostics;
use crate::base::unit::Measure;
use crate::evaluate::{Walk, follow, value_of};
use crate::expr::{Arena, BinaryOp, ExprId, Node, UnaryOp};
use crate::flat::{EquationKind, Flat, Leaf, Literal, UnitId, Units, VarId};

/// What inference leaves behind.
#[derive(Debug)]
pub struct Inferred {
    pub measures: Vec<Option<Measure>>,
    pub units: Vec<Option<u32>>,
    pub list: Vec<(String, Measure)>,
    /// What is handed on in another scale.
    pub conversions: Vec<Origin>,
}

/// The units of a finished model.
struct Finished<'f> {
    units: &'f Units,
}

impl Known for Finished<'_> {
    fn measure(&self, id: VarId) -> Option<Measure> {
        self.units.measure(id)
    }

    fn is_literal(&self, _: VarId) -> bool {
        false
    }

    fn is_vague(&self, _: VarId) -> bool {
        false
    }
}

/// The unit of an expression of a finished model; `None` if it is not known, or if only numbers are in it.
pub fn unit_of(flat: &Flat, expr: ExprId) -> Option<Measure> {
    let known = Finished { units: &flat.units };
    let mut walker = Walker::new(flat, &known);
    walker.offsets = true;
    let form = walker.form(expr, flat.instances[0].span);
    let fine = form.open.is_empty() && !form.bare && !form.number;
    fine.then_some(form.measure).map(|mut measure| {
        if measure.offset.is_nan() {
            measure.offset = 0.0;
        }
        measure
    })
}

pub(super) fn convert(
    flat: &mut Flat,
    inferred: Inferred,
    literals: &[Literal],
    diagnostics: &mut Diagnostics,
) {
    let Inferred {
        measures,
        units,
        list,
        mut conversions,
    } = inferred;
    let kept = flat.variables.len() - literals.len();
    let touched = replace_literals(flat, literals, &measures);
    let mut units: Vec<Option<UnitId>> = units.into_iter().map(|unit| unit.map(UnitId)).collect();
    units.truncate(kept);
    flat.units = Units::new(units, list);
    conversions.dedup();
    let mut changed = touched.values;
    let mut starts = touched.starts;
    for origin in conversions {
        glance();
        match origin {
            Origin::Equation(at) => connection(flat, at as usize),
            Origin::Value(at) => {
                let given = flat.values[at as usize];
                if let Some(new) = to_variable(flat, given.variable, given.expression) {
                    flat.values[at as usize].expression = new;
                    changed.push(given.variable);
                }
            }
            Origin::Start(at) => {
                let given = flat.starts[at as usize];
                if let Some(new) = to_variable(flat, given.variable, given.expression) {
                    flat.starts[at as usize].expression = new;
                    starts.push(at as usize);
                }
            }
            Origin::Condition => {}
        }
    }
    if !changed.is_empty()
        && let Err(diagnostic) = follow::follow(flat, &changed)
    {
        diagnostics.push(diagnostic);
    }
    let mut walk = Walk::default();
    for at in starts {
        if let Some(value) = value_of(flat, flat.starts[at].expression, &mut walk) {
            flat.starts[at].value = value;
        }
    }
}

/// An expression in the scale of the variable that it is given to; `None` if it has that scale.
pub fn to_variable(flat: &mut Flat, id: VarId, expr: ExprId) -> Option<ExprId> {
    let to = flat.units.measure(id)?;
    let from = unit_of(flat, expr)?;
    let same = from.dimension != to.dimension || from.is_same(&to);
    (!same).then(|| scaled(&mut flat.exprs, expr, &from, &to))
}

/// The same value in another unit of the same dimension.
pub fn scaled(exprs: &mut Arena<Leaf>, expr: ExprId, from: &Measure, to: &Measure) -> ExprId {
    match exprs.node(expr) {
        Node::Number(value) => return exprs.number(from.convert(value.0, to)),
        Node::Unary(UnaryOp::Minus, a) => {
            if let Node::Number(value) = exprs.node(a) {
                return exprs.number(from.convert(-value.0, to));
            }
        }
        _ => {}
    }
    let (factor, offset) = from.conversion(to);
    let mut result = expr;
    if factor != 1.0 {
        let factor = exprs.number(factor);
        result = exprs.binary(BinaryOp::Mul, factor, result);
    }
    if offset == 0.0 {
        return result;
    }
    let op = if offset > 0.0 {
        BinaryOp::Add
    } else {
        BinaryOp::Sub
    };
    let offset = exprs.number(offset.abs());
    exprs.binary(op, result, offset)
}

/// Whose values have to be computed anew.
struct Touched {
    values: Vec<VarId>,
    starts: Vec<usize>,
}

/// Puts numbers in the place of values with units. The arena is written anew, without the constants that stood for units.
fn replace_literals(
    flat: &mut Flat,
    literals: &[Literal],
    measures: &[Option<Measure>],
) -> Touched {
    let mut touched = Touched {
        values: Vec::new(),
        starts: Vec::new(),
    };
    if literals.is_empty() {
        return touched;
    }
    let kept = flat.variables.len() - literals.len();
    let old = std::mem::take(&mut flat.exprs);
    let new = &mut flat.exprs;
    let mut map: Vec<(ExprId, bool)> = Vec::with_capacity(old.len());
    for at in 0..old.len() as u32 {
        glance();
        let of = |id: ExprId| map[id.index()].0;
        let mut has = false;
        old.each_operand(ExprId(at), |id| has |= map[id.index()].1);
        let literal = |id: VarId| id.index().checked_sub(kept).and_then(|at| literals.get(at));
        let id = match old.node(ExprId(at)) {
            Node::Number(value) => new.number(value.0),
            Node::Bool(value) => new.bool(value),
            Node::Time => new.time(),
            Node::Leaf(leaf) => match literal(leaf.variable()) {
                Some(_) => new.number(1.0),
                None => new.leaf(leaf),
            },
            Node::Unary(op, a) => new.unary(op, of(a)),
            Node::Binary(op, a, b) => match old.node(b) {
                Node::Leaf(Leaf::Var(id)) if literal(id).is_some() => {
                    has = true;
                    let from = literal(id).map_or(Measure::PLAIN, |literal| literal.measure);
                    let wanted = measures[id.index()].filter(|to| to.dimension == from.dimension);
                    let to = wanted.unwrap_or_else(|| from.coherent());
                    scaled(new, of(a), &from, &to)
                }
                // `(1 'V')` only carries a unit: a factor of one is not listed.
                _ => match op {
                    BinaryOp::Mul if is_one(new, map[a.index()]) => of(b),
                    BinaryOp::Mul | BinaryOp::Div if is_one(new, map[b.index()]) => of(a),
                    _ => new.binary(op, of(a), of(b)),
                },
            },
            Node::If(a, b, c) => new.if_else(of(a), of(b), of(c)),
            Node::Call(function, args) => {
                let args: Vec<ExprId> = old.args(args).iter().map(|&id| of(id)).collect();
                new.call(function, &args)
            }
            Node::List(args) => {
                let args: Vec<ExprId> = old.args(args).iter().map(|&id| of(id)).collect();
                new.list(&args)
            }
        };
        map.push((id, has));
    }
    for equation in &mut flat.equations {
        equation.left = map[equation.left.index()].0;
        equation.right = map[equation.right.index()].0;
    }
    for law in &mut flat.ports.laws {
        law.left = map[law.left.index()].0;
        law.right = map[law.right.index()].0;
    }
    for (condition, _) in flat.whens.iter_mut().flat_map(|when| &mut when.conditions) {
        *condition = map[condition.index()].0;
    }
    flat.values.truncate(flat.values.len() - literals.len());
    for given in &mut flat.values {
        let (new, has) = map[given.expression.index()];
        given.expression = new;
        if has {
            touched.values.push(given.variable);
        }
    }
    for (at, given) in flat.starts.iter_mut().enumerate() {
        let (new, has) = map[given.expression.index()];
        given.expression = new;
        if has {
            touched.starts.push(at);
        }
    }
    flat.variables.truncate(kept);
    flat.declarations
        .truncate(flat.declarations.len() - literals.len());
    touched
}

/// Whether a value with a unit has become the number 1.
fn is_one(exprs: &Arena<Leaf>, (id, written): (ExprId, bool)) -> bool {
    written && matches!(exprs.node(id), Node::Number(value) if value.0 == 1.0)
}

/// An equation of a connection between different scales.
fn connection(flat: &mut Flat, at: usize) {
    let equation = flat.equations[at];
    let (left, right) = (terms(flat, equation.left), terms(flat, equation.right));
    let Some(to) =
        (left.iter().chain(&right)).find_map(|&(leaf, _)| flat.units.measure(leaf.variable()))
    else {
        return;
    };
    let offset = equation.kind == EquationKind::Coupling;
    let mut rewritten = |side: &[(Leaf, bool)], old: ExprId| {
        let mut total: Option<ExprId> = None;
        for &(leaf, negative) in side {
            let mut term = flat.exprs.leaf(leaf);
            if let Some(mut from) = flat.units.measure(leaf.variable())
                && from.dimension == to.dimension
            {
                let mut to = to;
                if !offset || negative {
                    (from.offset, to.offset) = (0.0, 0.0);
                }
                term = match from.is_same(&to) {
                    true => term,
                    false => scaled(&mut flat.exprs, term, &from, &to),
                };
            }
            total = Some(match (total, negative) {
                (None, false) => term,
                (None, true) => flat.exprs.unary(UnaryOp::Minus, term),
                (Some(total), false) => flat.exprs.binary(BinaryOp::Add, total, term),
                (Some(total), true) => flat.exprs.binary(BinaryOp::Sub, total, term),
            });
        }
        total.unwrap_or(old)
    };
    let left = rewritten(&left, equation.left);
    let right = rewritten(&right, equation.right);
    flat.equations[at].left = left;
    flat.equations[at].right = right;
}

/// The variables in a sum, with their signs, left to right.
fn terms(flat: &Flat, root: ExprId) -> Vec<(Leaf, bool)> {
    let mut found = Vec::new();
    let mut stack = vec![(root, false)];
    while let Some((id, negative)) = stack.pop() {
        match flat.exprs.node(id) {
            Node::Leaf(leaf) => found.push((leaf, negative)),
            Node::Unary(UnaryOp::Minus, a) => stack.push((a, !negative)),
            Node::Binary(BinaryOp::Add, a, b) => stack.extend([(b, negative), (a, negative)]),
            Node::Binary(BinaryOp::Sub, a, b) => stack.extend([(b, !negative), (a, negative)]),
            _ => {}
        }
    }
    found
}
