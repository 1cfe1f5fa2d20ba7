//! Programs in other languages that compute what `bgm simulate` computes.
//!
//! Before: a flat model with an experiment in it. After: the text of a program, for one of the [`Target`]s. Inputs stay
//! inputs; the formulas of the experiment are their defaults. A model that needs different formulas in each mode of its
//! switches is exported in the form of the 1995 paper if that form is complete, else with all its modes ([`switched`]).
//! What cannot be exported is refused by name: a program that computes something else is never written.

pub mod acsl;
pub mod c;
pub mod classic;
pub mod desire;
pub mod fmu;
pub mod latex;
pub mod model;
pub mod modelica;
pub mod names;
mod paper;
pub mod pattern;
mod places;
pub mod python;
pub mod simnon;
mod statements;
pub mod switched;
mod watch;
pub mod write;

use rustc_hash::FxHashMap;

use crate::base::diagnostics::Diagnostics;
use crate::compile::{Aliases, Modes, NoObserver, Paper, Presented, presented};
use crate::experiment::Experiment;
use crate::expr::ExprId;
use crate::flat::{EquationKind, Flat, InstanceId, Kind, Leaf, VarId};
use crate::passes::blocks::Solved;
use crate::positions::{Discontinuous, Positions};
use model::{Model, Told, columns_of};

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// One self-contained file, C99.
    C,
    /// One module.
    Python,
    /// A Functional Mock-up Unit, FMI 2.0: [`unit`] makes it.
    Fmu,
    /// The language of the 1990 paper.
    Desire,
    Simnon,
    Acsl,
    /// One class with the flat equations.
    Modelica,
    /// A typeset report.
    Latex,
}

impl Target {
    pub const ALL: &'static [Target] = &[
        Target::C,
        Target::Python,
        Target::Fmu,
        Target::Desire,
        Target::Simnon,
        Target::Acsl,
        Target::Modelica,
        Target::Latex,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Target::C => "c",
            Target::Python => "python",
            Target::Fmu => "fmu",
            Target::Desire => "desire",
            Target::Simnon => "simnon",
            Target::Acsl => "acsl",
            Target::Modelica => "modelica",
            Target::Latex => "latex",
        }
    }

    pub fn from_name(name: &str) -> Option<Target> {
        Self::ALL
            .iter()
            .copied()
            .find(|target| target.name() == name)
    }
}

/// Why a model is not exported, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

/// The default run of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    pub from: f64,
    pub until: f64,
    pub points: usize,
    /// The time between points, if it was given; the last interval may be shorter.
    pub step: Option<f64>,
    pub relative: f64,
    pub absolute: f64,
}

/// A program, and the notes about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    pub text: String,
    pub notes: Vec<String>,
}

/// What a target is written from.
#[derive(Debug)]
pub struct Request<'r> {
    /// The flat model as it was flattened, with the experiment in it except for its inputs.
    pub written: &'r Flat,
    pub model: &'r Model<'r>,
    pub run: Run,
}

/// Writes a program; `None` after an error that was reported. `stem` is the name of its file without the ending, for
/// programs that contain their name.
pub fn export(
    flat: Flat,
    experiment: &Experiment,
    target: Target,
    stem: &str,
    said: &mut Diagnostics,
) -> Result<Option<Exported>, Refusal> {
    if matches!(target, Target::Desire | Target::Simnon | Target::Acsl) {
        return classic::export(flat, experiment, target, stem, said);
    }
    if target == Target::Modelica {
        return modelica::export(&flat, experiment, said);
    }
    let mut free = flat.clone();
    let inputs = take_inputs(&mut free, experiment);
    if target == Target::Latex {
        return Ok(latex::document(&free, said));
    }
    let write = |request: &Request<'_>| match target {
        Target::C => Ok(c::program(request)),
        Target::Python => {
            request.model.loops_up_to(python::LARGEST)?;
            Ok(python::program(request))
        }
        // Other targets are written from other representations above, or are not one text.
        _ => Err(Refusal(
            "it is a file with several parts, which `bgm export` writes".into(),
        )),
    };
    let mut unsaid = Diagnostics::default();
    let made = match inputs.is_empty() {
        true => None,
        false => attempt(
            free,
            (&flat, &inputs, Inputs::Experiment),
            experiment,
            &write,
            &mut unsaid,
        )
        .ok()
        .flatten(),
    };
    let made = match made {
        Some(made) => {
            said.extend(unsaid.iter().cloned());
            Some(made)
        }
        // Where the derivative of an input is needed, the experiment's formula for the input is used.
        None => {
            let none = (&flat, &FxHashMap::default(), Inputs::Experiment);
            attempt(flat.clone(), none, experiment, &write, said)?
        }
    };
    Ok(made.map(|(text, notes)| Exported { text, notes }))
}

/// The parts of a Functional Mock-up Unit, and the notes about it; `None` after an error that was reported. Inputs come
/// from outside, and so do their derivatives if the model needs them.
pub fn unit(
    flat: Flat,
    experiment: &Experiment,
    said: &mut Diagnostics,
) -> Result<Option<(fmu::Unit, Vec<String>)>, Refusal> {
    let mut free = flat.clone();
    let inputs = take_inputs(&mut free, experiment);
    let inputs = (&flat, &inputs, Inputs::Outside);
    attempt(free, inputs, experiment, &fmu::unit, said)
}

/// Where the values of inputs come from in a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inputs {
    Experiment,
    /// From outside; the experiment gives the values at the start.
    Outside,
}

/// The function that writes a target.
type Write<'w, T> = &'w dyn Fn(&Request<'_>) -> Result<T, Refusal>;

fn attempt<T>(
    written: Flat,
    (given, inputs, from): (&Flat, &FxHashMap<VarId, ExprId>, Inputs),
    experiment: &Experiment,
    write: Write<'_, T>,
    said: &mut Diagnostics,
) -> Result<Option<(T, Vec<String>)>, Refusal> {
    let done = presented(written.clone(), Aliases::Eliminate, &mut NoObserver, said);
    let Some(presented) = done else {
        return Ok(None);
    };
    match presented {
        Presented::One(solved) if Discontinuous::of(&solved.flat).moves_states() => {
            // It has one position, in which states jump.
            let steps = Discontinuous::of(&solved.flat);
            no_restart(&solved.flat, &steps)?;
            let positions = Positions::with_corners(&written, &steps.corners);
            let modes = Modes::of(positions, Aliases::Eliminate);
            by_position(modes, *solved, (given, inputs, from), experiment, write)
        }
        Presented::One(mut solved) => {
            let columns = columns_of(&mut solved, None, experiment);
            let told = told(&mut solved, &[], (inputs, from), experiment);
            let model = Model::new(&solved, columns, &told, experiment.start)?;
            written_as(write, &written, &model, experiment)
        }
        Presented::Paper(paper) => {
            // The columns are those of the model itself, which is run by modes.
            let Paper {
                mut modes,
                solved: mut form,
                as_written: mut solved,
                ..
            } = *paper;
            if paper::jumps(&mut modes, &form).is_err() {
                // The form of the paper does not contain all jumps.
                return by_position(modes, solved, (given, inputs, from), experiment, write);
            }
            let columns = columns_of(&mut solved, None, experiment);
            let columns = switched::recorded(&mut form, &columns);
            let starts = paper::start(given.clone(), experiment, &form)?;
            let told = told(&mut form, &[], (inputs, from), experiment);
            let mut model = Model::new(&form, columns, &told, experiment.start)?;
            model.start_at(&starts);
            written_as(write, &written, &model, experiment)
        }
        Presented::ByPosition(positions, solved) => by_position(
            *positions,
            *solved,
            (given, inputs, from),
            experiment,
            write,
        ),
    }
}

/// Refuses restarts with which other states jump: programs let the others follow.
fn no_restart(flat: &Flat, steps: &Discontinuous) -> Result<(), Refusal> {
    match steps.restarts {
        Some(leaf) => Err(Refusal(format!(
            "a `when` restarts `{}`, which constraints tie to other states; only `bgm simulate` solves for what jumps with it",
            flat.leaf_name(leaf)
        ))),
        None => Ok(()),
    }
}

/// What a model gets to know about its inputs.
fn told(
    solved: &mut Solved,
    forms: &[&Flat],
    (inputs, from): (&FxHashMap<VarId, ExprId>, Inputs),
    experiment: &Experiment,
) -> Told {
    match from {
        Inputs::Experiment => Told {
            inputs: inputs.clone(),
            slopes: None,
        },
        Inputs::Outside => fmu::at_start(solved, forms, inputs, experiment.start),
    }
}

/// Exports a model with different equations in each mode of its switches.
fn by_position<T>(
    mut positions: Modes,
    mut solved: Solved,
    (given, inputs, from): (&Flat, &FxHashMap<VarId, ExprId>, Inputs),
    experiment: &Experiment,
    write: Write<'_, T>,
) -> Result<Option<(T, Vec<String>)>, Refusal> {
    let mut compiled = switched::compile(&mut positions)?;
    let columns = columns_of(&mut solved, Some(&positions), experiment);
    let columns: Vec<_> = (compiled.iter_mut())
        .map(|position| switched::recorded(&mut position.solved, &columns))
        .collect();
    let mut shared = switched::shared(&positions);
    let forms: Vec<&Flat> = (compiled.iter())
        .map(|position| &position.solved.flat)
        .collect();
    let told = told(&mut shared, &forms, (inputs, from), experiment);
    let mut model = Model::of_positions(&shared, &positions, &compiled, &columns, &told)?;
    let leaves: Vec<Leaf> = (model.states.iter().copied())
        .chain(model.discretes.iter().map(|&id| Leaf::Var(id)))
        .filter(|leaf| model.is_written(leaf.variable()))
        .collect();
    let starts = paper::at_start(given.clone(), experiment, &shared.flat, &leaves)?;
    model.start_with(&starts);
    written_as(write, &positions.written, &model, experiment)
}

/// Writes a target, with its notes.
fn written_as<T>(
    write: Write<'_, T>,
    written: &Flat,
    model: &Model<'_>,
    experiment: &Experiment,
) -> Result<Option<(T, Vec<String>)>, Refusal> {
    let mut notes = Vec::new();
    for &(id, given) in &model.inputs {
        if given.is_none() && model.flat.value(id).is_none() {
            let name = model.flat.name(id);
            notes.push(format!(
                "the input `{name}` has no value: the program takes 0; `--input {name}=...` gives another"
            ));
        }
    }
    if let Some((method, _)) = &experiment.method {
        notes.push(format!(
            "the method `{method}` is not taken over: the program integrates with Rodas4"
        ));
    }
    let run = run_of(experiment, &mut notes);
    let request = Request {
        written,
        model,
        run,
    };
    Ok(Some((write(&request)?, notes)))
}

/// Makes inputs that the experiment gives into inputs again, and returns their formulas.
fn take_inputs(flat: &mut Flat, experiment: &Experiment) -> FxHashMap<VarId, ExprId> {
    let mut inputs = FxHashMap::default();
    for &(id, span) in &experiment.inputs {
        let left = flat.exprs.leaf(Leaf::Var(id));
        let found = flat.equations.iter().rposition(|equation| {
            equation.left == left
                && equation.origin == InstanceId::TOP
                && equation.span == span
                && equation.kind == EquationKind::Equation
        });
        if let Some(at) = found {
            let equation = flat.equations.remove(at);
            flat.variables[id.index()].kind = Kind::Input;
            inputs.insert(id, equation.right);
        }
    }
    inputs
}

/// The run as the simulator would do it.
fn run_of(experiment: &Experiment, notes: &mut Vec<String>) -> Run {
    const POINTS: usize = 501;
    const TOLERANCE: f64 = 1e-6;
    let from = experiment.start;
    let until = experiment.until.unwrap_or_else(|| {
        notes.push("no end of Time is given: the run of the program is 1 long; `--until` or an experiment says otherwise".into());
        from + 1.0
    });
    let relative = experiment.tolerance.unwrap_or(TOLERANCE);
    Run {
        from,
        until,
        points: experiment.count(until, POINTS),
        step: experiment.step,
        relative,
        absolute: experiment.absolute.unwrap_or(1e-3 * relative),
    }
}
