//! What is to be run: a solved model with its program, columns and plan.
//!
//! Before: a flat model with an experiment in it, and what of the experiment is left. After: a [`Job`], ready
//! to run. What nobody has said is chosen here, and told.

use super::columns::{self, Column};
use super::defaults;
use super::events::What;
use super::halt::place;
use super::integrate::Method;
use super::run::{Absolute, Plan};
use crate::base::clock::Clock;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::compile::leaky_switches;
use crate::compile::{Aliases, Product, Solution, Stage, Unwatched, Watch, solved_in, solved_with};
use crate::experiment::Experiment;
use crate::expr::show_number;
use crate::flat::{Flat, Kind};
use crate::passes::blocks::Solved;
use crate::positions::Positions;
use crate::program::machine::Machine;
use crate::program::{Program, build};

const TOLERANCE: f64 = 1e-6;
/// The absolute tolerance, beside the relative one.
const ABSOLUTE: f64 = 1e-3;
/// Errors smaller than this are rounding.
const SMALLEST: f64 = 1e-13;
const POINTS: usize = 501;

/// What is wanted of a run beside the experiment.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Patterns of names; empty for the usual columns.
    pub vars: Vec<String>,
    pub steady: bool,
    /// Where another run of the same sweep ends.
    pub until: Option<f64>,
    /// For what is told of times.
    pub clock: Clock,
}

#[derive(Debug)]
pub struct Job {
    pub solved: Solved,
    /// Of a model that is solved anew in each mode.
    pub positions: Option<Box<Positions>>,
    pub program: Program,
    pub columns: Vec<Column>,
    pub plan: Plan,
    /// Columns that are drawn together, where the experiment says so.
    pub panels: Option<Vec<Vec<usize>>>,
    /// What was chosen because nobody said it.
    pub chosen: Vec<String>,
    /// Seconds: sorting and solving, making the program.
    pub seconds: (f64, f64),
    pub clock: Clock,
}

/// `None` after an error; a wrong name on the command line is an error of usage.
pub fn job(
    flat: Flat,
    experiment: &Experiment,
    wishes: &Wishes,
    said: &mut Diagnostics,
) -> Result<Option<Job>, String> {
    job_with(flat, experiment, wishes, &mut Unwatched, said)
}

/// The same with somebody who looks on.
pub fn job_with(
    flat: Flat,
    experiment: &Experiment,
    wishes: &Wishes,
    watch: &mut dyn Watch,
    said: &mut Diagnostics,
) -> Result<Option<Job>, String> {
    let clock = wishes.clock;
    let begun = clock.now();
    leaky_switches::hint(&flat, said);
    let Some(solution) = solved_with(flat, Aliases::Eliminate, watch, said) else {
        return Ok(None);
    };
    let Solution {
        mut solved,
        positions,
    } = solution;
    let solving = clock.now() - begun;
    if inputs(&solved.flat, said).is_none() {
        return Ok(None);
    }
    let Some(method) = method(experiment, said) else {
        return Ok(None);
    };
    let Some((columns, panels)) =
        recorded(&mut solved, positions.as_deref(), experiment, wishes, said)?
    else {
        return Ok(None);
    };
    let begun = clock.now();
    let values: Vec<_> = columns.iter().map(|column| column.value).collect();
    watch.before(Stage::Program);
    let program = build(&solved, &values);
    watch.after(Stage::Program, Product::Counts(&program.counts()));
    let building = clock.now() - begun;
    let still = |positions: &Positions| positions.written.states().next().is_none();
    if program.state_count() == 0 && positions.as_deref().is_none_or(still) {
        no_dynamics(&solved.flat, said);
    }
    if samples(&solved.flat, &program, said).is_none() {
        return Ok(None);
    }
    let mut chosen = Vec::new();
    // What an experiment leaves out it leaves to us; where there is none, all is told.
    let tells = experiment.span.is_none();
    let start = experiment.start;
    let until = experiment.until.or(wishes.until).unwrap_or_else(|| {
        let (until, why) = match positions.as_deref().and_then(first_position) {
            Some((solved, program)) => defaults::until(&solved, &program, start),
            None => defaults::until(&solved, &program, start),
        };
        let (start, until_text) = (show_number(start), show_number(until));
        chosen.push(format!("Time from {start} to {until_text} ({why})"));
        until
    });
    if let Some(too_many) = experiment.too_many(until, POINTS) {
        said.push(too_many);
        return Ok(None);
    }
    let times = experiment.times(until, POINTS);
    if tells && experiment.points.is_none() && experiment.step.is_none() && until > start {
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
    if tells && experiment.tolerance.is_none() && program.state_count() > 0 {
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
        steady: wishes.steady,
        columns: columns.iter().map(|column| column.name.clone()).collect(),
    };
    Ok(Some(Job {
        solved,
        positions,
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
fn first_position(positions: &Positions) -> Option<(Solved, Program)> {
    let mut keys = positions.candidates();
    let solved = keys.find_map(|key| solved_in(positions, &key, Aliases::Eliminate))?;
    let program = build(&solved, &[]);
    Some((solved, program))
}

/// Every input has a value: an expression of the experiment, or a default.
fn inputs(flat: &Flat, said: &mut Diagnostics) -> Option<()> {
    let before = said.errors();
    for id in flat.variable_ids() {
        if flat.variable(id).kind != Kind::Input || flat.value(id).is_some() {
            continue;
        }
        let name = flat.name(id);
        let message = format!("nothing says what the input `{name}` is");
        let diagnostic = Diagnostic::new(Code::InputMissing, message);
        said.push(
            diagnostic
                .at(flat.declaration(id).span, "declared here")
                .hint(format!(
                    "on the command line: `--input \"{name}=1\"`, any expression of Time; in an experiment: `input {name} = 1`"
                )),
        );
    }
    (said.errors() == before).then_some(())
}

/// Samplers come again after a while.
fn samples(flat: &Flat, program: &Program, said: &mut Diagnostics) -> Option<()> {
    let before = said.errors();
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
        if let Some((span, label)) = place(flat, What::Relation(sampler.node)) {
            diagnostic = diagnostic.at(span, label);
        }
        said.push(diagnostic.hint("`sample(start, period)` needs a period above zero"));
    }
    (said.errors() == before).then_some(())
}

fn no_dynamics(flat: &Flat, said: &mut Diagnostics) {
    let model = flat.model();
    let message = format!("`{model}` has no states: it is solved at each point by itself");
    let span = flat.instances[0].class_span;
    said.push(Diagnostic::new(Code::NoDynamics, message).at(span, "nothing is differentiated"));
}

/// The columns, and which of them are drawn together.
type Recorded = (Vec<Column>, Option<Vec<Vec<usize>>>);

fn recorded(
    solved: &mut Solved,
    positions: Option<&Positions>,
    experiment: &Experiment,
    wishes: &Wishes,
    said: &mut Diagnostics,
) -> Result<Option<Recorded>, String> {
    if !wishes.vars.is_empty() {
        let columns =
            columns::matching(solved, &wishes.vars).map_err(|none| format!("`--vars`: {none}"))?;
        return Ok(Some((columns, None)));
    }
    let mut all = columns::default(solved, positions);
    let mut panels = Vec::new();
    for plot in &experiment.plots {
        let mut panel = Vec::new();
        for plotted in plot {
            let found = match columns::matching(solved, std::slice::from_ref(&plotted.name)) {
                Ok(found) => found,
                Err(none) => {
                    let diagnostic = Diagnostic::new(Code::UnknownVariable, none.message);
                    let diagnostic = diagnostic.at(plotted.span, "cannot be shown");
                    said.push(match none.hint {
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

/// The integrator that an experiment names; none if there is no such one.
pub fn method(experiment: &Experiment, said: &mut Diagnostics) -> Option<Method> {
    let Some((name, span)) = &experiment.method else {
        return Some(Method::Bdf);
    };
    let found = Method::from_name(name);
    if found.is_none() {
        let known: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
        let message = format!("there is no method `{name}`");
        let diagnostic = Diagnostic::new(Code::UnknownMethod, message);
        said.push((diagnostic.at(*span, "unknown")).suggest_or_list(name, "there are", &known));
    }
    found
}
