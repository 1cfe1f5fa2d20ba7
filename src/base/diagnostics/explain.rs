//! What the codes mean: docs/diagnostics.md, embedded.

use super::Code;

const MANUAL: &str = include_str!("../../../docs/diagnostics.md");

/// The section of the manual about a code, as text for the terminal.
pub fn explain(code: Code) -> String {
    let mut text = format!("{}: {}\n\n", code.text(), code.title());
    let Some(section) = section(code) else {
        return text;
    };
    let mut in_code = false;
    for line in section.lines() {
        match line.strip_prefix("```") {
            Some(_) => in_code = !in_code,
            None if in_code && !line.is_empty() => text.push_str(&format!("    {line}\n")),
            None => text.push_str(&format!("{line}\n")),
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The text between the heading of a code and the next heading.
pub fn section(code: Code) -> Option<&'static str> {
    let heading = format!("## {} ", code.text());
    let start = MANUAL.find(&heading)?;
    let body = &MANUAL[start..];
    let body = &body[body.find('\n')?..];
    Some(body[..body.find("\n## ").unwrap_or(body.len())].trim())
}
