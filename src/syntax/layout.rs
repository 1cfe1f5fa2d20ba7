//! Which line ends separate statements.
//!
//! Before: the lexer's tokens, with every line end. After: tokens for the grammar, with a
//! separator behind each statement and none inside, brackets and blocks balanced (what was missing
//! has been reported and supplied), words that depend on their place made tokens of their own,
//! blocks and brackets no deeper than [`DEEPEST`] and [`DEEPEST_BRACKET`]. The rules are those of docs/language.md, "Text".

use super::lexer::Lexeme;
use super::token::Token;
use crate::diagnostics::{Code, Diagnostic};
use crate::source::{FileId, Span};

/// How deep `for` and `when` may nest.
const DEEPEST: usize = 100;

/// How deep brackets may nest: recovering from an error takes time that grows with its square.
const DEEPEST_BRACKET: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Model,
    Experiment,
    For,
    When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    Paren,
    Square,
    Angle,
}

struct Layout<'s, 'd> {
    file: FileId,
    text: &'s str,
    input: &'d [Lexeme<'s>],
    output: Vec<Lexeme<'s>>,
    brackets: Vec<(Bracket, usize)>,
    blocks: Vec<(Block, usize, &'s str)>,
    /// The statement that is being read declares cuts.
    in_cut: bool,
    /// `##` lines that wait for a declaration.
    doc: Option<(usize, usize)>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

pub fn layout<'s>(
    file: FileId,
    text: &'s str,
    input: &[Lexeme<'s>],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Lexeme<'s>> {
    let mut layout = Layout {
        file,
        text,
        input,
        output: Vec::with_capacity(input.len() + input.len() / 8),
        brackets: Vec::new(),
        blocks: Vec::new(),
        in_cut: false,
        doc: None,
        diagnostics,
    };
    layout.run();
    layout.output
}

impl<'s> Layout<'s, '_> {
    fn run(&mut self) {
        let mut newline: Option<usize> = None;
        let mut at = 0;
        while at < self.input.len() {
            let lexeme = self.input[at];
            match lexeme.token {
                Token::Newline => {
                    newline.get_or_insert(lexeme.start);
                }
                Token::Semicolon => {
                    self.end_brackets();
                    self.separate(lexeme.start, lexeme.end);
                    newline = None;
                }
                Token::Doc(_) if newline.is_some() || at == 0 => self.add_doc(lexeme),
                // Behind something on the same line it is a comment.
                Token::Doc(_) => {}
                Token::Arrow if self.only_blank_until_line_end(at + 1) => {
                    // The old continuation mark: swallow it and the line end.
                    at += 1;
                    while matches!(self.peek(at), Some(Token::Newline)) {
                        at += 1;
                    }
                    continue;
                }
                token => {
                    if let Some(line_end) = newline.take() {
                        if self.begins_statement_at(at) {
                            self.end_brackets();
                            self.separate(line_end, line_end + 1);
                        }
                    } else if self.splits_line(token) {
                        self.end_brackets();
                        self.separate(lexeme.start, lexeme.start);
                    }
                    if !self.take(at) {
                        return;
                    }
                }
            }
            at += 1;
        }
        let end = self.text.len();
        self.end_brackets();
        self.separate(newline.unwrap_or(end), end);
        self.close_blocks(0, end, "the end of the file");
    }

    /// Handles one token that is not a line end. False: give up, something nests too deeply.
    fn take(&mut self, at: usize) -> bool {
        let lexeme = self.input[at];
        let first = self.at_start();
        if first {
            self.in_cut = false;
            self.emit_doc(lexeme.token);
            if !self.block_word(at) {
                return false;
            }
        } else {
            // Inside a statement it is a comment.
            self.doc = None;
        }
        let mut token = lexeme.token;
        match token {
            Token::Cut => self.in_cut = true,
            Token::LeftParen => self.brackets.push((Bracket::Paren, lexeme.start)),
            Token::LeftBracket => {
                self.brackets.push((Bracket::Square, lexeme.start));
                if self.in_cut && self.size_of_cut_array(at) {
                    token = Token::SizeBracket;
                }
            }
            Token::Less if self.after_path_name() => {
                self.brackets.push((Bracket::Angle, lexeme.start));
                token = Token::LeftAngle;
            }
            Token::Greater if self.open_bracket() == Some(Bracket::Angle) => {
                self.brackets.pop();
                token = Token::RightAngle;
            }
            Token::RightParen => self.close(Bracket::Paren, lexeme.start),
            Token::RightBracket => self.close(Bracket::Square, lexeme.start),
            Token::Ident("ic") if matches!(self.peek(at + 1), Some(Token::Ident(_))) => {
                token = Token::Ic;
            }
            Token::Ident("state") if first && self.name_follows(at) => token = Token::State,
            Token::Ident("nostate") if first && self.name_follows(at) => token = Token::NoState,
            Token::Ident("cmodel") if first && self.in_experiment() => {
                // `block_word` has just opened it.
                token = Token::CModel;
            }
            Token::Ident(word) if self.in_experiment() && !self.after_dot() => {
                token = experiment_word(word).unwrap_or(token);
            }
            _ => {}
        }
        if self.brackets.len() > DEEPEST_BRACKET {
            let place = Span::new(self.file, lexeme.start, lexeme.end);
            self.diagnostics.push(
                Diagnostic::new(Code::TooDeep, "brackets are nested too deeply").at(
                    place,
                    format!("more than {DEEPEST_BRACKET} brackets are open here"),
                ),
            );
            return false;
        }
        self.output.push(Lexeme { token, ..lexeme });
        // An include is a statement of its own, wherever it stands.
        if let Token::Include(_) = token {
            self.separate(lexeme.end, lexeme.end);
        }
        true
    }

    fn peek(&self, at: usize) -> Option<Token<'s>> {
        self.input.get(at).map(|lexeme| lexeme.token)
    }

    fn last(&self) -> Option<Token<'s>> {
        self.output.last().map(|lexeme| lexeme.token)
    }

    fn at_start(&self) -> bool {
        matches!(self.last(), None | Some(Token::Separator | Token::Doc(_)))
    }

    fn after_dot(&self) -> bool {
        matches!(self.last(), Some(Token::Dot))
    }

    fn name_follows(&self, at: usize) -> bool {
        matches!(self.peek(at + 1), Some(Token::Ident(_)))
    }

    fn open_bracket(&self) -> Option<Bracket> {
        self.brackets.last().map(|&(bracket, _)| bracket)
    }

    fn only_blank_until_line_end(&self, at: usize) -> bool {
        matches!(self.peek(at), None | Some(Token::Newline))
    }

    /// `path NAME <`
    fn after_path_name(&self) -> bool {
        let mut before = self.output.iter().rev().map(|lexeme| lexeme.token);
        match (before.next(), before.next()) {
            (Some(Token::Ident(_)), Some(Token::Path)) => true,
            // A further path of the same list.
            (Some(Token::Ident(_)), Some(Token::Comma)) => before.next() == Some(Token::RightAngle),
            _ => false,
        }
    }

    fn separate(&mut self, start: usize, end: usize) {
        if !self.at_start() {
            self.output.push(Lexeme {
                token: Token::Separator,
                start,
                end,
            });
        }
    }

    fn in_experiment(&self) -> bool {
        matches!(self.blocks.last(), Some((Block::Experiment, ..)))
    }

    /// Whether the token, first on its line, begins a new statement.
    fn begins_statement_at(&self, at: usize) -> bool {
        let token = self.input[at].token;
        if splitting_word(token) {
            // Also after a word that goes on, as in a `when` whose `then` is followed by nothing.
            return true;
        }
        if !self.brackets.is_empty() {
            // Inside brackets a line goes on, unless it plainly begins something new.
            return !self.last().is_some_and(continues) && self.begins_equation(at);
        }
        self.splits_line(token) || (!self.last().is_some_and(continues) && !cannot_begin(token))
    }

    /// `name.name = ` or `name(...) = ` or `name - ... = ` up to the end of the line.
    fn begins_equation(&self, at: usize) -> bool {
        if !matches!(
            self.input[at].token,
            Token::Ident(_) | Token::Number(_) | Token::Der | Token::New | Token::Init
        ) {
            return false;
        }
        let mut depth = 0i32;
        for lexeme in &self.input[at..] {
            match lexeme.token {
                Token::LeftParen | Token::LeftBracket => depth += 1,
                Token::RightParen | Token::RightBracket => depth -= 1,
                Token::Assign if depth == 0 => return true,
                Token::Newline | Token::Semicolon => return false,
                _ => {}
            }
            if depth < 0 {
                return false;
            }
        }
        false
    }

    /// Whether the token, in the middle of a line, begins a new statement.
    fn splits_line(&self, token: Token<'_>) -> bool {
        if self.at_start() {
            return false;
        }
        if self.in_experiment() && !self.after_dot() {
            // The header: `experiment fast for RLC`.
            let words = &self.output[self.output.len().saturating_sub(2)..];
            if token == Token::For && words.first().map(|l| l.token) == Some(Token::Experiment) {
                return false;
            }
            if let Token::Ident(word) = token
                && experiment_word(word).is_some()
                && self.last() != Some(Token::Comma)
            {
                return true;
            }
            if let Token::Init | Token::ControlBlock(_) = token {
                return true;
            }
        }
        match (self.last(), token) {
            (Some(Token::Main), Token::Cut | Token::Path) => false,
            (_, Token::Include(_)) => true,
            _ => splitting_word(token),
        }
    }

    /// Closes a bracket, and those inside it that were left open. One that closes nothing is left
    /// to the grammar.
    fn close(&mut self, bracket: Bracket, place: usize) {
        if let Some(open) = self.brackets.iter().rposition(|&(open, _)| open == bracket) {
            let found = Span::new(self.file, place, place + 1);
            self.close_brackets(open + 1, found, "found this instead");
            self.brackets.pop();
        }
    }

    /// Closes what is still open where a new statement begins.
    fn end_brackets(&mut self) {
        let end = self.output.last().map_or(0, |lexeme| lexeme.end);
        let last = Span::new(self.file, end.saturating_sub(1), end);
        self.close_brackets(0, last, "the statement ends here");
    }

    /// Reports and closes the brackets from `depth` on.
    fn close_brackets(&mut self, depth: usize, found: Span, text: &str) {
        let Some(&(_, outermost)) = self.brackets.get(depth) else {
            return;
        };
        let end = self.output.last().map_or(0, |lexeme| lexeme.end);
        let opening = &self.text[outermost..outermost + 1];
        self.diagnostics.push(
            Diagnostic::new(
                Code::UnclosedBracket,
                format!("`{opening}` is never closed"),
            )
            .at(
                Span::new(self.file, outermost, outermost + 1),
                "opened here",
            )
            .at(found, text),
        );
        for (bracket, _) in self.brackets.drain(depth..).rev() {
            self.output.push(Lexeme {
                token: match bracket {
                    Bracket::Paren => Token::RightParen,
                    Bracket::Square => Token::RightBracket,
                    Bracket::Angle => Token::RightAngle,
                },
                start: end,
                end,
            });
        }
    }

    /// Keeps the stack of blocks. False: nested too deeply.
    fn block_word(&mut self, at: usize) -> bool {
        let lexeme = self.input[at];
        match lexeme.token {
            Token::Model | Token::Experiment => self.open_outer_block(at),
            Token::Ident("cmodel") if !self.in_model() => self.open_outer_block(at),
            Token::For | Token::When => {
                let block = match lexeme.token {
                    Token::For => Block::For,
                    _ => Block::When,
                };
                self.blocks.push((block, at, ""));
                if self.blocks.len() > DEEPEST {
                    self.diagnostics.push(
                        Diagnostic::new(
                            Code::TooDeep,
                            format!("`{}` is nested too deeply", lexeme.token.spelling()),
                        )
                        .at(
                            Span::new(self.file, lexeme.start, lexeme.end),
                            format!("more than {DEEPEST} blocks are open here"),
                        ),
                    );
                    return false;
                }
            }
            Token::EndFor | Token::EndWhen => {
                let block = match lexeme.token {
                    Token::EndFor => Block::For,
                    _ => Block::When,
                };
                if let Some(open) = self.blocks.iter().rposition(|&(open, ..)| open == block) {
                    let found = lexeme.token.spelling();
                    self.close_blocks(open + 1, lexeme.start, &format!("`{found}`"));
                    self.blocks.pop();
                }
            }
            Token::End if !self.blocks.is_empty() => {
                self.close_blocks(1, lexeme.start, "`end`");
                self.blocks.pop();
            }
            _ => {}
        }
        true
    }

    fn in_model(&self) -> bool {
        matches!(self.blocks.first(), Some((Block::Model, ..)))
    }

    fn open_outer_block(&mut self, at: usize) {
        let lexeme = self.input[at];
        let found = match lexeme.token {
            Token::Model => "`model`",
            Token::Experiment => "`experiment`",
            _ => "`cmodel`",
        };
        self.close_blocks(0, lexeme.start, found);
        let block = match lexeme.token {
            Token::Model => Block::Model,
            _ => Block::Experiment,
        };
        // The name is the last of the names on the line: `model type (BASE) NAME`.
        let name = self.input[at + 1..]
            .iter()
            .take_while(|l| {
                matches!(
                    l.token,
                    Token::Type
                        | Token::Class
                        | Token::LeftParen
                        | Token::RightParen
                        | Token::Comma
                        | Token::Ident(_)
                )
            })
            .filter_map(|l| match l.token {
                Token::Ident(name) => Some(name),
                _ => None,
            })
            .last();
        self.blocks.push((block, at, name.unwrap_or("")));
    }

    /// Reports and closes the blocks from `depth` on.
    fn close_blocks(&mut self, depth: usize, place: usize, found: &str) {
        while self.blocks.len() > depth {
            let Some((block, at, name)) = self.blocks.pop() else {
                return;
            };
            let opening = self.input[at];
            let (what, missing, token) = match block {
                Block::Model => (format!("the model `{name}`"), "end", Token::End),
                Block::Experiment => ("an experiment".to_string(), "end", Token::End),
                Block::For => ("a `for`".to_string(), "endfor", Token::EndFor),
                Block::When => ("a `when`".to_string(), "endwhen", Token::EndWhen),
            };
            let here = Span::new(self.file, place, place);
            self.diagnostics.push(
                Diagnostic::new(Code::MissingEnd, format!("{what} is never closed"))
                    .at(
                        Span::new(self.file, opening.start, opening.end),
                        "opened here",
                    )
                    .at(here, format!("`{missing}` expected before {found}")),
            );
            self.output.push(Lexeme {
                token,
                start: place,
                end: place,
            });
            self.separate(place, place);
        }
    }

    /// `[` of `cut p[n](...)` rather than of `cut C[A B]`: what follows `]` tells.
    fn size_of_cut_array(&self, at: usize) -> bool {
        if self.brackets.len() != 1 {
            return false;
        }
        let mut depth = 0usize;
        for (offset, lexeme) in self.input[at..].iter().enumerate() {
            match lexeme.token {
                Token::LeftBracket => depth += 1,
                Token::RightBracket => {
                    depth -= 1;
                    if depth == 0 {
                        return self.peek(at + offset + 1) == Some(Token::LeftParen);
                    }
                }
                Token::Semicolon => return false,
                token if splitting_word(token) => return false,
                _ => {}
            }
        }
        false
    }

    fn add_doc(&mut self, lexeme: Lexeme<'s>) {
        self.doc = match self.doc {
            Some((start, end)) if self.text[end..lexeme.start].trim().is_empty() => {
                Some((start, lexeme.end))
            }
            _ => Some((lexeme.start, lexeme.end)),
        };
    }

    /// Documentation belongs to the declaration right below it; elsewhere it is a comment.
    fn emit_doc(&mut self, next: Token<'_>) {
        let Some((start, end)) = self.doc.take() else {
            return;
        };
        let documented = matches!(
            next,
            Token::Model
                | Token::Cut
                | Token::Main
                | Token::Path
                | Token::Terminal
                | Token::Local
                | Token::Parameter
                | Token::Constant
                | Token::Input
                | Token::Output
                | Token::Node
                | Token::Junction1
                | Token::Submodel
        );
        if documented && !self.in_experiment() {
            // Before a `model` that closes another one, the separator comes first.
            if next == Token::Model {
                let place = start;
                self.close_blocks(0, place, "`model`");
            }
            self.output.push(Lexeme {
                token: Token::Doc(&self.text[start..end]),
                start,
                end,
            });
        }
    }
}

/// Words that begin a statement even in the middle of a line.
fn splitting_word(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Model
            | Token::Cut
            | Token::Main
            | Token::Path
            | Token::Terminal
            | Token::Local
            | Token::Parameter
            | Token::Constant
            | Token::Input
            | Token::Output
            | Token::Node
            | Token::Junction1
            | Token::Submodel
            | Token::Connect
            | Token::When
            | Token::ElseWhen
            | Token::EndWhen
            | Token::For
            | Token::EndFor
            | Token::End
            | Token::Experiment
    )
}

/// A line that ends with one of these goes on.
fn continues(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Comma
            | Token::Plus
            | Token::Minus
            | Token::Star
            | Token::Slash
            | Token::DoubleSlash
            | Token::Power
            | Token::Less
            | Token::LessEqual
            | Token::Greater
            | Token::GreaterEqual
            | Token::EqualEqual
            | Token::NotEqual
            | Token::Assign
            | Token::Colon
            | Token::LeftParen
            | Token::LeftBracket
            | Token::SizeBracket
            | Token::LeftAngle
            | Token::Then
            | Token::Else
            | Token::ElseIf
            | Token::And
            | Token::Or
            | Token::Not
            | Token::If
            | Token::When
            | Token::ElseWhen
            | Token::At
            | Token::From
            | Token::To
            | Token::Par
            | Token::Reversed
            | Token::Loop
            | Token::In
    )
}

/// A line that begins with one of these carries on the one before.
fn cannot_begin(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Else
            | Token::ElseIf
            | Token::Then
            | Token::And
            | Token::Or
            | Token::At
            | Token::From
            | Token::To
            | Token::Par
            | Token::Do
            | Token::In
            | Token::RightParen
            | Token::RightBracket
            | Token::Comma
            | Token::Star
            | Token::Slash
            | Token::Power
            | Token::DoubleSlash
            | Token::Assign
            | Token::Colon
            | Token::Less
            | Token::LessEqual
            | Token::Greater
            | Token::GreaterEqual
            | Token::EqualEqual
            | Token::NotEqual
    )
}

fn experiment_word(word: &str) -> Option<Token<'static>> {
    Some(match word {
        "simutime" => Token::Simutime,
        "start" => Token::Start,
        "commupoints" => Token::Commupoints,
        "step" => Token::Step,
        "plot" => Token::Plot,
        "method" => Token::Method,
        "tolerance" => Token::Tolerance,
        "absolute" => Token::Absolute,
        "outblock" => Token::OutBlock,
        "dispt" => Token::Dispt,
        "outend" => Token::OutEnd,
        _ => return None,
    })
}
