//! Diagnostics as text for people, by codespan-reporting.

use codespan_reporting::diagnostic as report;
use codespan_reporting::files;
use codespan_reporting::term;

use super::{Diagnostic, Diagnostics, Severity};
use crate::base::source::{FileId, SourceFile, Sources};

/// A line longer than this is not shown; the place is named instead.
const LONGEST_LINE: usize = 400;

/// How many labels of one diagnostic are shown.
const MOST_LABELS: usize = 8;

/// More diagnostics than this nobody reads.
const MOST_SHOWN: usize = 50;

/// All diagnostics, errors and warnings. Where there are too many to show, errors come before warnings.
pub fn render_all(sources: &Sources, found: &Diagnostics, color: bool) -> String {
    let mut errors = found.errors().min(MOST_SHOWN);
    let mut warnings = found.warnings().min(MOST_SHOWN - errors);
    let more = found.errors() + found.warnings() - errors - warnings;
    let mut text = String::new();
    for diagnostic in found.iter() {
        let left = match diagnostic.severity() {
            Severity::Error => &mut errors,
            Severity::Warning => &mut warnings,
        };
        if *left > 0 {
            *left -= 1;
            render(sources, diagnostic, color, &mut text);
        }
    }
    if more > 0 {
        text.push_str(&format!(
            "... and {more} more; `bgm check --format json` tells all\n\n"
        ));
    }
    text
}

struct Files<'s>(&'s Sources);

impl<'s> files::Files<'s> for Files<'s> {
    type FileId = FileId;
    type Name = &'s str;
    type Source = &'s str;

    fn name(&'s self, id: FileId) -> Result<&'s str, files::Error> {
        Ok(&self.0.file(id).name)
    }

    fn source(&'s self, id: FileId) -> Result<&'s str, files::Error> {
        Ok(&self.0.file(id).text)
    }

    fn line_index(&'s self, id: FileId, byte: usize) -> Result<usize, files::Error> {
        Ok(self.0.file(id).line_index(byte))
    }

    fn line_range(
        &'s self,
        id: FileId,
        line: usize,
    ) -> Result<std::ops::Range<usize>, files::Error> {
        let file = self.0.file(id);
        file.line_range(line).ok_or(files::Error::LineTooLarge {
            given: line,
            max: file.line_index(file.text.len()),
        })
    }
}

/// Appends one diagnostic, with its source lines, to `out`.
pub fn render(sources: &Sources, diagnostic: &Diagnostic, color: bool, out: &mut String) {
    let mut shown = match diagnostic.severity() {
        Severity::Error => report::Diagnostic::error(),
        Severity::Warning => report::Diagnostic::warning(),
    }
    .with_code(diagnostic.code.text())
    .with_message(&diagnostic.message);
    for (at, label) in diagnostic.labels.iter().enumerate() {
        let file = sources.file(label.span.file);
        let range = visible(file, label.span.range());
        let style = match at {
            0 => report::LabelStyle::Primary,
            _ => report::LabelStyle::Secondary,
        };
        if at >= MOST_LABELS {
            let more = diagnostic.labels.len() - MOST_LABELS;
            shown.notes.push(format!("and {more} more places"));
            break;
        }
        if too_long(file, &range) {
            let (line, column) = file.line_column(range.start);
            let place = format!("{}:{line}:{column}", file.name);
            shown.notes.push(format!("at {place}: {}", label.text));
            continue;
        }
        let label = report::Label::new(style, label.span.file, range).with_message(&label.text);
        shown.labels.push(label);
    }
    shown.notes.extend(diagnostic.notes.iter().cloned());
    let hints = diagnostic.hints.iter().map(|hint| format!("hint: {hint}"));
    shown.notes.extend(hints);
    let config = term::Config::default();
    let files = Files(sources);
    let written = if color {
        let mut buffer = term::termcolor::Buffer::ansi();
        term::emit_to_write_style(&mut buffer, &config, &files, &shown)
            .map(|()| out.push_str(&String::from_utf8_lossy(buffer.as_slice())))
    } else {
        term::emit_into_string(&config, &files, &shown).map(|text| out.push_str(&text))
    };
    if written.is_err() {
        // A place outside its file: the message still counts.
        out.push_str(&format!(
            "{}[{}]: {}\n",
            severity_text(diagnostic.severity()),
            diagnostic.code.text(),
            diagnostic.message
        ));
    }
}

pub fn severity_text(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// A range that lies in the file, on character boundaries, and ends on the line where it begins:
/// a label over many lines hides more than it shows.
fn visible(file: &SourceFile, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let text = &file.text;
    let mut start = range.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let mut end = range.end.clamp(start, line_end.max(start));
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

fn too_long(file: &SourceFile, range: &std::ops::Range<usize>) -> bool {
    file.line_range(file.line_index(range.start))
        .is_some_and(|line| line.len() > LONGEST_LINE)
}
