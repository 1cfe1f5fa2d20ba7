//! Changes of the source text of a model.
//!
//! Before: a text that compiles, and the analysis of its bond graph. After: a text with a changed model of the same
//! name: dependent storages are removed ([`reduce`], McCalla 1991), or stiff and parasitic elements are added
//! ([`augment`]). Other parts of the text stay as written, with their comments. The new text is compiled, and the
//! remaining variables are compared with the old ones, number by number ([`verify`]): a change that would alter them
//! is refused.

pub mod augment;
mod connections;
mod draft;
mod edit;
mod excerpt;
pub mod expand;
pub mod form;
mod matrix;
mod merge;
mod name_uses;
mod names;
mod parameters;
pub mod reduce;
mod removed;
mod rewrite;
mod script;
mod variable_map;
mod verify;

use std::fmt;
use std::path::PathBuf;

use crate::base::diagnostics::Diagnostics;
use crate::base::source::Sources;
use crate::compile::{Compiled, Options, compile};
use crate::syntax::load::{Files, Input};

/// The file, options and includes with which changed texts are compiled.
#[derive(Clone, Copy)]
pub struct RevisionContext<'d> {
    /// The file of the text; includes are searched beside it.
    pub path: &'d PathBuf,
    pub options: &'d Options,
    pub files: &'d dyn Files,
}

impl fmt::Debug for RevisionContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())
    }
}

impl RevisionContext<'_> {
    pub fn compile(&self, text: &str) -> Compiled {
        let input = Input::Revised(self.path.clone(), text.to_string());
        compile(&input, self.options, self.files)
    }

    /// Compiles with the parameters, start values and inputs of an experiment.
    pub fn compile_with(&self, text: &str, experiment: &str) -> Compiled {
        let input = Input::Revised(self.path.clone(), text.to_string());
        let mut options = self.options.clone();
        options.request.experiment = Some(experiment.to_string());
        compile(&input, &options, self.files)
    }
}

/// Why one change of a text is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The submodel is not declared by itself in the body of the model.
    Elsewhere(String),
    /// The model is in an included file.
    OtherFile(String),
    /// The connections of the submodel cannot be rewritten.
    Unwritable(String),
    /// A variable that would be removed is used.
    Used(String),
    /// A remaining variable would have another value.
    Changes(String),
    /// The named node would have to be removed too, but other parts need it.
    Needed(String),
    /// The storage has no parameter that can be set.
    NoParameter(String),
    /// The changed model has errors; this is the first message.
    Broken(String),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Elsewhere(name) => write!(
                f,
                "`{name}` is not a submodel of its own in the model's text"
            ),
            Obstacle::OtherFile(name) => write!(f, "the model `{name}` stands in another file"),
            Obstacle::Unwritable(name) => {
                write!(
                    f,
                    "the connections of `{name}` cannot be written without it"
                )
            }
            Obstacle::Used(name) => write!(f, "`{name}` is used, and would be gone"),
            Obstacle::Changes(name) => write!(f, "`{name}` would have another value"),
            Obstacle::Needed(name) => write!(f, "`{name}` would have to go with it"),
            Obstacle::NoParameter(name) => {
                write!(f, "`{name}` has no parameter that could take it over")
            }
            Obstacle::Broken(message) => write!(f, "without it there is an error: {message}"),
        }
    }
}

/// Why no text was written.
#[derive(Debug)]
pub enum Failure {
    /// The model has errors.
    Model(Sources, Diagnostics),
    /// The model has no power ports.
    NoGraph(String),
    /// The request cannot be fulfilled.
    Refused(String),
}
