//! Numbers and comments as all classic languages write them.

/// A number that reads as a real: `100.0`, `1.5E-3`.
pub fn real(value: f64) -> String {
    let text = format!("{value:?}").to_uppercase();
    match text.contains(['.', 'E']) {
        true => match text.split_once('E') {
            Some((digits, power)) if !digits.contains('.') => format!("{digits}.0E{power}"),
            _ => text,
        },
        false => format!("{text}.0"),
    }
}

/// A comment: one line of ASCII characters.
pub fn comment(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            c if c.is_ascii_graphic() || c == ' ' => c,
            _ => '?',
        })
        .collect()
}
