//! Checks what names and calls in expressions must not be.

use super::class::*;
use super::resolve::{Mode, Resolver};
use crate::base::diagnostics::{Code as DiagnosticCode, Diagnostic};
use crate::base::source::Span;
use crate::expr::{Args, ExprId, Function, Node};
use crate::syntax::ast;
use crate::syntax::shorten;

impl Resolver<'_, '_> {
    pub fn index_use(&mut self, name: ast::Name, array: bool) {
        let text = self.text(name.symbol);
        let diagnostic = match array {
            true => Diagnostic::new(
                DiagnosticCode::IndexUse,
                format!("`{text}` is an array and needs an index"),
            )
            .at(name.span, "an element is wanted here")
            .hint(format!("write `{text}[1]`, or a `for` over its elements")),
            false => Diagnostic::new(
                DiagnosticCode::IndexUse,
                format!("`{text}` is not an array"),
            )
            .at(name.span, "takes no index"),
        };
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn unknown_variable(&mut self, class: ClassId, name: ast::Name, what: &str) {
        let interner = &self.loaded.interner;
        let wrong = interner.name(name.symbol);
        let scope = self.class_of(class);
        let message = match class == self.id {
            true => format!("unknown {what} `{}`", shorten(wrong)),
            false => format!(
                "`{}` has no {what} `{}`",
                self.text(scope.name),
                shorten(wrong)
            ),
        };
        let point = match scope.points.get(&name.symbol) {
            Some(PointName::Cut(_)) => Some(("cut", "name its variables without it")),
            Some(PointName::Path(_)) => Some(("path", "name variables of its cuts without it")),
            Some(PointName::Node(_)) => Some(("node", "name a variable of a cut connected to it")),
            Some(PointName::Submodel(_)) | None => None,
        };
        let diagnostic = match point {
            Some((kind, hint)) => Diagnostic::new(
                DiagnosticCode::NotAVariable,
                format!("`{}` is a {kind}, not a {what}", shorten(wrong)),
            )
            .at(name.span, format!("a {what} is wanted here"))
            .hint(hint),
            None => {
                let known = self.known(scope.values.keys());
                let unknown = Diagnostic::new(DiagnosticCode::UnknownVariable, message)
                    .at(name.span, "not declared");
                match class == self.id {
                    true => unknown.suggest(wrong, known),
                    false => unknown.suggest_or_list(wrong, "it has", &known),
                }
            }
        };
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn check_time(&mut self, span: Span, mode: Mode) {
        if let Mode::Fixed(what) = mode {
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::DependsOnVariable,
                    format!("{what} cannot depend on Time"),
                )
                .at(span, "changes during a simulation"),
            );
        }
    }

    pub(super) fn depends_on_variable(&mut self, what: &str, span: Span, kind: VariableKind) {
        let text = shorten(self.loaded.sources.text(span));
        self.diagnostics.push(
            Diagnostic::new(
                DiagnosticCode::DependsOnVariable,
                format!("{what} cannot depend on the variable `{text}`"),
            )
            .at(span, format!("this is {}", kind.words()))
            .hint("only parameters and constants are known before a simulation starts"),
        );
    }

    /// The nodes of an index were resolved as a part of the equation, but must be constant.
    pub(super) fn check_fixed(&mut self, first: ExprId, last: ExprId, what: &'static str) {
        for at in first.index()..=last.index() {
            let span = self.code.spans[at];
            match self.code.nodes[at] {
                Node::Time => self.check_time(span, Mode::Fixed(what)),
                Node::Leaf(slot) => {
                    if let Some(kind) = self.kind_of(slot)
                        && !kind.is_fixed()
                    {
                        self.depends_on_variable(what, span, kind);
                    }
                }
                _ => {}
            }
        }
    }

    /// Arguments that must be variables, and functions that have no constant value.
    pub(super) fn check_call(&mut self, function: Function, args: Args, span: Span, mode: Mode) {
        let name = function.text();
        // Of `der(x)` the variable has been reported already.
        if let Mode::Fixed(what) = mode
            && function == Function::Sample
        {
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::DependsOnVariable,
                    format!("{what} cannot depend on `{name}`"),
                )
                .at(span, "changes during a simulation"),
            );
            return;
        }
        if !function.takes_variable() {
            return;
        }
        let arg = self.code.args(args)[0];
        let fits = match self.code.node(arg) {
            Node::Leaf(Slot::Unknown) => true,
            Node::Leaf(slot) => self.kind_of(slot).is_some_and(|kind| !kind.is_fixed()),
            Node::Call(Function::Der | Function::Der2, _) => {
                matches!(function, Function::Der | Function::Der2)
            }
            _ => false,
        };
        if !fits {
            let text = shorten(self.loaded.sources.text(self.code.spans[arg.index()]));
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::NotAVariable,
                    format!("`{name}` takes a variable, and `{text}` is none"),
                )
                .at(self.code.spans[arg.index()], "not a variable"),
            );
        }
        self.check_order(function, arg, span);
    }

    /// Derivatives of derivatives, up to an order. What the limit excludes is told once, however deep it goes on.
    fn check_order(&mut self, function: Function, arg: ExprId, span: Span) {
        const MOST: u32 = 100;
        let own = derivatives(function);
        let (mut inner, mut at) = (0, arg);
        while let Node::Call(function, args) = self.code.node(at)
            && derivatives(function) > 0
            && inner <= MOST
        {
            inner += derivatives(function);
            at = self.code.args(args)[0];
        }
        if own > 0 && inner <= MOST && inner + own > MOST {
            self.diagnostics.push(
                Diagnostic::new(DiagnosticCode::TooDeep, "a derivative of too high an order")
                    .at(span, format!("derivatives have an order of at most {MOST}"))
                    .hint("give the derivatives in between names of their own"),
            );
        }
    }

    /// Lists are allowed only as the value of an array and in `table`.
    pub(super) fn check_list_places(&mut self, template: Template, root: Option<ExprId>) {
        let mut allowed: Vec<ExprId> = root.into_iter().collect();
        for at in (template.first..=template.root.0).rev() {
            let id = ExprId(at);
            match self.code.node(id) {
                Node::Call(Function::Table, args) => {
                    let args: Vec<ExprId> = self.code.args(args).to_vec();
                    self.check_table(&args);
                    allowed.extend_from_slice(&args[1..]);
                }
                Node::List(_) if !allowed.contains(&id) => {
                    self.diagnostics.push(
                        Diagnostic::new(DiagnosticCode::IndexUse, "a list may not stand here")
                            .at(self.code.spans[id.index()], "a single value is wanted")
                            .hint("lists are values of array parameters and arguments of `table`"),
                    );
                }
                _ => {}
            }
        }
    }

    pub(super) fn check_table(&mut self, args: &[ExprId]) {
        let lists: Vec<Option<usize>> = args[1..]
            .iter()
            .map(|&arg| match self.code.node(arg) {
                Node::List(items) => Some(items.len as usize),
                _ => None,
            })
            .collect();
        let span = self.code.spans[args[1].index()];
        let problem = match lists[..] {
            [Some(x), Some(y)] if x != y => {
                format!("{x} points in the first list, {y} in the second")
            }
            [Some(_), Some(_)] => return,
            _ => "both must be lists, `[...]`".to_string(),
        };
        self.diagnostics.push(
            Diagnostic::new(
                DiagnosticCode::BadTable,
                "`table` takes a value and two lists of equal length",
            )
            .at(span, problem),
        );
    }
}

/// How often a function differentiates its argument.
fn derivatives(function: Function) -> u32 {
    match function {
        Function::Der => 1,
        Function::Der2 => 2,
        _ => 0,
    }
}
