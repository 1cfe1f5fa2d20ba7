//! Names in connections become points: nodes, cuts, terminals, paths.

use super::class::*;
use super::resolve::Resolver;
use super::resolve_point::Wanted;
use crate::base::diagnostics::{Code as DiagnosticCode, Diagnostic};
use crate::syntax::ast::{self, ConnectionKind, StatementKind};

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

    /// `X - X` is a mistake, not a short circuit.
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
}

fn has_connections(body: &[ast::Statement]) -> bool {
    body.iter().any(|statement| match &statement.kind {
        StatementKind::Connect(_) => true,
        StatementKind::For { body, .. } => has_connections(body),
        _ => false,
    })
}
