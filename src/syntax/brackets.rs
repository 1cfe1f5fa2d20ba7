//! The open brackets: the part of the layout pass that matches them.

use super::layout::Layout;
use super::lexer::Lexeme;
use super::token::Token;
use super::words::splitting_word;
use crate::base::diagnostics::{Code, Diagnostic};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    Paren,
    Square,
    Angle,
}

impl Bracket {
    fn closing(self) -> Token<'static> {
        match self {
            Bracket::Paren => Token::RightParen,
            Bracket::Square => Token::RightBracket,
            Bracket::Angle => Token::RightAngle,
        }
    }
}

impl<'s> Layout<'s, '_> {
    pub(super) fn open_bracket(&mut self, bracket: Bracket, start: usize) {
        self.brackets.push((bracket, start));
        self.open[bracket as usize] += 1;
    }

    pub(super) fn close_bracket(&mut self) -> Option<(Bracket, usize)> {
        let closed = self.brackets.pop()?;
        self.open[closed.0 as usize] -= 1;
        Some(closed)
    }

    pub(super) fn innermost(&self) -> Option<Bracket> {
        self.brackets.last().map(|&(bracket, _)| bracket)
    }

    /// Closes a pair, and any bracket inside it that is still open.
    pub(super) fn close(&mut self, bracket: Bracket, closing: Lexeme<'s>) {
        if self.open[bracket as usize] == 0 {
            // The bracket has the wrong kind; the grammar reports it.
            self.close_bracket();
            return;
        }
        let mut unclosed = None;
        while let Some((open, start)) = self.close_bracket() {
            if open == bracket {
                break;
            }
            unclosed = Some((open, start));
            self.supply(open.closing(), closing.start);
        }
        if let Some((open, start)) = unclosed {
            let expected = format!(
                "`{}` expected before `{}`",
                open.closing().spelling(),
                closing.token.spelling()
            );
            self.report_unclosed(start, closing.start, closing.end, &expected);
        }
    }

    /// Reports and closes the brackets that are open where a new statement begins.
    pub(super) fn close_brackets(&mut self) {
        let Some(&(_, outermost)) = self.brackets.first() else {
            return;
        };
        let end = match self.cut_off {
            true => self.text.len(),
            false => self.output.last().map_or(0, |lexeme| lexeme.end),
        };
        let last = self.output.last().map_or(0, |lexeme| lexeme.start);
        self.report_unclosed(outermost, last, end, "the statement ends here");
        while let Some((bracket, _)) = self.close_bracket() {
            self.supply(bracket.closing(), end);
        }
    }

    fn report_unclosed(&mut self, opening: usize, start: usize, end: usize, text: &str) {
        // An unclosed text contains the rest of its line, with its closing brackets.
        let swallowed = self.reported(Code::UnclosedText, opening, end);
        if swallowed {
            return;
        }
        let bracket = &self.text[opening..opening + 1];
        self.report(
            Diagnostic::new(
                Code::UnclosedBracket,
                format!("`{bracket}` is never closed"),
            )
            .at(self.span(opening, opening + 1), "opened here")
            .at(self.span(start, end), text),
        );
    }

    /// Whether the `[` belongs to `cut p[n](...)` and not to `cut C[A B]`: the token after `]`
    /// tells. `None`: the statement has no `]` after this place.
    pub(super) fn size_of_cut_array(&self, at: usize) -> Option<bool> {
        if self.brackets.len() != 1 {
            return Some(false);
        }
        let mut depth = 0usize;
        for (offset, lexeme) in self.input[at..].iter().enumerate() {
            match lexeme.token {
                Token::LeftBracket => depth += 1,
                Token::RightBracket => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(self.peek(at + offset + 1) == Some(Token::LeftParen));
                    }
                }
                Token::Semicolon => return None,
                token if splitting_word(token) => return None,
                _ => {}
            }
        }
        None
    }
}
