//! Turns tokens into a syntax tree by the generated parser, with the functions that the actions of
//! the grammar call.

use crate::base::cancel::glance;
use lalrpop_util::{ErrorRecovery, ParseError, lalrpop_mod};

use super::ast::*;
use super::errors;
use super::layout::layout;
use super::lexer::{Lexeme, lex};
use super::token::{Token, shorten};
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::intern::Interner;
use crate::base::source::{FileId, Span};
use crate::expr::{BinaryOp, ExprId, Function, Node, Real, UnaryOp};

lalrpop_mod!(
    #[allow(clippy::all, clippy::pedantic, clippy::restriction, unused, missing_debug_implementations, rust_2018_idioms)]
    #[rustfmt::skip]
    grammar,
    "/bgm.rs"
);

/// The parser has no errors of its own beside those of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {}

/// Parses one file. The tree contains what could be read; the rest is reported.
pub fn parse(file: FileId, text: &str, interner: &mut Interner) -> (Ast, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let lexemes = lex(file, text, &mut diagnostics);
    let lexemes = layout(file, text, &lexemes, &mut diagnostics);
    let mut builder = Builder {
        file,
        interner,
        exprs: Exprs::default(),
        chains: Chains::default(),
        text,
        lexemes: &lexemes,
        diagnostics,
        after_bad_item: false,
        after_foreign: false,
    };
    let tokens = lexemes.iter().inspect(|_| glance());
    let tokens = tokens.map(|l| (l.start, l.token, l.end));
    let items = match grammar::FileParser::new().parse(&mut builder, tokens) {
        Ok(items) => items,
        Err(error) => {
            builder.mistake(&error, false);
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
    diagnostics.sort_by_key(|d| d.labels.first().map(|label| label.span.start));
    diagnostics.truncate(errors::MOST);
    (ast, diagnostics)
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
pub struct Builder<'i, 's> {
    file: FileId,
    interner: &'i mut Interner,
    exprs: Exprs,
    chains: Chains,
    text: &'s str,
    /// What the grammar reads.
    lexemes: &'i [Lexeme<'s>],
    diagnostics: Vec<Diagnostic>,
    /// The last item could not be read.
    after_bad_item: bool,
    /// The last statement of the experiment was not one of an experiment.
    after_foreign: bool,
}

/// Condition and body of a `when` or `elsewhen`.
type Branch = (Option<ExprId>, Vec<Statement>);

type Mistake<'s> = ParseError<usize, Token<'s>, Fault>;
type Recovery<'s> = ErrorRecovery<usize, Token<'s>, Fault>;

impl Builder<'_, '_> {
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

    pub fn recovered(&mut self, error: Recovery<'_>) {
        self.mistake(&error.error, false);
    }

    /// Statements outside of models often occur in sequence, for example after a superfluous `end`.
    pub fn item_recovered(&mut self, error: Recovery<'_>) {
        self.mistake(&error.error, self.after_bad_item);
        self.after_bad_item = true;
    }

    pub fn item_read(&mut self) {
        self.after_bad_item = false;
        self.after_foreign = false;
    }

    /// So do statements of a model in an experiment.
    pub fn experiment_recovered(&mut self, error: Recovery<'_>) {
        let foreign = self.mistake(&error.error, self.after_foreign);
        self.after_foreign = foreign;
    }

    pub fn experiment_read(&mut self) {
        self.after_foreign = false;
    }

    /// Reports a mistake, unless it begins a statement and continues a sequence of such mistakes.
    /// Returns whether it begins a statement.
    fn mistake(&mut self, error: &Mistake<'_>, in_run: bool) -> bool {
        let (start, token, expected) = match error {
            ParseError::UnrecognizedToken { token, expected } => (token.0, token.1, &expected[..]),
            ParseError::ExtraToken { token } => (token.0, token.1, &[][..]),
            // This should not occur: the layout pass has closed everything.
            ParseError::UnrecognizedEof { location, .. }
            | ParseError::InvalidToken { location } => (*location, Token::Separator, &[][..]),
            ParseError::User { error } => match *error {},
        };
        let statement = self.statement_until(start, token);
        let begins = match statement {
            [] | [_] => true,
            [first, _] => matches!(first.token, Token::Doc(_)),
            _ => false,
        };
        // Making messages takes time, so there is a limit.
        if !(in_run && begins) && self.diagnostics.len() <= errors::MOST {
            let diagnostic = errors::report(self.file, self.text, statement, expected);
            self.report(diagnostic);
        }
        begins
    }

    /// The tokens of a statement up to the given one.
    fn statement_until(&self, start: usize, token: Token<'_>) -> &[Lexeme<'_>] {
        let found = self.lexemes.partition_point(|lexeme| lexeme.start < start);
        // Separators, and what the layout pass supplied, are empty and share their place.
        let found = (self.lexemes[found..].iter())
            .take_while(|lexeme| lexeme.start == start)
            .position(|lexeme| lexeme.token == token)
            .map_or(found, |further| found + further);
        let begin = (self.lexemes[..found].iter())
            .rposition(|lexeme| lexeme.token == Token::Separator)
            .map_or(0, |separator| separator + 1);
        &self.lexemes[begin..self.lexemes.len().min(found + 1)]
    }

    /// Reports a mistake unless it follows from one that was reported.
    fn report(&mut self, diagnostic: Diagnostic) {
        let place = diagnostic.labels.first().map(|label| label.span.start);
        let follows = (self.diagnostics.iter()).any(|earlier| Self::follows(place, earlier));
        if !follows {
            errors::push(&mut self.diagnostics, diagnostic);
        }
    }

    fn follows(place: Option<u32>, earlier: &Diagnostic) -> bool {
        let (Some(place), [first, rest @ ..]) = (place, &earlier.labels[..]) else {
            return false;
        };
        let since = first.span.start..=place;
        match earlier.code {
            // All that follows is comment.
            Code::UnclosedComment => !since.is_empty(),
            Code::UnclosedBracket => {
                !since.is_empty() && rest.iter().any(|label| place <= label.span.end)
            }
            _ => earlier.labels.iter().any(|label| label.span.start == place),
        }
    }

    /// Makes a `when`, unless the head of one of its branches could not be read.
    pub fn when(first: Branch, rest: Vec<Branch>) -> StatementKind {
        std::iter::once(first)
            .chain(rest)
            .map(|(condition, body)| {
                Some(WhenBranch {
                    condition: condition?,
                    body,
                })
            })
            .collect::<Option<_>>()
            .map_or(StatementKind::Error, StatementKind::When)
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
