//! Diagnostics as data; the schema is in docs/json.md.

use serde::Serialize;

use super::render::severity_text;
use super::visible::escaped;
use super::{Diagnostic, Diagnostics};
use crate::base::source::{Sources, Span};

#[derive(Serialize)]
struct Report<'d> {
    version: u32,
    errors: usize,
    warnings: usize,
    diagnostics: Vec<Entry<'d>>,
}

#[derive(Serialize)]
struct Entry<'d> {
    code: &'d str,
    severity: &'d str,
    message: &'d str,
    places: Vec<Place<'d>>,
    notes: &'d [String],
    hints: &'d [String],
}

/// A place in the source as the json outputs show it.
#[derive(Debug, Serialize)]
pub struct Place<'d> {
    pub file: &'d str,
    pub line: usize,
    pub column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'d str>,
}

/// Line and column of the beginning of a span.
pub fn place(sources: &Sources, span: Span) -> Place<'_> {
    let file = sources.file(span.file);
    let (line, column) = file.line_column(span.start as usize);
    Place {
        file: &file.name,
        line,
        column,
        end_line: None,
        end_column: None,
        text: None,
    }
}

pub fn report(sources: &Sources, diagnostics: &Diagnostics) -> String {
    let report = Report {
        version: 1,
        errors: diagnostics.errors(),
        warnings: diagnostics.warnings(),
        diagnostics: diagnostics.iter().map(|d| entry(sources, d)).collect(),
    };
    // Serializing texts and numbers cannot fail.
    let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
    text.push('\n');
    escaped(&text).into_owned()
}

fn entry<'d>(sources: &'d Sources, diagnostic: &'d Diagnostic) -> Entry<'d> {
    let places = diagnostic.labels.iter().map(|label| {
        let file = sources.file(label.span.file);
        let (end_line, end_column) = file.line_column(label.span.end as usize);
        Place {
            end_line: Some(end_line),
            end_column: Some(end_column),
            text: Some(&label.text),
            ..place(sources, label.span)
        }
    });
    Entry {
        code: diagnostic.code.text(),
        severity: severity_text(diagnostic.severity()),
        message: &diagnostic.message,
        places: places.collect(),
        notes: &diagnostic.notes,
        hints: &diagnostic.hints,
    }
}
