//! The value of one expression, by a simple traversal with a stack of its own.
//!
//! Only the operands that are needed are evaluated: the branch of an `if` that holds, and the second operand of `and` and `or`
//! only if the first does not decide. Therefore a NaN ends the traversal at once: it would make the result NaN, or be lost in a
//! comparison. Infinite values may vanish again (1/inf), so the caller checks the result.
//!
//! If requested, every value comes with a bound on its rounding error, found by moving each operand by its own error.

use crate::expr::{
    Arena, Args, BinaryOp, ExprId, Function, Node, Value, apply_binary, apply_call, apply_unary,
    interpolate,
};
use crate::flat::Leaf;
use crate::numeric::zero::rounding;

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EvalError {
    NotANumber(ExprId),
    /// A boolean operand where a real one is needed, or vice versa.
    WrongType(ExprId),
    Unknown(Leaf),
}

/// A value and a bound on its rounding error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounded {
    pub value: Value,
    pub error: f64,
}

impl Rounded {
    pub fn exact(value: Value) -> Self {
        Rounded { value, error: 0.0 }
    }
}

/// The values at which an expression is evaluated.
pub struct Known<'k> {
    pub time: f64,
    pub leaf: &'k dyn Fn(Leaf) -> Option<Rounded>,
}

impl std::fmt::Debug for Known<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known").field("time", &self.time).finish()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    Ignore,
    Bound,
}

/// The memory of a traversal, reused by the next one.
#[derive(Debug, Default)]
pub struct Walk {
    /// For each node, the number of the last traversal that has evaluated it.
    done: Vec<u32>,
    values: Vec<Rounded>,
    turn: u32,
    work: Vec<ExprId>,
}

impl Walk {
    pub fn value(
        &mut self,
        exprs: &Arena<Leaf>,
        root: ExprId,
        known: &Known<'_>,
        errors: Errors,
    ) -> Result<Rounded, EvalError> {
        if self.done.len() < exprs.len() {
            self.done.resize(exprs.len(), 0);
            let nothing = Rounded::exact(Value::Bool(false));
            self.values.resize(exprs.len(), nothing);
        }
        // Marks of earlier traversals have other numbers; before a number is used again, all marks are cleared.
        self.turn = match self.turn.checked_add(1) {
            Some(turn) => turn,
            None => {
                self.done.fill(0);
                1
            }
        };
        self.work.clear();
        self.work.push(root);
        while let Some(&id) = self.work.last() {
            if self.is_done(id) {
                self.work.pop();
                continue;
            }
            if let Some(result) = self.step(exprs, id, known, errors)? {
                if matches!(result.value, Value::Real(value) if value.is_nan()) {
                    return Err(EvalError::NotANumber(id));
                }
                self.values[id.index()] = result;
                self.done[id.index()] = self.turn;
                self.work.pop();
            }
        }
        Ok(self.values[root.index()])
    }

    fn is_done(&self, id: ExprId) -> bool {
        self.done[id.index()] == self.turn
    }

    /// The value of a node; if it was not evaluated yet, the node is put on the stack.
    fn need(&mut self, id: ExprId) -> Option<Rounded> {
        if self.is_done(id) {
            return Some(self.values[id.index()]);
        }
        self.work.push(id);
        None
    }

    fn need_all(&mut self, ids: &[ExprId]) -> Option<Vec<Rounded>> {
        let before = self.work.len();
        for &id in ids {
            self.need(id);
        }
        (self.work.len() == before).then(|| ids.iter().map(|id| self.values[id.index()]).collect())
    }

    /// Evaluates a node; `None` if operands have to be evaluated first, which are on the stack then.
    fn step(
        &mut self,
        exprs: &Arena<Leaf>,
        id: ExprId,
        known: &Known<'_>,
        errors: Errors,
    ) -> Result<Option<Rounded>, EvalError> {
        let wrong = EvalError::WrongType(id);
        let operands = match exprs.node(id) {
            Node::Number(value) => return Ok(Some(Rounded::exact(Value::Real(value.0)))),
            Node::Bool(value) => return Ok(Some(Rounded::exact(Value::Bool(value)))),
            Node::Time => return Ok(Some(Rounded::exact(Value::Real(known.time)))),
            Node::Leaf(leaf) => {
                return match (known.leaf)(leaf) {
                    Some(value) => Ok(Some(value)),
                    None => Err(EvalError::Unknown(leaf)),
                };
            }
            // There are no events at a single point.
            Node::Call(Function::Sample, _) => {
                return Ok(Some(Rounded::exact(Value::Bool(false))));
            }
            Node::If(condition, a, b) => {
                let Some(condition) = self.need(condition) else {
                    return Ok(None);
                };
                let holds = condition.value.bool().ok_or(wrong)?;
                return Ok(self.need(if holds { a } else { b }));
            }
            Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let Some(first) = self.need(a) else {
                    return Ok(None);
                };
                let decided = first.value.bool().ok_or(wrong)? == (op == BinaryOp::Or);
                return Ok(match decided {
                    true => Some(first),
                    false => self.need(b),
                });
            }
            Node::Call(Function::Table, args) => {
                return self.table(exprs, id, args, errors);
            }
            // A table evaluates the elements of its lists itself.
            Node::List(_) => return Err(wrong),
            Node::Unary(_, a) => self.need_all(&[a]),
            Node::Binary(_, a, b) => self.need_all(&[a, b]),
            Node::Call(_, args) => self.need_all(exprs.args(args)),
        };
        let Some(operands) = operands else {
            return Ok(None);
        };
        let apply = |values: &[Value]| match (exprs.node(id), values) {
            (Node::Unary(op, _), &[a]) => apply_unary(op, a),
            (Node::Binary(op, ..), &[a, b]) => apply_binary(op, a, b),
            (Node::Call(function, _), values) => apply_call(function, values),
            _ => None,
        };
        let jumps = matches!(
            exprs.node(id),
            Node::Call(
                Function::Floor | Function::Ceil | Function::Sign | Function::Mod,
                _
            )
        );
        // The rounding error of a remainder is that of the dividend.
        let inside = match (exprs.node(id), operands.first()) {
            (Node::Call(Function::Mod, _), Some(first)) => first.value.real().unwrap_or(0.0),
            _ => 0.0,
        };
        rounded(&operands, errors, (jumps, inside), &apply)
            .map(Some)
            .ok_or(wrong)
    }

    fn table(
        &mut self,
        exprs: &Arena<Leaf>,
        id: ExprId,
        args: Args,
        errors: Errors,
    ) -> Result<Option<Rounded>, EvalError> {
        let wrong = EvalError::WrongType(id);
        let &[x, xs, ys] = exprs.args(args) else {
            return Err(wrong);
        };
        let (Node::List(xs), Node::List(ys)) = (exprs.node(xs), exprs.node(ys)) else {
            return Err(wrong);
        };
        let (xs, ys) = (exprs.args(xs), exprs.args(ys));
        let all: Vec<ExprId> = [&[x], xs, ys].concat();
        let Some(operands) = self.need_all(&all) else {
            return Ok(None);
        };
        let points: Option<Vec<f64>> = operands[1..].iter().map(|item| item.value.real()).collect();
        let points = points.ok_or(wrong)?;
        let (xs, ys) = points.split_at(xs.len());
        let apply = |values: &[Value]| {
            let x = values.first()?.real()?;
            Some(Value::Real(interpolate(x, xs, ys)))
        };
        // The rounding error of an interpolated value is that of the values around it, even if it is near 0.
        let above = match operands[0].value {
            Value::Real(x) => xs.partition_point(|&known| known <= x),
            Value::Bool(_) => return Err(wrong),
        };
        let around = ys.get(above.saturating_sub(1)..(above + 1).min(ys.len()));
        let inside =
            (around.unwrap_or_default().iter()).fold(0.0, |most: f64, y| most.max(y.abs()));
        (rounded(&operands[..1], errors, (false, inside), &apply).map(Some)).ok_or(wrong)
    }
}

/// The result of an operation, with its error if that is requested. Operands are moved by a multiple of their errors, because
/// the errors themselves may be too small to change the result. A jump of the operation nearby (`floor`) must not count as an
/// error: operands are moved to both sides, and the smaller change counts. `inside` is a number inside the operation that may
/// be larger than the result.
fn rounded(
    operands: &[Rounded],
    errors: Errors,
    (jumps, inside): (bool, f64),
    apply: &dyn Fn(&[Value]) -> Option<Value>,
) -> Option<Rounded> {
    const MULTIPLE: f64 = 1048576.0;
    let mut values: Vec<Value> = operands.iter().map(|operand| operand.value).collect();
    let value = apply(&values)?;
    let (Value::Real(result), Errors::Bound) = (value, errors) else {
        return Some(Rounded::exact(value));
    };
    let mut error = rounding(result).max(rounding(inside));
    for at in 0..values.len() {
        let Value::Real(operand) = values[at] else {
            continue;
        };
        if operands[at].error > 0.0 {
            let mut change: Option<f64> = None;
            for side in [1.0, -1.0].into_iter().take(if jumps { 2 } else { 1 }) {
                values[at] = Value::Real(operand + side * MULTIPLE * operands[at].error);
                if let Some(Value::Real(moved)) = apply(&values)
                    && moved.is_finite()
                {
                    let other = (moved - result).abs();
                    change = Some(change.map_or(other, |change| change.min(other)));
                }
            }
            error += change.unwrap_or(0.0) / MULTIPLE;
            values[at] = Value::Real(operand);
        }
    }
    Some(Rounded { value, error })
}
