//! The error that ends a run before its time, and its diagnostic.

use super::events::Unresolved;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use crate::compile::{StageObserver, why_impossible};
use crate::evaluate::Failure;
use crate::expr::show_briefly;
use crate::flat::{EquationKind, Flat, Leaf};
use crate::passes::blocks::Solved;
use crate::positions::{Key, Positions, Refused};

/// Texts are made while the model of the mode is at hand: its ids mean nothing in another mode.
#[derive(Clone, Debug)]
pub enum RunError {
    /// An expression or a loop has no value.
    Evaluation(Box<Failure>),
    /// Any other error of the model.
    Diagnostic(Box<Diagnostic>),
    /// A row could not be written.
    Output(String),
    /// The switches cannot be in this mode. Its diagnostic is made only if the run ends with it: many modes are tried for
    /// each mode that is entered.
    ImpossibleMode {
        key: Key,
        /// The present mode; `None` at the start.
        now: Option<Key>,
        time: f64,
    },
    /// The mode has changed during the search for the steady state. The run handles this itself.
    ModeChanged,
}

impl RunError {
    /// The diagnostic of an error of the model, or the message of an error of output.
    pub fn diagnostic(&self) -> Result<Diagnostic, String> {
        Ok(match self {
            RunError::Evaluation(failure) => failure.diagnostic(),
            RunError::ImpossibleMode { .. } => Diagnostic::new(
                Code::ImpossiblePosition,
                "the switches cannot be in this mode",
            ),
            RunError::Diagnostic(diagnostic) => (**diagnostic).clone(),
            RunError::Output(message) => return Err(message.clone()),
            RunError::ModeChanged => Diagnostic::new(Code::CannotGoOn, "the mode has changed"),
        })
    }

    fn of(diagnostic: Diagnostic) -> RunError {
        RunError::Diagnostic(Box::new(diagnostic))
    }

    /// No step is short enough; `state` is the one that changes fastest.
    pub(super) fn step_too_small(solved: &Solved, time: f64, state: Option<Leaf>) -> RunError {
        RunError::of(step_too_small(solved, time, state))
    }

    /// There is no steady state: this state still changes.
    pub(super) fn not_steady(solved: &Solved, state: Leaf, rate: f64, time: f64) -> RunError {
        let name = solved.flat.leaf_name(state);
        let message = format!(
            "no steady state was found at Time = {}: `{name}` still moves",
            show_briefly(time)
        );
        let diagnostic = Diagnostic::new(Code::NoSteadyState, message);
        let diagnostic = (with_equation(solved, diagnostic, state))
            .note(format!(
                "where the search ended, der({name}) = {}",
                show_briefly(rate)
            ))
            .hint("is there a state at which all rates vanish? without `--steady` the run begins at the start values");
        RunError::of(diagnostic)
    }

    /// Any other error of the integrator.
    pub(super) fn integrator(message: String, time: f64) -> RunError {
        let time = show_briefly(time);
        let headline = format!("the integration cannot go on at Time = {time}");
        RunError::of(Diagnostic::new(Code::CannotGoOn, headline).note(message))
    }

    /// The same, an impossible mode as a diagnostic.
    pub(super) fn in_words(
        self,
        positions: Option<&Positions>,
        observer: &mut dyn StageObserver,
    ) -> RunError {
        match (self, positions) {
            (RunError::ImpossibleMode { key, now, time }, Some(positions)) => {
                let of_mode = why_impossible(positions, &key, observer);
                let mut errors = of_mode
                    .iter()
                    .filter(|one| one.severity() == Severity::Error);
                if let (true, Some(first)) = (key.is_empty(), errors.next()) {
                    return RunError::of(first.clone());
                }
                RunError::of(impossible_mode(
                    positions,
                    (&key, now.as_deref()),
                    time,
                    &of_mode,
                ))
            }
            (error, _) => error,
        }
    }

    /// States would have to jump to enter this mode, and cannot; `flat` is the model of the mode.
    pub(super) fn no_jump(flat: &Flat, mode: &str, time: f64, why: &Refused) -> RunError {
        RunError::of(no_jump(flat, mode, time, why))
    }
}

/// Names the switches that would change, the mode, and the first error of its equations.
fn impossible_mode(
    positions: &Positions,
    (key, now): (&[bool], Option<&[bool]>),
    time: f64,
    why: &Diagnostics,
) -> Diagnostic {
    let mut words: Vec<String> = Vec::new();
    for (at, &truth) in key.iter().enumerate() {
        if now.is_some_and(|now| now[at] == truth) {
            continue;
        }
        let (name, word) = (positions.switch_name(at), positions.word(at, truth));
        words.push(match words.is_empty() {
            true => format!("`{name}` cannot be {word}"),
            false => format!("nor `{name}` {word}"),
        });
    }
    let message = format!("{} at Time = {}", words.join(", "), show_briefly(time));
    let mut diagnostic = Diagnostic::new(Code::ImpossiblePosition, message);
    let position = positions.position_name(key);
    diagnostic = diagnostic.note(format!("the mode would be: {position}"));
    if let Some(first) = why.iter().find(|one| one.severity() == Severity::Error) {
        diagnostic.labels.extend(first.labels.iter().cloned());
        diagnostic = diagnostic.note(format!("in it, {}", first.message));
    }
    diagnostic.hint(
        "a closed switch must not short-circuit a voltage source, nor an open one interrupt a current \
         source: add a resistance, or switch otherwise",
    )
}

fn no_jump(flat: &Flat, mode: &str, time: f64, why: &Refused) -> Diagnostic {
    let time = show_briefly(time);
    let message = match why {
        Refused::Apart(_, off) => format!(
            "the constraint that begins at Time = {time} does not hold: its sides differ by {}, and no impulse changes them",
            show_briefly(off.abs())
        ),
        Refused::Coefficient(_, leaf) => format!(
            "the jump of `{}` at Time = {time} cannot be computed: its coefficient jumps with it",
            flat.leaf_name(*leaf)
        ),
        Refused::Changed(_, leaf) => format!(
            "the jump of `{}` at Time = {time} cannot be computed: the coefficient of its derivative changes at that instant",
            flat.leaf_name(*leaf)
        ),
        Refused::Restart(leaf) => format!(
            "`{}` cannot be restarted at Time = {time}: constraints determine it",
            flat.leaf_name(*leaf)
        ),
        Refused::NoSolution => {
            format!("no values satisfy the constraints that begin at Time = {time}")
        }
    };
    let diagnostic = Diagnostic::new(Code::NoJump, message);
    let diagnostic = match why {
        Refused::Apart(equation, _)
        | Refused::Coefficient(equation, _)
        | Refused::Changed(equation, _) => {
            let text = format!(
                "{} = {}",
                flat.expression(equation.left),
                flat.expression(equation.right)
            );
            diagnostic.at(equation.span, text)
        }
        Refused::Restart(_) | Refused::NoSolution => diagnostic,
    };
    let diagnostic = match mode.is_empty() {
        true => diagnostic,
        false => diagnostic.note(format!("the mode would be: {mode}")),
    };
    diagnostic.hint(match why {
        Refused::Apart(..) => "let it switch when both sides are equal",
        Refused::Changed(..) => {
            "write what is stored, of which there is no doubt: `q = C*u` and `der(q) = i` in place of `C*der(u) = i`"
        }
        Refused::Restart(_) => "restart another one, or none: nothing is left to choose for it",
        _ => "add a resistance or a damper where it switches",
    })
}

fn step_too_small(solved: &Solved, time: f64, state: Option<Leaf>) -> Diagnostic {
    let flat = &solved.flat;
    let message = format!(
        "the integration cannot go on at Time = {}: no step is short enough",
        show_briefly(time)
    );
    let diagnostic = Diagnostic::new(Code::CannotGoOn, message);
    let Some(state) = state else {
        return diagnostic;
    };
    let name = flat.leaf_name(state);
    (with_equation(solved, diagnostic, state))
        .note(format!(
            "`{name}` changes fastest there, against its tolerance"
        ))
        .hint(format!(
            "does `{name}` grow without bound, or is something in its equation undefined there?"
        ))
}

/// Shows the equation that gives the rate of a state.
fn with_equation(solved: &Solved, diagnostic: Diagnostic, state: Leaf) -> Diagnostic {
    let flat = &solved.flat;
    let order = state.order().unwrap_or(0);
    let mut rate = Leaf::at_order(state.variable(), order + 1);
    let mut eliminated = flat.eliminated.iter();
    if let Some(eliminated) = eliminated.find(|eliminated| eliminated.leaf == rate)
        && let crate::expr::Node::Leaf(other) = flat.exprs.node(eliminated.expression)
    {
        rate = other;
    }
    let mut blocks = solved.blocks.iter();
    let found = blocks.find(|block| block.unknowns().contains(&rate));
    match found.and_then(|block| block.equations().first()) {
        Some(&id) => {
            let span = flat.equations[id.index()].span;
            diagnostic.at(span, flat.equation_text(id))
        }
        // The rate equals a known variable, so no equation gives it.
        None => {
            let span = flat.declaration(state.variable()).span;
            diagnostic.at(span, "declared here")
        }
    }
}

/// The event iteration of one event does not converge, or, if `accumulates`, events follow each other without end.
pub(super) fn no_convergence(
    flat: &Flat,
    what: Unresolved,
    time: f64,
    accumulates: bool,
) -> Diagnostic {
    let time = show_briefly(time);
    let text = match what {
        Unresolved::Relation(node) => flat.expression(node),
        Unresolved::Discrete(leaf) | Unresolved::Restart(leaf) => flat.leaf_name(leaf),
        Unresolved::Events => "the event".into(),
    };
    let named = match what {
        Unresolved::Events => text,
        _ => format!("`{text}`"),
    };
    let message = match accumulates {
        true => format!("{named} changes without end near Time = {time}"),
        false => format!("{named} cannot be settled at Time = {time}"),
    };
    let diagnostic = Diagnostic::new(Code::Restless, message);
    let diagnostic = diagnostic.note(match what {
        _ if accumulates => {
            "infinitely many events would follow each other there within a finite time"
        }
        Unresolved::Relation(_) => "each time it is decided, the model moves the other way",
        Unresolved::Discrete(_) => {
            "its next value is never its value: `new` is applied until both agree"
        }
        Unresolved::Restart(_) => {
            "each value that a `when` gives it lets a `when` act again, without end"
        }
        Unresolved::Events => "each pass of the event iteration contradicts the pass before",
    });
    let place = place(flat, what);
    let in_when = matches!(&place, Some((_, text)) if text == IN_WHEN);
    let diagnostic = match place {
        Some((span, text)) => diagnostic.at(span, text),
        None => diagnostic,
    };
    diagnostic.hint(match what {
        Unresolved::Relation(_) if in_when => {
            "the `when` acts at ever shorter intervals: end the run before, or let the state stay at rest \
             once it is slow"
        }
        Unresolved::Relation(_) | Unresolved::Events => {
            "let it have two thresholds (hysteresis), or make smooth what jumps with it"
        }
        Unresolved::Discrete(_) => "to count or to toggle, use a `when`: it acts once",
        Unresolved::Restart(_) => "let it restart where the conditions of all `when`s are false",
    })
}

/// The label of the condition of a `when`.
const IN_WHEN: &str = "the condition of this `when`";

/// The equation or the `when` that contains it.
pub(super) fn place(flat: &Flat, what: Unresolved) -> Option<(crate::base::source::Span, String)> {
    let wanted = match what {
        Unresolved::Relation(node) => node,
        Unresolved::Events => return None,
        Unresolved::Restart(leaf) => {
            let restarts = flat.equation_ids().find(|id| {
                let equation = &flat.equations[id.index()];
                let left = flat.exprs.node(equation.left);
                matches!(equation.kind, EquationKind::When(..))
                    && left == crate::expr::Node::Leaf(Leaf::Init(leaf.variable()))
            })?;
            let span = flat.equations[restarts.index()].span;
            return Some((span, flat.equation_text(restarts)));
        }
        Unresolved::Discrete(leaf) => {
            let found = flat.equation_ids().find(|id| {
                let left = flat.equations[id.index()].left;
                flat.exprs.node(left) == crate::expr::Node::Leaf(Leaf::New(leaf.variable()))
            })?;
            let span = flat.equations[found.index()].span;
            return Some((span, flat.equation_text(found)));
        }
    };
    let mentions = |root| {
        let mut stack = vec![root];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(id) = stack.pop() {
            if id == wanted {
                return true;
            }
            if seen.insert(id) {
                flat.exprs.operands(id, &mut stack);
            }
        }
        false
    };
    for when in &flat.whens {
        if let Some(&(_, span)) = when.conditions.iter().find(|(id, _)| mentions(*id)) {
            return Some((span, IN_WHEN.into()));
        }
    }
    flat.equation_ids().find_map(|id| {
        let equation = &flat.equations[id.index()];
        let found = mentions(equation.left) || mentions(equation.right);
        found.then(|| (equation.span, flat.equation_text(id)))
    })
}
