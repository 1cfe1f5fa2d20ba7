//! From a flat model to its linearised equations at the points that are asked for.
//!
//! Before: a flat model into which its experiment was put. After: [`Analysed`], one for each point. The point is found in the
//! model as it runs, where inputs have the values that they have; then the inputs are freed ([`super::signals`]) and the model of
//! the mode is solved anew.

use super::linearised::{Linearised, Stuck};
use super::place::{Values, places};
use super::signals::{declared_inputs, declared_outputs, free, named, with_values};
use crate::base::clock::Clock;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::compile::at_point::mode_at;
use crate::compile::{Aliases, Goal, Refused, Request, StageObserver, Starts, lower};
use crate::evaluate::{Point, evaluate};
use crate::experiment::Experiment;
use crate::expr::Value;
use crate::flat::{Flat, Kind, Leaf, VarId};
use crate::passes::blocks::Solved;
use crate::positions::{Key, Positions, switches};

/// Where the model is linearised.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    Start,
    /// At values, as `bgm solve --at` takes them.
    At(String),
    Time(f64),
    Steady,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Wishes {
    pub place: Place,
    /// In every mode that the run visits.
    pub modes: bool,
    /// `None`: as declared.
    pub inputs: Option<Vec<String>>,
    pub outputs: Option<Vec<String>>,
    pub clock: Clock,
}

/// Why there is no analysis.
#[derive(Debug)]
pub enum Refusal {
    /// The request is wrong, not the model.
    Request(String),
    Diagnostic(Box<Diagnostic>),
    /// The model cannot be solved with these inputs.
    Refused(Box<Refused>),
    /// The diagnostics say it already.
    Reported,
    /// Somebody stopped the run.
    Stopped,
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Refusal {
        Refusal::Diagnostic(Box::new(diagnostic))
    }
}

/// A model linearised at one point.
#[derive(Debug)]
pub struct Analysed {
    pub linear: Linearised,
    pub mode: Option<Mode>,
}

/// The mode of the switches at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    pub key: Key,
    /// `S open, D1 closed`
    pub name: String,
}

/// Linearises a model. Notes for the user go to `notes`.
pub fn analyse(
    mut flat: Flat,
    experiment: &Experiment,
    wishes: &Wishes,
    observer: &mut dyn StageObserver,
    (diagnostics, notes): (&mut Diagnostics, &mut Vec<String>),
) -> Result<Vec<Analysed>, Refusal> {
    let chosen = match &wishes.inputs {
        None => declared_inputs(&flat),
        Some(names) => {
            let mut chosen: Vec<VarId> = Vec::new();
            for name in names {
                match named(&flat, name)? {
                    Leaf::Var(id) if !chosen.contains(&id) => chosen.push(id),
                    Leaf::Var(_) => {}
                    _ => {
                        let message = format!("`{name}` cannot be an input: it is a derivative");
                        let diagnostic = Diagnostic::new(Code::NotASignal, message);
                        return Err(diagnostic.hint("choose the variable itself").into());
                    }
                }
            }
            chosen
        }
    };
    let outputs = match &wishes.outputs {
        None => declared_outputs(&flat),
        Some(names) => (names.iter())
            .map(|name| named(&flat, name))
            .collect::<Result<_, _>>()?,
    };
    if let Place::At(text) = &wishes.place {
        // What is given there is not taken from the experiment.
        let parts = text.split(',').filter_map(|part| part.split_once('='));
        let given: Vec<&str> = parts.map(|part| part.0.trim()).collect();
        for id in declared_inputs(&flat) {
            if given.contains(&flat.name(id).as_str()) {
                free(&mut flat, id, observer)?;
            }
        }
    }
    let open = with_values(&mut flat);
    let request = (&wishes.place, wishes.modes, wishes.clock);
    let found = places(flat.clone(), experiment, request, observer, diagnostics)?;
    let mut analysed = Vec::new();
    for values in found {
        let linear = at(&flat, &values, (&chosen, &outputs), observer)?;
        analysed.push(linear);
    }
    // In a linear model it does not matter where the inputs are.
    let matters = analysed.iter().any(|of: &Analysed| of.linear.nonlinear);
    if matters && !open.is_empty() && !matches!(wishes.place, Place::At(_)) {
        let names: Vec<String> = open.iter().map(|name| format!("`{name}`")).collect();
        notes.push(format!(
            "nothing gives {} a value: 0 is taken; `--input \"{}=1\"` gives another one",
            names.join(", "),
            open[0]
        ));
    }
    Ok(analysed)
}

fn at(
    flat: &Flat,
    values: &Values,
    (inputs, outputs): (&[VarId], &[Leaf]),
    observer: &mut dyn StageObserver,
) -> Result<Analysed, Refusal> {
    let (flat, mode) = in_mode(flat, values);
    let mut freed = flat;
    for &id in inputs {
        free(&mut freed, id, observer)?;
    }
    let request = Request {
        starts: Starts::Left,
        suggestions: false,
        ..Request::new(Goal::Solved, Aliases::Eliminate)
    };
    let solved = match lower(freed, request, observer) {
        Ok(lowered) => lowered.into_solved().ok_or(Refusal::Reported)?,
        Err(refused) => return Err(Refusal::Refused(Box::new(refused))),
    };
    let mut point = point(&solved, values);
    evaluate(&solved, &mut point)
        .map_err(|failure| Refusal::Diagnostic(Box::new(failure.diagnostic())))?;
    let linear = Linearised::new(solved, point, (inputs, outputs));
    Ok(Analysed {
        linear: linear.map_err(Stuck::refusal)?,
        mode,
    })
}

/// The model in the mode that it is in at a point, as it was written, and the name of the mode.
fn in_mode(flat: &Flat, values: &Values) -> (Flat, Option<Mode>) {
    if switches(flat).is_empty() {
        return (flat.clone(), None);
    }
    let positions = Positions::of(flat);
    let by_run = values.key.clone().filter(|key| !key.is_empty());
    let Some(key) = by_run.or_else(|| key_at(&positions, values)) else {
        return (flat.clone(), None);
    };
    let name = positions.position_name(&key);
    let flat = positions.written_in(&key).0;
    (flat, Some(Mode { key, name }))
}

/// The truths of the switches of a model that one set of formulas serves.
fn key_at(positions: &Positions, values: &Values) -> Option<Key> {
    let solved = Solved {
        flat: positions.written.clone(),
        blocks: Vec::new(),
        zeros: Vec::new(),
        divisors: Vec::new(),
        start: None,
    };
    let mut point = Point::new(&solved);
    point.time = values.time;
    for (&leaf, &value) in &values.known {
        if leaf.variable().index() < positions.written.variables.len() {
            point.guess(leaf, value);
        }
    }
    mode_at(positions, &point)
}

/// The point in the model whose inputs are free.
fn point(solved: &Solved, values: &Values) -> Point {
    let flat = &solved.flat;
    let mut point = Point::new(solved);
    point.time = values.time;
    let known = flat.variable_ids().flat_map(|id| {
        let orders = 0..=flat.variable(id).order;
        orders.map(move |order| Leaf::at_order(id, order))
    });
    for leaf in known {
        let Some(&value) = values.known.get(&leaf) else {
            continue;
        };
        let id = leaf.variable();
        let variable = flat.variable(id);
        let is_known = match variable.kind {
            Kind::Input | Kind::Discrete => true,
            Kind::Parameter | Kind::Constant => {
                flat.value(id).is_some_and(|given| given.value != value)
            }
            _ => flat.is_state(leaf) || values.chosen.contains(&leaf),
        };
        match (is_known, value) {
            (true, value) => point.set(leaf, value),
            (false, Value::Real(number)) if !number.is_finite() => {}
            _ if matches!(variable.kind, Kind::Parameter | Kind::Constant) => {}
            (false, value) => point.guess(leaf, value),
        }
    }
    point
}
