//! Sums, and what else wants its parts in one unit: the two sides of an equation, branches, `min` and `max`.
//!
//! Before: a sum, whose terms are walked as a whole. After: each term is paired with the best known of them, and the offset of the
//! sum is known, where offsets are looked at.

use super::form::{Form, Known, Misuse, Sum, Task, Term, Walker};
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp};
use crate::flat::Leaf;

impl<K: Known> Walker<'_, K> {
    /// The terms of a sum, left to right. Conditions are walked by themselves.
    fn gather(&mut self, root: ExprId, sign: f64, terms: &mut Vec<Term>) {
        let exprs = &self.flat.exprs;
        let mut stack = vec![(root, sign)];
        while let Some((id, weight)) = stack.pop() {
            match exprs.node(id) {
                Node::Binary(BinaryOp::Add, a, b) => stack.extend([(b, weight), (a, weight)]),
                Node::Binary(BinaryOp::Sub, a, b) => stack.extend([(b, -weight), (a, weight)]),
                Node::Unary(UnaryOp::Minus, a) => stack.push((a, -weight)),
                Node::Unary(UnaryOp::Plus, a) => stack.push((a, weight)),
                Node::If(condition, a, b) => {
                    self.tasks.push(Task::Drop);
                    self.tasks.push(Task::Expr(condition));
                    stack.extend([(b, 0.0), (a, weight)]);
                }
                Node::Call(Function::Abs, args) => stack.push((exprs.args(args)[0], f64::NAN)),
                Node::Call(Function::Min | Function::Max | Function::Mod, args) => {
                    let args = exprs.args(args);
                    stack.extend(args[1..].iter().rev().map(|&arg| (arg, 0.0)));
                    stack.push((args[0], weight));
                }
                _ => terms.push(Term { expr: id, weight }),
            }
        }
    }

    pub(super) fn begin_sum(&mut self, id: ExprId) {
        let at = self.tasks.len();
        let mut terms = Vec::new();
        self.gather(id, 1.0, &mut terms);
        let left = terms.len();
        self.push_sum(at, terms, left, true);
    }

    /// Puts a sum under the tasks of its conditions, and those of its terms on top.
    fn push_sum(&mut self, at: usize, terms: Vec<Term>, left: usize, used: bool) {
        let operands: Vec<ExprId> = terms.iter().map(|term| term.expr).collect();
        let sum = Task::Sum(Sum { terms, left, used });
        // Conditions leave nothing on the stack, so they may be walked before the terms.
        let conditions = self.tasks.split_off(at);
        self.tasks.push(sum);
        let each = operands.into_iter().rev().map(Task::Expr);
        self.tasks.extend(each);
        self.tasks.extend(conditions);
    }

    pub(super) fn equal(&mut self, left: ExprId, right: ExprId) {
        if self.flat.is_boolean(left) || self.flat.is_boolean(right) {
            self.dropped(&[left, right]);
            return;
        }
        let zero = |id: ExprId| matches!(self.flat.exprs.node(id), Node::Number(n) if n.0 == 0.0);
        if zero(left) || zero(right) {
            let (zero, other) = if zero(left) {
                (left, right)
            } else {
                (right, left)
            };
            if self.choice_of_zero(zero, other) {
                return;
            }
        }
        let at = self.tasks.len();
        let mut terms = Vec::new();
        self.gather(left, 1.0, &mut terms);
        let count = terms.len();
        self.gather(right, -1.0, &mut terms);
        self.push_sum(at, terms, count, false);
    }

    /// `0 = if c then f else e`, or `0 = s*f + (1 - s)*e`: zero fits both, whatever their units.
    fn choice_of_zero(&mut self, zero: ExprId, other: ExprId) -> bool {
        let exprs = &self.flat.exprs;
        match exprs.node(other) {
            Node::If(condition, a, b) => {
                self.tasks.push(Task::Equal(zero, b));
                self.tasks.push(Task::Equal(zero, a));
                self.dropped(&[condition]);
                true
            }
            Node::Binary(BinaryOp::Add, a, b) => {
                let (Node::Binary(BinaryOp::Mul, s, x), Node::Binary(BinaryOp::Mul, t, y)) =
                    (exprs.node(a), exprs.node(b))
                else {
                    return false;
                };
                let rest = |rest: ExprId, whole: ExprId| match exprs.node(rest) {
                    Node::Binary(BinaryOp::Sub, one, taken) => {
                        taken == whole && matches!(exprs.node(one), Node::Number(n) if n.0 == 1.0)
                    }
                    _ => false,
                };
                let found = rest(t, s) || rest(s, t);
                if found {
                    self.dropped(&[x, y]);
                }
                found
            }
            _ => false,
        }
    }

    pub(super) fn sum(&mut self, sum: &Sum) {
        let first = self.forms.len().saturating_sub(sum.terms.len());
        let forms = self.forms.split_off(first);
        let rank = |form: &Form| match form {
            form if form.bare => 3,
            form if form.number => 2,
            form if form.open.is_empty() && form.is_single() => 0,
            _ => 1,
        };
        let best = (0..forms.len()).min_by_key(|&at| rank(&forms[at]));
        let Some(best) = best.filter(|&at| !forms[at].bare) else {
            if sum.used {
                self.forms.push(Form::bare());
            }
            return;
        };
        let sides = [&sum.terms[..sum.left], &sum.terms[sum.left..]];
        let many = sides
            .iter()
            .any(|side| side.iter().filter(|term| term.weight != 0.0).count() > 1);
        for (at, form) in forms.iter().enumerate() {
            if at != best && !form.bare {
                let (a, b) = (at.min(best), at.max(best));
                self.pair(
                    (sum.terms[a].expr, &forms[a]),
                    (sum.terms[b].expr, &forms[b]),
                    many,
                );
            }
        }
        let offset = match self.offsets {
            true => self.offset_of_sum(sum, &forms, many),
            false => f64::NAN,
        };
        if sum.used {
            let mut result = forms[best].clone();
            result.measure.offset = offset;
            self.forms.push(result);
        }
    }

    /// The offset of a sum: that of 20 degC - 5 degC is zero. In an equation it has to be zero.
    fn offset_of_sum(&mut self, sum: &Sum, forms: &[Form], many: bool) -> f64 {
        let mut total = 0.0;
        let mut numbers = 0.0;
        let mut absorbs = false;
        let mut first = None;
        for (term, form) in sum.terms.iter().zip(forms) {
            if form.bare {
                let value = self.value(term.expr);
                numbers += term.weight * value.unwrap_or(f64::NAN);
                absorbs |= value != Some(0.0);
                continue;
            }
            let offset = form.measure.offset;
            if offset != 0.0 && first.is_none() && !offset.is_nan() {
                first = Some(term.expr);
            }
            if term.weight == 0.0 {
                continue;
            }
            total += term.weight * offset;
            // A parameter that holds 273.15 K is used like the number.
            if form.open.is_empty()
                && offset == 0.0
                && many
                && let Node::Leaf(Leaf::Var(id)) = self.flat.exprs.node(term.expr)
                && let Some(value) = self.flat.value(id).and_then(|given| given.value.real())
                && (value - 273.15).abs() < 0.5
            {
                numbers += term.weight * value;
                absorbs = true;
            }
        }
        let left = total - numbers;
        let met = |value: f64| value.is_nan() || value.abs() < 0.5;
        if absorbs {
            return if left.abs() < 0.5 { 0.0 } else { f64::NAN };
        }
        if sum.left < sum.terms.len() && !met(total) && !self.is_absolute(sum, forms, total) {
            if let Some(expr) = first {
                self.misuse(expr, Misuse::Sum);
            }
            return f64::NAN;
        }
        total
    }

    /// Whether a value in kelvin is what makes the temperature of a sum: in `T = (300 'K') + (5 'K')*sin(x)` with T in degC
    /// the first one, as it stands alone. It is converted with its zero.
    fn is_absolute(&mut self, sum: &Sum, forms: &[Form], total: f64) -> bool {
        let mut alone = (sum.terms.iter().zip(forms)).filter_map(|(term, form)| {
            let Node::Binary(BinaryOp::Mul, _, b) = self.flat.exprs.node(term.expr) else {
                return None;
            };
            let Node::Leaf(Leaf::Var(id)) = self.flat.exprs.node(b) else {
                return None;
            };
            let kelvin =
                self.known.is_literal(id) && form.measure.offset == 0.0 && term.weight != 0.0;
            kelvin.then_some((id, term.weight))
        });
        let (Some((id, weight)), None) = (alone.next(), alone.next()) else {
            return false;
        };
        let offset = -total / weight;
        if offset > 0.0 {
            self.absolute.push((id, offset));
        }
        offset > 0.0
    }
}
