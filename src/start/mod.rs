//! Start values of a model whose index was reduced: which of them can be given, and which follow from others.
//!
//! Before: a solved model. After: the same, with the states chosen where the choice is left to the run, and remarks on the
//! start values. States may have any start value. A former state, which index reduction has made dependent, follows from the
//! states, and a start value given for it has to agree. A former state that follows from an input cannot have a start value.
//! If only a former state has a start value, those of the states are computed from it ([`from_former`]). Start values of
//! variables that never were states are guesses and are not examined.

pub mod dump;
mod equations;
mod from_former;
mod restart_clashes;

use rustc_hash::FxHashSet;

use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::evaluate::{Chosen, Failure, Point, Reason, evaluate_start};
use crate::expr::{Node, Value, show_number};
use crate::flat::{EqId, EquationKind, Flat, Given, Kind, Leaf, Selection, Type, VarId};
use crate::passes::blocks::Solved;
use crate::passes::showing::with_equations;

/// Start values agree up to this relative difference, as the user rounds them.
const AGREES: f64 = 1e-4;

/// A finding about the start values.
#[derive(Clone, Debug)]
pub enum Remark {
    /// No values of the other variables agree with these start values.
    Inconsistent(Box<Chosen>),
    /// A start value was given for a variable that follows from inputs.
    Unused(Given),
    Contradicts {
        given: Given,
        wanted: f64,
        found: f64,
    },
    /// Too few candidates of the selection of this index have a start value.
    TooFew(u32),
    /// Start equations do not determine the start, or contradict it.
    Equations(Box<Failure>),
}

impl Remark {
    pub fn is_error(&self) -> bool {
        matches!(
            self,
            Remark::Inconsistent(_) | Remark::Contradicts { .. } | Remark::Equations(_)
        )
    }
}

/// Reports the findings.
pub fn report(flat: &Flat, remarks: &[Remark], diagnostics: &mut Diagnostics) {
    diagnostics.extend(remarks.iter().filter_map(|remark| match remark {
        Remark::Inconsistent(choice) => Some(inconsistent(flat, choice)),
        Remark::Unused(given) => Some(unused(flat, given)),
        Remark::Contradicts {
            given,
            wanted,
            found,
        } => Some(contradiction(flat, given, *wanted, *found)),
        Remark::TooFew(at) => Some(too_few(flat, flat.selections().get(*at as usize)?)),
        Remark::Equations(failure) => Some(failure.diagnostic()),
    }));
}

/// Chooses states where the choice is left to the run, and examines the start values.
pub fn start(solved: &mut Solved) -> Vec<Remark> {
    solved.start = equations::find(solved).map(Box::new);
    let given = solved.flat.starts.len();
    let remarks = remarks(solved);
    if solved.start.is_some() && solved.flat.starts.len() != given {
        // Start values were found for states, so that former states have theirs.
        solved.start = equations::find(solved).map(Box::new);
    }
    remarks
}

fn remarks(solved: &mut Solved) -> Vec<Remark> {
    if solved.flat.reduction.is_none() {
        return match &solved.start {
            None => Vec::new(),
            Some(_) => of_equations(evaluate_start(solved, &mut Point::new(solved))),
        };
    }
    let mut remarks: Vec<Remark> = Vec::new();
    // Without a choice and without start values of former states there is nothing to examine, so the model is not evaluated.
    if solved.flat.selections().is_empty()
        && of_former_states(&solved.flat).is_empty()
        && solved.start.is_none()
    {
        return remarks;
    }
    let mut point = Point::new(solved);
    // If the model has no values at the start (division by zero, an input without a value), there are no findings.
    let chosen = match evaluate_start(solved, &mut point) {
        Ok(chosen) => chosen,
        failed => {
            remarks.extend(of_equations(failed));
            return remarks;
        }
    };
    store_choice(&mut solved.flat, &chosen);
    let point = from_former::find(solved, point);
    let other = with_other_inputs(solved);
    let follows_inputs = |leaf: Leaf| {
        let value = other.as_ref().map(|other| other.real(leaf));
        value.is_some_and(|value| !close(value, point.real(leaf)))
    };
    // Values that depend on inputs without a value prove no contradiction.
    let contradicts = |choice: &&Chosen| {
        !choice.kept && !choice.values.iter().any(|&(leaf, _)| follows_inputs(leaf))
    };
    for choice in chosen.iter().filter(contradicts) {
        remarks.push(Remark::Inconsistent(Box::new(choice.clone())));
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
            // Velocities that are not given get the smallest values possible, which is no reason for a warning.
            if selection.times == 0 && given < selection.states as usize {
                remarks.push(Remark::TooFew(at));
            }
        }
    }
    remarks
}

/// What start equations themselves are to blame for. Other failures may depend on inputs: the run reports them.
fn of_equations(begun: Result<Vec<Chosen>, Failure>) -> Vec<Remark> {
    let blamed = |failure: &Failure| {
        matches!(
            failure.reason,
            Reason::StartUndetermined | Reason::StartsContradict
        )
    };
    (begun.err().filter(blamed).into_iter())
        .map(|failure| Remark::Equations(Box::new(failure)))
        .collect()
}

fn is_given(flat: &Flat, leaf: Leaf) -> bool {
    matches!(leaf, Leaf::Var(id) if flat.start(id).is_some())
}

/// Stores the states chosen and the values of the candidates in the selections of the model.
fn store_choice(flat: &mut Flat, chosen: &[Chosen]) {
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

/// Start values of former states: of those that index reduction has dropped, and of all candidates.
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

/// The start with arbitrary values for inputs that have none, to see what depends on them; `None` if there are no such inputs.
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

/// Whether a start value is ignored because a related variable has one that was given in an outer submodel.
fn gives_way(flat: &Flat, given: &Given) -> bool {
    (tied_to(flat, given.variable).iter())
        .filter_map(|&leaf| match leaf {
            Leaf::Var(id) => flat.start(id),
            _ => None,
        })
        .any(|other| other.depth < given.depth)
}

/// The variables on which a former state depends.
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
    .hint(format!(
        "leave this start value out, or give one that agrees with the others{}",
        or_jump(flat, given.variable)
    ))
}

/// Start values that contradict each other, whatever the values of the other variables.
fn inconsistent(flat: &Flat, choice: &Chosen) -> Diagnostic {
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
        .hint(format!(
            "leave one of them out, or change it{}",
            given
                .first()
                .map_or("", |given| or_jump(flat, given.variable))
        ))
}

/// What else helps where an impulse moves a variable: it moves charges and speeds, and no positions.
fn or_jump(flat: &Flat, id: VarId) -> &'static str {
    match flat.variable(id).order {
        0 | 1 => "; `bgm simulate --start-jump` lets them jump to values that agree",
        _ => "",
    }
}

/// Few digits: the message only shows how large the difference is.
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

/// Restarts in `when`s that are not allowed. Aliases must be eliminated before, so that a variable that equals a state is
/// replaced by it.
#[derive(Clone, Debug, Default)]
pub struct WrongRestarts {
    /// Restarts of variables that are no states.
    of_no_state: Vec<EqId>,
    /// Pairs of restarts of one state at one moment.
    clashes: Vec<(EqId, EqId)>,
}

impl WrongRestarts {
    pub fn find(flat: &Flat) -> WrongRestarts {
        let dropped = (flat.reduction.iter()).flat_map(|reduction| &reduction.dropped);
        let tied: FxHashSet<Leaf> = dropped
            .filter(|dropped| !dropped.others.is_empty())
            .map(|dropped| dropped.state)
            .collect();
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
            // Of what constraints tie to states all jumps together.
            !flat.is_state(leaf) && !candidate && !tied.contains(&leaf)
        };
        WrongRestarts {
            of_no_state: flat.equation_ids().filter(is_wrong).collect(),
            clashes: restart_clashes::clashes(flat),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.of_no_state.is_empty() && self.clashes.is_empty()
    }

    pub fn report(&self, flat: &Flat, diagnostics: &mut Diagnostics) {
        diagnostics.extend(
            self.clashes
                .iter()
                .map(|&clash| restart_clashes::clash_diagnostic(flat, clash)),
        );
        report_restarts(flat, &self.of_no_state, diagnostics);
    }
}

fn report_restarts(flat: &Flat, wrong: &[EqId], diagnostics: &mut Diagnostics) {
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
            format!("`init({name})` restarts `{name}`, which is no state"),
        )
        .at(equation.span, "in this `when`");
        diagnostics.push(match former {
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
