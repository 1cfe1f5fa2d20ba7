//! The choice of an experiment, and of its model.
//!
//! An experiment without a name of its own has the name of its model; a `cmodel` names no model and belongs to the one that is
//! compiled.

use super::apply::{ExperimentBodies, apply};
use super::{CommandLine, Experiment, Request};
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::intern::Interner;
use crate::base::source::{FileId, Origin};
use crate::flat::Flat;
use crate::model::Types;
use crate::syntax::ast::{self, Ast, Item, ModelKind};
use crate::syntax::load::Loaded;

/// The files and the command line from which experiments are read.
#[derive(Clone, Copy, Debug)]
pub struct ExperimentSources<'t> {
    pub names: &'t Interner,
    pub trees: &'t [Ast],
    /// The file that `--experiment` names; experiments are read from this file only.
    pub only: Option<FileId>,
    pub command: &'t CommandLine,
    pub request: &'t Request,
    /// The most points of output.
    pub points: usize,
}

/// An experiment for a model, with the tree that contains it.
#[derive(Clone, Copy)]
struct Candidate<'t> {
    tree: &'t Ast,
    experiment: &'t ast::Experiment,
}

impl<'t> ExperimentSources<'t> {
    /// Applies the chosen experiment to the flat model, with the settings of the command line. If no experiment is named and
    /// `always` is set, the default one of the model is applied. `None` after an error.
    pub fn apply_chosen(
        &self,
        flat: &mut Flat,
        always: bool,
        diagnostics: &mut Diagnostics,
    ) -> Option<Experiment> {
        let found = match (self.only, &self.request.experiment) {
            (Some(file), _) => Some(self.of_file(flat, file, diagnostics)?),
            (None, Some(name)) => Some(self.named(flat, name, diagnostics)?),
            (None, None) if always => self.default(flat, diagnostics)?,
            (None, None) => None,
        };
        self.apply(flat, found, self.command, diagnostics)
    }

    /// Checks every experiment for this model, each on a copy of the model. A `cmodel` belongs to the model that is compiled.
    pub fn check(&self, flat: &Flat, compiled: bool, diagnostics: &mut Diagnostics) {
        let all = self.candidates(flat, None);
        self.report_doubles(flat, &all, diagnostics);
        for candidate in all {
            if candidate.experiment.model.is_some() || compiled {
                self.apply(
                    &mut flat.clone(),
                    Some(candidate),
                    &CommandLine::default(),
                    diagnostics,
                );
            }
        }
    }

    /// Puts the experiment that was found, and the options of the command line, into the model.
    fn apply(
        &self,
        flat: &mut Flat,
        found: Option<Candidate<'t>>,
        command: &CommandLine,
        diagnostics: &mut Diagnostics,
    ) -> Option<Experiment> {
        let bodies = ExperimentBodies {
            file: found.map(|found| (&found.tree.exprs, &found.experiment.body[..])),
            command,
        };
        let mut experiment = apply(flat, &bodies, diagnostics)?;
        experiment.most_points = (self.points < usize::MAX).then_some(self.points);
        if let Some(Candidate { experiment: of, .. }) = found {
            experiment.name = of.name.map(|name| self.names.name(name.symbol).to_string());
            experiment.span = Some(of.span);
        }
        Some(experiment)
    }

    /// The experiments for a model, in the order of the files.
    fn candidates(&self, flat: &Flat, only: Option<FileId>) -> Vec<Candidate<'t>> {
        let mut found = Vec::new();
        for tree in self.trees {
            if only.is_some_and(|only| only != tree.file) {
                continue;
            }
            for experiment in experiments(tree) {
                let model = experiment.model.map(|model| self.names.name(model.symbol));
                if model.is_none_or(|model| model == flat.model()) {
                    found.push(Candidate { tree, experiment });
                }
            }
        }
        found
    }

    /// The name by which a candidate is chosen.
    fn name<'f>(&self, flat: &'f Flat, candidate: &Candidate<'t>) -> &'f str
    where
        't: 'f,
    {
        match candidate.experiment.name {
            Some(name) => self.names.name(name.symbol),
            None => flat.model(),
        }
    }

    fn named(
        &self,
        flat: &Flat,
        wanted: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<Candidate<'t>> {
        let all = self.candidates(flat, None);
        let fits = |found: &Candidate<'t>| self.name(flat, found) == wanted;
        let fitting: Vec<Candidate<'t>> = all.iter().copied().filter(fits).collect();
        let before = diagnostics.errors();
        self.report_doubles(flat, &fitting, diagnostics);
        if diagnostics.errors() > before {
            return None;
        }
        if let Some(&found) = preferred(&fitting) {
            return Some(found);
        }
        let model = flat.model();
        let message = format!("there is no experiment `{wanted}` for `{model}`");
        let diagnostic = Diagnostic::new(Code::UnknownExperiment, message);
        let known: Vec<&str> = all.iter().map(|found| self.name(flat, found)).collect();
        let for_another = self.trees.iter().flat_map(experiments).find_map(|other| {
            let name = self.names.name(other.name.or(other.model)?.symbol);
            (name == wanted).then_some(other)?.model
        });
        diagnostics.push(match for_another {
            Some(other) => self.of_another(diagnostic, other),
            None if known.is_empty() => {
                diagnostic.hint(format!("write `experiment {model} ... end` into the file"))
            }
            None => diagnostic.suggest_or_list(wanted, "experiments", &known),
        });
        None
    }

    fn of_another(&self, diagnostic: Diagnostic, model: ast::Name) -> Diagnostic {
        let name = self.names.name(model.symbol);
        diagnostic
            .at(model.span, format!("this one is for `{name}`"))
            .hint(format!("choose its model with `--model {name}`"))
    }

    /// The experiment for this model in the file that was named.
    fn of_file(
        &self,
        flat: &Flat,
        file: FileId,
        diagnostics: &mut Diagnostics,
    ) -> Option<Candidate<'t>> {
        let all = self.candidates(flat, Some(file));
        if !all.is_empty() {
            return self.choose(flat, &all, diagnostics)?;
        }
        let shown = self.request.experiment.as_deref().unwrap_or("");
        let model = flat.model();
        let diagnostic = Diagnostic::new(
            Code::UnknownExperiment,
            format!("`{shown}` has no experiment for `{model}`"),
        );
        let other = (self.trees.iter().filter(|tree| tree.file == file))
            .flat_map(experiments)
            .find_map(|experiment| experiment.model);
        diagnostics.push(match other {
            Some(other) => self.of_another(diagnostic, other),
            None => diagnostic.hint(format!("write `experiment {model} ... end` into it")),
        });
        None
    }

    fn default(&self, flat: &Flat, diagnostics: &mut Diagnostics) -> Option<Option<Candidate<'t>>> {
        self.choose(flat, &self.candidates(flat, None), diagnostics)
    }

    /// The experiment without a name of its own, otherwise the only one; `None` after an error.
    fn choose(
        &self,
        flat: &Flat,
        all: &[Candidate<'t>],
        diagnostics: &mut Diagnostics,
    ) -> Option<Option<Candidate<'t>>> {
        let before = diagnostics.errors();
        let unnamed: Vec<Candidate<'t>> = (all.iter().copied())
            .filter(|found| found.experiment.name.is_none())
            .collect();
        self.report_doubles(flat, &unnamed, diagnostics);
        if diagnostics.errors() > before {
            return None;
        }
        match (preferred(&unnamed), all) {
            (Some(&found), _) => return Some(Some(found)),
            (None, []) => return Some(None),
            (None, &[only]) => return Some(Some(only)),
            (None, _) => {}
        }
        let message = format!("`{}` has several experiments: which one?", flat.model());
        let mut diagnostic = Diagnostic::new(Code::UnknownExperiment, message);
        for found in all {
            if let Some(name) = found.experiment.name {
                diagnostic = diagnostic.at(name.span, "one of them");
            }
        }
        let names: Vec<String> = (all.iter())
            .map(|found| format!("`--experiment {}`", self.name(flat, found)))
            .collect();
        diagnostics.push(diagnostic.hint(format!("choose with {}", names.join(" or "))));
        None
    }

    /// Reports two experiments with one name. A `cmodel` and an `experiment` may share a name: the `experiment` is taken.
    fn report_doubles(&self, flat: &Flat, all: &[Candidate<'t>], diagnostics: &mut Diagnostics) {
        for (at, found) in all.iter().enumerate() {
            let same = |other: &&Candidate<'t>| {
                self.name(flat, other) == self.name(flat, found)
                    && other.experiment.classic == found.experiment.classic
            };
            let Some(earlier) = all[..at].iter().find(same) else {
                continue;
            };
            let message = format!(
                "there are two experiments `{}` for `{}`",
                self.name(flat, found),
                flat.model()
            );
            diagnostics.push(
                Diagnostic::new(Code::DefinedTwice, message)
                    .at(found.experiment.span, "given again here")
                    .at(earlier.experiment.span, "first here")
                    .hint(format!(
                        "give one another name: `experiment NAME for {}`",
                        flat.model()
                    )),
            );
        }
    }
}

fn preferred<'c, 't>(all: &'c [Candidate<'t>]) -> Option<&'c Candidate<'t>> {
    let modern = all.iter().find(|found| !found.experiment.classic);
    modern.or(all.first())
}

fn experiments(tree: &Ast) -> impl Iterator<Item = &ast::Experiment> {
    tree.items.iter().filter_map(|item| match item {
        Item::Experiment(experiment) => Some(experiment),
        _ => None,
    })
}

/// Reports experiments for models that do not exist.
pub fn missing_models(loaded: &Loaded, types: &Types, diagnostics: &mut Diagnostics) {
    for tree in &loaded.trees {
        for experiment in experiments(tree) {
            let Some(model) = experiment.model else {
                continue;
            };
            if types.lookup(loaded, tree.file, model.symbol).is_some() {
                continue;
            }
            let mut known: Vec<&str> = (types.defs.iter())
                .filter(|def| loaded.sources.file(def.file).origin == Origin::User)
                .map(|def| loaded.interner.name(def.name.symbol))
                .collect();
            known.sort_unstable();
            let name = loaded.interner.name(model.symbol);
            let message = format!("there is no model `{}`", crate::syntax::shorten(name));
            diagnostics.push(
                Diagnostic::new(Code::UnknownModel, message)
                    .at(model.span, "the experiment is for it")
                    .suggest_or_list(name, "there are", &known),
            );
        }
    }
}

/// For a main file without a `model`: the model of the experiment that is named, otherwise of the last experiment. A `cmodel`
/// belongs to the last `model` of the included files.
pub fn model_of(loaded: &Loaded, request: &Request) -> Option<String> {
    let models = |tree: &Ast| {
        let items = tree.items.iter().rev();
        items
            .filter_map(|item| match item {
                Item::Model(model) if model.kind == ModelKind::Model => Some(model.name.symbol),
                _ => None,
            })
            .next()
    };
    let main = loaded.tree(loaded.main);
    if models(main).is_some() {
        return None;
    }
    let name = |symbol| loaded.interner.name(symbol);
    let mut found = None;
    for experiment in experiments(main) {
        let is_asked_for = (experiment.name.or(experiment.model))
            .is_some_and(|own| request.experiment.as_deref() == Some(name(own.symbol)));
        let of = match experiment.model {
            Some(model) => Some(model.symbol),
            None => {
                let user = |tree: &&Ast| loaded.sources.file(tree.file).origin == Origin::User;
                (loaded.trees.iter().rev().filter(user)).find_map(models)
            }
        };
        found = of.or(found);
        if is_asked_for {
            break;
        }
    }
    let found = found?;
    // A model that does not exist is reported by `missing_models`.
    let is_there = (loaded.trees.iter().flat_map(|tree| &tree.items))
        .any(|item| matches!(item, Item::Model(model) if model.name.symbol == found));
    is_there.then(|| name(found).to_string())
}

/// The models of the experiments in the main file and in the file that was named as the experiment.
pub fn models_of<'l>(
    loaded: &'l Loaded,
    only: Option<FileId>,
) -> impl Iterator<Item = (FileId, ast::Name)> + use<'l> {
    let main = loaded.main;
    (loaded.trees.iter())
        .filter(move |tree| tree.file == main || Some(tree.file) == only)
        .flat_map(|tree| experiments(tree).filter_map(|found| Some((tree.file, found.model?))))
}
