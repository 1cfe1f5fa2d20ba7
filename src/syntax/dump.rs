//! The syntax tree as nested lists, fully bracketed and without places, to compare two trees and to
//! see the result of parsing.
//!
//! ```text (equation (ref x [1.0] .e) (Mul (ref R) (Minus (ref f)))) ```
//!
//! This file does not know how the language is written: [`super::print`] is tested against it.

use std::fmt::Write;

use super::ast::*;
use crate::base::intern::Interner;
use crate::expr::{ExprId, Node};

/// One statement to a line, blocks indented.
pub fn dump(ast: &Ast, interner: &Interner) -> String {
    let mut dumper = Dumper {
        ast,
        interner,
        out: String::new(),
        depth: 0,
    };
    for item in &ast.items {
        dumper.item(item);
    }
    dumper.out
}

pub(super) struct Dumper<'a> {
    ast: &'a Ast,
    interner: &'a Interner,
    pub(super) out: String,
    depth: usize,
}

/// An element that is still to be written.
enum Task {
    Expr(ExprId),
    Chain(ChainId),
    Reference(Reference),
    Name(Name),
    Text(&'static str),
}

impl Dumper<'_> {
    pub(super) fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Begins a line.
    pub(super) fn begin(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.text(text);
    }

    /// The lines of a block, and the bracket that ends it.
    pub(super) fn block<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.text("\n");
        self.depth += 1;
        for item in items {
            write(self, item);
        }
        self.depth -= 1;
        self.begin(")\n");
    }

    /// ` (head item item)`
    pub(super) fn list<T>(
        &mut self,
        head: &str,
        items: &[T],
        mut write: impl FnMut(&mut Self, &T),
    ) {
        self.text(" (");
        self.text(head);
        for item in items {
            write(self, item);
        }
        self.text(")");
    }

    pub(super) fn name(&mut self, name: Name) {
        self.text(" ");
        self.text(self.interner.name(name.symbol));
    }

    pub(super) fn names(&mut self, head: &str, names: impl IntoIterator<Item = Name>) {
        for name in names {
            self.text(" (");
            self.text(head);
            self.name(name);
            self.text(")");
        }
    }

    /// ` (head "text")`, if there is a text.
    pub(super) fn quoted(&mut self, head: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(" (");
            self.text(head);
            self.text(" ");
            // Debug escapes quotes and line ends.
            let _ = write!(self.out, "{text:?}");
            self.text(")");
        }
    }

    pub(super) fn remarks(&mut self, remarks: &Remarks) {
        self.quoted("unit", remarks.unit.as_deref());
        self.quoted("description", remarks.description.as_deref());
    }

    pub(super) fn expr(&mut self, id: ExprId) {
        self.text(" ");
        self.work(Task::Expr(id));
    }

    pub(super) fn size(&mut self, size: Option<ExprId>) {
        if let Some(size) = size {
            self.text(" [");
            self.work(Task::Expr(size));
            self.text("]");
        }
    }

    pub(super) fn reference(&mut self, reference: Reference) {
        self.text(" ");
        self.work(Task::Reference(reference));
    }

    pub(super) fn chain(&mut self, chain: ChainId) {
        self.text(" ");
        self.work(Task::Chain(chain));
    }

    /// Writes expressions and chains with an explicit stack.
    fn work(&mut self, root: Task) {
        let mut work = vec![root];
        while let Some(item) = work.pop() {
            let from = work.len();
            match item {
                Task::Text(text) => self.text(text),
                Task::Name(name) => self.text(self.interner.name(name.symbol)),
                Task::Expr(id) => self.node(id, &mut work),
                Task::Reference(reference) => {
                    self.text("(ref");
                    for (at, part) in self.ast.exprs.parts(reference).iter().enumerate() {
                        work.push(Task::Text(match (at, part.colon) {
                            (0, false) => " ",
                            (_, false) => " .",
                            (_, true) => " :",
                        }));
                        work.push(Task::Name(part.name));
                        if let Some(index) = part.index {
                            work.extend([Task::Text(" ["), Task::Expr(index), Task::Text("]")]);
                        }
                    }
                    work.push(Task::Text(")"));
                }
                Task::Chain(id) => match self.ast.chains.node(id) {
                    Chain::Point(point) => work.push(Task::Reference(point)),
                    Chain::Reversed(a) => bracketed("(reversed", [Task::Chain(a)], &mut work),
                    Chain::Series(a, b) => {
                        bracketed("(series", [Task::Chain(a), Task::Chain(b)], &mut work);
                    }
                    Chain::Parallel(a, b) => {
                        bracketed("(parallel", [Task::Chain(a), Task::Chain(b)], &mut work);
                    }
                },
            }
            // They were added in the order of writing, and a stack needs the reverse.
            work[from..].reverse();
        }
    }

    fn node(&mut self, id: ExprId, work: &mut Vec<Task>) {
        let exprs = &self.ast.exprs;
        match exprs.node(id) {
            Node::Number(value) => {
                let _ = write!(self.out, "{:?}", value.0);
            }
            Node::Bool(value) => self.text(if value { "true" } else { "false" }),
            Node::Time => self.text("Time"),
            Node::Leaf(reference) => work.push(Task::Reference(reference)),
            Node::Unary(op, a) => {
                let _ = write!(self.out, "({op:?}");
                bracketed("", [Task::Expr(a)], work);
            }
            Node::Binary(op, a, b) => {
                let _ = write!(self.out, "({op:?}");
                bracketed("", [Task::Expr(a), Task::Expr(b)], work);
            }
            Node::If(condition, then, otherwise) => {
                let parts = [condition, then, otherwise].map(Task::Expr);
                bracketed("(If", parts, work);
            }
            Node::Call(function, args) => {
                let _ = write!(self.out, "(call {function:?}");
                bracketed("", exprs.args(args).iter().copied().map(Task::Expr), work);
            }
            Node::List(args) => {
                bracketed(
                    "(list",
                    exprs.args(args).iter().copied().map(Task::Expr),
                    work,
                );
            }
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Include(include) => {
                self.begin("(include");
                self.quoted("name", Some(&include.name));
                self.text(")\n");
            }
            Item::Model(model) => {
                self.begin("(model");
                let _ = write!(self.out, " {:?}", model.kind);
                self.name(model.name);
                self.names("base", model.bases.iter().copied());
                self.names("end", model.end_name);
                self.quoted("doc", model.doc.as_deref());
                self.block(&model.body, Self::statement);
            }
            Item::Experiment(experiment) => {
                self.begin(match experiment.classic {
                    true => "(cmodel",
                    false => "(experiment",
                });
                self.names("name", experiment.name);
                self.names("model", experiment.model);
                self.names("end", experiment.end_name);
                self.block(&experiment.body, Self::experiment_statement);
            }
            Item::Error => self.begin("(error)\n"),
        }
    }
}

/// ` operand operand)` behind a head.
fn bracketed(head: &'static str, operands: impl IntoIterator<Item = Task>, work: &mut Vec<Task>) {
    work.push(Task::Text(head));
    for operand in operands {
        work.push(Task::Text(" "));
        work.push(operand);
    }
    work.push(Task::Text(")"));
}
