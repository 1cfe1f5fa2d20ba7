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

use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;

use crate::base::diagnostics::Diagnostics;
use crate::base::source::Sources;
use crate::compile::{LoadedFlat, NoObserver, Options, flatten_loaded};
use crate::syntax::load::{Files, Input, Loaded, load, reload};

/// Where texts are compiled. What they include is read and parsed once.
pub struct RevisionContext<'d> {
    /// The file that the text is of; includes are looked up beside it.
    path: &'d PathBuf,
    options: &'d Options,
    files: &'d dyn Files,
    /// The first text that could be read, with all that it includes.
    loaded: RefCell<Option<Loaded>>,
}

impl fmt::Debug for RevisionContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())
    }
}

impl<'d> RevisionContext<'d> {
    pub fn new(
        path: &'d PathBuf,
        options: &'d Options,
        files: &'d dyn Files,
    ) -> RevisionContext<'d> {
        RevisionContext {
            path,
            options,
            files,
            loaded: RefCell::new(None),
        }
    }

    pub fn compile(&self, text: &str) -> LoadedFlat {
        self.compiled(text, self.options)
    }

    /// With the parameters, start values and inputs of an experiment.
    pub fn compile_with(&self, text: &str, experiment: &str) -> LoadedFlat {
        let mut options = self.options.clone();
        options.request.experiment = Some(experiment.to_string());
        self.compiled(text, &options)
    }

    fn compiled(&self, text: &str, options: &Options) -> LoadedFlat {
        let trees = |diagnostics: &mut Diagnostics| self.load(text, options, diagnostics);
        flatten_loaded(trees, options, self.files, &mut NoObserver)
    }

    fn load(&self, text: &str, options: &Options, diagnostics: &mut Diagnostics) -> Loaded {
        let experiment = options.request.file();
        let mut kept = self.loaded.borrow_mut();
        if let (Some(known), None) = (&*kept, &experiment)
            && let Some(again) = reload(known, text, diagnostics)
        {
            return again;
        }
        let input = Input::Revised(self.path.clone(), text.to_string());
        let folders = &options.folders;
        let loaded = load(
            &input,
            experiment.as_deref(),
            folders,
            self.files,
            diagnostics,
        );
        if diagnostics.iter().next().is_none() && experiment.is_none() {
            *kept = Some(loaded.clone());
        }
        loaded
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
