//! The flat model as one class of Modelica (3.6).
//!
//! Before: a flat model with an experiment in it. After: the text of a class with the equations as they were written; a Modelica
//! tool sorts, solves and reduces the index by itself. Names stay readable ('C1.e'). An input that the experiment gives is a
//! variable with a value, so that the class can be simulated as it is; any other stays an input. A derivative of higher
//! order gets variables for the lower ones, as tools differentiate variables once. What Modelica cannot say is refused.

mod before;
mod begin;
mod check;
mod declare;
mod events;
mod exclude;
mod names;
mod text;
mod truths;
mod units;
mod written_out;

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Exported, Refusal, Run, run_of, take_inputs};
use crate::base::diagnostics::Diagnostics;
use crate::experiment::Experiment;
use crate::expr::op::precedence as level;
use crate::expr::{ExprId, Node};
use crate::flat::{Equation, EquationKind, Flat, InstanceId, Kind, Leaf, VarId};
use begin::{Beginning, beginning};
use declare::Declarations;
use events::Events;
use names::{identifier, string};
use text::{Printer, View, number};
use truths::Told;

/// `None` after an error that was reported.
pub fn export(
    flat: &Flat,
    experiment: &Experiment,
    said: &mut Diagnostics,
) -> Result<Option<Exported>, Refusal> {
    let Some(mut beginning) = beginning(flat, experiment, said)? else {
        return Ok(None);
    };
    // An input with a formula has its equation in its declaration.
    let mut kinds: Vec<(VarId, Kind)> = Vec::new();
    for &(id, _) in &experiment.inputs {
        kinds.push((id, beginning.written.variable(id).kind));
    }
    let inputs = take_inputs(&mut beginning.written, experiment);
    for (id, kind) in kinds {
        beginning.written.variables[id.index()].kind = kind;
    }
    let mut notes = beginning.notes.clone();
    let written = &beginning.written;
    for id in written.variable_ids() {
        if written.variable(id).kind == Kind::Input && written.value(id).is_none() {
            let name = written.name(id);
            notes.push(format!(
                "the input `{name}` has no value: it stays an input of the class, and a tool takes 0 unless it is told otherwise; `--input {name}=...` gives it one"
            ));
        }
    }
    let run = run_of(experiment, &mut notes);
    let printer = Printer::new(written);
    check::check(&beginning)?;
    let text = class(&beginning, &printer, &inputs, run)?;
    Ok(Some(Exported { text, notes }))
}

fn class(
    beginning: &Beginning,
    printer: &Printer<'_>,
    inputs: &FxHashMap<VarId, ExprId>,
    run: Run,
) -> Result<String, Refusal> {
    let flat = &beginning.written;
    let declarations = Declarations::new(beginning, printer, inputs);
    let events = Events::new(beginning, printer);
    let name = identifier(flat.model());
    let mut out = String::from("within ;\n");
    let title = string(&format!("{}, flat, as bgm writes it", flat.model()));
    let _ = writeln!(out, "model {name} {title}");
    for note in &beginning.notes {
        let _ = writeln!(out, "  // {note}");
    }
    if needs_function(flat, printer, inputs) {
        out.push_str(&written_out::function());
    }
    lines(&declarations.lines(), &mut out);
    let mut initial = declarations.initial();
    for (name, condition, lasts) in events.named() {
        let _ = writeln!(out, "  Boolean {name};");
        initial.extend(lasts.then(|| format!("pre({name}) = {condition};")));
    }
    if !initial.is_empty() {
        out.push_str("initial equation\n");
        lines(&initial, &mut out);
    }
    out.push_str("equation\n");
    equations(flat, printer, &events, inputs, &mut out)?;
    let _ = writeln!(out, "  {}", annotation(run));
    let _ = writeln!(out, "end {name};");
    Ok(out)
}

fn lines(all: &[String], out: &mut String) {
    for line in all {
        let _ = writeln!(out, "  {line}");
    }
}

/// In the order of the model, each submodel under its name.
fn equations(
    flat: &Flat,
    printer: &Printer<'_>,
    events: &Events<'_>,
    inputs: &FxHashMap<VarId, ExprId>,
    out: &mut String,
) -> Result<(), Refusal> {
    let told = truths::told(printer, |id| inputs.contains_key(&id));
    let looped = before::looped(flat);
    let view = View::Between(&looped);
    let mut origin = InstanceId::TOP;
    let mut done: FxHashSet<u32> = FxHashSet::default();
    for (at, equation) in flat.equations.iter().enumerate() {
        let text = match equation.kind {
            EquationKind::Init => continue,
            EquationKind::New => match flat.exprs.node(equation.left) {
                Node::Leaf(Leaf::New(id)) => events.next(id, equation.right)?,
                _ => continue,
            },
            EquationKind::When(when, _) => match done.insert(when.0) {
                true => events.when(when),
                false => continue,
            },
            _ => vec![continuous(printer, equation, told.get(&at), view)],
        };
        if equation.origin != origin && !text.is_empty() {
            origin = equation.origin;
            let path = match origin {
                InstanceId::TOP => flat.model().to_string(),
                origin => flat.path(origin),
            };
            let _ = writeln!(out, "  // {path}");
        }
        lines(&text, out);
    }
    for id in flat.variable_ids() {
        for order in 1..flat.variable(id).order {
            let below = match order {
                1 => printer.name(id).to_string(),
                _ => printer.derivative(id, order - 1),
            };
            let name = printer.derivative(id, order);
            let _ = writeln!(out, "  {name} = der({below});");
        }
    }
    for (name, condition, _) in events.named() {
        let _ = writeln!(out, "  {name} = {condition};");
    }
    lines(&events.restarts(), out);
    Ok(())
}

fn continuous(
    printer: &Printer<'_>,
    equation: &Equation,
    told: Option<&Told>,
    view: View<'_>,
) -> String {
    if let Some(told) = told {
        let value = match told.negated {
            true => format!("not {}", printer.at_least(told.value, level::ATOM, view)),
            false => printer.text(told.value, view),
        };
        return format!("{} = {value};", printer.name(told.variable));
    }
    let remark = match equation.kind {
        EquationKind::Reference => " // in place of a ground",
        EquationKind::Constraint => " // what several equations add up to, in place of one of them",
        _ => "",
    };
    let left = printer.at_least(equation.left, level::OR, view);
    let right = printer.text(equation.right, view);
    format!("{left} = {right};{remark}")
}

fn needs_function(flat: &Flat, printer: &Printer<'_>, inputs: &FxHashMap<VarId, ExprId>) -> bool {
    let of_equations = (flat.equations.iter()).flat_map(|equation| [equation.left, equation.right]);
    let conditions = flat.whens.iter().flat_map(|when| &when.conditions);
    let given = flat.values.iter().chain(&flat.starts);
    (of_equations.chain(conditions.map(|&(condition, _)| condition)))
        .chain(given.map(|given| given.expression))
        .chain(inputs.values().copied())
        .any(|root| printer.needs_function(root))
}

fn annotation(run: Run) -> String {
    let step = run.step.unwrap_or_else(|| {
        let intervals = run.points.saturating_sub(1).max(1);
        (run.until - run.from) / intervals as f64
    });
    let [from, until, relative, step] =
        [run.from, run.until, run.relative, step].map(|value| number(value, false));
    format!(
        "annotation(experiment(StartTime = {from}, StopTime = {until}, Tolerance = {relative}, Interval = {step}));"
    )
}
