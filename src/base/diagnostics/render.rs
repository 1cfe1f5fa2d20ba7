//! Diagnostics as text for people, by codespan-reporting. Characters of a model that a terminal would obey are made
//! visible: see [`super::visible`].

use std::borrow::Cow;
use std::cell::OnceCell;

use codespan_reporting::diagnostic as report;
use codespan_reporting::files;
use codespan_reporting::term;

use super::visible::{Shown, has_hidden, visible, visible_name};
use super::{Diagnostic, Diagnostics, Severity};
use crate::base::source::{FileId, SourceFile, Sources};

/// A longer line is not shown; its place is named instead.
const LONGEST_LINE: usize = 400;

/// The most labels of one diagnostic that are shown.
const MOST_LABELS: usize = 8;

/// The most diagnostics that are shown.
const MOST_SHOWN: usize = 50;

/// All diagnostics, errors and warnings. If there are too many to show, errors come first.
pub fn render_all(sources: &Sources, found: &Diagnostics, color: bool) -> String {
    let mut errors = found.errors().min(MOST_SHOWN);
    let mut warnings = found.warnings().min(MOST_SHOWN - errors);
    let more = found.errors() + found.warnings() - errors - warnings;
    let mut text = String::new();
    let files = Files::new(sources);
    for diagnostic in found.iter() {
        let left = match diagnostic.severity() {
            Severity::Error => &mut errors,
            Severity::Warning => &mut warnings,
        };
        if *left > 0 {
            *left -= 1;
            render_one(&files, diagnostic, color, &mut text);
        }
    }
    if more > 0 {
        text.push_str(&format!(
            "... and {more} more; `bgm check --format json` tells all\n\n"
        ));
    }
    text
}

/// The sources as they are shown. A text is copied only if it differs from the source.
struct Files<'s> {
    sources: &'s Sources,
    shown: Vec<OnceCell<Option<Shown>>>,
}

impl<'s> Files<'s> {
    fn new(sources: &'s Sources) -> Files<'s> {
        Files {
            sources,
            shown: sources.ids().map(|_| OnceCell::new()).collect(),
        }
    }

    /// `None` if nothing is replaced.
    fn shown(&self, id: FileId) -> Option<&Shown> {
        let make = || {
            let text = &self.sources.file(id).text;
            has_hidden(text).then(|| Shown::new(text))
        };
        self.shown[id.0 as usize].get_or_init(make).as_ref()
    }

    /// The range of the shown text that a range of the source has become.
    fn range(&self, id: FileId, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
        match self.shown(id) {
            Some(shown) => shown.place(range.start)..shown.place(range.end),
            None => range,
        }
    }
}

impl<'s> files::Files<'s> for Files<'s> {
    type FileId = FileId;
    type Name = Cow<'s, str>;
    type Source = &'s str;

    fn name(&'s self, id: FileId) -> Result<Cow<'s, str>, files::Error> {
        Ok(visible_name(&self.sources.file(id).name))
    }

    fn source(&'s self, id: FileId) -> Result<&'s str, files::Error> {
        Ok(match self.shown(id) {
            Some(shown) => &shown.text,
            None => &self.sources.file(id).text,
        })
    }

    fn line_index(&'s self, id: FileId, byte: usize) -> Result<usize, files::Error> {
        Ok(match self.shown(id) {
            Some(shown) => shown.line_index(byte),
            None => self.sources.file(id).line_index(byte),
        })
    }

    fn line_range(
        &'s self,
        id: FileId,
        line: usize,
    ) -> Result<std::ops::Range<usize>, files::Error> {
        let file = self.sources.file(id);
        let range = match self.shown(id) {
            Some(shown) => shown.line_range(line),
            None => file.line_range(line),
        };
        range.ok_or_else(|| files::Error::LineTooLarge {
            given: line,
            max: file.line_index(file.text.len()),
        })
    }
}

/// Appends one diagnostic, with its source lines, to `out`.
pub fn render(sources: &Sources, diagnostic: &Diagnostic, color: bool, out: &mut String) {
    render_one(&Files::new(sources), diagnostic, color, out);
}

fn render_one(files: &Files<'_>, diagnostic: &Diagnostic, color: bool, out: &mut String) {
    let sources = files.sources;
    let mut shown = match diagnostic.severity() {
        Severity::Error => report::Diagnostic::error(),
        Severity::Warning => report::Diagnostic::warning(),
    }
    .with_code(diagnostic.code.text())
    .with_message(visible(&diagnostic.message));
    for (at, label) in diagnostic.labels.iter().enumerate() {
        let file = sources.file(label.span.file);
        let range = on_its_line(file, label.span.range());
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
            let place = format!("{}:{line}:{column}", visible_name(&file.name));
            shown
                .notes
                .push(format!("at {place}: {}", visible(&label.text)));
            continue;
        }
        let range = files.range(label.span.file, range);
        let label =
            report::Label::new(style, label.span.file, range).with_message(visible(&label.text));
        shown.labels.push(label);
    }
    let notes = diagnostic.notes.iter();
    shown
        .notes
        .extend(notes.map(|note| visible(note).into_owned()));
    let hints = diagnostic.hints.iter();
    let hints = hints.map(|hint| format!("hint: {}", visible(hint)));
    shown.notes.extend(hints);
    let config = term::Config::default();
    let written = if color {
        let mut buffer = term::termcolor::Buffer::ansi();
        term::emit_to_write_style(&mut buffer, &config, files, &shown)
            .map(|()| out.push_str(&String::from_utf8_lossy(buffer.as_slice())))
    } else {
        term::emit_into_string(&config, files, &shown).map(|text| out.push_str(&text))
    };
    if written.is_err() {
        // The place is outside of its file, so only the message is shown.
        out.push_str(&format!(
            "{}[{}]: {}\n",
            severity_text(diagnostic.severity()),
            diagnostic.code.text(),
            visible(&diagnostic.message)
        ));
    }
}

pub fn severity_text(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// Restricts a range to the file, to boundaries of characters and to its first line: a label over many lines hides more
/// than it shows.
fn on_its_line(file: &SourceFile, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
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
