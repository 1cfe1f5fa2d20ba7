//! Expressions as text of another language.
//!
//! Before: an expression of the flat model. After: text of a [`Dialect`], and statements before it where one line is
//! not enough: a part that is too long or nested too deeply gets a name (`t1`). Only what is needed is evaluated: a
//! part of a branch of an `if` gets its name inside that branch, so the program divides by zero only if the model does.

use std::convert::Infallible;

use rustc_hash::FxHashMap;

use crate::expr::op::precedence;
use crate::expr::print::{self, Form, Here, Infix, Prefix, Text};
use crate::expr::{Args, BinaryOp, ExprId, Function, Node, UnaryOp, fold};
use crate::flat::{Flat, Leaf};

/// How a language writes expressions and statements.
pub trait Dialect {
    /// A variable that is not eliminated.
    fn leaf(&self, leaf: Leaf) -> Text;
    fn number(&self, value: f64) -> Text;
    fn truth(&self, value: bool) -> &'static str;
    fn time(&self) -> &'static str;
    /// `-` or `not`; a plus sign is not written.
    fn prefix(&self, op: UnaryOp) -> Prefix;
    /// Every operator but the power.
    fn infix(&self, op: BinaryOp) -> Infix;
    /// The power, which is a function in these languages.
    fn power(&self, operands: [ExprId; 2], square: bool, form: &mut Form<'_, u8>);
    /// The condition, the value if it is true, and the value if it is false.
    fn choice(&self, parts: [ExprId; 3], form: &mut Form<'_, u8>);
    fn call(&self, function: Function, args: &[ExprId], form: &mut Form<'_, u8>);
    /// `table(x, xs, ys)`
    fn table(&self, x: ExprId, xs: &[ExprId], ys: &[ExprId], form: &mut Form<'_, u8>);
    /// A relation whose truth is kept between events is not written as an expression. The result says whether its
    /// operands occur in the text, and how strongly the text binds.
    fn kept(&self, id: ExprId) -> Option<Kept>;
    fn write_kept(&self, id: ExprId, form: &mut Form<'_, u8>);
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
    /// With the binding strength of the text.
    WithOperands(u8),
}

/// `x - n * y`, the value of `mod(x, y)` with the whole number that is kept of it.
pub fn write_rest([x, y]: [ExprId; 2], whole: &str, form: &mut Form<'_, u8>) {
    form.at(x, precedence::SUM);
    form.text(&format!(" - {whole} * "));
    form.at(y, precedence::SIGN);
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
    replacements: &'w FxHashMap<Leaf, ExprId>,
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
    pub fn new(flat: &'w Flat, replacements: &'w FxHashMap<Leaf, ExprId>, dialect: &'w D) -> Self {
        Writer {
            flat,
            replacements,
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
        match self.replacements.get(&leaf) {
            Some(&expression) => self.value(expression),
            None => self.dialect.leaf(leaf),
        }
    }

    fn operands(&self, id: ExprId, operands: &mut Vec<ExprId>) {
        match self.flat.exprs.node(id) {
            Node::Leaf(leaf) => operands.extend(self.replacements.get(&leaf)),
            _ if self.dialect.kept(id) == Some(Kept::Alone) => {}
            Node::Call(Function::Table, args) => {
                let list = self.flat.exprs.args(args);
                operands.push(list[0]);
                self.flat.exprs.operands(list[1], operands);
                self.flat.exprs.operands(list[2], operands);
            }
            _ => self.flat.exprs.operands(id, operands),
        }
    }

    /// Whether only some of the operands are evaluated.
    fn lazy(&self, id: ExprId) -> bool {
        matches!(
            self.flat.exprs.node(id),
            Node::If(..) | Node::Binary(BinaryOp::And | BinaryOp::Or, ..)
        ) && self.dialect.kept(id).is_none()
    }

    fn measure(&mut self, root: ExprId) {
        let mut measures = std::mem::take(&mut self.measures);
        let Ok::<(), Infallible>(()) = fold(
            root,
            &mut measures,
            |id, operands| self.operands(id, operands),
            |id, operands, measures| Ok(self.measured(id, operands, measures)),
        );
        self.measures = measures;
    }

    fn measured(
        &self,
        id: ExprId,
        operands: &[ExprId],
        measures: &FxHashMap<ExprId, Measure>,
    ) -> Measure {
        let mut measure = Measure {
            length: 8,
            ..Measure::default()
        };
        for (at, operand) in operands.iter().enumerate() {
            let of = measures[operand];
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
        measure
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
        let mut operands = Vec::new();
        self.operands(id, &mut operands);
        tasks.extend(operands.into_iter().rev().map(Task::Need));
    }

    /// The text: its name, if it has one.
    fn inline(&self, id: ExprId) -> Text {
        self.text(id, None)
    }

    /// The text without its own name. Its parts may have names, so it is not deep.
    fn plain(&self, id: ExprId) -> Text {
        self.text(id, Some(id))
    }

    fn text(&self, id: ExprId, unnamed: Option<ExprId>) -> Text {
        let inline = Inline {
            writer: self,
            unnamed,
        };
        let mut text = String::new();
        print::print(&inline, id, precedence::IF, &mut text);
        let shown = print::Dialect::follow(&inline, id);
        let node = self.flat.exprs.node(shown);
        let binds = print::Dialect::strength(&inline, shown, &node);
        Text { text, binds }
    }
}

/// The dialect with the values that are known: names of temporaries, and expressions of eliminated variables.
struct Inline<'i, 'w, D> {
    writer: &'i Writer<'w, D>,
    /// An expression that is written without its own name.
    unnamed: Option<ExprId>,
}

impl<D: Dialect> Inline<'_, '_, D> {
    fn name(&self, id: ExprId) -> Option<&str> {
        match self.unnamed == Some(id) {
            true => None,
            false => self.writer.known.get(&id).map(String::as_str),
        }
    }

    fn is_two(&self, id: ExprId) -> bool {
        let id = print::Dialect::follow(self, id);
        match print::Dialect::node(self, id) {
            Node::Number(value) => value.0 == 2.0,
            Node::Leaf(leaf) => self.writer.dialect.leaf(leaf).text == "2.0",
            _ => false,
        }
    }
}

impl<D: Dialect> print::Dialect for Inline<'_, '_, D> {
    type Leaf = Leaf;
    type Place = u8;

    fn node(&self, id: ExprId) -> Node<Leaf> {
        self.writer.flat.exprs.node(id)
    }

    fn args(&self, args: Args) -> &[ExprId] {
        self.writer.flat.exprs.args(args)
    }

    fn follow(&self, mut id: ExprId) -> ExprId {
        while self.name(id).is_none() {
            id = match self.node(id) {
                Node::Unary(UnaryOp::Plus, a) => a,
                Node::Leaf(leaf) => match self.writer.replacements.get(&leaf) {
                    Some(&expression) => expression,
                    None => return id,
                },
                _ => return id,
            };
        }
        id
    }

    fn strength(&self, id: ExprId, node: &Node<Leaf>) -> u8 {
        if self.name(id).is_some() {
            return precedence::ATOM;
        }
        let dialect = self.writer.dialect;
        match (dialect.kept(id), *node) {
            (Some(Kept::Alone), _) => precedence::ATOM,
            (Some(Kept::WithOperands(binds)), _) => binds,
            (_, Node::Number(value)) => dialect.number(value.0).binds,
            (_, Node::Leaf(leaf)) => dialect.leaf(leaf).binds,
            (_, Node::Unary(op, _)) => dialect.prefix(op).binds,
            (_, Node::Binary(BinaryOp::Pow, ..)) => precedence::ATOM,
            (_, Node::Binary(op, ..)) => dialect.infix(op).binds,
            (_, other) => print::precedence_of(&other),
        }
    }

    fn special(&self, id: ExprId, form: &mut Form<'_, u8>) -> bool {
        let kept = self.writer.dialect.kept(id).is_some();
        match self.name(id) {
            Some(name) => form.text(name),
            None if kept => self.writer.dialect.write_kept(id, form),
            None => return false,
        }
        true
    }

    fn number(&self, value: f64, _: Here<u8>, form: &mut Form<'_, u8>) {
        form.text(&self.writer.dialect.number(value).text);
    }

    fn truth(&self, value: bool) -> &'static str {
        self.writer.dialect.truth(value)
    }

    fn time(&self) -> &'static str {
        self.writer.dialect.time()
    }

    fn leaf(&self, leaf: Leaf, form: &mut Form<'_, u8>) {
        form.text(&self.writer.dialect.leaf(leaf).text);
    }

    fn unary(&self, _: Here<u8>, op: UnaryOp, a: ExprId, form: &mut Form<'_, u8>) {
        let prefix = self.writer.dialect.prefix(op);
        form.word(prefix.word);
        form.at(a, prefix.operand);
    }

    fn binary(&self, _: Here<u8>, op: BinaryOp, operands: [ExprId; 2], form: &mut Form<'_, u8>) {
        let dialect = self.writer.dialect;
        match op {
            BinaryOp::Pow => dialect.power(operands, self.is_two(operands[1]), form),
            _ => form.infix(dialect.infix(op), operands),
        }
    }

    fn choice(&self, _: Here<u8>, parts: [ExprId; 3], form: &mut Form<'_, u8>) {
        self.writer.dialect.choice(parts, form);
    }

    fn call(&self, _: Here<u8>, function: Function, args: &[ExprId], form: &mut Form<'_, u8>) {
        let dialect = self.writer.dialect;
        if function != Function::Table {
            return dialect.call(function, args, form);
        }
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        self.writer.flat.exprs.operands(args[1], &mut xs);
        self.writer.flat.exprs.operands(args[2], &mut ys);
        dialect.table(args[0], &xs, &ys, form);
    }

    /// A list has no text of its own; its elements have.
    fn list(&self, _: Here<u8>, _: &[ExprId], _: &mut Form<'_, u8>) {}
}
