//! The stages of a compilation, in order.

use std::path::PathBuf;

use crate::diagnostics::Diagnostics;
use crate::flat::Flat;
use crate::load::{Files, Input, load};
use crate::model::{self, Limits};
use crate::source::Sources;

/// What a compilation is asked to do.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The model to compile; the last `model` of the file if there is none.
    pub model: Option<String>,
    /// Where includes are looked for, after the folder of the including file.
    pub folders: Vec<PathBuf>,
    pub limits: Limits,
}

/// What came of it: a model unless there were errors, and all that is to be said.
#[derive(Debug)]
pub struct Compiled {
    pub sources: Sources,
    pub flat: Option<Flat>,
    pub diagnostics: Diagnostics,
}

/// From text to the flat model.
pub fn compile(input: &Input, options: &Options, files: &dyn Files) -> Compiled {
    let mut diagnostics = Diagnostics::default();
    let loaded = load(input, &options.folders, files, &mut diagnostics);
    let classes = model::elaborate(&loaded, &mut diagnostics);
    let chosen = model::choose(
        &loaded,
        &classes.types,
        options.model.as_deref(),
        &mut diagnostics,
    );
    // Names are checked in all types first; instances are made of sound types only.
    let flat = chosen
        .filter(|_| !diagnostics.has_errors())
        .and_then(|chosen| {
            let names = loaded.interner;
            model::flatten(names, &classes, chosen, options.limits, &mut diagnostics)
        });
    Compiled {
        sources: loaded.sources,
        flat: flat.filter(|_| !diagnostics.has_errors()),
        diagnostics,
    }
}
