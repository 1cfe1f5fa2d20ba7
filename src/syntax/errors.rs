//! Messages about errors of the grammar: the token that was found, and those that were expected.

use super::hints;
use super::lexer::Lexeme;
use super::token::Token;
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::{FileId, Span};

/// After this many errors the rest of a file is not parsed.
pub const MOST: usize = 100;

/// Adds a diagnostic, unless there are too many already.
pub fn push(diagnostics: &mut Vec<Diagnostic>, diagnostic: Diagnostic) {
    if diagnostics.len() <= MOST {
        diagnostics.push(diagnostic);
    }
}

/// The parser skips the statement up to its first wrong token. The expected tokens are in the
/// spelling of the grammar.
pub fn report(
    file: FileId,
    text: &str,
    statement: &[Lexeme<'_>],
    expected: &[String],
) -> Diagnostic {
    let Some((found, before)) = statement.split_last() else {
        return Diagnostic::new(Code::Syntax, "the text ends too early");
    };
    let span = |lexeme: &Lexeme<'_>| Span::new(file, lexeme.start, lexeme.end);
    if let Token::Include(_) = found.token {
        let message = format!(
            "the include {} stands inside a model",
            found.token.describe()
        );
        return Diagnostic::new(Code::IncludeInModel, message)
            .at(span(found), "includes stand outside models")
            .hint("move it above the `model`");
    }
    let expected = Expected(expected.iter().map(|text| text.trim_matches('"')).collect());
    let message = match found.token {
        Token::Separator => "the statement ends too early".to_string(),
        token => format!("{} is not expected here", token.describe()),
    };
    let mut diagnostic = Diagnostic::new(Code::Syntax, message)
        .at(span(found), format!("expected {}", expected.in_words()));
    let line_end = text[..found.start].rfind('\n').unwrap_or(0);
    let above = &before[..before.partition_point(|lexeme| lexeme.start < line_end)];
    if let Some(first) = above.first() {
        diagnostic = diagnostic.at(span(first), "the statement begins here");
    }
    diagnostic
        .hints
        .extend(hints::hint(found.token, before, above, &expected));
    diagnostic
}

/// What the grammar would have accepted.
pub struct Expected<'e>(Vec<&'e str>);

impl Expected<'_> {
    pub fn has(&self, text: &str) -> bool {
        self.0.contains(&text)
    }

    fn has_all(&self, texts: &[&str]) -> bool {
        texts.iter().all(|text| self.has(text))
    }

    /// Expected tokens are replaced by the name of what they begin, and tokens that would only
    /// continue what stands before are left out, so that a message stays short.
    fn in_words(&self) -> String {
        let mut rest = self.0.clone();
        let mut words: Vec<String> = Vec::new();
        for group in GROUPS {
            if self.has_all(group.sign) && group.sign.iter().all(|sign| rest.contains(sign)) {
                rest.retain(|text| !group.members.contains(text));
                words.extend(group.words.iter().map(|word| word.to_string()));
            }
        }
        let name = self.has("NAME");
        let lengthens = |text: &&str| matches!(*text, "[" | "SIZE[" | "." | ":") && !name;
        if rest.iter().any(|text| !lengthens(text) && *text != "(") || !words.is_empty() {
            rest.retain(|text| !lengthens(text));
        }
        // The end of the line comes last, because it helps least.
        rest.sort_by_key(|text| *text == "SEPARATOR");
        for text in rest {
            let word = match text {
                "NAME" => "a name".to_string(),
                "NUMBER" => "a number".to_string(),
                "UNIT" | "TEXT" | "DOC" | "UNKNOWN" | "->" | "error" => continue,
                "SEPARATOR" => "the end of the line".to_string(),
                "INCLUDE" => "an include".to_string(),
                "SIZE[" => "`[`".to_string(),
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
}

struct Group {
    /// The group is named if all of these are expected.
    sign: &'static [&'static str],
    /// These are not named one by one.
    members: &'static [&'static str],
    words: &'static [&'static str],
}

#[rustfmt::skip]
const GROUPS: &[Group] = &[
    Group {
        sign: &["simutime", "step"],
        members: &[
            "simutime", "start", "commupoints", "step", "plot", "method", "tolerance", "absolute",
            "outblock", "CONTROL", "init", "input", "parameter", "SEPARATOR",
        ],
        words: &["a statement of an experiment"],
    },
    Group {
        sign: &["model", "INCLUDE"],
        members: &["model", "experiment", "cmodel", "INCLUDE", "DOC", "SEPARATOR"],
        words: &["`model`", "`experiment`", "an include `@name`"],
    },
    Group {
        sign: &["cut", "connect"],
        members: &[
            "DOC", "cut", "main", "path", "terminal", "local", "parameter", "constant", "input",
            "output", "node", "junction1", "submodel", "connect", "state", "nostate", "for", "when",
            "SEPARATOR", "NAME", "NUMBER", "(", "[", "true", "false", "Time", "der", "new", "init",
            "pre", "+", "-", "not", "if",
        ],
        words: &["a declaration", "an equation", "`connect`"],
    },
    Group {
        sign: &["NAME", "NUMBER", "(", "Time"],
        members: &[
            "NAME", "NUMBER", "(", "[", "true", "false", "Time", "der", "new", "init", "pre", "+",
            "-", "not", "if",
        ],
        words: &["an expression"],
    },
    Group {
        sign: &["+", "-", "/"],
        members: &[
            "+", "-", "*", "/", "**", "<", "<=", ">", ">=", "==", "<>", "and", "or", "(",
        ],
        words: &["an operator"],
    },
    Group {
        sign: &["+", "-", "and"],
        members: &["+", "-", "and", "or"],
        words: &["an operator"],
    },
    Group {
        sign: &["NAME", "reversed"],
        members: &["NAME", "reversed", "loop", "("],
        words: &["a submodel", "a node", "a cut"],
    },
    Group { sign: &["at", "//"], members: &["at", "from"], words: &["`at`", "`from`"] },
    Group { sign: &["//"], members: &["-", "to", "//", "par"], words: &["`-`", "`//`"] },
];
