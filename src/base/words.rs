//! Numbers and names as text: plurals, the shortest decimals, quoted names of columns, texts in quotes and in XML.

use std::io::Write;

/// `1 equation`, `18 equations`
pub fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// The shortest text that reads back as the same double.
pub fn number(value: f64, out: &mut Vec<u8>) {
    if value.is_nan() {
        // NaN is written without a sign: the sign has no meaning, and differs from machine to machine.
        out.extend_from_slice(b"nan");
        return;
    }
    let size = value.abs();
    if size < 1e-5 || (1e-4..1e16).contains(&size) {
        // This is three times as fast as the standard library, and formatting is nearly all of the cost.
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    } else {
        // The other library does not give the shortest text here: 0.00001 and 1e+16. Writing into a vector cannot fail.
        let _ = write!(out, "{value:?}");
    }
    if out.ends_with(b".0") {
        out.truncate(out.len() - 2);
    }
}

/// A name, in quotes if a reader of CSV would misunderstand it.
pub fn quoted(name: &str, out: &mut Vec<u8>) {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '\'');
    if !name.is_empty() && name.chars().all(plain) {
        out.extend_from_slice(name.as_bytes());
        return;
    }
    out.push(b'"');
    for byte in name.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\"\""),
            // Each line of the file has to be a row.
            b'\n' | b'\r' => out.push(b' '),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// A text in double quotes, with the escapes of C, which later languages share.
pub fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A text between tags or in an attribute of XML. Characters that XML forbids are left out.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

/// The text before a term of a sum.
pub fn sign(is_first: bool, negative: bool) -> &'static str {
    match (is_first, negative) {
        (true, false) => "",
        (true, true) => "-",
        (false, false) => " + ",
        (false, true) => " - ",
    }
}

/// The header: Time, then the columns.
pub fn header(columns: &[&str], out: &mut Vec<u8>) {
    out.extend_from_slice(b"Time");
    for name in columns {
        out.push(b',');
        quoted(name, out);
    }
    out.push(b'\n');
}
