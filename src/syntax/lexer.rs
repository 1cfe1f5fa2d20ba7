//! Turns text into tokens, by logos. Comments and blanks are left out; line ends and `##` lines are kept.

use crate::base::cancel::glance;
use logos::Logos;

use super::errors::push;
use super::token::{LexError, Token, shorten};
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::{FileId, Span};

/// The longest name; beyond it something is wrong with the file.
const LONGEST_NAME: usize = 1000;

/// Whether a terminal would obey the character, or whether it changes the reading order.
fn commands(c: char) -> bool {
    let turns = matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && c != '\t')
}

#[derive(Clone, Copy, Debug)]
pub struct Lexeme<'s> {
    pub token: Token<'s>,
    pub start: usize,
    pub end: usize,
}

pub fn lex<'s>(file: FileId, text: &'s str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Lexeme<'s>> {
    // About one token for every three bytes of ordinary models.
    let mut lexemes: Vec<Lexeme<'s>> = Vec::with_capacity(text.len() / 3);
    for (token, range) in Token::lexer(text).spanned() {
        glance();
        let last = lexemes.last();
        let token = match token {
            // Documentation stands on lines of its own; elsewhere `##` is a comment.
            Ok(Token::Doc(_)) if last.is_some_and(|l| l.token != Token::Newline) => continue,
            Ok(token) => {
                check_quoted(file, token, range.start, diagnostics);
                token
            }
            Err(error) => {
                let token = stand_in(error, text, &range);
                // A sequence of unknown characters is one mistake.
                let continues = last.is_some_and(|l| l.token == token && l.end == range.start);
                if token != Token::Unknown || !continues {
                    push(diagnostics, report(file, text, error, range.clone()));
                }
                token
            }
        };
        if let Token::Ident(name) | Token::Include(name) = token
            && name.len() > LONGEST_NAME
        {
            let diagnostic = Diagnostic::new(
                Code::NameTooLong,
                format!("the name `{}` is too long", shorten(name)),
            )
            .at(
                Span::new(file, range.start, range.start + 1),
                format!("a name of {} bytes", name.len()),
            );
            push(diagnostics, diagnostic);
            if let Token::Include(_) = token {
                continue;
            }
        }
        if token != Token::Comment {
            lexemes.push(Lexeme {
                token,
                start: range.start,
                end: range.end,
            });
        }
    }
    lexemes
}

/// A unit or a description must not contain characters that a terminal would obey: both are shown in many places.
fn check_quoted(file: FileId, token: Token<'_>, start: usize, diagnostics: &mut Vec<Diagnostic>) {
    let (Token::Unit(quoted) | Token::Text(quoted)) = token else {
        return;
    };
    let Some((at, found)) = quoted.char_indices().find(|&(_, c)| commands(c)) else {
        return;
    };
    // The text begins after its quote.
    let at = start + 1 + at;
    let message = format!(
        "the character `{}` has no place in a unit or a description",
        found.escape_unicode()
    );
    let diagnostic = Diagnostic::new(Code::UnknownCharacter, message)
        .at(Span::new(file, at, at + found.len_utf8()), "found here")
        .hint("it cannot be seen, and a terminal would obey it: take it out");
    push(diagnostics, diagnostic);
}

/// The token that replaces a wrong one, so that the rest of the line can be parsed.
fn stand_in<'s>(error: LexError, text: &'s str, range: &std::ops::Range<usize>) -> Token<'s> {
    match error {
        LexError::UnknownCharacter => Token::Unknown,
        LexError::UnclosedComment => Token::Comment,
        LexError::UnclosedText => Token::Text(&text[range.start + 1..range.end]),
        LexError::UnclosedUnit => Token::Unit(&text[range.start + 1..range.end]),
        LexError::UnclosedControlBlock => Token::ControlBlock("\n"),
    }
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
                "&" => diagnostic.hint("\"and\" is written `and`"),
                "|" => diagnostic.hint("\"or\" is written `or`"),
                "%" => diagnostic.hint("a comment is written `{ ... }` or `# ...`"),
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
                .at(
                    Span::new(file, range.start, range.start + "ctblock".len()),
                    "opened here",
                )
                .hint("close it with `ctend`")
        }
    }
}
