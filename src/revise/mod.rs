//! Models written anew: the source text of a model, changed.
//!
//! Before: a text that compiles, and what its bond graph says of it. After: a text with another model of the same name: storages that
//! depend on others taken out ([`reduce`], McCalla 1991), or stiff and parasitic elements put in ([`augment`]). What the
//! change does not concern stays as it was written, comments and all. The new text is compiled again, and all that stays is
//! compared with what it was, number by number ([`verify`]): a change that would alter it is refused.

pub mod augment;
mod connections;
mod draft;
mod edit;
mod excerpt;
pub mod expand;
pub mod form;
mod going;
mod matrix;
mod meaning;
mod merge;
mod names;
mod observed;
mod parameters;
pub mod reduce;
mod rewrite;
mod script;
mod verify;

use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;

use crate::base::diagnostics::Diagnostics;
use crate::base::source::Sources;
use crate::compile::{LoadedFlat, NoObserver, Options, flatten_loaded};
use crate::syntax::load::{Files, Input, Loaded, load, reload};

/// Where texts are compiled. What they include is read and parsed once.
pub struct Desk<'d> {
    /// The file that the text is of; includes are looked up beside it.
    path: &'d PathBuf,
    options: &'d Options,
    files: &'d dyn Files,
    /// The first text that could be read, with all that it includes.
    loaded: RefCell<Option<Loaded>>,
}

impl fmt::Debug for Desk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())
    }
}

impl<'d> Desk<'d> {
    pub fn new(path: &'d PathBuf, options: &'d Options, files: &'d dyn Files) -> Desk<'d> {
        Desk {
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
        let trees = |said: &mut Diagnostics| self.load(text, options, said);
        flatten_loaded(trees, options, self.files, &mut NoObserver)
    }

    fn load(&self, text: &str, options: &Options, said: &mut Diagnostics) -> Loaded {
        let experiment = options.request.file();
        let mut kept = self.loaded.borrow_mut();
        if let (Some(known), None) = (&*kept, &experiment)
            && let Some(again) = reload(known, text, said)
        {
            return again;
        }
        let input = Input::Revised(self.path.clone(), text.to_string());
        let folders = &options.folders;
        let loaded = load(&input, experiment.as_deref(), folders, self.files, said);
        if said.iter().next().is_none() && experiment.is_none() {
            *kept = Some(loaded.clone());
        }
        loaded
    }
}

/// Why a text cannot be changed as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A submodel that is not declared in the body of the model by itself.
    Elsewhere(String),
    /// A model that an included file holds.
    OtherFile(String),
    /// Its connections cannot be written another way.
    Unwritable(String),
    /// Something that would go is used.
    Used(String),
    /// Something that stays would have another value.
    Changes(String),
    /// What would have to go serves others.
    Needed(String),
    /// A storage that has no parameter to be changed.
    NoParameter(String),
    /// The changed model has errors: the first of them.
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

/// Why nothing was written.
#[derive(Debug)]
pub enum Failure {
    /// The model has errors.
    Model(Sources, Diagnostics),
    /// It has no power ports.
    NoGraph(String),
    /// What was asked for cannot be had.
    Refused(String),
}
