//! Where a written number stands.
//!
//! Flat expressions are shared and know no places, so a number is looked for in the text of its equation.

use crate::base::source::{Sources, Span};

/// The place of a number in the text of a statement; the whole statement if it is not there.
pub fn place(sources: &Sources, span: Span, value: f64) -> Span {
    let text = sources.text(span);
    let mut at = 0;
    let mut inside = 0;
    while at < text.len() {
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            break;
        };
        if first.is_alphabetic() || first == '_' {
            at += rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            continue;
        }
        let length = number_length(rest);
        if length > 0 {
            let found: Option<f64> = rest[..length].parse().ok();
            if inside == 0 && found == Some(value) {
                let start = span.start as usize + at;
                return Span::new(span.file, start, start + length);
            }
            at += length;
            continue;
        }
        // Indices are no values.
        match first {
            '[' => inside += 1,
            ']' => inside -= 1,
            _ => {}
        }
        at += first.len_utf8();
    }
    span
}

fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|c| c.is_ascii_digit())
            .count()
    };
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') && (length > 0 || digits(1) > 0) {
        length += 1 + digits(length + 1);
    }
    if length > 0 && matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}
