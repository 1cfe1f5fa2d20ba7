//! Values of parameters, sizes and indices.
//!
//! Before: the instance tree, complete or in the making. After [`Tree::evaluate_all`]: every
//! parameter and constant has a value, or has been reported. A value may depend on other
//! parameters in any order; the order of evaluation is found with an explicit stack.

use crate::base::cancel::glance;
use rustc_hash::FxHashSet;

use super::class::{Class, Slot, Template};
use super::instance::Tree;
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::Span;
use crate::expr::show_number;
use crate::expr::{ExprId, Function, Node, Value, apply_binary, apply_call, apply_unary};

/// The state of the evaluation of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Memo {
    Unknown,
    /// It is being evaluated; if it is needed again, there is a cycle.
    Busy,
    Known(Value),
    /// It has no value, which was reported.
    Failed,
}

/// An expression with the instance in which its names are looked up.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    pub instance: u32,
    pub root: ExprId,
}

/// Why an expression has no value.
enum Obstacle {
    /// Another parameter has to be evaluated first.
    Needs(u32),
    Reported,
}

impl<'c> Tree<'c> {
    /// Evaluates every parameter and constant.
    pub fn evaluate_all(&mut self) {
        for variable in 0..self.variables.len() as u32 {
            glance();
            let record = self.variables[variable as usize];
            let decl = &self.class(record.instance).variables[record.slot as usize];
            if decl.kind.is_fixed() {
                self.evaluate(variable);
            }
        }
    }

    /// The expression that gives a parameter its value: from outside, else its default.
    pub fn binding(&self, variable: u32) -> Option<Binding> {
        let record = self.variables[variable as usize];
        let instance = self.instances[record.instance as usize];
        let class = self.class(record.instance);
        let (context, template): (u32, Template) = match record.instance {
            0 => (0, class.variables[record.slot as usize].value?),
            inner => {
                let outer = self.class(instance.parent);
                let settings = &outer.submodels[instance.submodel as usize].settings;
                let set = settings.iter().find(|&&(slot, _)| slot == record.slot);
                match set {
                    Some(&(_, template)) => (instance.parent, template),
                    None => (inner, class.variables[record.slot as usize].value?),
                }
            }
        };
        let code = &self.class(context).code;
        let root = match code.node(template.root) {
            Node::List(args) => *code.args(args).get(record.element as usize)?,
            _ => template.root,
        };
        Some(Binding {
            instance: context,
            root,
        })
    }

    /// The length of a list that is the value of an array.
    fn list_length(&self, variable: u32) -> Option<(u32, Span)> {
        let record = self.variables[variable as usize];
        let instance = self.instances[record.instance as usize];
        let outer = self.class(instance.parent);
        let set = match record.instance {
            0 => None,
            _ => outer.submodels[instance.submodel as usize]
                .settings
                .iter()
                .find(|&&(slot, _)| slot == record.slot)
                .map(|&(_, template)| (outer, template)),
        };
        let own = self.class(record.instance);
        let (class, template) = match set {
            Some(found) => found,
            None => (own, own.variables[record.slot as usize].value?),
        };
        match class.code.node(template.root) {
            Node::List(args) => Some((args.len, class.code.span(template))),
            _ => None,
        }
    }

    /// Whether a list that is the value of an array has as many elements as the array; a difference
    /// is reported.
    pub fn right_length(&mut self, variable: u32) -> bool {
        let record = self.variables[variable as usize];
        let run = self.slot(record.instance, record.slot);
        let (Some((length, span)), Some(run)) = (self.list_length(variable), run) else {
            return true;
        };
        if length == run.size {
            return true;
        }
        let name = self.variable_name(variable);
        let whole = name
            .rsplit_once('[')
            .map_or(name.as_str(), |(whole, _)| whole);
        self.diagnostics.push(
            Diagnostic::new(
                Code::BadSize,
                format!("`{whole}` has {} elements and is given {length}", run.size),
            )
            .at(span, format!("{length} values")),
        );
        false
    }

    /// The value of a parameter or constant; `None` if there is none, which has been reported.
    pub fn evaluate(&mut self, variable: u32) -> Option<Value> {
        let mut stack = vec![variable];
        while let Some(&top) = stack.last() {
            glance();
            match self.memo[top as usize] {
                Memo::Known(_) | Memo::Failed => {
                    stack.pop();
                    continue;
                }
                Memo::Unknown | Memo::Busy => {}
            }
            self.memo[top as usize] = Memo::Busy;
            let result = match self.binding(top) {
                None => Err(self.report_no_value(top)),
                Some(binding) => self.try_value(binding.instance, binding.root, &[]),
            };
            match result {
                Ok(value) => {
                    self.memo[top as usize] = match self.check_value(top, value) {
                        true => Memo::Known(value),
                        false => Memo::Failed,
                    };
                }
                Err(Obstacle::Reported) => self.memo[top as usize] = Memo::Failed,
                Err(Obstacle::Needs(other)) => match self.memo[other as usize] {
                    Memo::Busy => {
                        self.report_circle(&stack, other);
                        for &member in &stack {
                            self.memo[member as usize] = Memo::Failed;
                        }
                    }
                    _ => {
                        self.push_needs(top, &mut stack);
                        stack.push(other);
                    }
                },
            }
        }
        match self.memo[variable as usize] {
            Memo::Known(value) => Some(value),
            _ => None,
        }
    }

    /// Pushes all parameters that a parameter needs and that have no value yet, so that it need not
    /// be tried again after each of them. Names with an index are left out; they are found when
    /// they are evaluated.
    fn push_needs(&mut self, variable: u32, stack: &mut Vec<u32>) {
        let Some(binding) = self.binding(variable) else {
            return;
        };
        let class = self.class(binding.instance);
        let first = class.code.firsts[binding.root.index()];
        for at in first..=binding.root.0 {
            if let Node::Leaf(Slot::Own { slot, index: None }) = class.code.nodes[at as usize]
                && let Some(run) = self.slot(binding.instance, slot)
                && self.memo[run.first as usize] == Memo::Unknown
            {
                stack.push(run.first);
            }
        }
    }

    /// Whether a value is finite and has the declared length; if not, that is reported.
    fn check_value(&mut self, variable: u32, value: Value) -> bool {
        if !self.right_length(variable) {
            return false;
        }
        if let Value::Real(number) = value
            && !number.is_finite()
        {
            let name = self.variable_name(variable);
            if let Some(binding) = self.binding(variable) {
                let span = self.class(binding.instance).code.spans[binding.root.index()];
                let problem = if number.is_nan() {
                    "not a number"
                } else {
                    "infinite"
                };
                self.diagnostics.push(
                    Diagnostic::new(
                        Code::BadValue,
                        format!("the value of `{name}` is {problem}"),
                    )
                    .at(span, format!("gives {}", show_number(number))),
                );
            }
            return false;
        }
        true
    }

    fn report_no_value(&mut self, variable: u32) -> Obstacle {
        let record = self.variables[variable as usize];
        let decl = &self.class(record.instance).variables[record.slot as usize];
        let name = self.variable_name(variable);
        if !self.right_length(variable) {
            return Obstacle::Reported;
        }
        let local = self.text(decl.name);
        let mut diagnostic = Diagnostic::new(
            Code::NoValue,
            format!("the {} `{name}` has no value", &decl.kind.words()[2..]),
        );
        if record.instance != 0 {
            let instance = self.instances[record.instance as usize];
            let submodel = &self.class(instance.parent).submodels[instance.submodel as usize];
            let text = self.text(submodel.name);
            diagnostic = diagnostic
                .at(submodel.span, format!("`{local}` is not given here"))
                .at(decl.span, "declared without a value")
                .hint(format!("write `{text}({local} = ...)`"));
        } else {
            diagnostic = diagnostic
                .at(decl.span, "declared without a value")
                .hint(format!("write `{} {local} = ...`", &decl.kind.words()[2..]));
        }
        self.diagnostics.push(diagnostic);
        Obstacle::Reported
    }

    fn report_circle(&mut self, stack: &[u32], other: u32) {
        // If a parameter is on the stack twice, the evaluation began at its last place.
        let from = stack.iter().rposition(|&at| at == other).unwrap_or(0);
        let mut seen = FxHashSet::default();
        let mut circle: Vec<u32> = (stack[from..].iter().rev().copied())
            .filter(|&at| self.memo[at as usize] == Memo::Busy && seen.insert(at))
            .collect();
        circle.reverse();
        let name = self.variable_name(other);
        let mut diagnostic = Diagnostic::new(
            Code::DependsOnItself,
            format!("the parameter `{name}` depends on itself"),
        );
        const MOST: usize = 5;
        for (at, &member) in circle.iter().take(MOST).enumerate() {
            let next = circle.get(at + 1).copied().unwrap_or(other);
            let text = format!(
                "`{}` depends on `{}`",
                self.variable_name(member),
                self.variable_name(next)
            );
            if let Some(binding) = self.binding(member) {
                let span = self.class(binding.instance).code.spans[binding.root.index()];
                diagnostic = diagnostic.at(span, text);
            }
        }
        if circle.len() > MOST {
            diagnostic = diagnostic.note(format!("and {} more", circle.len() - MOST));
        }
        self.diagnostics.push(diagnostic);
    }

    /// The value of an expression in an instance, with the values of `for` variables.
    pub fn value(&mut self, instance: u32, root: ExprId, loops: &[f64]) -> Option<Value> {
        loop {
            match self.try_value(instance, root, loops) {
                Ok(value) => return Some(value),
                Err(Obstacle::Reported) => return None,
                Err(Obstacle::Needs(other)) => {
                    self.evaluate(other)?;
                }
            }
        }
    }

    fn try_value(&mut self, instance: u32, root: ExprId, loops: &[f64]) -> Result<Value, Obstacle> {
        let class = self.class(instance);
        let first = class.code.firsts[root.index()];
        // Most values are literals, and most indices variables of a `for`.
        if first == root.0 {
            return self.step(class, instance, root, first, &[], loops);
        }
        let mut values: Vec<Value> = Vec::with_capacity((root.0 - first + 1) as usize);
        for at in first..=root.0 {
            // The elements of a list are evaluated separately; the list itself has no value.
            let value = match class.code.nodes[at as usize] {
                Node::List(_) => Value::Real(0.0),
                _ => self.step(class, instance, ExprId(at), first, &values, loops)?,
            };
            values.push(value);
        }
        Ok(values[values.len() - 1])
    }

    /// One node, its operands being in `values` from `first` on.
    fn step(
        &mut self,
        class: &'c Class,
        instance: u32,
        id: ExprId,
        first: u32,
        values: &[Value],
        loops: &[f64],
    ) -> Result<Value, Obstacle> {
        let code = &class.code;
        let operand = |id: ExprId| values[(id.0 - first) as usize];
        let result = match code.node(id) {
            Node::Number(value) => Some(Value::Real(value.0)),
            Node::Bool(value) => Some(Value::Bool(value)),
            Node::Leaf(Slot::Loop(level)) => Some(Value::Real(loops[level as usize])),
            Node::Leaf(slot) => {
                let index = |id: ExprId| operand(id);
                let Some(variable) =
                    self.variable(class, instance, slot, code.spans[id.index()], &index)
                else {
                    return Err(Obstacle::Reported);
                };
                if self.is_shaping && self.shaping.last() != Some(&variable) {
                    self.shaping.push(variable);
                }
                return match self.memo[variable as usize] {
                    Memo::Known(value) => Ok(value),
                    Memo::Failed => Err(Obstacle::Reported),
                    Memo::Unknown | Memo::Busy => Err(Obstacle::Needs(variable)),
                };
            }
            Node::Unary(op, a) => apply_unary(op, operand(a)),
            Node::Binary(op, a, b) => apply_binary(op, operand(a), operand(b)),
            Node::If(c, a, b) => {
                (operand(c).bool()).map(|c| if c { operand(a) } else { operand(b) })
            }
            Node::Call(Function::Table, args) => {
                let args = code.args(args);
                let lists: Vec<Vec<f64>> = args[1..]
                    .iter()
                    .filter_map(|&arg| match code.node(arg) {
                        Node::List(items) => code
                            .args(items)
                            .iter()
                            .map(|&item| operand(item).real())
                            .collect(),
                        _ => None,
                    })
                    .collect();
                match (operand(args[0]).real(), lists.as_slice()) {
                    (Some(x), [xs, ys]) => Some(Value::Real(crate::expr::interpolate(x, xs, ys))),
                    _ => None,
                }
            }
            Node::Call(function, args) => {
                let args: Vec<Value> = code.args(args).iter().map(|&arg| operand(arg)).collect();
                apply_call(function, &args)
            }
            Node::Time | Node::List(_) => None,
        };
        match result {
            Some(value) => Ok(value),
            None => {
                self.diagnostics.push(
                    Diagnostic::new(
                        Code::TypeClash,
                        "a boolean where a real is wanted, or a real where a boolean is",
                    )
                    .at(code.spans[id.index()], "the operands do not fit"),
                );
                Err(Obstacle::Reported)
            }
        }
    }
}
