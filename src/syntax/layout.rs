//! Which line ends separate statements.
//!
//! Before: the lexer's tokens, with every line end. After: tokens for the grammar, with a
//! separator behind each statement and behind the head of each block, and none inside; brackets
//! and blocks balanced (what was missing has been reported and supplied); words that depend on
//! their place made tokens of their own; blocks no deeper than [`super::blocks::DEEPEST`]. The rules are
//! those of docs/language.md, "Text".

use super::blocks::Block;
use super::brackets::Bracket;
use super::errors::push;
use super::lexer::Lexeme;
use super::token::Token;
use super::words::{cannot_begin, continues, experiment_word, splitting_word, wants_more};
use crate::base::cancel::glance;
use crate::base::diagnostics::{Code, Diagnostic, Label};
use crate::base::source::{FileId, Span};

/// The head of a block that ends with a word of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    /// Ends with `do`.
    For,
    /// Ends with `then`; the number of `if`s whose `then` is still to come.
    When(usize),
}

pub(super) struct Layout<'s, 'd> {
    pub(super) file: FileId,
    pub(super) text: &'s str,
    pub(super) input: &'d [Lexeme<'s>],
    pub(super) output: Vec<Lexeme<'s>>,
    pub(super) brackets: Vec<(Bracket, usize)>,
    /// How many of each kind are open.
    pub(super) open: [usize; 3],
    pub(super) blocks: Vec<Block<'s>>,
    /// The statement that is being read declares cuts.
    in_cut: bool,
    /// The statement that is being read is `outblock ... outend`, of several lines.
    in_outblock: bool,
    /// The head of a block is being read.
    head: Option<Head>,
    /// `##` lines that wait for a declaration.
    pub(super) doc: Option<(usize, usize)>,
    /// A reported mistake has cut off what is still open.
    pub(super) cut_off: bool,
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
        open: [0; 3],
        blocks: Vec::new(),
        in_cut: false,
        in_outblock: false,
        head: None,
        doc: None,
        cut_off: false,
        diagnostics,
    };
    layout.run();
    layout.output
}

impl<'s> Layout<'s, '_> {
    fn run(&mut self) {
        // An unclosed comment or control block contains the rest of the file.
        let swallowed = (self.diagnostics.iter())
            .any(|d| matches!(d.code, Code::UnclosedComment | Code::MissingEnd));
        let mut newline: Option<usize> = None;
        let mut at = 0;
        while let Some(&lexeme) = self.input.get(at) {
            glance();
            at += 1;
            match lexeme.token {
                Token::Newline => {
                    newline.get_or_insert(lexeme.start);
                }
                Token::Semicolon => {
                    self.close_brackets();
                    self.separate(lexeme.start, lexeme.end);
                    newline = None;
                }
                Token::Doc(_) => self.add_doc(lexeme),
                Token::Arrow if matches!(self.peek(at), None | Some(Token::Newline)) => {
                    // The old continuation mark: it is skipped together with the line end.
                    while matches!(self.peek(at), Some(Token::Newline | Token::Doc(_))) {
                        at += 1;
                    }
                }
                _ => {
                    let begins = match newline {
                        Some(_) => self.begins_statement(at - 1),
                        None => self.splits_line(at - 1),
                    };
                    if begins {
                        self.close_brackets();
                        let place = lexeme.start..lexeme.start;
                        let place = newline.map_or(place, |line_end| line_end..line_end + 1);
                        self.separate(place.start, place.end);
                    }
                    newline = None;
                    let taken = self.take(at - 1);
                    if taken == 0 {
                        self.cut_off = true;
                        break;
                    }
                    at += taken - 1;
                }
            }
        }
        let end = self.text.len();
        self.cut_off |= swallowed;
        self.close_brackets();
        // A mistake in the last statement at the end of the file follows from the reported one.
        let line_end = newline.filter(|_| !self.cut_off).unwrap_or(end);
        self.separate(line_end, end);
        self.close_blocks(0, end, "the end of the file");
    }

    /// Processes a token that is not a line end, and returns the number of tokens that it used. 0: the blocks are
    /// nested too deeply, so the pass stops.
    fn take(&mut self, at: usize) -> usize {
        let mut lexeme = self.input[at];
        let first = self.at_start();
        let mut taken = 1;
        if first {
            self.in_cut = false;
            self.in_outblock = false;
            self.head = None;
            self.emit_doc(lexeme.token);
            let Some(word) = self.block_word(at) else {
                return 0;
            };
            lexeme.token = word.token;
            lexeme.end = word.end;
            taken = word.taken;
        } else {
            self.doc = None;
        }
        let mut ends_head = false;
        match lexeme.token {
            Token::Cut => self.in_cut = true,
            Token::LeftParen => self.open_bracket(Bracket::Paren, lexeme.start),
            Token::LeftBracket => {
                self.open_bracket(Bracket::Square, lexeme.start);
                if self.in_cut {
                    match self.size_of_cut_array(at) {
                        Some(true) => lexeme.token = Token::SizeBracket,
                        Some(false) => {}
                        None => self.in_cut = false,
                    }
                }
            }
            Token::Less if self.after_path_name() => {
                self.open_bracket(Bracket::Angle, lexeme.start);
                lexeme.token = Token::LeftAngle;
            }
            Token::Greater if self.innermost() == Some(Bracket::Angle) => {
                self.close_bracket();
                lexeme.token = Token::RightAngle;
            }
            Token::RightParen => self.close(Bracket::Paren, lexeme),
            Token::RightBracket => self.close(Bracket::Square, lexeme),
            Token::For => self.head = Some(Head::For),
            Token::When | Token::ElseWhen => self.head = Some(Head::When(0)),
            token => ends_head = self.ends_head(token),
        }
        if let Token::Ident(word) = lexeme.token {
            lexeme.token = self.word(word, first, at);
            self.in_outblock |= lexeme.token == Token::OutBlock;
        }
        if ends_head {
            self.close_brackets();
        }
        self.output.push(lexeme);
        // An include is always a statement of its own; the body of a block begins after its head.
        if ends_head || matches!(lexeme.token, Token::Include(_)) {
            self.separate(lexeme.end, lexeme.end);
        }
        taken
    }

    /// Whether the token is the last of the head that is being read.
    fn ends_head(&mut self, token: Token<'_>) -> bool {
        let ends = match (&mut self.head, token) {
            (Some(Head::When(ifs)), Token::If | Token::ElseIf) => {
                *ifs += 1;
                false
            }
            (Some(Head::When(ifs)), Token::Then) if *ifs > 0 => {
                *ifs -= 1;
                false
            }
            (Some(Head::When(_)), Token::Then) | (Some(Head::For), Token::Do) => true,
            _ => false,
        };
        if ends {
            self.head = None;
        }
        ends
    }

    /// The token of a name, which is a keyword in some places.
    fn word(&self, word: &'s str, first: bool, at: usize) -> Token<'s> {
        let name_follows = matches!(self.peek(at + 1), Some(Token::Ident(_)));
        let in_list = matches!(self.last(), Some(Token::LeftParen | Token::Comma));
        match word {
            "ic" if name_follows && in_list && !self.brackets.is_empty() => Token::Ic,
            "state" if name_follows && first => Token::State,
            "nostate" if name_follows && first => Token::NoState,
            // `block_word` has just opened it.
            "cmodel" if first && self.in_experiment() => Token::CModel,
            _ if self.continues_outblock(at) || first && self.in_experiment() => {
                experiment_word(word).unwrap_or(Token::Ident(word))
            }
            _ => Token::Ident(word),
        }
    }

    /// `dispt` and `outend`, on lines of their own as a rule.
    fn continues_outblock(&self, at: usize) -> bool {
        let first = at > 0 && self.input[at - 1].token == Token::Newline;
        let word = matches!(self.input[at].token, Token::Ident("dispt" | "outend"));
        let name = (self.last()).is_some_and(|l| continues(l) || !first && wants_more(l));
        self.in_outblock && word && !name
    }

    pub(super) fn peek(&self, at: usize) -> Option<Token<'s>> {
        self.input.get(at).map(|lexeme| lexeme.token)
    }

    fn last(&self) -> Option<Token<'s>> {
        self.output.last().map(|lexeme| lexeme.token)
    }

    fn at_start(&self) -> bool {
        matches!(self.last(), None | Some(Token::Separator | Token::Doc(_)))
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

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if !self.cut_off {
            push(self.diagnostics, diagnostic);
        }
    }

    /// Whether a mistake was reported between two places.
    pub(super) fn reported(&self, code: Code, start: usize, end: usize) -> bool {
        let inside = |label: &Label| (start..end).contains(&(label.span.start as usize));
        (self.diagnostics.iter()).any(|d| d.code == code && d.labels.iter().any(inside))
    }

    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    pub(super) fn separate(&mut self, start: usize, end: usize) {
        if !self.at_start() {
            self.output.push(Lexeme {
                token: Token::Separator,
                start,
                end,
            });
        }
    }

    /// Whether the token, first on its line, begins a new statement.
    fn begins_statement(&self, at: usize) -> bool {
        let token = self.input[at].token;
        if splitting_word(token) || matches!(token, Token::Include(_)) {
            return true;
        }
        if self.last().is_some_and(continues) {
            return false;
        }
        if !self.brackets.is_empty() {
            // Inside brackets a line goes on, unless it plainly begins something new.
            return self.begins_equation(at) || self.is_experiment_word(at);
        }
        !cannot_begin(token) && !self.continues_outblock(at)
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
    fn splits_line(&self, at: usize) -> bool {
        let token = self.input[at].token;
        let splits = splitting_word(token)
            || matches!(token, Token::Include(_))
            || self.is_experiment_word(at);
        // If the statement cannot end here, the word is a mistake, which the grammar reports.
        splits && !self.at_start() && !self.must_go_on(token) && !self.closes_in_line(at)
    }

    /// What splits a line in an experiment, beside the words that always do.
    fn is_experiment_word(&self, at: usize) -> bool {
        if !self.in_experiment() {
            return false;
        }
        match self.input[at].token {
            Token::Ident(word) => experiment_word(word).is_some() && !self.continues_outblock(at),
            Token::Init => self.peek(at + 1) != Some(Token::LeftParen),
            Token::ControlBlock(_) => true,
            _ => false,
        }
    }

    /// Whether the statement cannot end before the token.
    fn must_go_on(&self, token: Token<'_>) -> bool {
        let Some((last, before)) = self.output.split_last() else {
            return false;
        };
        match last.token {
            Token::Main => matches!(token, Token::Cut | Token::Path),
            // The head of an experiment: `experiment fast for RLC`.
            Token::Experiment | Token::For => matches!(token, Token::Ident(_)),
            Token::Ident(_) if token == Token::For => before
                .last()
                .is_some_and(|lexeme| lexeme.token == Token::Experiment),
            last => continues(last) || wants_more(last),
        }
    }

    /// Whether an open bracket is closed before the end of the line.
    fn closes_in_line(&self, at: usize) -> bool {
        /// Lines are shorter; a limit keeps the time linear.
        const FAR: usize = 200;
        if self.brackets.is_empty() {
            return false;
        }
        let mut depth = 1usize;
        for lexeme in self.input[at..].iter().take(FAR) {
            match lexeme.token {
                Token::LeftParen | Token::LeftBracket => depth += 1,
                Token::RightParen | Token::RightBracket => depth -= 1,
                Token::Newline | Token::Semicolon => return false,
                _ => {}
            }
            if depth == 0 {
                return true;
            }
        }
        false
    }

    pub(super) fn supply(&mut self, token: Token<'s>, place: usize) {
        self.output.push(Lexeme {
            token,
            start: place,
            end: place,
        });
    }
}
