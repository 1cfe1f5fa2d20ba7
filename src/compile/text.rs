//! From text to the flat model: files are loaded, classes made, one model flattened, its experiment put in.

use std::path::PathBuf;
use std::sync::Arc;

use super::watch::{Product, Stage, Unwatched, Watch, done};
use super::{Aliases, solved};
use crate::base::diagnostics::Diagnostics;
use crate::base::flaw::hold;
use crate::base::source::Sources;
use crate::experiment::{Bench, CommandLine, Experiment, Request};
use crate::experiment::{missing_models, model_of, models_of};
use crate::flat::Flat;
use crate::model::{self, Limits};
use crate::passes::signs::reference::reference;
use crate::syntax::load::{Files, Input, Loaded, load};

/// What a compilation is asked to do.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The model to compile; the last `model` of the file if there is none.
    pub model: Option<String>,
    /// Where includes are looked for, after the folder of the including file.
    pub folders: Vec<PathBuf>,
    /// The experiment, and what else the command line says; inputs come from outside if there is nothing.
    pub request: Request,
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
    compile_with(input, options, files, &mut Unwatched)
}

/// The same with somebody who looks on.
pub fn compile_with(
    input: &Input,
    options: &Options,
    files: &dyn Files,
    watch: &mut dyn Watch,
) -> Compiled {
    let load = |said: &mut Diagnostics| loaded(input, options, files, said);
    compile_loaded(load, options, files, watch)
}

/// The same of trees that are there already, or are made another way.
pub fn compile_loaded(
    load: impl FnOnce(&mut Diagnostics) -> Loaded,
    options: &Options,
    files: &dyn Files,
    watch: &mut dyn Watch,
) -> Compiled {
    let mut flat = None;
    let keep = |model, _| flat = Some(model);
    let (sources, diagnostics) = stages(load, options, files, Which::Chosen, watch, keep);
    Compiled {
        sources,
        flat: flat.filter(|_| !diagnostics.has_errors()),
        diagnostics,
    }
}

/// A model that is to be simulated.
#[derive(Debug)]
pub struct Prepared {
    pub sources: Sources,
    /// The flat model with the experiment in it, and what of the experiment is left to do.
    pub model: Option<(Flat, Experiment)>,
    pub diagnostics: Diagnostics,
}

/// From text to the flat model of an experiment: the one asked for, else the model's own, else the only one; none is
/// fine.
pub fn prepare(input: &Input, options: &Options, files: &dyn Files) -> Prepared {
    prepare_with(input, options, files, &mut Unwatched)
}

/// The same with somebody who looks on.
pub fn prepare_with(
    input: &Input,
    options: &Options,
    files: &dyn Files,
    watch: &mut dyn Watch,
) -> Prepared {
    let mut model = None;
    let keep = |flat: Flat, experiment: Experiment| model = Some((flat, experiment));
    let load = |said: &mut Diagnostics| loaded(input, options, files, said);
    let (sources, diagnostics) = stages(load, options, files, Which::Simulated, watch, keep);
    Prepared {
        sources,
        model: model.filter(|_| !diagnostics.has_errors()),
        diagnostics,
    }
}

/// Compiles every model of the file, or the one asked for, one after the other, as far as [`solved`] does, and finds what that
/// finds; `visit` sees each that could be flattened. A model that others of the file contain or
/// inherit may have terminals that these set: it is checked as a part of them. So are all experiments for these models.
pub fn check(
    input: &Input,
    options: &Options,
    files: &dyn Files,
    mut visit: impl FnMut(Flat),
) -> (Sources, Diagnostics) {
    let visit = |flat, _| visit(flat);
    let load = |said: &mut Diagnostics| loaded(input, options, files, said);
    stages(load, options, files, Which::All, &mut Unwatched, visit)
}

fn loaded(
    input: &Input,
    options: &Options,
    files: &dyn Files,
    diagnostics: &mut Diagnostics,
) -> Loaded {
    let experiment = options.request.file();
    load(
        input,
        experiment.as_deref(),
        &options.folders,
        files,
        diagnostics,
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Chosen,
    /// The same with an experiment, even if none is named.
    Simulated,
    All,
}

fn stages(
    load: impl FnOnce(&mut Diagnostics) -> Loaded,
    options: &Options,
    files: &dyn Files,
    which: Which,
    watch: &mut dyn Watch,
    mut visit: impl FnMut(Flat, Experiment),
) -> (Sources, Diagnostics) {
    watch.before(Stage::Tree);
    let mut diagnostics = Diagnostics::default();
    let request = &options.request;
    let mut loaded = load(&mut diagnostics);
    let command = CommandLine::read(
        request,
        &mut loaded.sources,
        &mut loaded.interner,
        &mut diagnostics,
    );
    done(watch, Stage::Tree, Product::Tree(&loaded));
    watch.before(Stage::Classes);
    let of_experiment = model_of(&loaded, request);
    let wanted = options.model.as_deref().or(of_experiment.as_deref());
    let classes = model::elaborate(&loaded, wanted, &mut diagnostics);
    let has_own = model::models(&loaded, &classes.types).next().is_some();
    // Kept apart: what is not balanced, or an experiment for nothing, does not keep other models from being looked at.
    let mut apart = Diagnostics::default();
    if which == Which::All && has_own {
        missing_models(&loaded, &classes.types, &mut apart);
    } else if which != Which::Chosen || !request.is_empty() || !has_own {
        missing_models(&loaded, &classes.types, &mut diagnostics);
    }
    let chosen = model::choose(&loaded, &classes.types, wanted, &mut diagnostics);
    let mut models: Vec<_> = match (which, &options.model) {
        (Which::All, None) if has_own => model::models(&loaded, &classes.types).collect(),
        _ => chosen.into_iter().collect(),
    };
    let inner = model::parts_of_others(&classes, &models);
    if which == Which::All && options.model.is_none() {
        for (file, name) in models_of(&loaded, loaded.experiment) {
            let found = classes.types.lookup(&loaded, file, name.symbol);
            models.extend(found.filter(|id| !models.contains(id)));
        }
    }
    done(watch, Stage::Classes, Product::Classes(&classes));
    let names = Arc::new(loaded.interner);
    let bounds = files.bounds();
    let limits = Limits {
        instances: options.limits.instances.min(bounds.instances),
        fixed: bounds.instances < options.limits.instances,
    };
    let bench = Bench {
        points: bounds.points,
        names: &names,
        trees: &loaded.trees,
        only: loaded.experiment,
        command: &command,
        request,
    };
    // Names are checked in all types first; instances are made of sound types only.
    if !diagnostics.has_errors() {
        for model in models {
            watch.before(Stage::Flat);
            let before = diagnostics.errors();
            let flat = model::flatten(&names, &classes, model, limits, &mut diagnostics);
            let Some(mut flat) = flat.filter(|_| diagnostics.errors() == before) else {
                watch.refused(Stage::Flat);
                continue;
            };
            if which == Which::All {
                bench.check(&flat, chosen == Some(model), &mut diagnostics);
            }
            let mut experiment = Some(Experiment::default());
            if chosen == Some(model) {
                let always = which == Which::Simulated;
                experiment = bench.perform(&mut flat, always, &mut diagnostics);
            }
            let Some(experiment) = experiment else {
                watch.refused(Stage::Flat);
                continue;
            };
            let product = Product::Flat(&flat);
            watch.after(Stage::Flat, product);
            let verify = || product.verify(Some(&loaded.sources));
            hold(Stage::Flat.name(), verify, || product.whole(Stage::Flat));
            match which == Which::All && !inner.contains(&model) {
                true => {
                    solved(flat.clone(), Aliases::Eliminate, &mut apart);
                    // With what a part without ground refers to: no request, as one that is refused is looked at, too.
                    visit(reference(flat).0, experiment);
                }
                false => visit(flat, experiment),
            }
        }
    }
    diagnostics.extend(apart.iter().cloned());
    diagnostics.sort();
    (loaded.sources, diagnostics)
}
