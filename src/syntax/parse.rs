//! Tokens to syntax tree, by the generated parser, and what its actions build with.

use lalrpop_util::{ErrorRecovery, lalrpop_mod};

use super::ast::*;
use super::errors;
use super::layout::layout;
use super::lexer::lex;
use super::token::{Token, shorten};
use crate::diagnostics::{Code, Diagnostic};
use crate::expr::{BinaryOp, ExprId, Function, Node, Real, UnaryOp};
use crate::intern::Interner;
use crate::source::{FileId, Span};

lalrpop_mod!(
    #[allow(clippy::all, clippy::pedantic, clippy::restriction, unused, missing_debug_implementations, rust_2018_idioms)]
    #[rustfmt::skip]
    grammar,
    "/bgm.rs"
);

/// After this many the rest is not worth reading.
const MOST_ERRORS: usize = 100;

/// The parser has no errors of its own beside those of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {}

/// Reads one file. The tree holds what could be read; the rest is in the diagnostics.
pub fn parse(file: FileId, text: &str, interner: &mut Interner) -> (Ast, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let lexemes = lex(file, text, &mut diagnostics);
    diagnostics.truncate(MOST_ERRORS);
    let lexemes = layout(file, text, &lexemes, &mut diagnostics);
    diagnostics.truncate(MOST_ERRORS);
    let mut builder = Builder {
        file,
        text,
        interner,
        exprs: Exprs::default(),
        chains: Chains::default(),
        outside: false,
        diagnostics,
    };
    let tokens = lexemes.iter().map(|l| (l.start, l.token, l.end));
    let items = match grammar::FileParser::new().parse(&mut builder, text, tokens) {
        Ok(items) => items,
        Err(error) => {
            let diagnostic = errors::report(file, text, &error);
            builder.report(diagnostic);
            Vec::new()
        }
    };
    let ast = Ast {
        file,
        items,
        exprs: builder.exprs,
        chains: builder.chains,
    };
    let mut diagnostics = builder.diagnostics;
    check_end_names(&ast, interner, &mut diagnostics);
    leave_out_swallowed(&mut diagnostics);
    diagnostics.sort_by_key(|d| d.labels.first().map(|label| label.span.start));
    if diagnostics.len() > MOST_ERRORS {
        diagnostics.truncate(MOST_ERRORS);
    }
    (ast, diagnostics)
}

/// What an unclosed comment swallows is not missing.
fn leave_out_swallowed(diagnostics: &mut Vec<Diagnostic>) {
    let comment = diagnostics
        .iter()
        .find(|d| d.code == Code::UnclosedComment)
        .and_then(|d| Some(d.labels.first()?.span.start));
    if let Some(start) = comment {
        let before = |d: &Diagnostic| d.labels.iter().all(|label| label.span.start < start);
        diagnostics.retain(|d| d.code == Code::UnclosedComment || before(d));
    }
}

fn check_end_names(ast: &Ast, interner: &Interner, diagnostics: &mut Vec<Diagnostic>) {
    for item in &ast.items {
        if let Item::Model(model) = item
            && let Some(end) = model.end_name
            && end.symbol != model.name.symbol
        {
            let (name, wrong) = (interner.name(model.name.symbol), interner.name(end.symbol));
            diagnostics.push(
                Diagnostic::new(
                    Code::EndName,
                    format!(
                        "`end {}` closes the model `{}`",
                        shorten(wrong),
                        shorten(name)
                    ),
                )
                .at(end.span, "does not agree with the model's name")
                .at(model.name.span, "the model's name")
                .hint("the name after `end` may be left out"),
            );
        }
    }
}

/// What the grammar's actions build the tree with.
#[derive(Debug)]
pub struct Builder<'i> {
    file: FileId,
    text: &'i str,
    interner: &'i mut Interner,
    exprs: Exprs,
    chains: Chains,
    /// The item before could not be read.
    outside: bool,
    diagnostics: Vec<Diagnostic>,
}

impl Builder<'_> {
    pub fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end.max(start))
    }

    pub fn name(&mut self, name: &str, start: usize, end: usize) -> Name {
        Name {
            symbol: self.interner.intern(name),
            span: self.span(start, end),
        }
    }

    /// `##` lines to the text they hold.
    pub fn doc(lines: &str) -> String {
        let lines: Vec<&str> = lines
            .lines()
            .map(|line| line.trim().trim_start_matches('#').trim())
            .collect();
        lines.join("\n")
    }

    pub fn recovered(&mut self, error: ErrorRecovery<usize, Token<'_>, Fault>) {
        let diagnostic = errors::report(self.file, self.text, &error.error);
        self.report(diagnostic);
    }

    /// A run of lines outside models is one mistake, such as a wrong word for `model`.
    pub fn recovered_item(&mut self, error: ErrorRecovery<usize, Token<'_>, Fault>) -> Item {
        if !std::mem::replace(&mut self.outside, true) {
            self.recovered(error);
        }
        Item::Error
    }

    pub fn item(&mut self, item: Item) -> Item {
        self.outside = false;
        item
    }

    /// Mistakes that follow from one already reported in the same place are left out.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() > MOST_ERRORS {
            return;
        }
        let place = diagnostic.labels.first().map(|label| label.span.start);
        let known = self.diagnostics.iter().any(|earlier| {
            let covers = |label: &crate::diagnostics::Label| Some(label.span.start) == place;
            match earlier.code {
                // The layout pass has given up.
                Code::TooDeep => true,
                Code::UnknownCharacter => {
                    let first = earlier.labels.first().map(|label| label.span.start);
                    self.on_one_line(first, place)
                }
                Code::UnclosedBracket | Code::MissingEnd => {
                    // The closing token was supplied at the second label.
                    earlier.labels.iter().any(|label| {
                        let end = label.span.end;
                        Some(end) == place || covers(label)
                    })
                }
                _ => earlier.labels.first().is_some_and(covers),
            }
        });
        if !known {
            self.diagnostics.push(diagnostic);
        }
    }

    fn on_one_line(&self, a: Option<u32>, b: Option<u32>) -> bool {
        let (Some(a), Some(b)) = (a, b) else {
            return false;
        };
        let between = self.text.get(a.min(b) as usize..a.max(b) as usize);
        between.is_some_and(|between| !between.contains('\n'))
    }

    pub fn no_variable(&mut self, at: usize) -> CutVariable {
        CutVariable {
            negative: false,
            name: None,
            remarks: Remarks::default(),
            span: self.span(at, at),
        }
    }

    pub fn chain(&mut self, chain: Chain, start: usize, end: usize) -> ChainId {
        let span = self.span(start, end);
        self.chains.push(chain, span)
    }

    pub fn reference(&mut self, parts: &[Part], start: usize, end: usize) -> Reference {
        let span = self.span(start, end);
        self.exprs.reference(parts, span)
    }

    fn push(&mut self, node: Node<Reference>, start: usize, end: usize) -> ExprId {
        let span = self.span(start, end);
        self.exprs.push(node, span)
    }

    pub fn use_of(&mut self, reference: Reference) -> ExprId {
        self.exprs.push(Node::Leaf(reference), reference.span)
    }

    pub fn number(&mut self, text: &str, start: usize, end: usize) -> ExprId {
        let value: f64 = text.parse().unwrap_or(f64::INFINITY);
        let digits = text.split(['e', 'E']).next().unwrap_or("");
        let vanished = value == 0.0 && digits.bytes().any(|b| (b'1'..=b'9').contains(&b));
        if !value.is_finite() || vanished {
            let size = if vanished { "small" } else { "large" };
            let diagnostic = Diagnostic::new(
                Code::NumberRange,
                format!("the number `{}` is too {size}", shorten(text)),
            )
            .at(self.span(start, end), "cannot be represented")
            .hint("numbers lie between about 5e-324 and 1.8e308");
            self.report(diagnostic);
        }
        let value = if value.is_finite() { value } else { 0.0 };
        self.push(Node::Number(Real(value)), start, end)
    }

    pub fn bool(&mut self, value: bool, start: usize, end: usize) -> ExprId {
        self.push(Node::Bool(value), start, end)
    }

    pub fn time(&mut self, start: usize, end: usize) -> ExprId {
        self.push(Node::Time, start, end)
    }

    pub fn unary(&mut self, op: UnaryOp, a: ExprId, start: usize, end: usize) -> ExprId {
        self.push(Node::Unary(op, a), start, end)
    }

    pub fn binary(
        &mut self,
        op: BinaryOp,
        a: ExprId,
        b: ExprId,
        start: usize,
        end: usize,
    ) -> ExprId {
        self.push(Node::Binary(op, a, b), start, end)
    }

    pub fn if_else(
        &mut self,
        condition: ExprId,
        then: ExprId,
        otherwise: ExprId,
        start: usize,
        end: usize,
    ) -> ExprId {
        self.push(Node::If(condition, then, otherwise), start, end)
    }

    pub fn list(&mut self, items: &[ExprId], start: usize, end: usize) -> ExprId {
        let args = self.exprs.pool(items);
        self.push(Node::List(args), start, end)
    }

    pub fn call(&mut self, name: Name, args: &[ExprId], start: usize, end: usize) -> ExprId {
        let text = self.interner.name(name.symbol);
        let Some(function) = Function::from_name(text) else {
            let known = Function::ALL.iter().map(|function| function.text());
            let mut diagnostic = Diagnostic::new(
                Code::UnknownFunction,
                format!("unknown function `{}`", shorten(text)),
            )
            .at(name.span, "not a function of the language")
            .suggest(text, known);
            if text == "log" {
                diagnostic.hints = vec![
                    "the natural logarithm is `ln(x)`, the decimal one `log10(x)`".to_string(),
                ];
            }
            self.report(diagnostic);
            return self.push(Node::Number(Real(0.0)), start, end);
        };
        let arity = function.arity();
        if !arity.allows(args.len()) {
            let diagnostic = Diagnostic::new(
                Code::WrongArguments,
                format!("`{text}` takes {}, {} given", arity.words(), args.len()),
            )
            .at(self.span(start, end), "in this call");
            self.report(diagnostic);
            return self.push(Node::Number(Real(0.0)), start, end);
        }
        let args = self.exprs.pool(args);
        self.push(Node::Call(function, args), start, end)
    }
}
