//! Numbers and names as text: plurals, the shortest decimals, quoted names of columns.

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
        // Without a sign, which has no meaning and differs from machine to machine.
        out.extend_from_slice(b"nan");
        return;
    }
    let size = value.abs();
    if size < 1e-5 || (1e-4..1e16).contains(&size) {
        // Three times as fast as the standard library: formatting is nearly all of the cost.
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    } else {
        // Here it is not the shortest: 0.00001 and 1e+16. Writing into a vector cannot fail.
        let _ = write!(out, "{value:?}");
    }
    if out.ends_with(b".0") {
        out.truncate(out.len() - 2);
    }
}

/// A name, in quotes where a reader would misunderstand it.
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
            // A line of the file is a row, always.
            b'\n' | b'\r' => out.push(b' '),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// The first line: Time, then the columns.
pub fn header(columns: &[&str], out: &mut Vec<u8>) {
    out.extend_from_slice(b"Time");
    for name in columns {
        out.push(b',');
        quoted(name, out);
    }
    out.push(b'\n');
}
