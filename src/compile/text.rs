//! From text to the flat model: loads files, makes classes, flattens one model, and applies its experiment.

use std::path::PathBuf;
use std::sync::Arc;

use super::stages::{NoObserver, Product, Stage, StageObserver, done};
use super::{Aliases, solved};
use crate::base::diagnostics::Diagnostics;
use crate::base::flaw::hold;
use crate::base::source::Sources;
use crate::experiment::{CommandLine, Experiment, ExperimentSources, Request};
use crate::experiment::{missing_models, model_of, models_of};
use crate::flat::Flat;
use crate::model::{self, Limits};
use crate::passes::signs::reference::reference;
use crate::syntax::load::{Files, Input, Loaded, load};

/// Options of a compilation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The model to compile; the last `model` of the file if there is none.
    pub model: Option<String>,
    /// Folders in which includes are searched, after the folder of the including file.
    pub folders: Vec<PathBuf>,
    /// The experiment and the settings of the command line. If it is empty, inputs stay inputs of the model.
    pub request: Request,
    pub limits: Limits,
}

/// A flat model unless there were errors, and all diagnostics.
#[derive(Debug)]
pub struct LoadedFlat {
    pub sources: Sources,
    pub flat: Option<Flat>,
    pub diagnostics: Diagnostics,
}

/// From text to the flat model.
pub fn load_flat(input: &Input, options: &Options, files: &dyn Files) -> LoadedFlat {
    load_flat_with(input, options, files, &mut NoObserver)
}

/// The same; `observer` is told of the stages.
pub fn load_flat_with(
    input: &Input,
    options: &Options,
    files: &dyn Files,
    observer: &mut dyn StageObserver,
) -> LoadedFlat {
    let load = |diagnostics: &mut Diagnostics| loaded(input, options, files, diagnostics);
    flatten_loaded(load, options, files, observer)
}

/// The same of trees that are there already, or are made another way.
pub fn flatten_loaded(
    load: impl FnOnce(&mut Diagnostics) -> Loaded,
    options: &Options,
    files: &dyn Files,
    observer: &mut dyn StageObserver,
) -> LoadedFlat {
    let mut flat = None;
    let keep = |model, _| flat = Some(model);
    let (sources, diagnostics) = stages(load, options, files, ModelChoice::Chosen, observer, keep);
    LoadedFlat {
        sources,
        flat: flat.filter(|_| !diagnostics.has_errors()),
        diagnostics,
    }
}

/// A model that is to be simulated.
#[derive(Debug)]
pub struct Prepared {
    pub sources: Sources,
    /// The flat model into which the experiment was put, and the other settings of the experiment.
    pub model: Option<(Flat, Experiment)>,
    pub diagnostics: Diagnostics,
}

/// From text to the flat model of an experiment: the experiment that the options name, otherwise the experiment without a
/// name of its own, otherwise the only one. A model without an experiment is no error.
pub fn prepare(input: &Input, options: &Options, files: &dyn Files) -> Prepared {
    prepare_with(input, options, files, &mut NoObserver)
}

/// The same; `observer` is told of the stages.
pub fn prepare_with(
    input: &Input,
    options: &Options,
    files: &dyn Files,
    observer: &mut dyn StageObserver,
) -> Prepared {
    let mut model = None;
    let keep = |flat: Flat, experiment: Experiment| model = Some((flat, experiment));
    let load = |diagnostics: &mut Diagnostics| loaded(input, options, files, diagnostics);
    let (sources, diagnostics) =
        stages(load, options, files, ModelChoice::Simulated, observer, keep);
    Prepared {
        sources,
        model: model.filter(|_| !diagnostics.has_errors()),
        diagnostics,
    }
}

/// Compiles every model of the file, or the one that the options name, one after the other, as far as [`solved`] does, with
/// all experiments for these models; reports all diagnostics. `visit` receives each model that could be flattened. A model
/// that other models of the file contain or inherit may have terminals that these set: it is checked as a part of them.
pub fn check(
    input: &Input,
    options: &Options,
    files: &dyn Files,
    mut visit: impl FnMut(Flat),
) -> (Sources, Diagnostics) {
    let visit = |flat, _| visit(flat);
    let load = |diagnostics: &mut Diagnostics| loaded(input, options, files, diagnostics);
    stages(
        load,
        options,
        files,
        ModelChoice::All,
        &mut NoObserver,
        visit,
    )
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
enum ModelChoice {
    /// The model that the options name, or the last one.
    Chosen,
    /// The same, with its experiment even if the options name none.
    Simulated,
    /// All models of the file.
    All,
}

fn stages(
    load: impl FnOnce(&mut Diagnostics) -> Loaded,
    options: &Options,
    files: &dyn Files,
    choice: ModelChoice,
    observer: &mut dyn StageObserver,
    mut visit: impl FnMut(Flat, Experiment),
) -> (Sources, Diagnostics) {
    observer.before(Stage::Tree);
    let mut diagnostics = Diagnostics::default();
    let request = &options.request;
    let mut loaded = load(&mut diagnostics);
    let command = CommandLine::read(
        request,
        &mut loaded.sources,
        &mut loaded.interner,
        &mut diagnostics,
    );
    done(observer, Stage::Tree, Product::Tree(&loaded));
    observer.before(Stage::Classes);
    let of_experiment = model_of(&loaded, request);
    let wanted = options.model.as_deref().or(of_experiment.as_deref());
    let classes = model::elaborate(&loaded, wanted, &mut diagnostics);
    let has_own = model::models(&loaded, &classes.types).next().is_some();
    // Diagnostics that must not keep other models from being checked: unbalanced models, experiments for unknown models.
    let mut apart = Diagnostics::default();
    if choice == ModelChoice::All && has_own {
        missing_models(&loaded, &classes.types, &mut apart);
    } else if choice != ModelChoice::Chosen || !request.is_empty() || !has_own {
        missing_models(&loaded, &classes.types, &mut diagnostics);
    }
    let chosen = model::choose(&loaded, &classes.types, wanted, &mut diagnostics);
    let mut models: Vec<_> = match (choice, &options.model) {
        (ModelChoice::All, None) if has_own => model::models(&loaded, &classes.types).collect(),
        _ => chosen.into_iter().collect(),
    };
    let inner = model::parts_of_others(&classes, &models);
    if choice == ModelChoice::All && options.model.is_none() {
        for (file, name) in models_of(&loaded, loaded.experiment) {
            let found = classes.types.lookup(&loaded, file, name.symbol);
            models.extend(found.filter(|id| !models.contains(id)));
        }
    }
    done(observer, Stage::Classes, Product::Classes(&classes));
    let names = Arc::new(loaded.interner);
    let bounds = files.bounds();
    let limits = Limits {
        instances: options.limits.instances.min(bounds.instances),
        fixed: bounds.instances < options.limits.instances,
    };
    let experiments = ExperimentSources {
        points: bounds.points,
        names: &names,
        trees: &loaded.trees,
        only: loaded.experiment,
        command: &command,
        request,
    };
    // Names are checked in all types first; instances are made only if these have no errors.
    if !diagnostics.has_errors() {
        for model in models {
            observer.before(Stage::Flat);
            let before = diagnostics.errors();
            let flat = model::flatten(&names, &classes, model, limits, &mut diagnostics);
            let Some(mut flat) = flat.filter(|_| diagnostics.errors() == before) else {
                observer.refused(Stage::Flat);
                continue;
            };
            if choice == ModelChoice::All {
                experiments.check(&flat, chosen == Some(model), &mut diagnostics);
            }
            let mut experiment = Some(Experiment::default());
            if chosen == Some(model) {
                let always = choice == ModelChoice::Simulated;
                experiment = experiments.apply_chosen(&mut flat, always, &mut diagnostics);
            }
            let Some(experiment) = experiment else {
                observer.refused(Stage::Flat);
                continue;
            };
            let product = Product::Flat(&flat);
            observer.after(Stage::Flat, product);
            let verify = || product.verify(Some(&loaded.sources));
            hold(Stage::Flat.name(), verify, || product.whole(Stage::Flat));
            match choice == ModelChoice::All && !inner.contains(&model) {
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
