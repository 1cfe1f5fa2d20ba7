//! Errors of the grammar in words: what was found, and what could have stood there.

use lalrpop_util::ParseError;

use super::parse::Fault;
use super::token::Token;
use crate::diagnostics::{Code, Diagnostic, nearest};
use crate::source::{FileId, Span};

pub fn report(file: FileId, text: &str, error: &ParseError<usize, Token<'_>, Fault>) -> Diagnostic {
    match error {
        ParseError::UnrecognizedToken {
            token: (start, token, end),
            expected,
        } => unexpected(file, text, *start, *token, *end, expected),
        ParseError::ExtraToken {
            token: (start, token, end),
        } => unexpected(file, text, *start, *token, *end, &[]),
        ParseError::UnrecognizedEof { location, expected } => {
            let expected = in_words(expected);
            Diagnostic::new(Code::Syntax, "the text ends too early").at(
                Span::new(file, *location, (*location).min(text.len())),
                format!("expected {expected}"),
            )
        }
        ParseError::InvalidToken { location } => Diagnostic::new(Code::Syntax, "unreadable text")
            .at(Span::new(file, *location, *location + 1), "here"),
        ParseError::User { error } => match *error {},
    }
}

fn unexpected(
    file: FileId,
    text: &str,
    start: usize,
    token: Token<'_>,
    end: usize,
    expected: &[String],
) -> Diagnostic {
    let place = Span::new(file, start, end);
    if let Token::Include(_) = token {
        let message = format!("the include {} stands inside a model", token.describe());
        return Diagnostic::new(Code::IncludeInModel, message)
            .at(place, "includes stand outside models")
            .hint("move it above the `model`");
    }
    let words = in_words(expected);
    let mut diagnostic = Diagnostic::new(
        Code::Syntax,
        format!("{} is not expected here", token.describe()),
    )
    .at(place, format!("expected {words}"));
    let line = text.get(..start).unwrap_or("").rsplit('\n').next();
    if let Some(hint) = misspelt(token, line.unwrap_or(""), expected) {
        diagnostic = diagnostic.hint(hint);
    } else if let Some(hint) = hint(token, line.unwrap_or(""), expected) {
        diagnostic = diagnostic.hint(hint);
    }
    diagnostic
}

/// A name at the start of the line that is nearly a keyword, or a keyword where a name is wanted.
fn misspelt(token: Token<'_>, line: &str, expected: &[String]) -> Option<String> {
    const WORDS: &[&str] = &[
        "model",
        "experiment",
        "cut",
        "main",
        "path",
        "terminal",
        "local",
        "parameter",
        "constant",
        "input",
        "output",
        "node",
        "junction1",
        "submodel",
        "connect",
        "when",
        "for",
    ];
    let could_be = |text: &str| expected.iter().any(|e| e.trim_matches('"') == text);
    let spelling = token.spelling();
    if could_be("NAME") && !could_be("NUMBER") && spelling.starts_with(char::is_alphabetic) {
        return Some(format!(
            "`{spelling}` is a word of the language and cannot be a name"
        ));
    }
    let line = line.trim_start();
    let name_length = |text: &str| {
        text.find(|c: char| !c.is_alphanumeric())
            .unwrap_or(text.len())
    };
    let first = match token {
        Token::Ident(name) if line.is_empty() => name,
        Token::Ident(_) | Token::Number(_) => &line[..name_length(line)],
        _ => return None,
    };
    let meant = nearest(first, WORDS.iter().copied())?;
    (!WORDS.contains(&first)).then(|| format!("did you mean `{meant}`?"))
}

/// Slips that are common enough to be named. `line` is what stands before on the line.
fn hint(token: Token<'_>, line: &str, expected: &[String]) -> Option<&'static str> {
    let could_be = |text: &str| expected.iter().any(|e| e.trim_matches('"') == text);
    match token {
        Token::Assign if (could_be("==") || could_be("then")) && !could_be("=") => {
            Some("one `=` makes an equation; equality inside an expression is `==`")
        }
        Token::EqualEqual if could_be("=") => Some("an equation is written with one `=`"),
        Token::Separator if could_be("=") && line.contains("==") => {
            Some("an equation is written with one `=`")
        }
        Token::Colon if could_be("=") => Some("an equation is written with `=` alone"),
        Token::Less
        | Token::LessEqual
        | Token::Greater
        | Token::GreaterEqual
        | Token::EqualEqual
        | Token::NotEqual => Some("relations do not chain: write `a < b and b < c`"),
        Token::If => Some("an `if` that is an operand needs brackets: `1 + (if a then b else c)`"),
        Token::Ident("endif") => Some("an `if` expression ends with its `else` part"),
        Token::Ident("elsif" | "elif") => Some("the word is `elseif`"),
        Token::Ident(_) if could_be("=") && could_be("*") => {
            Some("two names in a row: an operator or a line end is missing between them")
        }
        Token::Ident(_) if could_be(",") && !could_be("*") => {
            Some("the names of this list are separated by commas")
        }
        Token::Separator if could_be("=") => {
            Some("a statement that begins like this is an equation: `left = right`")
        }
        Token::End | Token::EndFor | Token::EndWhen => {
            Some("nothing is open that this could close")
        }
        _ => None,
    }
}

/// The tokens that an expression can begin with stand for "an expression", and so on, so that a
/// message stays short enough to read.
fn in_words(expected: &[String]) -> String {
    const EXPRESSION: &[&str] = &[
        "NAME", "NUMBER", "(", "[", "true", "false", "Time", "der", "new", "init", "pre", "+", "-",
        "not", "if",
    ];
    const OPERATORS: &[&str] = &[
        "+", "-", "*", "/", "**", "<", "<=", ">", ">=", "==", "<>", "and", "or",
    ];
    const DECLARATIONS: &[&str] = &[
        "DOC",
        "cut",
        "main",
        "path",
        "terminal",
        "local",
        "parameter",
        "constant",
        "input",
        "output",
        "node",
        "junction1",
        "submodel",
        "connect",
        "state",
        "nostate",
        "for",
        "when",
        "end",
        "endfor",
        "endwhen",
        "elsewhen",
    ];
    const ITEMS: &[&str] = &["model", "experiment", "cmodel", "INCLUDE", "DOC"];
    const EXPERIMENT: &[&str] = &[
        "simutime",
        "start",
        "commupoints",
        "step",
        "plot",
        "method",
        "tolerance",
        "absolute",
        "outblock",
        "CONTROL",
        "init",
        "input",
        "parameter",
        "end",
    ];
    let mut rest: Vec<&str> = expected.iter().map(|e| e.trim_matches('"')).collect();
    let mut words: Vec<String> = Vec::new();
    let mut take = |group: &[&str], needs: &[&str], names: &[&str], rest: &mut Vec<&str>| {
        let found = needs.iter().all(|need| rest.contains(need));
        if found {
            rest.retain(|text| !group.contains(text));
            words.extend(names.iter().map(|name| name.to_string()));
        }
        found
    };
    // Where a statement may begin it may also be empty, but nobody wants to know.
    let begins = take(
        EXPERIMENT,
        &["simutime", "step"],
        &["a statement of an experiment"],
        &mut rest,
    ) || take(
        ITEMS,
        &["model", "INCLUDE"],
        &["`model`", "`experiment`", "an include `@name`"],
        &mut rest,
    ) || (take(
        DECLARATIONS,
        &["cut", "connect"],
        &["a declaration", "`connect`"],
        &mut rest,
    ) && take(
        EXPRESSION,
        &["NAME", "NUMBER"],
        &["an equation", "`end`"],
        &mut rest,
    ));
    if begins {
        rest.retain(|&text| text != "SEPARATOR");
    }
    take(
        EXPRESSION,
        &["NAME", "NUMBER", "(", "Time"],
        &["an expression"],
        &mut rest,
    );
    take(OPERATORS, &["*", "**"], &["an operator"], &mut rest);
    take(OPERATORS, &["*", "+"], &["an operator"], &mut rest);
    for text in rest {
        let word = match text {
            "NAME" => "a name".to_string(),
            "NUMBER" => "a number".to_string(),
            "UNIT" | "TEXT" | "DOC" | "->" | "error" => continue,
            "SEPARATOR" => "the end of the line".to_string(),
            "INCLUDE" => "an include".to_string(),
            "SIZE[" => continue,
            "PATH<" => "`<`".to_string(),
            "PATH>" => "`>`".to_string(),
            "CONTROL" => "`ctblock`".to_string(),
            other => format!("`{other}`"),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    match words.split_last() {
        None => "nothing more".to_string(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}
