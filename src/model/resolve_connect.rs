//! Names in connections become points: nodes, cuts, terminals, paths.

use super::class::*;
use super::resolve::{Mode, Resolver, sorted_names};
use crate::diagnostics::{Code as DiagnosticCode, Diagnostic};
use crate::expr::ExprId;
use crate::source::Span;
use crate::syntax::ast::{self, ConnectionKind, StatementKind};

/// What a name without a cut or path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// The main path, else the main cut.
    Link,
    /// The main cut.
    Cut,
    /// The main path.
    Path,
}

impl Resolver<'_, '_> {
    /// The connections among the statements, those inside `for` included.
    pub fn connections(&mut self, body: &[ast::Statement], class: &mut Class) -> Vec<Connection> {
        let mut connections = Vec::new();
        for statement in body {
            match &statement.kind {
                StatementKind::Connect(items) => {
                    for item in items {
                        connections.extend(self.connection(item, class));
                    }
                }
                StatementKind::For {
                    variable,
                    from,
                    to,
                    body,
                } if has_connections(body) => {
                    let (from, to) = self.bounds(*from, *to);
                    class.indexed_connections = true;
                    self.loops.push(variable.symbol);
                    let body = self.connections(body, class);
                    self.loops.pop();
                    connections.push(Connection::For(Box::new(For { from, to, body })));
                }
                _ => {}
            }
        }
        connections
    }

    fn connection(&mut self, item: &ast::Connection, class: &mut Class) -> Option<Connection> {
        let span = item.span;
        match item.kind {
            ConnectionKind::Chain(chain) | ConnectionKind::Loop(chain) => {
                let chain = self.chain(chain, Wanted::Link, class)?;
                let closed = matches!(item.kind, ConnectionKind::Loop(_));
                if let ([Chain::Point(only)], false) = (&chain[..], closed) {
                    self.diagnostics.push(
                        Diagnostic::new(
                            DiagnosticCode::ConnectedToItself,
                            "a connection needs at least two ends",
                        )
                        .at(only.span, "connected to nothing")
                        .hint("write `connect X at n`, `connect X from a to b` or a chain `X - Y`"),
                    );
                    return None;
                }
                Some(Connection::Chain {
                    chain,
                    closed,
                    span,
                })
            }
            ConnectionKind::At(chain, point) => {
                let ast::Chain::Point(what) = self.tree().chains.node(chain) else {
                    let place = self.tree().chains.spans[chain.0 as usize];
                    self.diagnostics.push(
                        Diagnostic::new(
                            DiagnosticCode::PathForCut,
                            "`at` connects a cut, not a chain",
                        )
                        .at(place, "this is a chain")
                        .hint("a chain runs between two points: `connect X - Y from a to b`"),
                    );
                    return None;
                };
                let what = self.point(what, Wanted::Cut, class);
                let point = self.point(point, Wanted::Cut, class)?;
                Some(Connection::At {
                    what: what?,
                    point,
                    span,
                })
            }
            ConnectionKind::FromTo(chain, from, to) => {
                let wanted = match self.tree().chains.node(chain) {
                    ast::Chain::Point(_) => Wanted::Path,
                    _ => Wanted::Link,
                };
                let chain = self.chain(chain, wanted, class);
                let from = self.point(from, Wanted::Cut, class);
                let to = self.point(to, Wanted::Cut, class)?;
                Some(Connection::FromTo {
                    chain: chain?,
                    from: from?,
                    to,
                    span,
                })
            }
        }
    }

    fn chain(
        &mut self,
        chain: ast::ChainId,
        wanted: Wanted,
        class: &mut Class,
    ) -> Option<Vec<Chain>> {
        let tree = self.tree();
        let first = tree.chains.firsts[chain.0 as usize];
        let mut resolved = Vec::new();
        let mut complete = true;
        for at in first..=chain.0 {
            let moved = |id: ast::ChainId| id.0 - first;
            resolved.push(match tree.chains.node(ast::ChainId(at)) {
                ast::Chain::Point(reference) => match self.point(reference, wanted, class) {
                    Some(point) => Chain::Point(point),
                    None => {
                        complete = false;
                        continue;
                    }
                },
                _ if !complete => continue,
                ast::Chain::Series(a, b) => {
                    let (a, b) = (moved(a), moved(b));
                    self.check_series(&resolved, a, b);
                    Chain::Series(a, b)
                }
                ast::Chain::Parallel(a, b) => Chain::Parallel(moved(a), moved(b)),
                ast::Chain::Reversed(a) => {
                    let a = moved(a);
                    self.check_reversed(&resolved, a);
                    Chain::Reversed(a)
                }
            });
        }
        complete.then_some(resolved)
    }

    /// `X - X` is a slip, not a short circuit.
    fn check_series(&mut self, chain: &[Chain], mut a: u32, mut b: u32) {
        while let Chain::Series(_, last) = chain[a as usize] {
            a = last;
        }
        while let Chain::Series(first, _) = chain[b as usize] {
            b = first;
        }
        let (Chain::Point(x), Chain::Point(y)) = (chain[a as usize], chain[b as usize]) else {
            return;
        };
        if let (
            PointKind::Path(Owner::Submodel(i, None), _),
            PointKind::Path(Owner::Submodel(j, None), _),
        ) = (x.kind, y.kind)
            && i == j
        {
            let text = self.loaded.sources.text(y.span);
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::ConnectedToItself,
                    format!("`{text}` is connected to itself"),
                )
                .at(y.span, "follows itself in the chain"),
            );
        }
    }

    fn check_reversed(&mut self, chain: &[Chain], a: u32) {
        if let Chain::Point(point) = chain[a as usize]
            && !matches!(point.kind, PointKind::Path(..))
        {
            let text = self.loaded.sources.text(point.span);
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::UnknownPath,
                    format!("`{text}` has no path that could be reversed"),
                )
                .at(point.span, "a point, not a path"),
            );
        }
    }

    fn index(&mut self, index: Option<ExprId>, class: &mut Class) -> Option<Template> {
        index.map(|index| {
            class.indexed_connections = true;
            self.template(index, Mode::Fixed("an index"))
        })
    }

    fn point(
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
                    let known = sorted_names(&self.loaded.interner, scope.points.keys());
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
            let known = sorted_names(&self.loaded.interner, names.iter());
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
                    let known = sorted_names(&self.loaded.interner, names.iter());
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
        let known = sorted_names(&self.loaded.interner, names.iter());
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
        let known = sorted_names(&self.loaded.interner, names.iter());
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

    /// A whole array of cuts is a bundle, so the index may be left out.
    fn no_index_on_single(&mut self, part: ast::Part, array: bool) -> Option<()> {
        if part.index.is_some() && !array {
            self.index_use(part.name, false);
            return None;
        }
        Some(())
    }
}

fn has_connections(body: &[ast::Statement]) -> bool {
    body.iter().any(|statement| match &statement.kind {
        StatementKind::Connect(_) => true,
        StatementKind::For { body, .. } => has_connections(body),
        _ => false,
    })
}
