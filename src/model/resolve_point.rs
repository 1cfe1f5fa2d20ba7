//! One name in a connection: which node, cut, terminal or path it is.

use super::class::*;
use super::resolve::{Mode, Resolver};
use crate::base::diagnostics::{Code as DiagnosticCode, Diagnostic};
use crate::base::source::Span;
use crate::expr::ExprId;
use crate::syntax::ast;

/// What a name stands for that names neither a cut nor a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The main path if there is one, else the main cut.
    Link,
    /// The main cut.
    Cut,
    /// The main path.
    Path,
}

impl Resolver<'_, '_> {
    fn index(&mut self, index: Option<ExprId>, class: &mut Class) -> Option<Template> {
        index.map(|index| {
            class.indexed_connections = true;
            self.template(index, Mode::Fixed("an index"))
        })
    }

    pub(super) fn point(
        &mut self,
        reference: ast::Reference,
        wanted: Wanted,
        class: &mut Class,
    ) -> Option<Point> {
        let parts = self.tree().exprs.parts(reference);
        let span = reference.span;
        let kind = match *parts {
            [name] => self.own_point(name, wanted, class)?,
            [submodel, inner] => self.inner_point(submodel, inner, wanted, class)?,
            _ => {
                self.diagnostics.push(
                    Diagnostic::new(
                        DiagnosticCode::UnknownCut,
                        "only cuts of the model itself and of its direct submodels can be connected",
                    )
                    .at(span, "reaches too deep")
                    .hint("give the submodel a cut of its own and connect that"),
                );
                return None;
            }
        };
        if wanted == Wanted::Path && !matches!(kind, PointKind::Path(..)) {
            let text = self.loaded.sources.text(span);
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::UnknownPath,
                    format!("`{text}` is a point and has no path"),
                )
                .at(span, "`from ... to` wants a path")
                .hint(format!(
                    "points are joined with `at`: `connect {text} at OTHER`"
                )),
            );
            return None;
        }
        if wanted == Wanted::Cut
            && let PointKind::Path(..) = kind
        {
            let text = self.loaded.sources.text(span);
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::PathForCut,
                    format!("`{text}` is a path, and a cut is wanted"),
                )
                .at(span, "a path has two ends")
                .hint(format!("connect the path: `connect {text} from a to b`")),
            );
            return None;
        }
        Some(Point { kind, span })
    }

    /// A name of the class itself.
    fn own_point(
        &mut self,
        part: ast::Part,
        wanted: Wanted,
        class: &mut Class,
    ) -> Option<PointKind> {
        let scope = self.class();
        let name = part.name;
        match scope.points.get(&name.symbol) {
            Some(&PointName::Node(slot)) => {
                self.same_indexing(part, scope.nodes[slot as usize].array)?;
                Some(PointKind::Node(slot, self.index(part.index, class)))
            }
            Some(&PointName::Cut(slot)) => {
                self.no_index_on_single(part, scope.cuts[slot as usize].array)?;
                Some(PointKind::Cut(
                    Owner::Own,
                    slot,
                    self.index(part.index, class),
                ))
            }
            Some(&PointName::Path(slot)) => {
                self.no_index_on_single(part, false)?;
                Some(PointKind::Path(Owner::Own, slot))
            }
            Some(&PointName::Submodel(slot)) => {
                let submodel = &scope.submodels[slot as usize];
                self.same_indexing(part, submodel.array)?;
                let inner = self.class_of(submodel.class?);
                let owner = Owner::Submodel(slot, self.index(part.index, class));
                self.main_of(owner, inner, name.span, wanted)
            }
            None => match scope.values.get(&name.symbol) {
                Some(&ValueName::Variable(slot))
                    if scope.variables[slot as usize].kind.is_terminal() =>
                {
                    self.same_indexing(part, scope.variables[slot as usize].array)?;
                    Some(PointKind::Terminal(
                        Owner::Own,
                        slot,
                        self.index(part.index, class),
                    ))
                }
                Some(_) => {
                    let text = self.text(name.symbol);
                    self.diagnostics.push(
                        Diagnostic::new(
                            DiagnosticCode::UnknownCut,
                            format!("`{text}` is a variable, not a cut or node"),
                        )
                        .at(name.span, "cannot be connected")
                        .hint("variables are related by equations; terminals can be connected"),
                    );
                    None
                }
                None => {
                    let known = self.known(scope.points.keys());
                    let wrong = self.loaded.interner.name(name.symbol);
                    let diagnostic = Diagnostic::new(
                        DiagnosticCode::UnknownCut,
                        format!("unknown cut, node or submodel `{}`", self.text(name.symbol)),
                    )
                    .at(name.span, "not declared")
                    .suggest(wrong, known);
                    self.diagnostics.push(diagnostic);
                    None
                }
            },
        }
    }

    /// `x:A`, `x:P`, `x:T`
    fn inner_point(
        &mut self,
        outer: ast::Part,
        part: ast::Part,
        wanted: Wanted,
        class: &mut Class,
    ) -> Option<PointKind> {
        let scope = self.class();
        let Some(&PointName::Submodel(slot)) = scope.points.get(&outer.name.symbol) else {
            let names: Vec<_> = scope.submodels.iter().map(|s| s.name).collect();
            let known = self.known(names.iter());
            let wrong = self.loaded.interner.name(outer.name.symbol);
            let diagnostic = Diagnostic::new(
                DiagnosticCode::UnknownCut,
                format!("unknown submodel `{}`", self.text(outer.name.symbol)),
            )
            .at(outer.name.span, "no submodel of this name")
            .suggest(wrong, known);
            self.diagnostics.push(diagnostic);
            return None;
        };
        let submodel = &scope.submodels[slot as usize];
        self.same_indexing(outer, submodel.array)?;
        let inner = self.class_of(submodel.class?);
        let owner = Owner::Submodel(slot, self.index(outer.index, class));
        match inner.points.get(&part.name.symbol) {
            Some(&PointName::Cut(cut)) => {
                self.no_index_on_single(part, inner.cuts[cut as usize].array)?;
                if wanted == Wanted::Path {
                    return self.unknown_path(inner, part.name);
                }
                Some(PointKind::Cut(owner, cut, self.index(part.index, class)))
            }
            Some(&PointName::Path(path)) => {
                self.no_index_on_single(part, false)?;
                Some(PointKind::Path(owner, path))
            }
            _ => match inner.values.get(&part.name.symbol) {
                Some(&ValueName::Variable(slot))
                    if inner.variables[slot as usize].kind.is_terminal() =>
                {
                    self.same_indexing(part, inner.variables[slot as usize].array)?;
                    let index = self.index(part.index, class);
                    Some(PointKind::Terminal(owner, slot, index))
                }
                Some(&ValueName::Variable(slot)) => {
                    let kind = inner.variables[slot as usize].kind;
                    self.diagnostics.push(
                        Diagnostic::new(
                            DiagnosticCode::UnknownCut,
                            format!(
                                "`{}` is {}, and only cuts and terminals can be connected",
                                self.text(part.name.symbol),
                                kind.words()
                            ),
                        )
                        .at(part.name.span, "not a cut"),
                    );
                    None
                }
                _ if wanted == Wanted::Path => self.unknown_path(inner, part.name),
                _ => {
                    let names: Vec<_> = inner
                        .cuts
                        .iter()
                        .map(|cut| cut.name)
                        .chain(inner.paths.iter().map(|path| path.name))
                        .chain(
                            inner
                                .variables
                                .iter()
                                .filter(|variable| variable.kind.is_terminal())
                                .map(|variable| variable.name),
                        )
                        .collect();
                    let known = self.known(names.iter());
                    let wrong = self.loaded.interner.name(part.name.symbol);
                    let diagnostic = Diagnostic::new(
                        DiagnosticCode::UnknownCut,
                        format!(
                            "`{}` has no cut `{}`",
                            self.text(inner.name),
                            self.text(part.name.symbol)
                        ),
                    )
                    .at(part.name.span, "unknown cut")
                    .suggest_or_list(wrong, "it has", &known);
                    self.diagnostics.push(diagnostic);
                    None
                }
            },
        }
    }

    fn unknown_path(&mut self, inner: &Class, name: ast::Name) -> Option<PointKind> {
        let names: Vec<_> = inner.paths.iter().map(|path| path.name).collect();
        let known = self.known(names.iter());
        let wrong = self.loaded.interner.name(name.symbol);
        let diagnostic = Diagnostic::new(
            DiagnosticCode::UnknownPath,
            format!(
                "`{}` has no path `{}`",
                self.text(inner.name),
                self.text(name.symbol)
            ),
        )
        .at(name.span, "`from ... to` wants a path")
        .suggest_or_list(wrong, "it has", &known);
        self.diagnostics.push(diagnostic);
        None
    }

    /// What a submodel by itself stands for.
    fn main_of(
        &mut self,
        owner: Owner,
        inner: &Class,
        span: Span,
        wanted: Wanted,
    ) -> Option<PointKind> {
        let path = inner.main_path.map(|path| PointKind::Path(owner, path));
        let cut = inner.main_cut.map(|cut| PointKind::Cut(owner, cut, None));
        let (found, what) = match wanted {
            Wanted::Link => (path.or(cut), "main path or main cut"),
            Wanted::Cut => (cut, "main cut"),
            Wanted::Path => (path, "main path"),
        };
        if found.is_some() {
            return found;
        }
        let names: Vec<_> = match wanted {
            Wanted::Path => inner.paths.iter().map(|path| path.name).collect(),
            _ => inner.cuts.iter().map(|cut| cut.name).collect(),
        };
        let known = self.known(names.iter());
        let text = self.loaded.sources.text(span);
        let mut diagnostic = Diagnostic::new(
            DiagnosticCode::NoMain,
            format!("`{text}` has no {what} to connect"),
        )
        .at(span, format!("its type is `{}`", self.text(inner.name)));
        diagnostic = match known.first() {
            Some(first) => diagnostic.hint(format!(
                "name one of {}: `{text}:{first}`",
                known.join(", ")
            )),
            None => diagnostic.hint(format!(
                "`{}` has no {}",
                self.text(inner.name),
                if wanted == Wanted::Path {
                    "paths"
                } else {
                    "cuts"
                }
            )),
        };
        self.diagnostics.push(diagnostic);
        None
    }

    fn same_indexing(&mut self, part: ast::Part, array: bool) -> Option<()> {
        if part.index.is_some() == array {
            return Some(());
        }
        self.index_use(part.name, array);
        None
    }

    /// A whole array of cuts is a bundle, so the index can be left out.
    fn no_index_on_single(&mut self, part: ast::Part, array: bool) -> Option<()> {
        if part.index.is_some() && !array {
            self.index_use(part.name, false);
            return None;
        }
        Some(())
    }
}
