//! The open blocks: the part of the layout pass that matches `model` with `end`, `for` with
//! `endfor`, `when` with `endwhen`, and gives `##` lines to the declaration below them.

use super::layout::Layout;
use super::lexer::Lexeme;
use super::token::{Token, shorten};
use super::words::{cannot_begin, documented};
use crate::base::diagnostics::{Code, Diagnostic};

/// The deepest nesting of `for` and `when`.
pub const DEEPEST: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Model,
    Experiment,
    For,
    When,
}

impl Kind {
    fn closing(self) -> Token<'static> {
        match self {
            Kind::Model | Kind::Experiment => Token::End,
            Kind::For => Token::EndFor,
            Kind::When => Token::EndWhen,
        }
    }
}

/// A block with the place of its first word and, for a model, its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'s> {
    kind: Kind,
    opening: Lexeme<'s>,
    name: &'s str,
}

/// The first word of a statement, after a look at the blocks.
pub(super) struct First<'s> {
    pub(super) token: Token<'s>,
    pub(super) end: usize,
    /// The number of tokens of the input that it consists of.
    pub(super) taken: usize,
}

impl<'s> Layout<'s, '_> {
    pub(super) fn in_experiment(&self) -> bool {
        (self.blocks.last()).is_some_and(|block| block.kind == Kind::Experiment)
    }

    fn in_model(&self) -> bool {
        (self.blocks.first()).is_some_and(|block| block.kind == Kind::Model)
    }

    /// Updates the stack of blocks. `None`: nested too deeply.
    pub(super) fn block_word(&mut self, at: usize) -> Option<First<'s>> {
        let lexeme = self.input[at];
        let mut first = First {
            token: lexeme.token,
            end: lexeme.end,
            taken: 1,
        };
        match lexeme.token {
            Token::Model => self.open_outer_block(Kind::Model, at),
            Token::Experiment => self.open_outer_block(Kind::Experiment, at),
            Token::Ident("cmodel") if self.opens_cmodel(at) => {
                self.open_outer_block(Kind::Experiment, at);
            }
            Token::For => self.open_inner_block(Kind::For, lexeme)?,
            Token::When => self.open_inner_block(Kind::When, lexeme)?,
            Token::EndFor => self.close_inner_block(Kind::For, lexeme),
            Token::EndWhen => self.close_inner_block(Kind::When, lexeme),
            Token::ElseWhen => {
                if let Some(open) = self.innermost_block(Kind::When) {
                    self.close_blocks(open + 1, lexeme.start, "`elsewhen`");
                }
            }
            Token::End => self.end(at, &mut first),
            _ => {}
        }
        Some(first)
    }

    /// In a model `cmodel` may also be a name, at the beginning of an equation.
    fn opens_cmodel(&self, at: usize) -> bool {
        let next = self.input[at + 1..]
            .iter()
            .find(|l| l.token != Token::Newline);
        let equation = next.is_some_and(|next| match self.peek(at + 1) {
            Some(Token::Newline) => cannot_begin(next.token),
            _ => !matches!(next.token, Token::Ident(_)),
        });
        !(self.in_model() && equation)
    }

    /// `end` closes a model, or was meant to close a `for` or `when`.
    fn end(&mut self, at: usize, first: &mut First<'s>) {
        let lexeme = self.input[at];
        let two_words = match self.peek(at + 1) {
            Some(Token::For) => Some(Kind::For),
            Some(Token::When) => Some(Kind::When),
            _ => None,
        };
        if let Some(kind) = two_words
            && self.innermost_block(kind).is_some()
        {
            first.token = kind.closing();
            first.end = self.input[at + 1].end;
            first.taken = 2;
            let word = first.token.spelling();
            self.report(
                Diagnostic::new(Code::Syntax, format!("`{word}` is one word")).at(
                    self.span(lexeme.start, first.end),
                    format!("write `{word}`"),
                ),
            );
            self.close_inner_block(kind, lexeme);
        } else if let [_, .., inner] = self.blocks[..]
            && self.another_end_follows(at + 1)
        {
            self.blocks.pop();
            first.token = inner.kind.closing();
            let (opening, closing) = (inner.opening.token.spelling(), first.token.spelling());
            self.report(
                Diagnostic::new(
                    Code::MissingEnd,
                    format!("a `{opening}` is closed with `{closing}`, not with `end`"),
                )
                .at(
                    self.span(lexeme.start, lexeme.end),
                    format!("write `{closing}`"),
                )
                .at(
                    self.span(inner.opening.start, inner.opening.end),
                    "opened here",
                ),
            );
        } else if !self.blocks.is_empty() {
            self.close_blocks(1, lexeme.start, "`end`");
            self.blocks.pop();
        }
    }

    /// Whether the open model has another `end` below.
    fn another_end_follows(&self, at: usize) -> bool {
        let next = (at..self.input.len()).find(|&at| match self.input[at].token {
            Token::End | Token::Model | Token::Experiment => true,
            Token::Ident("cmodel") => self.opens_cmodel(at),
            _ => false,
        });
        next.is_some_and(|at| self.input[at].token == Token::End)
    }

    fn innermost_block(&self, kind: Kind) -> Option<usize> {
        self.blocks.iter().rposition(|block| block.kind == kind)
    }

    fn open_inner_block(&mut self, kind: Kind, opening: Lexeme<'s>) -> Option<()> {
        if self.blocks.len() >= DEEPEST {
            let word = opening.token.spelling();
            self.report(
                Diagnostic::new(Code::TooDeep, format!("`{word}` is nested too deeply")).at(
                    self.span(opening.start, opening.end),
                    format!("{DEEPEST} blocks are open here already"),
                ),
            );
            return None;
        }
        self.blocks.push(Block {
            kind,
            opening,
            name: "",
        });
        Some(())
    }

    fn close_inner_block(&mut self, kind: Kind, closing: Lexeme<'s>) {
        if let Some(open) = self.innermost_block(kind) {
            let found = kind.closing().spelling();
            self.close_blocks(open + 1, closing.start, &format!("`{found}`"));
            self.blocks.pop();
        }
    }

    fn open_outer_block(&mut self, kind: Kind, at: usize) {
        let opening = self.input[at];
        let found = match opening.token {
            Token::Model => "`model`",
            Token::Experiment => "`experiment`",
            _ => "`cmodel`",
        };
        self.close_blocks(0, opening.start, found);
        // The name is the last of the names on the line: `model type (BASE) NAME`.
        let name = (self.input[at + 1..].iter())
            .take_while(|lexeme| {
                matches!(
                    lexeme.token,
                    Token::Type
                        | Token::Class
                        | Token::LeftParen
                        | Token::RightParen
                        | Token::Comma
                        | Token::Ident(_)
                )
            })
            .filter_map(|lexeme| match lexeme.token {
                Token::Ident(name) => Some(name),
                _ => None,
            })
            .last();
        self.blocks.push(Block {
            kind,
            opening,
            name: name.unwrap_or(""),
        });
    }

    /// Reports and closes the blocks from `depth` on.
    pub(super) fn close_blocks(&mut self, depth: usize, place: usize, found: &str) {
        while self.blocks.len() > depth
            && let Some(block) = self.blocks.pop()
        {
            let what = match block.kind {
                Kind::Model if block.name.is_empty() => "a model".to_string(),
                Kind::Model if block.name.is_empty() => "a model".to_string(),
                Kind::Model => format!("the model `{}`", shorten(block.name)),
                Kind::Experiment => "an experiment".to_string(),
                Kind::For => "a `for`".to_string(),
                Kind::When => "a `when`".to_string(),
            };
            let closing = block.kind.closing();
            self.report(
                Diagnostic::new(Code::MissingEnd, format!("{what} is never closed"))
                    .at(
                        self.span(block.opening.start, block.opening.end),
                        "opened here",
                    )
                    .at(
                        self.span(place, place),
                        format!("`{}` expected before {found}", closing.spelling()),
                    ),
            );
            self.supply(closing, place);
            self.separate(place, place);
        }
    }

    pub(super) fn add_doc(&mut self, lexeme: Lexeme<'s>) {
        self.doc = match self.doc {
            Some((start, end)) if self.text[end..lexeme.start].trim().is_empty() => {
                Some((start, lexeme.end))
            }
            _ => Some((lexeme.start, lexeme.end)),
        };
    }

    /// Documentation belongs to the declaration right below it; elsewhere it is a comment.
    pub(super) fn emit_doc(&mut self, next: Token<'_>) {
        let Some((start, end)) = self.doc.take() else {
            return;
        };
        // A `model` without the `end` of the model before it closes that one before its own
        // documentation.
        if next == Token::Model {
            self.close_blocks(0, start, "`model`");
        }
        if documented(next) && !self.in_experiment() {
            self.output.push(Lexeme {
                token: Token::Doc(&self.text[start..end]),
                start,
                end,
            });
        }
    }
}
