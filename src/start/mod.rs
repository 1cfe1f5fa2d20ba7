//! Start values of a model whose index was reduced: which may be given, which follow.
//!
//! Before: a solved model. After: the same, with the states chosen where the choice is left to the run, and
//! all that is to be said of the start values given: states may have any; what is no state any more follows
//! from them, and a value given for it has to agree. What follows from an input cannot be given at all.
//! Where only the value of a former state is given, those of the states follow from it ([`backwards`]). Start
//! values of variables that never were states are guesses and say nothing.

mod backwards;
pub mod dump;
mod jumps;
mod twice;

pub use jumps::StepDifferentiated;

use rustc_hash::FxHashSet;

use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::evaluate::{Chosen, Point, evaluate_start};
use crate::expr::{Node, Value, show_number};
use crate::flat::{EqId, EquationKind, Flat, Given, Kind, Leaf, Selection, Type, VarId};
use crate::passes::blocks::Solved;
use crate::passes::showing::with_equations;

/// Values given are rarely more exact.
const AGREES: f64 = 1e-4;

/// What is to be said of the start values.
#[derive(Clone, Debug)]
pub enum Remark {
    StepDifferentiated(StepDifferentiated),
    /// No values of the others make these right.
    Tied(Box<Chosen>),
    /// What is given follows from inputs.
    Unused(Given),
    Contradicts {
        given: Given,
        wanted: f64,
        found: f64,
    },
    /// Of the selection of this number.
    TooFew(u32),
}

impl Remark {
    pub fn is_error(&self) -> bool {
        matches!(self, Remark::Tied(_) | Remark::Contradicts { .. })
    }
}

/// Says it.
pub fn report(flat: &Flat, remarks: &[Remark], said: &mut Diagnostics) {
    said.extend(remarks.iter().filter_map(|remark| match remark {
        Remark::StepDifferentiated(step) => step.words(flat),
        Remark::Tied(choice) => Some(tied(flat, choice)),
        Remark::Unused(given) => Some(unused(flat, given)),
        Remark::Contradicts {
            given,
            wanted,
            found,
        } => Some(contradiction(flat, given, *wanted, *found)),
        Remark::TooFew(at) => Some(too_few(flat, flat.selections().get(*at as usize)?)),
    }));
}

/// Chooses states where the choice is left to the run, and examines the start values.
pub fn start(solved: &mut Solved) -> Vec<Remark> {
    if solved.flat.reduction.is_none() {
        return Vec::new();
    }
    let steps = jumps::find(solved, &Point::new(solved)).into_iter();
    let mut remarks: Vec<Remark> = steps.map(Remark::StepDifferentiated).collect();
    // Nothing to choose and nothing given: no need to evaluate a large model.
    if solved.flat.selections().is_empty() && of_former_states(&solved.flat).is_empty() {
        return remarks;
    }
    let mut point = Point::new(solved);
    // Without a start (a division by zero there, an input that is needed) nothing is said.
    let Ok(chosen) = evaluate_start(solved, &mut point) else {
        return remarks;
    };
    put_in(&mut solved.flat, &chosen);
    let point = backwards::find(solved, point);
    let other = with_other_inputs(solved);
    let follows_inputs = |leaf: Leaf| {
        let value = other.as_ref().map(|other| other.real(leaf));
        value.is_some_and(|value| !close(value, point.real(leaf)))
    };
    // What depends on inputs that are not known cannot be said to contradict.
    let contradicts = |choice: &&Chosen| {
        !choice.kept && !choice.values.iter().any(|&(leaf, _)| follows_inputs(leaf))
    };
    for choice in chosen.iter().filter(contradicts) {
        remarks.push(Remark::Tied(Box::new(choice.clone())));
    }
    for given in of_former_states(&solved.flat) {
        let leaf = Leaf::Var(given.variable);
        let candidate =
            (solved.flat.selections().iter()).any(|selection| selection.candidates.contains(&leaf));
        if candidate || gives_way(&solved.flat, &given) {
            continue;
        }
        if follows_inputs(leaf) {
            remarks.push(Remark::Unused(given));
        } else if let (Some(found), Value::Real(wanted)) = (point.real(leaf), given.value)
            && (found - wanted).abs() > AGREES * (found.abs() + wanted.abs())
        {
            remarks.push(Remark::Contradicts {
                given,
                wanted,
                found,
            });
        }
    }
    for choice in chosen.iter().filter(|choice| choice.kept && choice.moved) {
        for &at in &choice.selections {
            let selection = &solved.flat.selections()[at as usize];
            let candidates = selection.candidates.iter();
            let given = candidates
                .filter(|&&leaf| is_given(&solved.flat, leaf))
                .count();
            // Velocities that are not given are as small as they can be.
            if selection.times == 0 && given < selection.states as usize {
                remarks.push(Remark::TooFew(at));
            }
        }
    }
    remarks
}

fn is_given(flat: &Flat, leaf: Leaf) -> bool {
    matches!(leaf, Leaf::Var(id) if flat.start(id).is_some())
}

fn put_in(flat: &mut Flat, chosen: &[Chosen]) {
    let Some(reduction) = &mut flat.reduction else {
        return;
    };
    for choice in chosen {
        let value = |leaf: &Leaf| {
            let found = choice.values.iter().find(|(other, _)| other == leaf);
            found.map_or(0.0, |&(_, value)| value)
        };
        for &at in &choice.selections {
            let selection = &mut reduction.selections[at as usize];
            let candidates = selection.candidates.iter();
            (selection.choice) = (candidates.clone().copied())
                .filter(|leaf| choice.states.contains(leaf))
                .collect();
            selection.start = candidates.map(value).collect();
        }
    }
}

/// Start values of what the source has as a state and is none any more, or not always.
fn of_former_states(flat: &Flat) -> Vec<Given> {
    let Some(reduction) = &flat.reduction else {
        return Vec::new();
    };
    let dropped = reduction.dropped.iter().map(|dropped| dropped.state);
    let candidates =
        (reduction.selections.iter()).flat_map(|selection| selection.candidates.clone());
    let former: FxHashSet<Leaf> = dropped.chain(candidates).collect();
    (flat.starts.iter())
        .filter(|given| former.contains(&Leaf::Var(given.variable)))
        .copied()
        .collect()
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * (a.abs() + b.abs()),
        _ => a == b,
    }
}

/// The start with other values of inputs that have none; `None` if there are no such inputs.
fn with_other_inputs(solved: &Solved) -> Option<Point> {
    let flat = &solved.flat;
    let mut other = Point::new(solved);
    let mut some = false;
    for id in flat.variable_ids() {
        let variable = flat.variable(id);
        let unknown = variable.kind == Kind::Input && flat.value(id).is_none();
        if unknown && variable.ty == Type::Real {
            some = true;
            other.set(Leaf::Var(id), Value::Real(0.734));
        }
    }
    (some && evaluate_start(solved, &mut other).is_ok()).then_some(other)
}

/// A start value that a type gives yields to one that was given further out.
fn gives_way(flat: &Flat, given: &Given) -> bool {
    (tied_to(flat, given.variable).iter())
        .filter_map(|&leaf| match leaf {
            Leaf::Var(id) => flat.start(id),
            _ => None,
        })
        .any(|other| other.depth < given.depth)
}

/// What a former state depends on.
fn tied_to(flat: &Flat, id: VarId) -> Vec<Leaf> {
    let reduction = flat.reduction.iter();
    let dropped = (reduction.clone().flat_map(|reduction| &reduction.dropped))
        .find(|dropped| dropped.state == Leaf::Var(id))
        .map(|dropped| dropped.others.clone());
    let selected = (reduction.flat_map(|reduction| &reduction.selections))
        .find(|selection| selection.candidates.contains(&Leaf::Var(id)))
        .map(|selection| selection.candidates.clone());
    let mut found = dropped.or(selected).unwrap_or_default();
    found.retain(|&leaf| leaf != Leaf::Var(id));
    found
}

/// The same in words.
fn ties(flat: &Flat, id: VarId) -> String {
    let names: Vec<String> = (tied_to(flat, id).iter())
        .map(|&leaf| match (leaf, flat.start(leaf.variable())) {
            (Leaf::Var(_), Some(start)) => {
                format!(
                    "`{}`, which starts at {}",
                    flat.leaf_name(leaf),
                    start.value
                )
            }
            _ => format!("`{}`", flat.leaf_name(leaf)),
        })
        .collect();
    match names.is_empty() {
        true => "it follows from the equations alone".into(),
        false => format!("it depends on {}", names.join(", and on ")),
    }
}

fn contradiction(flat: &Flat, given: &Given, wanted: f64, found: f64) -> Diagnostic {
    let name = flat.name(given.variable);
    let found = rounded(found);
    Diagnostic::new(
        Code::StartsContradict,
        format!(
            "`{name}` cannot start at {}: it would be {found}",
            Value::Real(wanted)
        ),
    )
    .at(given.span, "given here")
    .note(ties(flat, given.variable))
    .hint("leave this start value out, or give one that agrees with the others")
}

/// Start values that no values of the others make right.
fn tied(flat: &Flat, choice: &Chosen) -> Diagnostic {
    let given: Vec<&Given> = (choice.values.iter())
        .filter_map(|&(leaf, _)| match leaf {
            Leaf::Var(id) => flat.start(id),
            _ => None,
        })
        .collect();
    let names: Vec<String> = (given.iter())
        .map(|given| format!("`{}` = {}", flat.name(given.variable), given.value))
        .collect();
    let mut diagnostic = Diagnostic::new(
        Code::StartsContradict,
        format!("start values contradict each other: {}", names.join(", ")),
    );
    for given in &given {
        diagnostic = diagnostic.at(given.span, "given here");
    }
    let near: Vec<String> = (choice.values.iter())
        .filter(|(leaf, _)| given.iter().any(|given| *leaf == Leaf::Var(given.variable)))
        .map(|&(leaf, value)| format!("`{}` = {}", flat.leaf_name(leaf), rounded(value)))
        .collect();
    with_equations(flat, choice.equations.clone(), diagnostic)
        .note(format!("values near by that agree: {}", near.join(", ")))
        .hint("leave one of them out, or change it")
}

/// Few digits: it is only to be seen how far off it is.
fn rounded(value: f64) -> String {
    let short: f64 = format!("{value:.4e}").parse().unwrap_or(value);
    show_number(short)
}

fn unused(flat: &Flat, given: &Given) -> Diagnostic {
    let name = flat.name(given.variable);
    Diagnostic::new(
        Code::UnusedStart,
        format!("the start value of `{name}` cannot be given: it follows from inputs"),
    )
    .at(given.span, "not used")
    .note(ties(flat, given.variable))
    .hint("leave it out: the inputs at the start decide")
}

fn too_few(flat: &Flat, selection: &Selection) -> Diagnostic {
    let names: Vec<String> = (selection.candidates.iter())
        .map(|&leaf| format!("`{}`", flat.leaf_name(leaf)))
        .collect();
    let found: Vec<String> = (selection.candidates.iter().zip(&selection.start))
        .map(|(&leaf, &value)| format!("`{}` = {}", flat.leaf_name(leaf), rounded(value)))
        .collect();
    let mut diagnostic = Diagnostic::new(
        Code::TooFewStarts,
        match (selection.candidates.iter()).any(|&leaf| is_given(flat, leaf)) {
            false => format!("too few start values: none of {} has one", names.join(", ")),
            true => format!(
                "too few start values: {} of {} need one",
                selection.states,
                names.join(", ")
            ),
        },
    );
    if let Some(leaf) = selection.candidates.first() {
        let span = flat.declaration(leaf.variable()).span;
        diagnostic = diagnostic.at(
            span,
            format!("`{}` is declared here", flat.leaf_name(*leaf)),
        );
    }
    diagnostic
        .note(format!("found and taken: {}", found.join(", ")))
        .hint(format!(
            "constraints tie them, and zero is no solution: give {} of them, and of the others a guess",
            selection.states
        ))
}

/// Restarts in `when`s that cannot be. Before: aliases are eliminated, so that what equals a state stands for it.
#[derive(Clone, Debug, Default)]
pub struct WrongRestarts {
    /// Of what is no state.
    of_no_state: Vec<EqId>,
    /// Of one state at one moment.
    clashes: Vec<(EqId, EqId)>,
}

impl WrongRestarts {
    pub fn find(flat: &Flat) -> WrongRestarts {
        let is_wrong = |id: &EqId| {
            let equation = &flat.equations[id.index()];
            let (EquationKind::When(..), Node::Leaf(Leaf::Init(of))) =
                (equation.kind, flat.exprs.node(equation.left))
            else {
                return false;
            };
            let leaf = Leaf::Var(of);
            let candidate =
                (flat.selections().iter()).any(|selection| selection.candidates.contains(&leaf));
            !flat.is_state(leaf) && !candidate
        };
        WrongRestarts {
            of_no_state: flat.equation_ids().filter(is_wrong).collect(),
            clashes: twice::clashes(flat),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.of_no_state.is_empty() && self.clashes.is_empty()
    }

    pub fn report(&self, flat: &Flat, said: &mut Diagnostics) {
        said.extend(self.clashes.iter().map(|&clash| twice::words(flat, clash)));
        report_restarts(flat, &self.of_no_state, said);
    }
}

fn report_restarts(flat: &Flat, wrong: &[EqId], said: &mut Diagnostics) {
    for equation in wrong.iter().map(|id| &flat.equations[id.index()]) {
        let Node::Leaf(Leaf::Init(id)) = flat.exprs.node(equation.left) else {
            continue;
        };
        let name = flat.name(id);
        let former = (flat
            .reduction
            .iter()
            .flat_map(|reduction| &reduction.dropped))
        .any(|dropped| dropped.state == Leaf::Var(id));
        let diagnostic = Diagnostic::new(
            Code::RestartOfNoState,
            format!("`init({name})` restarts what is no state"),
        )
        .at(equation.span, "in this `when`");
        said.push(match former {
            true => diagnostic
                .note(ties(flat, id))
                .hint("restart what it depends on instead"),
            false => diagnostic
                .note(format!(
                    "`{name}` is not differentiated: it is computed from others at all times"
                ))
                .hint("restart a state"),
        });
    }
}
