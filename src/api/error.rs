//! Errors and warnings: messages with code and place, as the command line shows them.

use std::fmt;

use super::run::Trajectory;
use crate::base::diagnostics::render::render_all;
use crate::base::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::base::source::Sources;

/// A place in a source text. Lines and columns are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: usize,
    pub column: usize,
    /// The remark at this place.
    pub text: String,
}

/// One diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The code, such as `E0301`, which `bgm explain E0301` explains. Empty if the request itself is wrong, such as a
    /// name that the model does not have.
    pub code: String,
    /// False for a warning.
    pub is_error: bool,
    pub message: String,
    /// The first is the place of the mistake; the others help to understand it.
    pub places: Vec<Place>,
    pub notes: Vec<String>,
    pub hints: Vec<String>,
}

impl Message {
    fn new(sources: &Sources, diagnostic: &Diagnostic) -> Message {
        let place = |label: &crate::base::diagnostics::Label| {
            let file = sources.file(label.span.file);
            let (line, column) = file.line_column(label.span.start as usize);
            Place {
                file: file.name.clone(),
                line,
                column,
                text: label.text.clone(),
            }
        };
        Message {
            code: diagnostic.code.text().to_string(),
            is_error: diagnostic.severity() == Severity::Error,
            message: diagnostic.message.clone(),
            places: diagnostic.labels.iter().map(place).collect(),
            notes: diagnostic.notes.clone(),
            hints: diagnostic.hints.clone(),
        }
    }

    /// Returns all diagnostics as messages, in order.
    pub(super) fn all(sources: &Sources, diagnostics: &Diagnostics) -> Vec<Message> {
        diagnostics
            .iter()
            .map(|one| Message::new(sources, one))
            .collect()
    }
}

/// Why something could not be done. Its text is what the command line would show, with the lines of the source.
#[derive(Debug)]
pub struct Error {
    messages: Vec<Message>,
    text: String,
    /// The rows of a run that failed before its end.
    trajectory: Option<Box<Trajectory>>,
}

impl Error {
    pub(super) fn new(sources: &Sources, diagnostics: &Diagnostics) -> Error {
        Error {
            messages: Message::all(sources, diagnostics),
            text: render_all(sources, diagnostics, false)
                .trim_end()
                .to_string(),
            trajectory: None,
        }
    }

    /// Makes an error for a request that is wrong although the model is not.
    pub(super) fn of_request(message: String) -> Error {
        Error {
            text: format!("error: {message}"),
            messages: vec![Message {
                code: String::new(),
                is_error: true,
                message,
                places: Vec::new(),
                notes: Vec::new(),
                hints: Vec::new(),
            }],
            trajectory: None,
        }
    }

    pub(super) fn with_rows(mut self, trajectory: Trajectory) -> Error {
        self.trajectory = Some(Box::new(trajectory));
        self
    }

    /// All messages, including warnings.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The rows up to where a run failed; `None` where nothing ran.
    pub fn trajectory(&self) -> Option<&Trajectory> {
        self.trajectory.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}
