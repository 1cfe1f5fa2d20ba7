//! Text to tokens, by logos. Comments and blanks are gone; line ends and `##` lines are kept.

use logos::Logos;

use super::token::{LexError, Token, shorten};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::{FileId, Span};

/// The longest name; beyond it something is wrong with the file.
const LONGEST_NAME: usize = 1000;

#[derive(Clone, Copy, Debug)]
pub struct Lexeme<'s> {
    pub token: Token<'s>,
    pub start: usize,
    pub end: usize,
}

pub fn lex<'s>(file: FileId, text: &'s str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Lexeme<'s>> {
    // About one token for every three bytes of ordinary models.
    let mut lexemes = Vec::with_capacity(text.len() / 3);
    let mut last_unknown = None;
    for (token, range) in Token::lexer(text).spanned() {
        match token {
            Ok(token) => {
                if let Token::Ident(name) | Token::Include(name) = token
                    && name.len() > LONGEST_NAME
                {
                    diagnostics.push(
                        Diagnostic::new(
                            Code::NameTooLong,
                            format!("the name `{}` is too long", shorten(name)),
                        )
                        .at(
                            Span::new(file, range.start, range.start + 1),
                            format!("a name of {} bytes", name.len()),
                        ),
                    );
                    if let Token::Include(_) = token {
                        continue;
                    }
                }
                lexemes.push(Lexeme {
                    token,
                    start: range.start,
                    end: range.end,
                });
            }
            Err(error) => {
                // A run of unknown characters is one mistake.
                let continues = last_unknown == Some(range.start);
                if error == LexError::UnknownCharacter {
                    last_unknown = Some(range.end);
                    if continues {
                        continue;
                    }
                }
                diagnostics.push(report(file, text, error, range));
            }
        }
    }
    lexemes
}

fn report(file: FileId, text: &str, error: LexError, range: std::ops::Range<usize>) -> Diagnostic {
    let opening = Span::new(file, range.start, range.start + 1);
    match error {
        LexError::UnknownCharacter => {
            let found: String = text[range.clone()].chars().take(1).collect();
            let diagnostic = Diagnostic::new(
                Code::UnknownCharacter,
                format!(
                    "the character `{}` has no meaning here",
                    found.escape_debug()
                ),
            )
            .at(Span::new(file, range.start, range.end), "found here");
            match found.as_str() {
                "}" => diagnostic.hint("`}` closes a comment, but no comment is open"),
                "!" => diagnostic.hint("\"not equal\" is written `<>`, \"not\" is written `not`"),
                "_" => diagnostic.hint("a name begins with a letter"),
                _ => diagnostic,
            }
        }
        LexError::UnclosedComment => {
            Diagnostic::new(Code::UnclosedComment, "a comment is never closed")
                .at(opening, "the comment begins here")
                .hint("comments nest: every `{` inside a comment needs its own `}`")
        }
        LexError::UnclosedText => Diagnostic::new(
            Code::UnclosedText,
            "a description is not closed on its line",
        )
        .at(opening, "the description begins here")
        .hint("close it with `\"` before the end of the line"),
        LexError::UnclosedUnit => {
            Diagnostic::new(Code::UnclosedText, "a unit is not closed on its line")
                .at(opening, "the unit begins here")
                .hint("close it with `'` before the end of the line")
        }
        LexError::UnclosedControlBlock => {
            Diagnostic::new(Code::MissingEnd, "`ctblock` is never closed")
                .at(Span::new(file, range.start, range.end), "opened here")
                .hint("close it with `ctend`")
        }
    }
}
