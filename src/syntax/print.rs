//! The syntax tree as text.
//!
//! Before: any tree that the parser makes. After: text that parses to the same tree
//! (property-tested); what could not be read is left out. Expressions and chains are written with
//! stacks of their own, so only blocks recurse, whose depth the layout pass limits.

use super::ast::*;
use crate::base::intern::Interner;
use crate::expr::op::precedence;
use crate::expr::print::{Form, Source, Style, write, write_leaf};
use crate::expr::{Args, ExprId, Node};

/// The file in its usual form: one statement to a line, two blanks of indentation in a block.
pub fn print(ast: &Ast, interner: &Interner) -> String {
    let mut printer = Printer {
        ast,
        interner,
        out: String::new(),
        depth: 0,
    };
    let mut last_include = true;
    for item in &ast.items {
        let include = matches!(item, Item::Include(_));
        if matches!(item, Item::Error) {
            continue;
        }
        // Includes are not separated by empty lines.
        if !(include && last_include || printer.out.is_empty()) {
            printer.out.push('\n');
        }
        last_include = include;
        match item {
            Item::Include(include) => printer.line(&["@", &include.name]),
            Item::Model(model) => printer.model(model),
            Item::Experiment(experiment) => printer.experiment(experiment),
            Item::Error => {}
        }
    }
    printer.out
}

pub(super) struct Printer<'a> {
    pub(super) ast: &'a Ast,
    interner: &'a Interner,
    pub(super) out: String,
    pub(super) depth: usize,
}

impl<'a> Printer<'a> {
    /// Begins a line.
    pub(super) fn begin(&mut self) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub(super) fn line(&mut self, parts: &[&str]) {
        self.begin();
        self.out.extend(parts.iter().copied());
        self.out.push('\n');
    }

    pub(super) fn doc(&mut self, doc: Option<&str>) {
        for line in doc.into_iter().flat_map(|doc| doc.split('\n')) {
            match line {
                "" => self.line(&["##"]),
                _ => self.line(&["## ", line]),
            }
        }
    }

    pub(super) fn text_of(&self, name: Name) -> &'a str {
        self.interner.name(name.symbol)
    }

    pub(super) fn name(&mut self, name: Name) {
        self.out.push_str(self.text_of(name));
    }

    pub(super) fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.text(", ");
            }
            write(self, item);
        }
    }

    fn formulas(&self) -> Formulas<'a> {
        Formulas {
            exprs: &self.ast.exprs,
            interner: self.interner,
        }
    }

    pub(super) fn expr(&mut self, id: ExprId) {
        write(&self.formulas(), id, Style::Plain, &mut self.out);
    }

    /// `[size]`, if there is one.
    pub(super) fn index(&mut self, index: Option<ExprId>) {
        if let Some(index) = index {
            self.text("[");
            self.expr(index);
            self.text("]");
        }
    }

    pub(super) fn reference(&mut self, reference: Reference) {
        write_leaf(&self.formulas(), reference, Style::Plain, &mut self.out);
    }

    fn model(&mut self, model: &Model) {
        self.doc(model.doc.as_deref());
        self.text(match model.kind {
            ModelKind::Type => "model type ",
            ModelKind::Class => "model class ",
            ModelKind::Model => "model ",
        });
        if !model.bases.is_empty() {
            self.text("(");
            self.list(&model.bases, |printer, &base| printer.name(base));
            self.text(") ");
        }
        self.name(model.name);
        self.text("\n");
        self.block(&model.body);
        self.end(model.end_name);
    }

    pub(super) fn end(&mut self, name: Option<Name>) {
        match name {
            Some(name) => self.line(&["end ", self.text_of(name)]),
            None => self.line(&["end"]),
        }
    }

    /// Series bind loosest, `reversed` tightest; both `-` and `//` group to the left.
    pub(super) fn chain(&mut self, root: ChainId) {
        enum Task {
            Chain(ChainId, u8),
            Text(&'static str),
        }
        const SERIES: u8 = 0;
        const PARALLEL: u8 = 1;
        const LINK: u8 = 2;
        let mut work = vec![Task::Chain(root, SERIES)];
        while let Some(item) = work.pop() {
            let (id, least) = match item {
                Task::Text(text) => {
                    self.text(text);
                    continue;
                }
                Task::Chain(id, least) => (id, least),
            };
            let chain = self.ast.chains.node(id);
            let strength = match chain {
                Chain::Series(..) => SERIES,
                Chain::Parallel(..) => PARALLEL,
                Chain::Point(_) | Chain::Reversed(_) => LINK,
            };
            if strength < least {
                self.text("(");
                work.push(Task::Text(")"));
            }
            match chain {
                Chain::Point(point) => self.reference(point),
                Chain::Reversed(a) => {
                    self.text("reversed ");
                    work.push(Task::Chain(a, LINK));
                }
                Chain::Series(a, b) => {
                    work.push(Task::Chain(b, PARALLEL));
                    work.push(Task::Text(" - "));
                    work.push(Task::Chain(a, SERIES));
                }
                Chain::Parallel(a, b) => {
                    work.push(Task::Chain(b, LINK));
                    work.push(Task::Text(" // "));
                    work.push(Task::Chain(a, PARALLEL));
                }
            }
        }
    }
}

/// The expressions of a file, with their names.
struct Formulas<'a> {
    exprs: &'a Exprs,
    interner: &'a Interner,
}

impl Source for Formulas<'_> {
    type Leaf = Reference;

    fn node(&self, id: ExprId) -> Node<Reference> {
        self.exprs.node(id)
    }

    fn args(&self, args: Args) -> &[ExprId] {
        self.exprs.args(args)
    }

    fn leaf(&self, reference: Reference, form: &mut Form<'_, u8>) {
        for (at, part) in self.exprs.parts(reference).iter().enumerate() {
            match (at, part.colon) {
                (0, _) => {}
                (_, false) => form.word("."),
                (_, true) => form.word(":"),
            }
            form.text(self.interner.name(part.name.symbol));
            if let Some(index) = part.index {
                form.word("[");
                form.at(index, precedence::IF);
                form.word("]");
            }
        }
    }
}
