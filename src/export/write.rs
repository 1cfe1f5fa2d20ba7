//! Expressions as text of another language.
//!
//! Before: an expression of the flat model. After: text of a [`Dialect`], and statements before it where one line is
//! not enough: a part that is too long or nested too deeply gets a name (`t1`). Only what is needed is evaluated: a
//! part of a branch of an `if` gets its name inside that branch, so the program divides by zero only if the model does.

use rustc_hash::FxHashMap;

use crate::expr::op::precedence;
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp};
use crate::flat::{Flat, Leaf};

/// A text and its binding strength.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub text: String,
    pub binds: u8,
}

impl Text {
    pub fn new(text: impl Into<String>, binds: u8) -> Text {
        let text = text.into();
        Text { text, binds }
    }

    pub fn atom(text: impl Into<String>) -> Text {
        Text::new(text, precedence::ATOM)
    }

    /// The text, with brackets unless it binds at least as strongly.
    pub fn at_least(&self, binds: u8) -> String {
        match self.binds >= binds {
            true => self.text.clone(),
            false => format!("({})", self.text),
        }
    }
}

/// How a language writes expressions and statements.
pub trait Dialect {
    /// A variable that is not eliminated.
    fn leaf(&self, leaf: Leaf) -> Text;
    fn number(&self, value: f64) -> Text;
    fn truth(&self, value: bool) -> Text;
    fn time(&self) -> Text;
    fn unary(&self, op: UnaryOp, a: &Text) -> Text;
    fn binary(&self, op: BinaryOp, a: &Text, b: &Text) -> Text;
    fn choice(&self, condition: &Text, a: &Text, b: &Text) -> Text;
    fn call(&self, function: Function, args: &[Text]) -> Text;
    /// `table(x, xs, ys)`
    fn table(&self, x: &Text, xs: &[Text], ys: &[Text]) -> Text;
    /// A relation whose truth is kept between events is not written as an expression. The result says whether its
    /// operands occur in the text.
    fn kept(&self, id: ExprId) -> Option<Kept>;
    fn kept_text(&self, id: ExprId, operands: &[Text]) -> Text;
    /// The name of a temporary.
    fn temporary(&self, count: usize) -> String {
        format!("t{count}")
    }
    /// Defines a temporary: `temporary = value`.
    fn define(&self, temporary: &str, value: &Text) -> String;
    /// Assigns a value to a declared temporary.
    fn set(&self, temporary: &str, value: &Text) -> String;
    /// Declares a temporary that branches set.
    fn declare(&self, temporary: &str) -> Option<String>;
    fn begin_if(&self, condition: &Text) -> String;
    fn begin_unless(&self, condition: &Text) -> String;
    fn begin_else(&self) -> String;
    /// Ends a block, if that takes a line.
    fn end(&self) -> Option<String>;
}

/// The operands that a kept relation needs in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    Alone,
    WithOperands,
}

/// Longer or deeper texts are split.
const LONGEST: usize = 300;
const DEEPEST: usize = 30;

#[derive(Clone, Copy, Debug, Default)]
struct Measure {
    length: usize,
    depth: usize,
    /// It gets a name of its own.
    cut: bool,
    /// It gets a name, or one of its parts does.
    cuts: bool,
}

enum Task {
    Need(ExprId),
    Name(ExprId),
    Set(String, ExprId),
    If(ExprId),
    Unless(String, bool),
    Else,
    End,
    Known(ExprId, String),
}

/// Writes the expressions of one function of the program. Temporaries are unique in it.
pub struct Writer<'w, D> {
    flat: &'w Flat,
    gone: &'w FxHashMap<Leaf, ExprId>,
    pub dialect: &'w D,
    measures: FxHashMap<ExprId, Measure>,
    known: FxHashMap<ExprId, String>,
    /// What became known in each open branch.
    branches: Vec<Vec<ExprId>>,
    count: usize,
    indent: usize,
    pub lines: String,
}

impl<D> std::fmt::Debug for Writer<'_, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl<'w, D: Dialect> Writer<'w, D> {
    pub fn new(flat: &'w Flat, gone: &'w FxHashMap<Leaf, ExprId>, dialect: &'w D) -> Self {
        Writer {
            flat,
            gone,
            dialect,
            measures: FxHashMap::default(),
            known: FxHashMap::default(),
            branches: Vec::new(),
            count: 0,
            indent: 1,
            lines: String::new(),
        }
    }

    /// Writes a line with the present indentation.
    pub fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.lines.push_str("    ");
        }
        self.lines.push_str(text);
        self.lines.push('\n');
    }

    pub fn indented(&mut self, by: isize) {
        self.indent = self.indent.saturating_add_signed(by);
    }

    /// Whether the next line is inside a block.
    pub fn is_open(&self) -> bool {
        self.indent > 1
    }

    /// Forgets the temporaries. They hold in one function, and only as long as the values they were computed from.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    pub fn take(&mut self) -> String {
        self.forget();
        std::mem::take(&mut self.lines)
    }

    /// The text of an expression. Statements that it needs are written first.
    pub fn value(&mut self, root: ExprId) -> Text {
        self.measure(root);
        let mut tasks = vec![Task::Need(root)];
        while let Some(task) = tasks.pop() {
            self.perform(task, &mut tasks);
        }
        self.inline(root)
    }

    pub fn leaf(&mut self, leaf: Leaf) -> Text {
        match self.gone.get(&leaf) {
            Some(&expression) => self.value(expression),
            None => self.dialect.leaf(leaf),
        }
    }

    fn operands(&self, id: ExprId) -> Vec<ExprId> {
        let mut operands = Vec::new();
        match self.flat.exprs.node(id) {
            Node::Leaf(leaf) => operands.extend(self.gone.get(&leaf)),
            _ if self.dialect.kept(id) == Some(Kept::Alone) => {}
            Node::Call(Function::Table, args) => {
                let list = self.flat.exprs.args(args);
                operands.push(list[0]);
                self.flat.exprs.operands(list[1], &mut operands);
                self.flat.exprs.operands(list[2], &mut operands);
            }
            _ => self.flat.exprs.operands(id, &mut operands),
        }
        operands
    }

    /// Whether only some of the operands are evaluated.
    fn lazy(&self, id: ExprId) -> bool {
        matches!(
            self.flat.exprs.node(id),
            Node::If(..) | Node::Binary(BinaryOp::And | BinaryOp::Or, ..)
        ) && self.dialect.kept(id).is_none()
    }

    fn measure(&mut self, root: ExprId) {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.measures.contains_key(&id) {
                stack.pop();
                continue;
            }
            let operands = self.operands(id);
            let before = stack.len();
            let missing = operands.iter().filter(|id| !self.measures.contains_key(id));
            stack.extend(missing);
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let mut measure = Measure {
                length: 8,
                ..Measure::default()
            };
            for (at, operand) in operands.iter().enumerate() {
                let of = self.measures[operand];
                let (length, depth) = if of.cut {
                    (4, 1)
                } else {
                    (of.length, of.depth)
                };
                measure.length = measure.length.saturating_add(length);
                measure.depth = measure.depth.max(depth + 1);
                measure.cuts |= of.cuts;
                measure.cut |= of.cuts && at > 0 && self.lazy(id);
            }
            let leaf = operands.is_empty();
            measure.cut |= !leaf && (measure.length > LONGEST || measure.depth > DEEPEST);
            measure.cuts |= measure.cut;
            self.measures.insert(id, measure);
        }
    }

    fn perform(&mut self, task: Task, tasks: &mut Vec<Task>) {
        match task {
            Task::Need(id) => self.need(id, tasks),
            Task::Name(id) => {
                let value = self.plain(id);
                let name = self.name();
                self.line(&self.dialect.define(&name, &value));
                self.learn(id, name);
            }
            Task::Set(name, id) => {
                let value = self.inline(id);
                self.line(&self.dialect.set(&name, &value));
            }
            Task::If(condition) => {
                let condition = self.inline(condition);
                self.line(&self.dialect.begin_if(&condition));
                self.branch();
            }
            Task::Unless(name, unless) => {
                let condition = Text::atom(name);
                let line = match unless {
                    true => self.dialect.begin_unless(&condition),
                    false => self.dialect.begin_if(&condition),
                };
                self.line(&line);
                self.branch();
            }
            Task::Else => {
                self.leave();
                self.line(&self.dialect.begin_else());
                self.branch();
            }
            Task::End => {
                self.leave();
                if let Some(end) = self.dialect.end() {
                    self.line(&end);
                }
            }
            Task::Known(id, name) => self.learn(id, name),
        }
    }

    fn branch(&mut self) {
        self.indent += 1;
        self.branches.push(Vec::new());
    }

    fn leave(&mut self) {
        self.indent -= 1;
        for id in self.branches.pop().unwrap_or_default() {
            self.known.remove(&id);
        }
    }

    fn learn(&mut self, id: ExprId, name: String) {
        if self.known.insert(id, name).is_none()
            && let Some(branch) = self.branches.last_mut()
        {
            branch.push(id);
        }
    }

    fn name(&mut self) -> String {
        self.count += 1;
        self.dialect.temporary(self.count)
    }

    fn need(&mut self, id: ExprId, tasks: &mut Vec<Task>) {
        let measure = self.measures[&id];
        if !measure.cuts || self.known.contains_key(&id) {
            return;
        }
        if measure.cut && self.lazy(id) {
            let name = self.name();
            if let Some(line) = self.dialect.declare(&name) {
                self.line(&line);
            }
            // The stack is in reverse order.
            tasks.push(Task::Known(id, name.clone()));
            tasks.push(Task::End);
            match self.flat.exprs.node(id) {
                Node::If(condition, a, b) => tasks.extend([
                    Task::Set(name.clone(), b),
                    Task::Need(b),
                    Task::Else,
                    Task::Set(name, a),
                    Task::Need(a),
                    Task::If(condition),
                    Task::Need(condition),
                ]),
                Node::Binary(op, a, b) => tasks.extend([
                    Task::Set(name.clone(), b),
                    Task::Need(b),
                    Task::Unless(name.clone(), op == BinaryOp::Or),
                    Task::Set(name, a),
                    Task::Need(a),
                ]),
                _ => {}
            }
            return;
        }
        if measure.cut {
            tasks.push(Task::Name(id));
        }
        let operands = self.operands(id);
        tasks.extend(operands.into_iter().rev().map(Task::Need));
    }

    /// The text: its name, if it has one.
    fn inline(&self, id: ExprId) -> Text {
        match self.known.get(&id) {
            Some(name) => Text::atom(name.clone()),
            None => self.plain(id),
        }
    }

    /// The text without its own name. Its parts may have names, so it is not deep.
    fn plain(&self, id: ExprId) -> Text {
        let exprs = &self.flat.exprs;
        let all = |ids: &[ExprId]| -> Vec<Text> { ids.iter().map(|&id| self.inline(id)).collect() };
        if self.dialect.kept(id).is_some() {
            return self.dialect.kept_text(id, &all(&self.operands(id)));
        }
        match exprs.node(id) {
            Node::Number(value) => self.dialect.number(value.0),
            Node::Bool(value) => self.dialect.truth(value),
            Node::Time => self.dialect.time(),
            Node::Leaf(leaf) => match self.gone.get(&leaf) {
                Some(&expression) => self.inline(expression),
                None => self.dialect.leaf(leaf),
            },
            Node::Unary(UnaryOp::Plus, a) => self.inline(a),
            Node::Unary(op, a) => self.dialect.unary(op, &self.inline(a)),
            Node::Binary(op, a, b) => self.dialect.binary(op, &self.inline(a), &self.inline(b)),
            Node::If(c, a, b) => {
                let (c, a, b) = (self.inline(c), self.inline(a), self.inline(b));
                self.dialect.choice(&c, &a, &b)
            }
            Node::Call(Function::Table, args) => {
                let list = exprs.args(args);
                let points = |id: ExprId| {
                    let mut points = Vec::new();
                    exprs.operands(id, &mut points);
                    all(&points)
                };
                (self.dialect).table(&self.inline(list[0]), &points(list[1]), &points(list[2]))
            }
            Node::Call(function, args) => self.dialect.call(function, &all(exprs.args(args))),
            // A list has no text of its own; its elements have.
            Node::List(_) => Text::atom(""),
        }
    }
}
