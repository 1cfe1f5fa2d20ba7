//! The declarations of a class: its own and those of its bases, in one place.
//!
//! Before: the types with the list of parts each is made of. After: a [`Class`] whose names are
//! known and unique, with the expressions of its declarations still in the tree; they are resolved
//! once the names of all classes are known ([`super::resolve`]).

use super::class::*;
use super::types::Types;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::intern::Symbol;
use crate::base::source::{FileId, Span};
use crate::expr::{ExprId, Node};
use crate::syntax::ast::{self, StatementKind, VariableClass};
use crate::syntax::load::Loaded;
use crate::syntax::shorten;

/// An expression of a declaration that waits to be resolved.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub place: Place,
    pub file: FileId,
    pub expr: ExprId,
}

#[derive(Clone, Copy, Debug)]
pub enum Place {
    VariableSize(u32),
    VariableValue(u32),
    SubmodelSize(u32),
    CutSize(u32),
    NodeSize(u32),
}

/// A class whose expressions are still to be resolved.
#[derive(Debug)]
pub struct Declared<'l> {
    pub class: Class,
    pub pending: Vec<Pending>,
    /// The tree of each cut, path and submodel, in the order of the class.
    pub cuts: Vec<(FileId, &'l ast::Cut)>,
    pub paths: Vec<(FileId, &'l ast::Path)>,
    pub submodels: Vec<(FileId, &'l ast::Submodel)>,
}

pub(super) struct Declarer<'l, 'd> {
    pub(super) loaded: &'l Loaded,
    pub(super) types: &'d Types,
    pub(super) diagnostics: &'d mut Diagnostics,
    pub(super) declared: Declared<'l>,
    /// The type whose statements are being read, and its file.
    pub(super) part: ClassId,
    pub(super) file: FileId,
    pub(super) main_cut: Option<Span>,
    pub(super) main_path: Option<Span>,
}

/// Collects the declarations of the type `id` and its bases.
pub fn declare<'l>(
    loaded: &'l Loaded,
    types: &Types,
    id: ClassId,
    diagnostics: &mut Diagnostics,
) -> Declared<'l> {
    let def = types.def(id);
    let mut declarer = Declarer {
        loaded,
        types,
        diagnostics,
        declared: Declared {
            class: Class::new(def.name.symbol, def.name.span),
            pending: Vec::new(),
            cuts: Vec::new(),
            paths: Vec::new(),
            submodels: Vec::new(),
        },
        part: id,
        file: def.file,
        main_cut: None,
        main_path: None,
    };
    for &part in &def.parts {
        declarer.part = part;
        declarer.file = types.def(part).file;
        for statement in &types.model(loaded, part).body {
            declarer.statement(statement);
        }
    }
    for &part in &def.parts {
        declarer.part = part;
        declarer.file = types.def(part).file;
        for statement in &types.model(loaded, part).body {
            declarer.implicit_local(statement);
        }
    }
    declarer.choose_mains();
    declarer.declared
}

impl<'l> Declarer<'l, '_> {
    pub(super) fn name(&self, symbol: Symbol) -> String {
        shorten(self.loaded.interner.name(symbol))
    }

    pub(super) fn class(&mut self) -> &mut Class {
        &mut self.declared.class
    }

    pub(super) fn pend(&mut self, place: Place, expr: Option<ExprId>) {
        if let Some(expr) = expr {
            self.declared.pending.push(Pending {
                place,
                file: self.file,
                expr,
            });
        }
    }

    fn statement(&mut self, statement: &'l ast::Statement) {
        let doc = &statement.doc;
        match &statement.kind {
            StatementKind::Cuts { main, cuts } => {
                for cut in cuts {
                    self.cut(cut, *main, doc);
                }
            }
            StatementKind::Paths { main, paths } => {
                for path in paths {
                    self.path(path, *main);
                }
            }
            StatementKind::Variables { class, variables } => {
                for variable in variables {
                    self.variable(*class, variable, doc);
                }
            }
            StatementKind::Nodes { junction1, nodes } => {
                for node in nodes {
                    let slot = self.class().nodes.len() as u32;
                    if self.add_point(node.name, PointName::Node(slot)) {
                        self.class().nodes.push(NodeDecl {
                            name: node.name.symbol,
                            span: node.name.span,
                            array: node.size.is_some(),
                            size: None,
                            junction1: *junction1,
                        });
                        self.pend(Place::NodeSize(slot), node.size);
                    }
                }
            }
            StatementKind::Submodels { class, submodels } => {
                for submodel in submodels {
                    self.submodel(*class, submodel);
                }
            }
            _ => {}
        }
    }

    /// Enters a name of the connections; false if it is taken.
    pub(super) fn add_point(&mut self, name: ast::Name, entity: PointName) -> bool {
        if let Some(&earlier) = self.declared.class.points.get(&name.symbol) {
            let span = self.point_span(earlier);
            self.duplicate(name, span);
            return false;
        }
        self.class().points.insert(name.symbol, entity);
        true
    }

    fn point_span(&self, name: PointName) -> Span {
        let class = &self.declared.class;
        match name {
            PointName::Cut(slot) => class.cuts[slot as usize].span,
            PointName::Path(slot) => class.paths[slot as usize].span,
            PointName::Node(slot) => class.nodes[slot as usize].span,
            PointName::Submodel(slot) => class.submodels[slot as usize].span,
        }
    }

    pub(super) fn value_span(&self, name: ValueName) -> Span {
        let class = &self.declared.class;
        match name {
            ValueName::Variable(slot) => class.variables[slot as usize].span,
            ValueName::Submodel(slot) => class.submodels[slot as usize].span,
        }
    }

    /// A name that was declared before, here or in a base.
    pub(super) fn duplicate(&mut self, name: ast::Name, earlier: Span) {
        let text = self.name(name.symbol);
        // Another part of the class is a base, or a base's sister.
        let own = self.types.model(self.loaded, self.part).span;
        let here = holds(own, earlier);
        let mut inherited = self.types.def(self.part).parts.iter();
        let diagnostic = if here {
            Diagnostic::new(
                Code::DuplicateName,
                format!("the name `{text}` is declared twice"),
            )
            .at(name.span, "declared again here")
            .at(earlier, "first here")
        } else if inherited.any(|&part| holds(self.types.model(self.loaded, part).span, earlier)) {
            Diagnostic::new(
                Code::InheritedTwice,
                format!("the name `{text}` is inherited and declared again"),
            )
            .at(name.span, "declared again here")
            .at(earlier, "inherited from here")
            .hint("only the default of a parameter may be changed: `parameter NAME = value`")
        } else {
            let heir = self.declared.class.span;
            Diagnostic::new(
                Code::InheritedTwice,
                format!("the name `{text}` is declared by two bases"),
            )
            .at(heir, "inherits both")
            .at(earlier, "declared here")
            .at(name.span, "and here")
            .hint("put what the bases share into a base of their own: a base reached twice counts once")
        };
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn add_variable(
        &mut self,
        name: ast::Name,
        kind: VariableKind,
        array: bool,
        remarks: &ast::Remarks,
        doc: &Option<String>,
    ) -> u32 {
        let declared_in = self.part;
        let class = self.class();
        let slot = class.variables.len() as u32;
        class.values.insert(name.symbol, ValueName::Variable(slot));
        class.has_arrays |= array;
        class.variables.push(VariableDecl {
            name: name.symbol,
            span: name.span,
            kind,
            implicit: false,
            array,
            size: None,
            value: None,
            remarks: remarks.clone(),
            doc: doc.clone(),
            declared_in,
        });
        slot
    }

    fn variable(
        &mut self,
        class: VariableClass,
        variable: &'l ast::Variable,
        doc: &Option<String>,
    ) {
        let name = variable.name;
        if let Some(&earlier) = self.declared.class.values.get(&name.symbol) {
            if let ValueName::Variable(slot) = earlier
                && self.changes_default(class, variable, slot)
            {
                return;
            }
            let span = self.value_span(earlier);
            self.duplicate(name, span);
            return;
        }
        let kind = match class {
            VariableClass::Terminal => VariableKind::Terminal,
            VariableClass::Local => VariableKind::Local,
            VariableClass::Parameter => VariableKind::Parameter,
            VariableClass::Constant => VariableKind::Constant,
            VariableClass::Input => VariableKind::Input,
            VariableClass::Output => VariableKind::Output,
        };
        let slot = self.add_variable(name, kind, variable.size.is_some(), &variable.remarks, doc);
        self.pend(Place::VariableSize(slot), variable.size);
        let unwanted = matches!(kind, VariableKind::Local | VariableKind::Output);
        if let (true, Some(value)) = (unwanted, variable.value) {
            let tree = self.loaded.tree(self.file);
            let text = self.name(name.symbol);
            self.diagnostics.push(
                Diagnostic::new(
                    Code::UnwantedValue,
                    format!("{} takes no value", kind.words()),
                )
                .at(tree.exprs.span(value), format!("given to `{text}`"))
                .hint(format!(
                    "write an equation `{text} = ...`, or `init({text}) = ...` for its start"
                )),
            );
            return;
        }
        self.pend(Place::VariableValue(slot), variable.value);
    }

    /// `parameter R = 5` for an inherited parameter.
    fn changes_default(
        &mut self,
        class: VariableClass,
        variable: &'l ast::Variable,
        slot: u32,
    ) -> bool {
        let earlier = &self.declared.class.variables[slot as usize];
        let inherited = earlier.declared_in != self.part
            && self
                .types
                .def(self.part)
                .parts
                .contains(&earlier.declared_in);
        let both = class == VariableClass::Parameter && earlier.kind == VariableKind::Parameter;
        if !(inherited && both && variable.size.is_none()) {
            return false;
        }
        let Some(value) = variable.value else {
            return false;
        };
        let decl = &mut self.declared.class.variables[slot as usize];
        if variable.remarks.unit.is_some() {
            decl.remarks.unit.clone_from(&variable.remarks.unit);
        }
        if variable.remarks.description.is_some() {
            decl.remarks
                .description
                .clone_from(&variable.remarks.description);
        }
        self.declared.pending.retain(
            |pending| !matches!(pending.place, Place::VariableValue(other) if other == slot),
        );
        self.pend(Place::VariableValue(slot), Some(value));
        true
    }

    fn submodel(&mut self, class: Option<ast::Name>, submodel: &'l ast::Submodel) {
        let name = submodel.name;
        let slot = self.class().submodels.len() as u32;
        if let Some(&earlier) = self.declared.class.values.get(&name.symbol) {
            let span = self.value_span(earlier);
            self.duplicate(name, span);
            return;
        }
        if !self.add_point(name, PointName::Submodel(slot)) {
            return;
        }
        self.class()
            .values
            .insert(name.symbol, ValueName::Submodel(slot));
        let type_name = class.unwrap_or(name);
        let found = self.types.lookup(self.loaded, self.file, type_name.symbol);
        if found.is_none() {
            let diagnostic = self.types.unknown(self.loaded, type_name);
            self.diagnostics.push(diagnostic);
        }
        self.class().has_arrays |= submodel.size.is_some();
        self.class().submodels.push(SubmodelDecl {
            name: name.symbol,
            span: name.span,
            class: found,
            array: submodel.size.is_some(),
            size: None,
            settings: Vec::new(),
            initial: Vec::new(),
        });
        self.declared.submodels.push((self.file, submodel));
        self.pend(Place::SubmodelSize(slot), submodel.size);
    }

    /// A name alone on the left of a plain equation that nothing declares: the papers need it.
    fn implicit_local(&mut self, statement: &ast::Statement) {
        let StatementKind::Equation { left, .. } = statement.kind else {
            return;
        };
        let tree = self.loaded.tree(self.file);
        let Node::Leaf(reference) = tree.exprs.node(left) else {
            return;
        };
        let &[part] = tree.exprs.parts(reference) else {
            return;
        };
        if part.index.is_some() || self.declared.class.values.contains_key(&part.name.symbol) {
            return;
        }
        let text = self.name(part.name.symbol);
        self.diagnostics.push(
            Diagnostic::new(
                Code::ImplicitLocal,
                format!("`{text}` is not declared and is taken as `local`"),
            )
            .at(part.name.span, "first used here")
            .hint(format!("declare it: `local {text}`")),
        );
        let remarks = ast::Remarks::default();
        let slot = self.add_variable(part.name, VariableKind::Local, false, &remarks, &None);
        self.class().variables[slot as usize].implicit = true;
    }
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}
