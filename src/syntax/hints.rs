//! Hints for common mistakes.

use super::errors::Expected;
use super::lexer::Lexeme;
use super::token::Token;
use super::words::continues;
use crate::base::diagnostics::nearest;
use crate::expr::Function;

/// Finds a hint for an unexpected token, from the tokens before it in its statement.
pub fn hint(
    found: Token<'_>,
    before: &[Lexeme<'_>],
    above: &[Lexeme<'_>],
    expected: &Expected<'_>,
) -> Option<String> {
    let first = before.first().map(|lexeme| lexeme.token);
    let last = before.last().map(|lexeme| lexeme.token);
    let operand = expected.has("NUMBER") && expected.has("+");
    let behind_operand = expected.has("+") && !operand;
    let text = match found {
        Token::Ident("endif") => "an `if` expression ends with its `else` part",
        Token::Ident("elsif" | "elif") => "the word is `elseif`",
        Token::Ident(name) if expected.has("simutime") => {
            return did_you_mean(name, EXPERIMENT_WORDS);
        }
        Token::End | Token::EndFor | Token::EndWhen | Token::ElseWhen if before.is_empty() => {
            "nothing is open that this could close"
        }
        Token::Ident(name) if expected.has("INCLUDE") => {
            let outside = "statements stand between `model NAME` and `end`".to_string();
            return did_you_mean(name, WORDS).or(Some(outside));
        }
        _ if expected.has("INCLUDE") => "statements stand between `model NAME` and `end`",
        Token::Ident(_) | Token::LeftParen
            if first == Some(Token::Model) && expected.has("SEPARATOR") =>
        {
            "what a model inherits stands before its name: `model class (BASE) NAME`"
        }
        Token::Assign => return assign(before, above, expected),
        Token::EqualEqual if expected.has("=") => "an equation is written with one `=`",
        Token::Less
        | Token::LessEqual
        | Token::Greater
        | Token::GreaterEqual
        | Token::EqualEqual
        | Token::NotEqual
            if behind_operand =>
        {
            "relations do not chain: write `a < b and b < c`"
        }
        Token::If if operand => {
            "an `if` that is an operand needs brackets: `1 + (if a then b else c)`"
        }
        Token::Not if operand => "a `not` that is an operand needs brackets: `a == (not b)`",
        Token::DoubleSlash if behind_operand => "a comment is written `{ ... }` or `# ...`",
        Token::Colon if expected.has("=") => "an equation is written `left = right`",
        Token::Ident(_) if behind_operand && is_function(last) => {
            "the arguments of a function stand in brackets: `sin(x)`"
        }
        Token::Ident(_) if matches!(last, Some(Token::Der | Token::New | Token::Pre)) => {
            "the variable stands in brackets: `der(x)`"
        }
        Token::Ident(_) | Token::Number(_) if behind_operand => {
            let missing = "an operator or a line end is missing before it".to_string();
            return match before {
                // The first of two names may be a misspelt word: `submdoel (R) R1`.
                [
                    Lexeme {
                        token: Token::Ident(name),
                        ..
                    },
                    ..,
                ] if !has(before, Token::Assign) => did_you_mean(name, WORDS).or(Some(missing)),
                _ => expected.has("SEPARATOR").then_some(missing),
            };
        }
        Token::Ident(_)
            if expected.has(",") && expected.has("SEPARATOR") && first != Some(Token::Connect) =>
        {
            "the names of this list are separated by commas"
        }
        Token::RightParen | Token::RightBracket if expected.has("SEPARATOR") => {
            "no bracket is open that this could close"
        }
        Token::Separator if expected.has("else") => "every `if` needs an `else`",
        Token::Separator if expected.has("=") && begins_expression(first) => {
            match has(before, Token::EqualEqual) {
                true => "an equation is written with one `=`",
                false => "a statement that begins like this is an equation: `left = right`",
            }
        }
        token if expected.has("NAME") && is_word(token) => {
            return Some(format!(
                "`{}` is a word of the language, not a name",
                token.spelling()
            ));
        }
        _ => return None,
    };
    Some(text.to_string())
}

fn assign(before: &[Lexeme<'_>], above: &[Lexeme<'_>], expected: &Expected<'_>) -> Option<String> {
    let text = if expected.has("else") {
        "`if` is an expression, not a statement: `x = if a then b else c`"
    } else if expected.has("in") {
        "write `for i in 1 to n do`"
    } else if expected.has("at") {
        "connections are written `connect a at b` or `connect a - b`"
    } else if has(before, Token::Assign) && expected.has("SEPARATOR") {
        // `x = a +` and on the next line `y = b`.
        let last = above.last().map(|lexeme| lexeme.token);
        if let Some(operator) = last.filter(|&token| continues(token)) {
            return Some(format!(
                "an equation has one `=`, and the line above goes on because it ends with `{}`",
                operator.spelling()
            ));
        }
        "an equation has one `=`; equality inside an expression is `==`"
    } else if expected.has("==") || (expected.has("then") && !has(before, Token::EqualEqual)) {
        "one `=` makes an equation; equality inside an expression is `==`"
    } else {
        return None;
    };
    Some(text.to_string())
}

fn has(tokens: &[Lexeme<'_>], token: Token<'_>) -> bool {
    tokens.iter().any(|lexeme| lexeme.token == token)
}

fn is_function(token: Option<Token<'_>>) -> bool {
    matches!(token, Some(Token::Ident(name)) if Function::from_name(name).is_some())
}

fn is_word(token: Token<'_>) -> bool {
    token
        .spelling()
        .starts_with(|c: char| c.is_ascii_alphabetic())
}

fn begins_expression(token: Option<Token<'_>>) -> bool {
    matches!(
        token,
        Some(
            Token::Ident(_)
                | Token::Number(_)
                | Token::LeftParen
                | Token::Minus
                | Token::Der
                | Token::New
                | Token::Init
        )
    )
}

/// The words that a statement of a model can begin with.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "model", "experiment", "cut", "main", "path", "terminal", "local", "parameter", "constant",
    "input", "output", "node", "junction1", "submodel", "connect", "when", "elsewhen", "endwhen",
    "for", "endfor", "end", "state", "nostate",
];

#[rustfmt::skip]
const EXPERIMENT_WORDS: &[&str] = &[
    "simutime", "start", "commupoints", "step", "input", "parameter", "init", "plot", "method",
    "tolerance", "absolute", "end",
];

fn did_you_mean(name: &str, words: &[&str]) -> Option<String> {
    let word = nearest(name, words.iter().copied())?;
    Some(format!("did you mean `{word}`?"))
}
