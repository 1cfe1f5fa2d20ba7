//! Names and texts of Modelica.
//!
//! A name that is an identifier of Modelica and no word of it stays as it is; any other stands in single quotes (Modelica
//! 3.6, section 2.3.1): `C1.e` is 'C1.e'. Names of the flat model have letters, digits, `_`, dots and brackets. Between quotes
//! only ASCII may stand, so another letter is written as {U+03C6}: no two names become one, as no name has braces.

use crate::base::words::literal;

/// Words of the language (section 2.3.3), and predefined types, functions and variables, which a component of this name
/// would hide.
const WORDS: &str = "
    algorithm and annotation assert block break class connect connector constant constrainedby der discrete each else elseif
    elsewhen encapsulated end enumeration equation expandable extends external false final flow for function if import impure in
    initial inner input loop model not operator or outer output package parameter partial protected public pure record redeclare
    replaceable return stream then true type when while within Real Integer Boolean String StateSelect AssertionLevel
    ExternalObject Clock Connections time abs acos actualStream array asin atan atan2 backSample cardinality cat ceil change cos
    cosh cross delay diagonal div edge exp fill firstTick floor getInstanceName hold homotopy identity inStream integer interval
    linspace log log10 matrix max min mod ndims noClock noEvent ones outerProduct pre previous product promote reinit rem rooted
    sample scalar semiLinear shiftSample sign sin sinh size skew smooth spatialDistribution sqrt subSample sum superSample
    symmetric tan tanh terminal terminate ticksInState timeInState transition transpose vector zeros
";

/// The function that is written into a class with large tables.
pub const TABLE: &str = "interpolate";

/// A name as Modelica writes it.
pub fn identifier(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match plain && name != TABLE && !WORDS.split_ascii_whitespace().any(|word| word == name) {
        true => name.to_string(),
        false => quoted(name),
    }
}

/// Any text as a name in single quotes.
pub fn quoted(name: &str) -> String {
    let mut out = String::from("'");
    for c in name.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c => out.push_str(&format!("{{U+{:04X}}}", u32::from(c))),
        }
    }
    out.push('\'');
    out
}

/// A text in double quotes. Files are UTF-8, so it may contain letters beyond ASCII.
pub fn string(text: &str) -> String {
    let unseen = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    literal(&text.replace(unseen, " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_readable_and_apart() {
        let all = [
            ("x", "x"),
            ("C1.e", "'C1.e'"),
            ("x[1].y", "'x[1].y'"),
            ("time", "'time'"),
            ("when", "'when'"),
            ("_x", "'_x'"),
            ("φ", "'{U+03C6}'"),
            ("Größe", "'Gr{U+00F6}{U+00DF}e'"),
            ("a'b\\", "'a\\'b\\\\'"),
        ];
        for (name, wanted) in all {
            assert_eq!(identifier(name), wanted);
        }
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(string("a \"b\" \\ // ä\n"), "\"a \\\"b\\\" \\\\ // ä\\n\"");
    }
}
