//! The stages of a compilation, in order.

use std::path::PathBuf;
use std::sync::Arc;

use crate::alias::eliminate;
use crate::bond::causality::{Causality, Preference, Preferences, Wanted, causality};
use crate::bond::fields::suggest::{is_worth_it, suggestions};
use crate::bond::graph::{Graph, NodeId};
use crate::bond::recover::recover;
use crate::diagnostics::{Code, Diagnostics};
use crate::experiment::{Bench, CommandLine, Experiment, Request};
use crate::experiment::{missing_models, model_of, models_of};
use crate::flat::Flat;
use crate::load::{Files, Input, load};
use crate::model::{self, Limits};
use crate::positions::{Positions, form, switches, uniform};
use crate::reduce;
use crate::reference::{Findings, findings, nothing_cancels, reference};
use crate::solve::{Solved, solve, solve_with};
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
    let mut flat = None;
    let (sources, diagnostics) = stages(input, options, files, Which::Chosen, |model, _| {
        flat = Some(model);
    });
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
    let mut model = None;
    let keep = |flat: Flat, experiment: Experiment| model = Some((flat, experiment));
    let (sources, diagnostics) = stages(input, options, files, Which::Simulated, keep);
    Prepared {
        sources,
        model: model.filter(|_| !diagnostics.has_errors()),
        diagnostics,
    }
}

/// Compiles every model of the file, or the one asked for, one after the other, and checks its
/// balance; `visit` sees each that could be flattened. A model that others of the file contain or
/// inherit may have terminals that these set: it is checked as a part of them. So are all experiments for these models.
pub fn check(
    input: &Input,
    options: &Options,
    files: &dyn Files,
    mut visit: impl FnMut(Flat),
) -> (Sources, Diagnostics) {
    stages(input, options, files, Which::All, |flat, _| visit(flat))
}

/// Whether the equations can determine the unknowns, whatever the index: as many as there are, and
/// none that cancel. Parts without ground get a reference. The findings are missing after an error.
pub(crate) fn sound(flat: Flat, said: &mut Diagnostics) -> (Flat, Option<Findings>) {
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

/// Sorts the equations of a flat model, with aliases eliminated if asked for; `None` after an error. Switches that change the
/// index are in the form in which they are solved.
pub fn sorted(flat: Flat, aliases: Aliases, said: &mut Diagnostics) -> Option<(Flat, Sorted)> {
    if switches(&flat).is_empty() {
        return sorted_as_one(flat, aliases, said);
    }
    let mut unsaid = Diagnostics::default();
    let made = solved_as_one(flat.clone(), Aliases::Eliminate, &mut unsaid);
    if made.filter(uniform).is_some() {
        return sorted_as_one(flat, aliases, said);
    }
    let positions = Positions::new(&flat)?;
    if in_form_of_paper(&positions, Aliases::Eliminate).is_some()
        && let Some(flat) = form(&positions)
    {
        return sorted_as_one(flat, aliases, said);
    }
    // In all positions at once if that can be, else in the first that is possible.
    let mut as_one = Diagnostics::default();
    let done = sorted_as_one(flat, aliases, &mut as_one);
    let done = done.or_else(|| {
        let keys = positions.candidates();
        let mut all = keys.map(|key| positions.shown(&key).0);
        all.find_map(|flat| sorted_as_one(flat, aliases, &mut unsaid))
    });
    if done.is_none() {
        said.extend(as_one.iter().cloned());
    }
    done
}

/// The same with switches as they were written.
fn sorted_as_one(flat: Flat, aliases: Aliases, said: &mut Diagnostics) -> Option<(Flat, Sorted)> {
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
pub(crate) fn reduced(mut flat: Flat, found: &Findings, said: &mut Diagnostics) -> Option<Flat> {
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

/// Sorts and solves; `None` after an error. A model that no single set of formulas serves in all positions of its
/// switches comes with its [`Positions`]: what is solved then holds where no divisor vanishes.
pub fn solved(flat: Flat, aliases: Aliases, said: &mut Diagnostics) -> Option<Solved> {
    if switches(&flat).is_empty() {
        return solved_as_one(flat, aliases, said);
    }
    let mut as_one = Diagnostics::default();
    let made = solved_as_one(flat.clone(), aliases, &mut as_one);
    let whole = made.as_ref().is_some_and(uniform);
    let final_errors = as_one.iter().any(|one| holds_in_all_positions(one.code));
    let positions = match whole || final_errors {
        true => None,
        false => Positions::new(&flat),
    };
    let solved = made.or_else(|| {
        let positions = positions.as_ref()?;
        let mut keys = positions.candidates();
        keys.find_map(|key| solved_in(positions, &key, aliases))
    });
    if solved.is_none() || whole || !as_one.has_errors() {
        said.extend(as_one.iter().cloned());
    }
    Some(Solved {
        positions: positions.map(Box::new),
        ..solved?
    })
}

/// Errors that say that equations contradict each other.
fn contradicts(code: Code) -> bool {
    matches!(code, Code::TooManyEquations | Code::UnknownsCancel)
}

/// Whether a run solves the model anew in each position of its switches.
pub fn uses_positions(flat: &Flat) -> bool {
    let mut unsaid = Diagnostics::default();
    let solved = solved(flat.clone(), Aliases::Eliminate, &mut unsaid);
    solved.is_some_and(|solved| solved.positions.is_some())
}

/// Errors that no position of switches can cure.
fn holds_in_all_positions(code: Code) -> bool {
    matches!(
        code,
        Code::TooManyEquations | Code::TooFewEquations | Code::BooleanLoop
    )
}

/// What `bgm solve` lists.
#[derive(Debug)]
pub enum Presented {
    /// One set of formulas.
    One(Box<Solved>),
    /// One set of formulas in the form of the 1995 paper, but for what jumps.
    Paper(Box<Positions>, Box<Solved>),
    /// In each position another one; and one that holds where no divisor vanishes.
    ByPosition(Box<Positions>, Box<Solved>),
}

/// Solves for a listing: in the form of the 1995 paper where a switch changes the index by its own position alone.
pub fn presented(flat: Flat, aliases: Aliases, said: &mut Diagnostics) -> Option<Presented> {
    let mut solved = solved(flat, aliases, said)?;
    let Some(positions) = solved.positions.take() else {
        return Some(Presented::One(Box::new(solved)));
    };
    Some(match in_form_of_paper(&positions, aliases) {
        Some(solved) => Presented::Paper(positions, Box::new(solved)),
        None => Presented::ByPosition(positions, Box::new(solved)),
    })
}

/// A model whose switches change the index each by its own position alone.
fn in_form_of_paper(positions: &Positions, aliases: Aliases) -> Option<Solved> {
    let flat = form(positions)?;
    let solved = solved_as_one(flat, aliases, &mut Diagnostics::default())?;
    uniform(&solved).then_some(solved)
}

/// One position of a model, as it was written.
pub fn solved_in(positions: &Positions, key: &[bool], aliases: Aliases) -> Option<Solved> {
    let (flat, _) = positions.shown(key);
    let mut said = Diagnostics::default();
    let (flat, sorted) = sorted_as_one(flat, aliases, &mut said)?;
    let mut solved = solve(flat, &sorted, &mut said)?;
    // Start values need not suit all positions.
    start(&mut solved, &mut Diagnostics::default());
    Some(solved)
}

/// One set of formulas for all positions of switches.
fn solved_as_one(flat: Flat, aliases: Aliases, said: &mut Diagnostics) -> Option<Solved> {
    // For the bond graph, if a nonlinear loop asks for it.
    let mut written = is_worth_it(&flat).then(|| flat.clone());
    let (flat, sorted) = sorted_as_one(flat, aliases, said)?;
    let mut suggest = || written.take().map_or_else(Vec::new, suggestions);
    let mut solved = solve_with(flat, &sorted, &mut suggest, said)?;
    start(&mut solved, said)?;
    Some(solved)
}

/// A model seen as a bond graph.
#[derive(Debug)]
pub struct BondGraph {
    /// As it was written, with what the graph refers to.
    pub flat: Flat,
    /// As it was written, too: [`crate::bond::view`] makes it smaller.
    pub graph: Graph,
    pub causality: Causality,
    pub preferences: Preferences,
    /// The equations sorted, nothing eliminated; nothing if they cannot be.
    pub sorted: Option<(Flat, Sorted)>,
}

/// The bond graph of a model and its causality. `None` if it has no power ports; an error if the preferences cannot be read. A
/// model that cannot be sorted has a graph all the same.
pub fn bond_graph(
    written: Flat,
    preferences: &[String],
    said: &mut Diagnostics,
) -> Result<Option<BondGraph>, String> {
    let (mut flat, _) = reference(written.clone(), &mut Diagnostics::default());
    let Some(graph) = recover(&mut flat) else {
        return Ok(None);
    };
    let preferences = Preferences::read(&graph, preferences)?;
    let mut wished = written;
    for preference in &preferences.list {
        let states = graph.node(preference.node).element().map(|one| &one.states);
        let wish = match preference.wanted {
            Wanted::Integral => true,
            Wanted::Derivative => false,
            Wanted::Resistance | Wanted::Conductance => continue,
        };
        for &state in states.into_iter().flatten() {
            wished.wishes.retain(|&(variable, _)| variable != state);
            wished.wishes.push((state, wish));
        }
    }
    wished
        .wishes
        .sort_unstable_by_key(|&(variable, _)| variable);
    let sorted = sorted(wished, Aliases::Keep, said);
    let mut causality = causality_with(&flat, &graph, &preferences, sorted.as_ref());
    if sorted.is_none() && said.iter().any(|one| contradicts(one.code)) {
        causality.contradict();
    }
    Ok(Some(BondGraph {
        flat,
        graph,
        causality,
        preferences,
        sorted,
    }))
}

impl BondGraph {
    /// The causality with more wishes of resistors, after those that were given; as it was if they cannot be had.
    pub fn prefer(&mut self, wishes: Vec<Preference>) {
        if wishes.is_empty() {
            return;
        }
        let mut preferences = self.preferences.clone();
        let before = preferences.list.len();
        preferences.list.extend(wishes);
        let sorted = self.sorted.as_ref();
        let causality = causality_with(&self.flat, &self.graph, &preferences, sorted);
        if causality.unmet.iter().all(|&at| at < before) {
            (self.causality, self.preferences) = (causality, preferences);
        }
    }
}

/// The causality of a graph whose storages keep the states that the sorter keeps.
fn causality_with(
    flat: &Flat,
    graph: &Graph,
    preferences: &Preferences,
    sorted: Option<&(Flat, Sorted)>,
) -> Causality {
    let kept = |id: NodeId| {
        let (Some(element), Some((reduced, _))) = (graph.node(id).element(), sorted) else {
            return true;
        };
        let whole = |&state: &_| reduced.variable(state).states >= flat.variable(state).states;
        element.states.iter().all(whole)
    };
    let dropped = sorted.map_or(0, |(reduced, _)| {
        (flat.states().count()).saturating_sub(reduced.state_count())
    });
    causality(graph, preferences, &kept, dropped)
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
    /// The same with an experiment, even if none is named.
    Simulated,
    All,
}

fn stages(
    input: &Input,
    options: &Options,
    files: &dyn Files,
    which: Which,
    mut visit: impl FnMut(Flat, Experiment),
) -> (Sources, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let request = &options.request;
    let file = request.file();
    let mut loaded = load(
        input,
        file.as_deref(),
        &options.folders,
        files,
        &mut diagnostics,
    );
    let command = CommandLine::read(
        request,
        &mut loaded.sources,
        &mut loaded.interner,
        &mut diagnostics,
    );
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
            let before = diagnostics.errors();
            let flat = model::flatten(&names, &classes, model, limits, &mut diagnostics);
            let Some(mut flat) = flat.filter(|_| diagnostics.errors() == before) else {
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
                continue;
            };
            match which == Which::All && !inner.contains(&model) {
                true => visit(sound(flat, &mut apart).0, experiment),
                false => visit(flat, experiment),
            }
        }
    }
    diagnostics.extend(apart.iter().cloned());
    diagnostics.sort();
    (loaded.sources, diagnostics)
}
