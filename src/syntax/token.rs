//! The tokens of the language.

use logos::{Lexer, Logos};

/// What went wrong inside a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LexError {
    #[default]
    UnknownCharacter,
    UnclosedComment,
    UnclosedText,
    UnclosedUnit,
    UnclosedControlBlock,
}

/// A token as the lexer sees it, with line ends, documentation and the words of experiments;
/// [`crate::syntax::layout`] decides which of these the grammar gets to see.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(error = LexError)]
#[logos(skip r"[ \t\r\f\u{feff}]+")]
pub enum Token<'s> {
    #[token("\n")]
    Newline,
    /// Between statements; made by the layout pass.
    Separator,
    /// A character without a meaning, reported by the lexer.
    Unknown,
    #[regex(r"##[^\n]*", allow_greedy = true)]
    Doc(&'s str),
    #[regex(r"#", line_comment)]
    #[token("{", block_comment)]
    Comment,

    #[regex(r"\p{L}[\p{L}\p{N}_]*")]
    Ident(&'s str),
    #[regex(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")]
    Number(&'s str),
    #[token("'", unit)]
    Unit(&'s str),
    #[token("\"", text)]
    Text(&'s str),
    #[regex(r"@[^ \t\r\n;{#@]*")]
    Include(&'s str),

    #[token("model")]
    Model,
    #[token("type")]
    Type,
    #[token("class")]
    Class,
    #[token("cut")]
    Cut,
    #[token("main")]
    Main,
    #[token("path")]
    Path,
    #[token("terminal")]
    Terminal,
    #[token("local")]
    Local,
    #[token("parameter")]
    Parameter,
    #[token("constant")]
    Constant,
    #[token("input")]
    Input,
    #[token("output")]
    Output,
    #[token("node")]
    Node,
    #[token("junction1")]
    Junction1,
    #[token("submodel")]
    Submodel,
    #[token("connect")]
    Connect,
    #[token("at")]
    At,
    #[token("from")]
    From,
    #[token("to")]
    To,
    #[token("par")]
    Par,
    #[token("loop")]
    Loop,
    #[token("reversed")]
    Reversed,
    #[token("end")]
    End,
    #[token("if")]
    If,
    #[token("then")]
    Then,
    #[token("elseif")]
    ElseIf,
    #[token("else")]
    Else,
    #[token("when")]
    When,
    #[token("elsewhen")]
    ElseWhen,
    #[token("endwhen")]
    EndWhen,
    #[token("for")]
    For,
    #[token("in")]
    In,
    #[token("do")]
    Do,
    #[token("endfor")]
    EndFor,
    #[token("and")]
    And,
    #[token("or")]
    Or,
    #[token("not")]
    Not,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("experiment")]
    Experiment,
    #[token("der")]
    Der,
    #[token("new")]
    New,
    #[token("init")]
    Init,
    #[token("pre")]
    Pre,
    #[token("Time")]
    Time,

    #[token("(")]
    LeftParen,
    #[token(")")]
    RightParen,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token(".")]
    Dot,
    #[token("=")]
    Assign,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("//")]
    DoubleSlash,
    #[token("**")]
    #[token("^")]
    Power,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token("==")]
    EqualEqual,
    #[token("<>")]
    NotEqual,
    #[token("->")]
    Arrow,

    // Made by the layout pass from names that are words only where they stand.
    /// `[` that opens the size of an array of cuts.
    SizeBracket,
    /// `<` and `>` of a path.
    LeftAngle,
    RightAngle,
    /// `ic` before a name.
    Ic,
    /// `state`, `nostate` at the start of a statement.
    State,
    NoState,
    /// `cmodel`, and the words of experiments inside them.
    CModel,
    Simutime,
    Start,
    Commupoints,
    Step,
    Plot,
    Method,
    Tolerance,
    Absolute,
    OutBlock,
    Dispt,
    OutEnd,
    /// `ctblock ... ctend`, kept word for word.
    #[token("ctblock", control_block)]
    ControlBlock(&'s str),
}

fn line_comment<'s>(lexer: &mut Lexer<'s, Token<'s>>) -> logos::Skip {
    let rest = lexer.remainder();
    lexer.bump(rest.find('\n').unwrap_or(rest.len()));
    logos::Skip
}

/// Comments nest; line ends inside do not count.
fn block_comment<'s>(lexer: &mut Lexer<'s, Token<'s>>) -> logos::FilterResult<(), LexError> {
    let mut depth = 1usize;
    for (at, byte) in lexer.remainder().bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            lexer.bump(at + 1);
            return logos::FilterResult::Skip;
        }
    }
    // The error stands at the opening bracket; all that follows is comment.
    lexer.bump(lexer.remainder().len());
    logos::FilterResult::Error(LexError::UnclosedComment)
}

fn quoted<'s>(
    lexer: &mut Lexer<'s, Token<'s>>,
    quote: char,
    error: LexError,
) -> Result<&'s str, LexError> {
    let rest = lexer.remainder();
    match rest.find([quote, '\n']) {
        Some(at) if rest[at..].starts_with(quote) => {
            lexer.bump(at + 1);
            Ok(&rest[..at])
        }
        found => {
            // The rest of the line is skipped, so that the next line is read as if the text had
            // been closed.
            lexer.bump(found.unwrap_or(rest.len()));
            Err(error)
        }
    }
}

fn unit<'s>(lexer: &mut Lexer<'s, Token<'s>>) -> Result<&'s str, LexError> {
    quoted(lexer, '\'', LexError::UnclosedUnit)
}

fn text<'s>(lexer: &mut Lexer<'s, Token<'s>>) -> Result<&'s str, LexError> {
    quoted(lexer, '"', LexError::UnclosedText)
}

/// Word for word up to `ctend`; `ctending` does not end it.
fn control_block<'s>(lexer: &mut Lexer<'s, Token<'s>>) -> Result<&'s str, LexError> {
    const END: &str = "ctend";
    let rest = lexer.remainder();
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    let found = rest.match_indices(END).find(|&(at, _)| {
        !rest[..at].ends_with(in_name) && !rest[at + END.len()..].starts_with(in_name)
    });
    let Some((at, _)) = found else {
        lexer.bump(rest.len());
        return Err(LexError::UnclosedControlBlock);
    };
    lexer.bump(at + END.len());
    Ok(&rest[..at])
}

impl Token<'_> {
    /// How a token is called in a message.
    pub fn describe(&self) -> String {
        match self {
            Token::Ident(name) => format!("the name `{}`", shorten(name)),
            Token::Number(text) => format!("the number `{}`", shorten(text)),
            Token::Unit(_) => "a unit".into(),
            Token::Text(_) => "a description".into(),
            Token::Include(text) => format!("`{}`", shorten(text)),
            Token::Separator | Token::Newline => "the end of the line".into(),
            Token::Doc(_) => "a documentation line".into(),
            Token::Unknown => "an unknown character".into(),
            Token::ControlBlock(_) => "`ctblock`".into(),
            other => format!("`{}`", other.spelling()),
        }
    }

    /// The text of a token that has only one.
    pub fn spelling(&self) -> &'static str {
        use Token::*;
        match self {
            Model => "model",
            Type => "type",
            Class => "class",
            Cut => "cut",
            Main => "main",
            Path => "path",
            Terminal => "terminal",
            Local => "local",
            Parameter => "parameter",
            Constant => "constant",
            Input => "input",
            Output => "output",
            Node => "node",
            Junction1 => "junction1",
            Submodel => "submodel",
            Connect => "connect",
            At => "at",
            From => "from",
            To => "to",
            Par => "par",
            Loop => "loop",
            Reversed => "reversed",
            End => "end",
            If => "if",
            Then => "then",
            ElseIf => "elseif",
            Else => "else",
            When => "when",
            ElseWhen => "elsewhen",
            EndWhen => "endwhen",
            For => "for",
            In => "in",
            Do => "do",
            EndFor => "endfor",
            And => "and",
            Or => "or",
            Not => "not",
            True => "true",
            False => "false",
            Experiment => "experiment",
            Der => "der",
            New => "new",
            Init => "init",
            Pre => "pre",
            Time => "Time",
            LeftParen => "(",
            RightParen => ")",
            LeftBracket | SizeBracket => "[",
            RightBracket => "]",
            Comma => ",",
            Semicolon => ";",
            Colon => ":",
            Dot => ".",
            Assign => "=",
            Plus => "+",
            Minus => "-",
            Star => "*",
            Slash => "/",
            DoubleSlash => "//",
            Power => "**",
            Less | LeftAngle => "<",
            LessEqual => "<=",
            Greater | RightAngle => ">",
            GreaterEqual => ">=",
            EqualEqual => "==",
            NotEqual => "<>",
            Arrow => "->",
            Ic => "ic",
            State => "state",
            NoState => "nostate",
            CModel => "cmodel",
            Simutime => "simutime",
            Start => "start",
            Commupoints => "commupoints",
            Step => "step",
            Plot => "plot",
            Method => "method",
            Tolerance => "tolerance",
            Absolute => "absolute",
            OutBlock => "outblock",
            Dispt => "dispt",
            OutEnd => "outend",
            Newline | Separator | Unknown | Doc(_) | Comment | Ident(_) | Number(_) | Unit(_)
            | Text(_) | Include(_) | ControlBlock(_) => "",
        }
    }
}

/// A text short enough for a message.
pub fn shorten(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        None => text.to_string(),
        Some((at, _)) => format!("{}...", &text[..at]),
    }
}
