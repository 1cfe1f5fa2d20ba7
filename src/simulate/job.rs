//! A job: a solved model with its program, columns and plan, ready to run.
//!
//! Before: a flat model into which the experiment was put, and the other settings of the experiment. After: a [`Job`].
//! Settings that the user did not give are chosen here, and [`Job::chosen`] reports them.

use super::columns::{self, Column};
use super::defaults;
use super::events::Unresolved;
use super::integrate::Method;
use super::run::{Absolute, Plan};
use super::run_error::place;
use crate::base::clock::Clock;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::compile::leaky_switches;
use crate::compile::{Modes, NoObserver, Runnable, Solution, StageObserver};
use crate::compile::{program, solved_for_run};
use crate::experiment::Experiment;
use crate::expr::show_number;
use crate::flat::{Flat, Kind};
use crate::passes::blocks::Solved;
use crate::positions::Positions;
use crate::program::Program;
use crate::program::machine::Machine;

const TOLERANCE: f64 = 1e-6;
/// The absolute tolerance divided by the relative one.
const ABSOLUTE: f64 = 1e-3;
/// Smaller relative tolerances cannot be kept because of rounding errors.
const SMALLEST: f64 = 1e-13;
const POINTS: usize = 501;

/// Options of a run that are no part of an experiment.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Patterns of names; empty for the usual columns.
    pub vars: Vec<String>,
    pub steady: bool,
    /// Start values that contradict each other are values before a jump.
    pub start_jump: bool,
    /// The end time of the other runs of a sweep, where the experiment gives none.
    pub until: Option<f64>,
    /// The clock for reported times.
    pub clock: Clock,
}

#[derive(Debug)]
pub struct Job {
    pub solved: Solved,
    /// `None` for a model that one set of formulas serves in all modes, and in which nothing jumps.
    pub positions: Option<Box<Positions>>,
    pub program: Program,
    pub columns: Vec<Column>,
    pub plan: Plan,
    /// Columns that are drawn together, if the experiment groups them.
    pub panels: Option<Vec<Vec<usize>>>,
    /// Settings that were chosen because the user did not give them, in words.
    pub chosen: Vec<String>,
    /// Seconds for sorting and solving, and for building the program.
    pub seconds: (f64, f64),
    pub clock: Clock,
}

/// `None` after an error in the model; `Err` if a name on the command line is wrong.
pub fn job(
    flat: Flat,
    experiment: &Experiment,
    options: &RunOptions,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Job>, String> {
    job_with(flat, experiment, options, &mut NoObserver, diagnostics)
}

/// The same; `observer` is told of the stages.
pub fn job_with(
    flat: Flat,
    experiment: &Experiment,
    options: &RunOptions,
    observer: &mut dyn StageObserver,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Job>, String> {
    let clock = options.clock;
    let begun = clock.now();
    leaky_switches::hint(&flat, diagnostics);
    let Some(runnable) = solved_for_run(flat, options.start_jump, observer, diagnostics) else {
        return Ok(None);
    };
    let Runnable {
        solution: Solution {
            mut solved,
            positions: mut modes,
        },
        alone,
    } = runnable;
    let solving = clock.now() - begun;
    if inputs(&solved.flat, diagnostics).is_none() {
        return Ok(None);
    }
    let Some(method) = method(experiment, diagnostics) else {
        return Ok(None);
    };
    let Some((columns, panels)) = recorded(
        &mut solved,
        modes.as_deref(),
        experiment,
        options,
        diagnostics,
    )?
    else {
        return Ok(None);
    };
    let begun = clock.now();
    let values: Vec<_> = columns.iter().map(|column| column.value).collect();
    let program = program(&solved, &values, None, observer);
    let building = clock.now() - begun;
    let without_states = |modes: &Modes| modes.written.states().next().is_none();
    if program.state_count() == 0 && modes.as_deref().is_none_or(without_states) {
        no_dynamics(&solved.flat, diagnostics);
    }
    if samples(&solved.flat, &program, diagnostics).is_none() {
        return Ok(None);
    }
    let mut chosen = Vec::new();
    // An experiment leaves settings out on purpose, so only those of the command line are reported.
    let from_command_line = experiment.span.is_none();
    let start = experiment.start;
    let until = experiment.until.or(options.until).unwrap_or_else(|| {
        let (until, why) =
            match (modes.as_deref_mut()).and_then(|modes| first_mode(modes, observer)) {
                Some((solved, program)) => defaults::until(&solved, &program, start),
                None => defaults::until(&solved, &program, start),
            };
        let (start, until_text) = (show_number(start), show_number(until));
        chosen.push(format!("Time from {start} to {until_text} ({why})"));
        until
    });
    if let Some(too_many) = experiment.too_many(until, POINTS) {
        diagnostics.push(too_many);
        return Ok(None);
    }
    let times = experiment.times(until, POINTS);
    if from_command_line
        && experiment.points.is_none()
        && experiment.step.is_none()
        && until > start
    {
        chosen.push(format!("{POINTS} points"));
    }
    let mut relative = experiment.tolerance.unwrap_or(TOLERANCE);
    if relative < SMALLEST {
        relative = SMALLEST;
        let least = show_number(SMALLEST);
        chosen.push(format!(
            "tolerance {least}, smaller ones are lost in rounding"
        ));
    }
    if from_command_line && experiment.tolerance.is_none() && program.state_count() > 0 {
        let method = method.name();
        chosen.push(format!("{method} with tolerance {}", show_number(relative)));
    }
    let absolute = experiment.absolute.unwrap_or(ABSOLUTE * relative);
    let plan = Plan {
        times,
        method,
        relative,
        absolute: Absolute {
            all: absolute,
            single: experiment.absolutes.clone(),
        },
        steady: options.steady,
        columns: columns.iter().map(|column| column.name.clone()).collect(),
    };
    Ok(Some(Job {
        solved,
        positions: modes
            .map(|modes| Box::new(modes.into_positions()))
            .or(alone),
        program,
        columns,
        plan,
        panels,
        chosen,
        seconds: (solving, building),
        clock,
    }))
}

/// Of a model with positions one that is possible: it tells how fast the model is.
fn first_mode(modes: &mut Modes, watch: &mut dyn StageObserver) -> Option<(Solved, Program)> {
    let (solved, _) = modes.first_solved(watch)?;
    Some((solved.clone(), program(solved, &[], None, watch)))
}

/// Reports inputs that have no value, neither an expression of the experiment nor a default.
fn inputs(flat: &Flat, diagnostics: &mut Diagnostics) -> Option<()> {
    let before = diagnostics.errors();
    for id in flat.variable_ids() {
        if flat.variable(id).kind != Kind::Input || flat.value(id).is_some() {
            continue;
        }
        let name = flat.name(id);
        let message = format!("the input `{name}` has no value");
        let diagnostic = Diagnostic::new(Code::InputMissing, message);
        diagnostics.push(
            diagnostic
                .at(flat.declaration(id).span, "declared here")
                .hint(format!(
                    "on the command line: `--input \"{name}=1\"`, any expression of Time; in an experiment: `input {name} = 1`"
                )),
        );
    }
    (diagnostics.errors() == before).then_some(())
}

/// Reports samplers whose period is not above zero.
fn samples(flat: &Flat, program: &Program, diagnostics: &mut Diagnostics) -> Option<()> {
    let before = diagnostics.errors();
    if program.samplers.is_empty() {
        return Some(());
    }
    let machine = Machine::new(program);
    for sampler in &program.samplers {
        let period = machine.get(sampler.period);
        if period > 0.0 && period.is_finite() {
            continue;
        }
        let text = flat.expression(sampler.node);
        let message = format!("the period of `{text}` is {}", show_number(period));
        let mut diagnostic = Diagnostic::new(Code::WrongArguments, message);
        if let Some((span, label)) = place(flat, Unresolved::Relation(sampler.node)) {
            diagnostic = diagnostic.at(span, label);
        }
        diagnostics.push(diagnostic.hint("`sample(start, period)` needs a period above zero"));
    }
    (diagnostics.errors() == before).then_some(())
}

fn no_dynamics(flat: &Flat, diagnostics: &mut Diagnostics) {
    let model = flat.model();
    let message = format!("`{model}` has no states: it is solved at each point by itself");
    let span = flat.instances[0].class_span;
    diagnostics
        .push(Diagnostic::new(Code::NoDynamics, message).at(span, "nothing is differentiated"));
}

/// The columns, and which of them are drawn together.
type Recorded = (Vec<Column>, Option<Vec<Vec<usize>>>);

fn recorded(
    solved: &mut Solved,
    modes: Option<&Modes>,
    experiment: &Experiment,
    options: &RunOptions,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Recorded>, String> {
    if !options.vars.is_empty() {
        let columns =
            columns::matching(solved, &options.vars).map_err(|none| format!("`--vars`: {none}"))?;
        return Ok(Some((columns, None)));
    }
    let mut all = columns::default(solved, modes.map(|modes| &**modes));
    let mut panels = Vec::new();
    for plot in &experiment.plots {
        let mut panel = Vec::new();
        for plotted in plot {
            let found = match columns::matching(solved, std::slice::from_ref(&plotted.name)) {
                Ok(found) => found,
                Err(none) => {
                    let diagnostic = Diagnostic::new(Code::UnknownVariable, none.message);
                    let diagnostic = diagnostic.at(plotted.span, "cannot be shown");
                    diagnostics.push(match none.hint {
                        Some(hint) => diagnostic.hint(hint),
                        None => diagnostic,
                    });
                    return Ok(None);
                }
            };
            for column in found {
                let known = all.iter().position(|other| other.name == column.name);
                let at = known.unwrap_or(all.len());
                if known.is_none() {
                    all.push(column);
                }
                panel.push(at);
            }
        }
        panels.push(panel);
    }
    if all.is_empty() {
        // A model of parameters only has nothing that could be recorded.
        all = columns::matching(solved, &["*".to_string()]).map_err(|_| {
            let model = solved.flat.model();
            format!("`{model}` has nothing to simulate: it has no variables to record")
        })?;
    }
    Ok(Some((all, (!panels.is_empty()).then_some(panels))))
}

/// The integrator that an experiment names; `None` if no integrator has this name.
pub fn method(experiment: &Experiment, diagnostics: &mut Diagnostics) -> Option<Method> {
    let Some((name, span)) = &experiment.method else {
        return Some(Method::Auto);
    };
    let found = Method::from_name(name);
    if found.is_none() {
        let known: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
        let message = format!("there is no method `{name}`");
        let diagnostic = Diagnostic::new(Code::UnknownMethod, message);
        diagnostics.push((diagnostic.at(*span, "unknown")).suggest_or_list(
            name,
            "there are",
            &known,
        ));
    }
    found
}
