//! Programs in other languages that do what a solved model says.
//!
//! Before: a flat model with an experiment in it. After: the text of a program, for one of the [`Target`]s. Inputs stay
//! inputs: what the experiment says of them is what the program takes where nobody gives others. A model that needs
//! another set of formulas in each position of its switches is exported in the form of the 1995 paper where it has one.
//! What cannot be exported is refused by name: no program that computes something else is ever written.

pub mod acsl;
pub mod c;
pub mod classic;
pub mod desire;
pub mod latex;
pub mod model;
pub mod modelica;
pub mod names;
mod paper;
pub mod python;
pub mod simnon;
mod watch;
pub mod write;

use rustc_hash::FxHashMap;

use crate::compile::{Aliases, Presented, presented};
use crate::diagnostics::Diagnostics;
use crate::experiment::Experiment;
use crate::expr::ExprId;
use crate::flat::{EquationKind, Flat, InstanceId, Kind, Leaf, VarId};
use crate::solve::Solved;
use model::{Model, columns_of};

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// One self-contained file, C99.
    C,
    /// One module.
    Python,
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

/// Why a model is not exported, in plain words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

/// What the run of a program is, where nobody says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    pub from: f64,
    pub until: f64,
    pub points: usize,
    /// The time between points, where it was given; the last one may be shorter.
    pub step: Option<f64>,
    pub relative: f64,
    pub absolute: f64,
}

/// A program, and what is to be told about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    pub text: String,
    pub notes: Vec<String>,
}

/// What a target gets.
#[derive(Debug)]
pub struct Request<'r> {
    /// As it was flattened, with the experiment in it but for its inputs.
    pub written: &'r Flat,
    pub model: &'r Model<'r>,
    pub run: Run,
}

/// Writes a program; `None` after an error that was said. `stem` is the name of its file without the end, for programs
/// that name themselves.
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
    let mut unsaid = Diagnostics::default();
    if !inputs.is_empty()
        && let Ok(Some(exported)) = attempt(free, (&flat, &inputs), experiment, target, &mut unsaid)
    {
        said.extend(unsaid.iter().cloned());
        return Ok(Some(exported));
    }
    // Where the derivative of an input is needed, the input is what the experiment says.
    let none = FxHashMap::default();
    attempt(flat.clone(), (&flat, &none), experiment, target, said)
}

fn attempt(
    written: Flat,
    (given, inputs): (&Flat, &FxHashMap<VarId, ExprId>),
    experiment: &Experiment,
    target: Target,
    said: &mut Diagnostics,
) -> Result<Option<Exported>, Refusal> {
    let Some(presented) = presented(written.clone(), Aliases::Eliminate, said) else {
        return Ok(None);
    };
    let mut starts = None;
    let mut solved: Solved = match presented {
        Presented::One(solved) => *solved,
        Presented::Paper(positions, mut solved) => {
            paper::jumps(&positions, &solved)?;
            starts = Some(paper::start(given.clone(), experiment, &solved)?);
            // For the columns: what the source differentiates is shown in all positions.
            solved.positions = Some(positions);
            *solved
        }
        Presented::ByPosition(positions, _) => {
            let names: Vec<String> = (0..positions.switches.len())
                .map(|at| format!("`{}`", positions.switch_name(at)))
                .collect();
            return Err(Refusal(format!(
                "it has other equations in each position of its switches ({}), and no single program serves all of them",
                names.join(", ")
            )));
        }
    };
    let columns = columns_of(&mut solved, experiment);
    solved.positions = None;
    let mut model = Model::new(&solved, columns, inputs, experiment.start)?;
    if let Some(starts) = starts {
        model.start_at(&starts);
    }
    let mut notes = Vec::new();
    for &(id, given) in &model.inputs {
        if given.is_none() && model.flat.value(id).is_none() {
            let name = model.flat.name(id);
            notes.push(format!(
                "the input `{name}` has no value: the program takes 0; `--input {name}=...` gives another"
            ));
        }
    }
    let run = run_of(experiment, &mut notes);
    let request = Request {
        written: &written,
        model: &model,
        run,
    };
    let text = match target {
        Target::C => c::program(&request),
        Target::Python => python::program(&request),
        // Written from other representations, above.
        Target::Desire | Target::Simnon | Target::Acsl | Target::Modelica | Target::Latex => {
            return Ok(None);
        }
    };
    Ok(Some(Exported { text, notes }))
}

/// Inputs that the experiment gives are inputs again; what it says of them comes back.
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

/// As the simulator takes it.
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
        points: experiment.times(until, POINTS).len(),
        step: experiment.step,
        relative,
        absolute: experiment.absolute.unwrap_or(1e-3 * relative),
    }
}
