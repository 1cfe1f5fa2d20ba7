//! What a token means for the layout of statements: docs/language.md, "Text".

use super::token::Token;

/// Words that begin a statement even in the middle of a line.
pub fn splitting_word(token: Token<'_>) -> bool {
    let others = matches!(
        token,
        Token::Connect
            | Token::When
            | Token::ElseWhen
            | Token::EndWhen
            | Token::For
            | Token::EndFor
            | Token::End
            | Token::Experiment
    );
    others || documented(token)
}

/// Declarations that `##` lines above can document.
pub fn documented(token: Token<'_>) -> bool {
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
    )
}

/// A line that ends with one of these continues on the next line.
pub fn continues(token: Token<'_>) -> bool {
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

/// Words that are followed by something on the same line.
pub fn wants_more(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Cut
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
            | Token::State
            | Token::NoState
            | Token::Dot
            | Token::Simutime
            | Token::Start
            | Token::Commupoints
            | Token::Step
            | Token::Plot
            | Token::Method
            | Token::Tolerance
            | Token::Absolute
            | Token::Init
            | Token::OutBlock
            | Token::Dispt
    )
}

/// A line that begins with one of these continues the line before.
pub fn cannot_begin(token: Token<'_>) -> bool {
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

pub fn experiment_word(word: &str) -> Option<Token<'static>> {
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
