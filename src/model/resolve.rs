//! Resolves the names in expressions to slots.
//!
//! Before: the declarations of all classes, expressions in the trees. After: templates in the code
//! of each class. A template is copied node by node from the tree, in its order, so that operands
//! stay before the nodes that use them.

use super::class::*;
use super::declare::Declared;
use crate::base::diagnostics::{Code as DiagnosticCode, Diagnostic, Diagnostics};
use crate::base::intern::Symbol;
use crate::base::source::FileId;
use crate::expr::{Args, ExprId, Node};
use crate::syntax::ast;
use crate::syntax::load::Loaded;
use crate::syntax::shorten;

/// What an expression is allowed to refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Everything.
    Equation,
    /// Parameters, constants and `for` variables. The text names what is being defined.
    Fixed(&'static str),
}

pub struct Resolver<'l, 'd> {
    pub loaded: &'l Loaded,
    pub classes: &'d [Declared<'l>],
    pub diagnostics: &'d mut Diagnostics,
    /// The class being resolved, and the code that it gets.
    pub id: ClassId,
    pub code: Code,
    pub file: FileId,
    /// Variables of the open `for`s, outermost first.
    pub loops: Vec<Symbol>,
}

impl<'l, 'd> Resolver<'l, 'd> {
    pub fn class(&self) -> &'d Class {
        &self.classes[self.id.0 as usize].class
    }

    pub fn class_of(&self, id: ClassId) -> &'d Class {
        &self.classes[id.0 as usize].class
    }

    pub fn tree(&self) -> &'l ast::Ast {
        self.loaded.tree(self.file)
    }

    /// Names to suggest from, in alphabetical order, so that nothing depends on hash order. After
    /// many errors the list is empty, because comparing with all names takes time.
    pub fn known<'s>(&self, symbols: impl Iterator<Item = &'s Symbol>) -> Vec<&'l str> {
        const ENOUGH: usize = 50;
        if self.diagnostics.errors() >= ENOUGH {
            return Vec::new();
        }
        let mut names: Vec<&str> = symbols
            .map(|&symbol| self.loaded.interner.name(symbol))
            .collect();
        names.sort_unstable();
        names
    }

    pub fn text(&self, symbol: Symbol) -> String {
        shorten(self.loaded.interner.name(symbol))
    }

    /// Resolves an expression with a single value.
    pub fn template(&mut self, expr: ExprId, mode: Mode) -> Template {
        let template = self.list_template(expr, mode);
        self.check_list_places(template, None);
        template
    }

    /// The value of an array: a list, or one value for all.
    pub fn array_template(&mut self, expr: ExprId, mode: Mode) -> Template {
        let template = self.list_template(expr, mode);
        self.check_list_places(template, Some(template.root));
        template
    }

    fn list_template(&mut self, expr: ExprId, mode: Mode) -> Template {
        let first = self.tree().exprs.firsts[expr.index()];
        let begin = self.code.nodes.len() as u32;
        let offset = self.copy(first, expr.0, mode);
        Template {
            first: begin,
            root: shift(expr, offset),
        }
    }

    /// Both sides of an equation in one run of nodes.
    pub fn equation(&mut self, left: ExprId, right: ExprId) -> (u32, ExprId, ExprId) {
        let first = self.tree().exprs.firsts[left.index()];
        let begin = self.code.nodes.len() as u32;
        let offset = self.copy(first, right.0, Mode::Equation);
        let (left, right) = (shift(left, offset), shift(right, offset));
        let whole = Template {
            first: begin,
            root: right,
        };
        self.check_list_places(whole, None);
        (begin, left, right)
    }

    /// Copies the nodes `first..=last` of the tree; returns what to add to their ids.
    fn copy(&mut self, first: u32, last: u32, mode: Mode) -> i64 {
        let tree = self.tree();
        let begin = self.code.nodes.len();
        let offset = begin as i64 - i64::from(first);
        for at in first..=last {
            let id = ExprId(at);
            let span = tree.exprs.span(id);
            let node = match tree.exprs.node(id) {
                Node::Number(value) => Node::Number(value),
                Node::Bool(value) => Node::Bool(value),
                Node::Time => {
                    self.check_time(span, mode);
                    Node::Time
                }
                Node::Leaf(reference) => Node::Leaf(self.reference(reference, offset, mode)),
                Node::Unary(op, a) => Node::Unary(op, shift(a, offset)),
                Node::Binary(op, a, b) => Node::Binary(op, shift(a, offset), shift(b, offset)),
                Node::If(a, b, c) => Node::If(shift(a, offset), shift(b, offset), shift(c, offset)),
                Node::Call(function, args) => {
                    let args = self.copy_args(args, offset);
                    self.check_call(function, args, span, mode);
                    Node::Call(function, args)
                }
                Node::List(args) => Node::List(self.copy_args(args, offset)),
            };
            self.code.nodes.push(node);
            self.code.spans.push(span);
            self.code.numeric.push(false);
            let begin = shift(ExprId(tree.exprs.firsts[at as usize]), offset);
            self.code.firsts.push(begin.0);
        }
        // Indices are numbers; mark their nodes now that all are there.
        // From the root down, so that an index inside an index is covered already.
        for at in (first..=last).rev() {
            let id = ExprId(at);
            if self.code.numeric[shift(id, offset).index()] {
                continue;
            }
            if let Node::Leaf(reference) = tree.exprs.node(id) {
                for index in tree.exprs.parts(reference).iter().filter_map(|p| p.index) {
                    let begin = shift(ExprId(tree.exprs.firsts[index.index()]), offset);
                    let end = shift(index, offset);
                    self.code.numeric[begin.index()..=end.index()].fill(true);
                    self.check_fixed(begin, end, "an index");
                }
            }
        }
        offset
    }

    /// A name by itself, as a template.
    pub fn leaf(&mut self, reference: ast::Reference) -> Template {
        let tree = self.tree();
        let begin = self.code.nodes.len() as u32;
        let mut indices = Vec::new();
        for part in tree.exprs.parts(reference) {
            indices.push(part.index.map(|index| {
                let template = self.template(index, Mode::Fixed("an index"));
                self.code.numeric[template.first as usize..=template.root.index()].fill(true);
                template.root
            }));
        }
        let slot = self.reference_with(reference, &indices, Mode::Equation);
        self.code.nodes.push(Node::Leaf(slot));
        self.code.spans.push(reference.span);
        self.code.numeric.push(false);
        self.code.firsts.push(begin);
        Template {
            first: begin,
            root: ExprId(self.code.nodes.len() as u32 - 1),
        }
    }

    fn copy_args(&mut self, args: Args, offset: i64) -> Args {
        let first = self.code.args.len() as u32;
        let tree = self.tree();
        let operands = tree.exprs.args(args).iter().map(|&arg| shift(arg, offset));
        self.code.args.extend(operands);
        Args {
            first,
            len: args.len,
        }
    }

    /// Resolves a name; adding `offset` to an id of the tree gives the id in the code.
    fn reference(&mut self, reference: ast::Reference, offset: i64, mode: Mode) -> Slot {
        let parts = self.tree().exprs.parts(reference);
        let indices: Vec<Option<ExprId>> = parts
            .iter()
            .map(|part| part.index.map(|index| shift(index, offset)))
            .collect();
        self.reference_with(reference, &indices, mode)
    }

    /// Resolves a name whose indices are in the code already, one for each part.
    fn reference_with(
        &mut self,
        reference: ast::Reference,
        indices: &[Option<ExprId>],
        mode: Mode,
    ) -> Slot {
        let parts = self.tree().exprs.parts(reference);
        let [first, rest @ ..] = parts else {
            return Slot::Unknown;
        };
        if rest.is_empty()
            && let Some(level) = self
                .loops
                .iter()
                .rposition(|&name| name == first.name.symbol)
        {
            if first.index.is_some() {
                self.index_use(first.name, false);
            }
            return Slot::Loop(level as u32);
        }
        let Some((steps, slot, _)) = self.walk(self.id, parts) else {
            return Slot::Unknown;
        };
        let owner = steps.last().map_or(self.id, |&(_, class, _)| class);
        let variable = &self.class_of(owner).variables[slot as usize];
        if let Mode::Fixed(what) = mode
            && !variable.kind.is_fixed()
        {
            self.depends_on_variable(what, reference.span, variable.kind);
        }
        let index = indices.last().copied().flatten();
        if steps.is_empty() {
            return Slot::Own { slot, index };
        }
        let deep = DeepRef {
            steps: steps
                .iter()
                .zip(indices)
                .map(|(&(slot, ..), &index)| (slot, index))
                .collect(),
            slot,
            index,
        };
        self.code.deep.push(deep);
        Slot::Deep(self.code.deep.len() as u32 - 1)
    }

    /// Follows the parts of a name from a class inwards to a variable. Each step returns the
    /// submodel's slot, its class and its index.
    #[allow(clippy::type_complexity)]
    pub fn walk(
        &mut self,
        from: ClassId,
        parts: &[ast::Part],
    ) -> Option<(Vec<(u32, ClassId, Option<ExprId>)>, u32, Option<ExprId>)> {
        let mut steps = Vec::new();
        let mut class_id = from;
        let (last, way) = parts.split_last()?;
        for part in way {
            let class = self.class_of(class_id);
            match class.values.get(&part.name.symbol) {
                Some(&ValueName::Submodel(slot)) => {
                    let submodel = &class.submodels[slot as usize];
                    self.check_index(part, submodel.array)?;
                    class_id = submodel.class?;
                    steps.push((slot, class_id, part.index));
                }
                Some(&ValueName::Variable(_)) => {
                    let text = self.text(part.name.symbol);
                    self.diagnostics.push(
                        Diagnostic::new(
                            DiagnosticCode::NotAVariable,
                            format!("`{text}` is a variable, not a submodel"),
                        )
                        .at(part.name.span, "has nothing inside that a dot could reach"),
                    );
                    return None;
                }
                None => {
                    self.unknown_variable(class_id, part.name, "submodel");
                    return None;
                }
            }
        }
        let class = self.class_of(class_id);
        match class.values.get(&last.name.symbol) {
            Some(&ValueName::Variable(slot)) => {
                self.check_index(last, class.variables[slot as usize].array)?;
                Some((steps, slot, last.index))
            }
            Some(&ValueName::Submodel(_)) => {
                let text = self.text(last.name.symbol);
                self.diagnostics.push(
                    Diagnostic::new(
                        DiagnosticCode::NotAVariable,
                        format!("`{text}` is a submodel, not a variable"),
                    )
                    .at(last.name.span, "a variable is wanted here")
                    .hint(format!("name a variable inside it: `{text}.NAME`")),
                );
                None
            }
            None => {
                self.unknown_variable(class_id, last.name, "variable");
                None
            }
        }
    }

    fn check_index(&mut self, part: &ast::Part, array: bool) -> Option<()> {
        if part.index.is_some() == array {
            return Some(());
        }
        self.index_use(part.name, array);
        None
    }

    /// The declaration that a leaf refers to.
    pub fn kind_of(&self, slot: Slot) -> Option<VariableKind> {
        match slot {
            Slot::Own { slot, .. } => Some(self.class().variables[slot as usize].kind),
            Slot::Deep(deep) => {
                let deep = &self.code.deep[deep as usize];
                let mut class = self.class();
                for &(step, _) in &deep.steps {
                    class = self.class_of(class.submodels[step as usize].class?);
                }
                Some(class.variables[deep.slot as usize].kind)
            }
            Slot::Loop(_) | Slot::Unknown => None,
        }
    }
}

fn shift(id: ExprId, offset: i64) -> ExprId {
    ExprId((i64::from(id.0) + offset) as u32)
}
