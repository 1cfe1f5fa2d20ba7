//! What the unit of an expression is made of, and which expressions have to agree.
//!
//! Before: an expression of the flat model. After: its [`Form`], the product of what is known with powers of variables whose
//! unit is open, and [`Pair`]s of expressions that have to have the same unit. Nothing is compared here.
//!
//! A sum is walked as a whole, with the branches of its `if`s and the arguments of `min` and `max`: all terms of both sides of
//! an equation are paired with one of them. The walk keeps its own stack.

use crate::base::source::Span;
use crate::base::unit::{Measure, Power};
use crate::evaluate::{Walk, value_of};
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp, Value};
use crate::flat::{Flat, Leaf, Type, VarId};

/// The unit of an expression, as a product.
#[derive(Clone, Debug)]
pub struct Form {
    /// The product of the units that are known. The offset is that of the whole value; NaN if it is not known.
    pub measure: Measure,
    pub open: Vec<(VarId, Power)>,
    /// A written number is a factor of it.
    pub number: bool,
    /// Nothing but numbers: it fits every unit.
    pub bare: bool,
}

/// Two expressions that have to have the same unit, or one that has to be plain.
#[derive(Clone, Debug)]
pub struct Pair {
    pub a: ExprId,
    pub b: Option<ExprId>,
    /// The unit of a over that of b.
    pub ratio: Measure,
    pub open: Vec<(VarId, Power)>,
    pub number: bool,
    /// Both are variables by themselves, or have a known unit; their offsets can be compared.
    pub single: bool,
    /// They are terms of a sum, and not equal.
    pub added: bool,
    /// Values are handed on: at a connection, or to a submodel.
    pub handed: bool,
    /// The offset of the one whose unit is known.
    pub offset: f64,
    pub span: Span,
}

/// A use of a temperature in degC that has no meaning.
#[derive(Clone, Copy, Debug)]
pub struct Misused {
    pub expr: ExprId,
    pub how: Misuse,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// In a product, a power or a function.
    Product,
    /// In a sum or an equation with temperatures in K.
    Sum,
}

/// What is known of the variables.
pub trait Known {
    /// The unit of a variable, as far as it is known.
    fn measure(&self, id: VarId) -> Option<Measure>;
    fn is_literal(&self, id: VarId) -> bool;
    /// A unit that was found in a sum, in which a difference and a temperature look alike.
    fn is_vague(&self, id: VarId) -> bool;
}

/// Walks over expressions; what it finds is in `pairs` and `misused`.
pub struct Walker<'f, K> {
    pub flat: &'f Flat,
    pub known: &'f K,
    pub pairs: Vec<Pair>,
    pub misused: Vec<Misused>,
    /// Values in kelvin that are temperatures, with the offset of what they are added to.
    pub absolute: Vec<(VarId, f64)>,
    /// Whether a power was met: its unit depends on a value.
    pub powers: bool,
    /// Whether offsets are looked at.
    pub offsets: bool,
    /// Whether values are handed on.
    pub handing: bool,
    span: Span,
    tasks: Vec<Task>,
    forms: Vec<Form>,
    walk: Walk,
}

#[derive(Debug)]
enum Task {
    Expr(ExprId),
    Equal(ExprId, ExprId),
    /// The terms of a sum; their forms are on the stack.
    Sum(Sum),
    Product(ExprId, ExprId, Power),
    Power(ExprId, ExprId),
    /// The argument has to be plain, and so is the result.
    Plain(ExprId),
    /// A value with a unit: its number has to be plain.
    Literal(ExprId, VarId),
    Drop,
    Bare,
    /// A plain number.
    Result,
}

#[derive(Debug)]
struct Sum {
    terms: Vec<Term>,
    /// How many of the terms are on the left of an equation or relation; all of them in a mere sum.
    left: usize,
    /// Whether the result is used.
    used: bool,
}

#[derive(Clone, Copy, Debug)]
struct Term {
    expr: ExprId,
    /// How often it is counted: 1 or -1, and 0 for all branches of an `if` but the first.
    weight: f64,
}

impl Form {
    fn of(measure: Measure) -> Form {
        Form {
            measure,
            open: Vec::new(),
            number: false,
            bare: false,
        }
    }

    fn bare() -> Form {
        Form {
            bare: true,
            ..Form::of(Measure::PLAIN)
        }
    }

    fn is_single(&self) -> bool {
        match self.open[..] {
            [] => !self.number,
            [(_, power)] => {
                power == Power::ONE && !self.number && self.measure.of_differences().is_plain()
            }
            _ => false,
        }
    }
}

/// Multiplies the open parts.
fn multiply(open: &mut Vec<(VarId, Power)>, more: &[(VarId, Power)], power: Power) -> Option<()> {
    for &(id, each) in more {
        let each = each.times(power)?;
        match open.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => *known = *known + each,
            None => open.push((id, each)),
        }
    }
    open.retain(|(_, power)| !power.is_zero());
    Some(())
}

impl<'f, K: Known> Walker<'f, K> {
    pub fn new(flat: &'f Flat, known: &'f K) -> Self {
        Walker {
            flat,
            known,
            pairs: Vec::new(),
            misused: Vec::new(),
            absolute: Vec::new(),
            powers: false,
            offsets: false,
            handing: false,
            span: flat.instances[0].span,
            tasks: Vec::new(),
            forms: Vec::new(),
            walk: Walk::default(),
        }
    }

    /// Both sides of an equation.
    pub fn equation(&mut self, left: ExprId, right: ExprId, span: Span) {
        self.span = span;
        self.tasks.push(Task::Equal(left, right));
        self.run();
        self.forms.clear();
    }

    /// A variable and what it is given; if the value is handed on, as a whole.
    pub fn given(&mut self, id: VarId, expr: ExprId, handed: bool, span: Span) {
        let Some(left) = self.flat.exprs.find_leaf(Leaf::Var(id)) else {
            return;
        };
        if !handed || self.flat.variable(id).ty == Type::Boolean {
            return self.equation(left, expr, span);
        }
        let form = self.form(expr, span);
        if !form.bare {
            let variable = self.leaf(Leaf::Var(id));
            self.handing = true;
            self.pair((left, &variable), (expr, &form), false);
            self.handing = false;
        }
    }

    /// An expression by itself.
    pub fn form(&mut self, expr: ExprId, span: Span) -> Form {
        self.span = span;
        self.tasks.push(Task::Expr(expr));
        self.run();
        self.forms.pop().unwrap_or_else(Form::bare)
    }

    fn run(&mut self) {
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Expr(id) => self.expr(id),
                Task::Equal(left, right) => self.equal(left, right),
                Task::Sum(sum) => self.sum(&sum),
                Task::Product(a, b, power) => self.product(a, b, power),
                Task::Power(base, exponent) => self.power(base, exponent),
                Task::Plain(argument) => {
                    let form = self.pop();
                    self.plain(argument, form);
                    self.forms.push(Form::of(Measure::PLAIN));
                }
                Task::Literal(number, id) => {
                    let form = self.pop();
                    self.plain(number, form);
                    let unit = self.leaf(Leaf::Var(id));
                    self.forms.push(unit);
                }
                Task::Drop => {
                    self.pop();
                }
                Task::Bare => self.forms.push(Form::bare()),
                Task::Result => self.forms.push(Form::of(Measure::PLAIN)),
            }
        }
    }

    fn pop(&mut self) -> Form {
        self.forms.pop().unwrap_or_else(Form::bare)
    }

    /// The value as known before the start.
    fn value(&mut self, id: ExprId) -> Option<f64> {
        match self.flat.exprs.node(id) {
            Node::Number(value) => Some(value.0),
            _ => value_of(self.flat, id, &mut self.walk).and_then(Value::real),
        }
    }

    fn is_timeless(&self, id: ExprId) -> bool {
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            if matches!(self.flat.exprs.node(id), Node::Time) {
                return false;
            }
            self.flat
                .exprs
                .each_operand(id, |operand| stack.push(operand));
        }
        true
    }

    fn leaf(&self, leaf: Leaf) -> Form {
        let id = leaf.variable();
        let order = leaf.order().unwrap_or(0);
        let mut form = match self.known.measure(id) {
            _ if self.flat.variable(id).ty == Type::Boolean => return Form::bare(),
            Some(mut measure) => {
                if self.known.is_vague(id) {
                    measure.offset = f64::NAN;
                }
                Form::of(measure)
            }
            None => Form {
                open: vec![(id, Power::ONE)],
                ..Form::of(Measure {
                    offset: f64::NAN,
                    ..Measure::PLAIN
                })
            },
        };
        if order > 0 {
            let power = Power::whole(-i32::from(order));
            let rate = Measure::second().raised(power).unwrap_or(Measure::PLAIN);
            form.measure = form.measure.times(&rate);
        }
        form
    }

    fn expr(&mut self, id: ExprId) {
        match self.flat.exprs.node(id) {
            Node::Number(_) | Node::Bool(_) | Node::List(_) => self.forms.push(Form::bare()),
            Node::Time => self.forms.push(Form::of(Measure::second())),
            Node::Leaf(leaf) => {
                let form = self.leaf(leaf);
                self.forms.push(form);
            }
            Node::Unary(UnaryOp::Not, a) => self.logic(&[a]),
            Node::Unary(..) | Node::If(..) | Node::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => {
                self.begin_sum(id);
            }
            Node::Binary(BinaryOp::Mul, a, b) => match self.flat.exprs.node(b) {
                Node::Leaf(Leaf::Var(literal)) if self.known.is_literal(literal) => {
                    self.tasks.push(Task::Literal(a, literal));
                    self.tasks.push(Task::Expr(a));
                }
                _ => self.two(a, b, Task::Product(a, b, Power::ONE)),
            },
            Node::Binary(BinaryOp::Div, a, b) => {
                self.two(a, b, Task::Product(a, b, -Power::ONE));
            }
            Node::Binary(BinaryOp::Pow, a, b) => self.two(a, b, Task::Power(a, b)),
            Node::Binary(BinaryOp::And | BinaryOp::Or, a, b) => self.logic(&[a, b]),
            Node::Binary(_, a, b) => {
                self.tasks.push(Task::Bare);
                match self.flat.is_boolean(a) {
                    true => self.dropped(&[a, b]),
                    false => self.tasks.push(Task::Equal(a, b)),
                }
            }
            Node::Call(function, args) => {
                let args = self.flat.exprs.args(args);
                self.call(id, function, args);
            }
        }
    }

    fn two(&mut self, a: ExprId, b: ExprId, task: Task) {
        self.tasks.push(task);
        self.tasks.push(Task::Expr(b));
        self.tasks.push(Task::Expr(a));
    }

    fn dropped(&mut self, operands: &[ExprId]) {
        for &operand in operands.iter().rev() {
            self.tasks.push(Task::Drop);
            self.tasks.push(Task::Expr(operand));
        }
    }

    fn logic(&mut self, operands: &[ExprId]) {
        self.tasks.push(Task::Bare);
        self.dropped(operands);
    }

    fn call(&mut self, id: ExprId, function: Function, args: &[ExprId]) {
        match function {
            Function::Sin
            | Function::Cos
            | Function::Tan
            | Function::Asin
            | Function::Acos
            | Function::Atan
            | Function::Sinh
            | Function::Cosh
            | Function::Tanh
            | Function::Exp
            | Function::Ln
            | Function::Log10 => {
                self.tasks.push(Task::Plain(args[0]));
                self.tasks.push(Task::Expr(args[0]));
            }
            Function::Sqrt => {
                let half = Power::near(0.5).unwrap_or(Power::ONE);
                self.tasks.push(Task::Product(args[0], args[0], half));
                self.tasks.push(Task::Expr(args[0]));
                self.tasks.push(Task::Bare);
            }
            Function::Abs | Function::Min | Function::Max | Function::Mod => self.begin_sum(id),
            Function::Floor | Function::Ceil => self.tasks.push(Task::Expr(args[0])),
            Function::Atan2 => {
                self.tasks.push(Task::Result);
                self.tasks.push(Task::Equal(args[0], args[1]));
            }
            Function::Sign => {
                self.tasks.push(Task::Result);
                self.dropped(args);
            }
            Function::Table => {
                self.tasks.push(Task::Bare);
                self.dropped(&args[..1]);
            }
            Function::Sample => self.logic(args),
            Function::Der | Function::Der2 | Function::New | Function::Init | Function::Pre => {
                self.forms.push(Form::bare());
            }
        }
    }

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

    fn begin_sum(&mut self, id: ExprId) {
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

    fn equal(&mut self, left: ExprId, right: ExprId) {
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

    fn sum(&mut self, sum: &Sum) {
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

    fn misuse(&mut self, expr: ExprId, how: Misuse) {
        let span = self.span;
        self.misused.push(Misused { expr, how, span });
    }

    fn pair(&mut self, (a, first): (ExprId, &Form), (b, second): (ExprId, &Form), added: bool) {
        let mut open = first.open.clone();
        if multiply(&mut open, &second.open, -Power::ONE).is_none() {
            return;
        }
        self.pairs.push(Pair {
            a,
            b: Some(b),
            ratio: first.measure.over(&second.measure),
            open,
            number: first.number || second.number,
            single: first.is_single() && second.is_single(),
            added,
            handed: self.handing,
            offset: match first.open.is_empty() {
                true => first.measure.offset,
                false => second.measure.offset,
            },
            span: self.span,
        });
    }

    fn plain(&mut self, expr: ExprId, form: Form) {
        if form.bare {
            return;
        }
        self.no_offset(expr, &form);
        self.pairs.push(Pair {
            a: expr,
            b: None,
            ratio: form.measure.of_differences(),
            open: form.open,
            number: form.number,
            single: false,
            added: false,
            handed: false,
            offset: 0.0,
            span: self.span,
        });
    }

    fn no_offset(&mut self, expr: ExprId, form: &Form) {
        let offset = form.measure.offset;
        if self.offsets && !offset.is_nan() && offset != 0.0 {
            self.misuse(expr, Misuse::Product);
        }
    }

    /// a times b to a power.
    fn product(&mut self, a: ExprId, b: ExprId, power: Power) {
        let second = self.pop();
        let first = self.pop();
        let mut offset = 0.0;
        if self.offsets {
            let scales = second.bare && power.as_whole().is_some();
            match (first.bare, scales) {
                (false, true) if first.measure.offset != 0.0 => {
                    let value = self.value(b).unwrap_or(f64::NAN);
                    offset = first.measure.offset
                        * if power == Power::ONE {
                            value
                        } else {
                            1.0 / value
                        };
                }
                (true, _) if second.measure.offset != 0.0 && power == Power::ONE => {
                    offset = second.measure.offset * self.value(a).unwrap_or(f64::NAN);
                }
                _ => {
                    self.no_offset(a, &first);
                    self.no_offset(b, &second);
                }
            }
        }
        let raised = second.measure.raised(power);
        let mut open = first.open;
        let (Some(raised), Some(())) = (raised, multiply(&mut open, &second.open, power)) else {
            return self.forms.push(Form::bare());
        };
        let mut measure = first.measure.times(&raised);
        measure.offset = offset;
        self.forms.push(Form {
            measure,
            open,
            // The root of a number is a number; the sign of a square root's operand that is missing is none.
            number: first.number || second.number || (first.bare != second.bare && a != b),
            bare: first.bare && second.bare,
        });
    }

    fn power(&mut self, base: ExprId, exponent: ExprId) {
        let raised_to = self.pop();
        let form = self.pop();
        self.powers = true;
        self.plain(exponent, raised_to);
        if form.bare {
            return self.forms.push(form);
        }
        let value = match self.is_timeless(exponent) {
            true => self.value(exponent),
            false => None,
        };
        let Some(value) = value else {
            self.plain(base, form);
            return self.forms.push(Form::of(Measure::PLAIN));
        };
        if value != 1.0 {
            self.no_offset(base, &form);
        }
        let power = Power::near(value);
        let mut open = Vec::new();
        let raised = power.and_then(|power| {
            multiply(&mut open, &form.open, power)?;
            form.measure.raised(power)
        });
        self.forms.push(match raised {
            Some(measure) => Form {
                measure,
                open,
                number: form.number,
                bare: false,
            },
            // A power such as 1.37 of a unit: nothing can be said.
            None if form.open.is_empty() && form.measure.is_plain() => Form::of(Measure::PLAIN),
            None => Form::bare(),
        });
    }
}
