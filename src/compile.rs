//! The stages of a compilation, in order.

use std::path::PathBuf;
use std::sync::Arc;

use crate::alias::eliminate;
use crate::diagnostics::Diagnostics;
use crate::experiment::give_inputs;
use crate::flat::Flat;
use crate::load::{Files, Input, load};
use crate::model::{self, Limits};
use crate::reduce;
use crate::reference::{Findings, findings, nothing_cancels, reference};
use crate::solve::{Solved, solve};
use crate::sort::{Sorted, balanced, needs_reduction, sort, vanished};
use crate::source::Sources;
use crate::start::{restarts, start};

/// What a compilation is asked to do.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The model to compile; the last `model` of the file if there is none.
    pub model: Option<String>,
    /// Where includes are looked for, after the folder of the including file.
    pub folders: Vec<PathBuf>,
    /// The experiment that gives inputs; they come from outside if there is none.
    pub experiment: Option<String>,
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
    let mut flat = None;
    let (sources, diagnostics) = stages(input, options, files, Which::Chosen, |model| {
        flat = Some(model);
    });
    Compiled {
        sources,
        flat: flat.filter(|_| !diagnostics.has_errors()),
        diagnostics,
    }
}

/// Compiles every model of the file, or the one asked for, one after the other, and checks its
/// balance; `visit` sees each that could be flattened. A model that others of the file contain or
/// inherit may have terminals that these set: it is checked as a part of them.
pub fn check(
    input: &Input,
    options: &Options,
    files: &dyn Files,
    visit: impl FnMut(Flat),
) -> (Sources, Diagnostics) {
    stages(input, options, files, Which::All, visit)
}

/// Whether the equations can determine the unknowns, whatever the index: as many as there are, and
/// none that cancel. Parts without ground get a reference. The findings are missing after an error.
fn sound(flat: Flat, said: &mut Diagnostics) -> (Flat, Option<Findings>) {
    let mut unsaid = Diagnostics::default();
    let as_written = balanced(&flat, &mut unsaid);
    let (flat, mut found) = reference(flat, said);
    if found.has_moving_rates() && (!found.constraints.is_empty() || needs_reduction(&flat)) {
        // The rate of a state is not free where a constraint holds the state: to be seen after reduction.
        found.forget_moving_rates();
    }
    // What is not balanced may lack a ground only.
    let sound = (as_written.or_else(|| balanced(&flat, said)))
        .and_then(|()| nothing_cancels(&flat, &found, said));
    (flat, sound.map(|()| found))
}

/// Sorts the equations of a flat model, with aliases eliminated if asked for; `None` after an error.
pub fn sorted(flat: Flat, aliases: Aliases, said: &mut Diagnostics) -> Option<(Flat, Sorted)> {
    // What cannot be sorted is reported as it was written, before anything is eliminated.
    let (flat, found) = sound(flat, said);
    let flat = reduced(flat, &found?, said)?;
    let flat = match aliases {
        Aliases::Keep => flat,
        Aliases::Eliminate => {
            let flat = eliminate(flat);
            restarts(&flat, said)?;
            flat
        }
    };
    let sorted = sort(&flat, said)?;
    Some((flat, sorted))
}

/// Reduces the index where states depend on each other; `None` after an error.
fn reduced(mut flat: Flat, found: &Findings, said: &mut Diagnostics) -> Option<Flat> {
    let needed = !found.constraints.is_empty() || needs_reduction(&flat);
    if !needed && vanished(&flat).is_empty() {
        return Some(flat);
    }
    if let Err(stuck) = reduce::reduce(&mut flat, &found.constraints) {
        if !needed {
            return Some(flat);
        }
        reduce::report(&flat, &stuck, said);
        return None;
    }
    // With other unknowns than before.
    nothing_cancels(&flat, &findings(&flat), said)?;
    Some(flat)
}

/// Sorts and solves; `None` after an error.
pub fn solved(flat: Flat, aliases: Aliases, said: &mut Diagnostics) -> Option<Solved> {
    let (flat, sorted) = sorted(flat, aliases, said)?;
    let solved = solve(flat, &sorted, said)?;
    start(solved, said)
}

/// What becomes of variables that equal another one, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aliases {
    Eliminate,
    Keep,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Chosen,
    All,
}

fn stages(
    input: &Input,
    options: &Options,
    files: &dyn Files,
    which: Which,
    mut visit: impl FnMut(Flat),
) -> (Sources, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let loaded = load(input, &options.folders, files, &mut diagnostics);
    let wanted = options.model.as_deref();
    let classes = model::elaborate(&loaded, wanted, &mut diagnostics);
    let chosen = model::choose(&loaded, &classes.types, wanted, &mut diagnostics);
    let models: Vec<_> = match (which, wanted) {
        (Which::All, None) => model::models(&loaded, &classes.types).collect(),
        _ => chosen.into_iter().collect(),
    };
    let inner = model::parts_of_others(&classes, &models);
    let names = Arc::new(loaded.interner);
    // Kept apart: what is not balanced does not keep other models from being looked at.
    let mut unbalanced = Diagnostics::default();
    // Names are checked in all types first; instances are made of sound types only.
    if !diagnostics.has_errors() {
        for model in models {
            let before = diagnostics.errors();
            let flat = model::flatten(&names, &classes, model, options.limits, &mut diagnostics);
            let Some(mut flat) = flat.filter(|_| diagnostics.errors() == before) else {
                continue;
            };
            if let Some(experiment) = options.experiment.as_deref()
                && give_inputs(&mut flat, &loaded.trees, experiment, &mut diagnostics).is_none()
            {
                continue;
            }
            visit(match which == Which::All && !inner.contains(&model) {
                true => sound(flat, &mut unbalanced).0,
                false => flat,
            });
        }
    }
    diagnostics.extend(unbalanced.iter().cloned());
    diagnostics.sort();
    (loaded.sources, diagnostics)
}
