//! Why a run ended before its time, in words.

use super::events::What;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use crate::compile::{Watch, why_not};
use crate::evaluate::Failure;
use crate::expr::show_briefly;
use crate::flat::{EquationKind, Flat, Leaf};
use crate::passes::blocks::Solved;
use crate::positions::{Key, Positions, Refused};

/// In words, of the model or of the position in which it came about: who hears of it may be in another one.
#[derive(Clone, Debug)]
pub enum Halt {
    /// Something has no value.
    Evaluation(Box<Failure>),
    /// Anything else that concerns the model.
    Told(Box<Diagnostic>),
    /// A row could not be written.
    Output(String),
    /// The switches cannot be in this mode. It is in words only at the end of a run: many modes are tried for one that
    /// is entered.
    Impossible {
        key: Key,
        /// The mode that the run is in, if it is in one.
        now: Option<Key>,
        time: f64,
    },
    /// Another position begins: of no concern to anybody outside the run.
    Switched,
}

impl Halt {
    /// As the user is told; what concerns files is no matter of the model.
    pub fn diagnostic(&self) -> Result<Diagnostic, String> {
        Ok(match self {
            Halt::Evaluation(failure) => failure.diagnostic(),
            Halt::Impossible { .. } => Diagnostic::new(
                Code::ImpossiblePosition,
                "the switches cannot be in this mode",
            ),
            Halt::Told(diagnostic) => (**diagnostic).clone(),
            Halt::Output(message) => return Err(message.clone()),
            Halt::Switched => Diagnostic::new(Code::CannotGoOn, "the position has changed"),
        })
    }

    fn told(diagnostic: Diagnostic) -> Halt {
        Halt::Told(Box::new(diagnostic))
    }

    /// No step is short enough; the state that moves fastest.
    pub(super) fn step(solved: &Solved, time: f64, state: Option<Leaf>) -> Halt {
        Halt::told(step(solved, time, state))
    }

    /// There is no steady state; this state moves.
    pub(super) fn restive(solved: &Solved, state: Leaf, rate: f64, time: f64) -> Halt {
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
        Halt::told(diagnostic)
    }

    /// What the integrator says.
    pub(super) fn integrator(message: String, time: f64) -> Halt {
        let time = show_briefly(time);
        let said = format!("the integration cannot go on at Time = {time}");
        Halt::told(Diagnostic::new(Code::CannotGoOn, said).note(message))
    }

    /// The same in words.
    pub(super) fn in_words(self, positions: Option<&Positions>, watch: &mut dyn Watch) -> Halt {
        match (self, positions) {
            (Halt::Impossible { key, now, time }, Some(positions)) => {
                let of_mode = why_not(positions, &key, watch);
                Halt::told(impossible(
                    positions,
                    (&key, now.as_deref()),
                    time,
                    &of_mode,
                ))
            }
            (halt, _) => halt,
        }
    }

    /// States would have to jump into this position, and cannot; `flat` is that of the position.
    pub(super) fn no_jump(flat: &Flat, position: &str, time: f64, why: &Refused) -> Halt {
        Halt::told(no_jump(flat, position, time, why))
    }
}

/// The mode, and what is wrong with it.
fn impossible(
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
    diagnostic = diagnostic.note(format!("the position would be: {position}"));
    if let Some(first) = why.iter().find(|one| one.severity() == Severity::Error) {
        diagnostic.labels.extend(first.labels.iter().cloned());
        diagnostic = diagnostic.note(format!("in it, {}", first.message));
    }
    diagnostic.hint(
        "a closed switch across a voltage, an open one in the way of a current source: let something \
         give way (a resistance), or switch otherwise",
    )
}

fn no_jump(flat: &Flat, position: &str, time: f64, why: &Refused) -> Diagnostic {
    let time = show_briefly(time);
    let message = match why {
        Refused::Apart(_, off) => format!(
            "the positions do not meet at Time = {time}: they are {} apart, and no impulse moves them",
            show_briefly(off.abs())
        ),
        Refused::Coefficient(_, leaf) => format!(
            "what `{}` jumps to at Time = {time} cannot be said: its coefficient jumps with it",
            flat.leaf_name(*leaf)
        ),
        Refused::NoSolution => {
            format!("no values satisfy the constraints that begin at Time = {time}")
        }
    };
    let diagnostic = Diagnostic::new(Code::NoJump, message);
    let diagnostic = match why {
        Refused::Apart(equation, _) | Refused::Coefficient(equation, _) => {
            let text = format!(
                "{} = {}",
                flat.expression(equation.left),
                flat.expression(equation.right)
            );
            diagnostic.at(equation.span, text)
        }
        Refused::NoSolution => diagnostic,
    };
    let diagnostic = diagnostic.note(format!("the position would be: {position}"));
    diagnostic.hint(match why {
        Refused::Apart(..) => "let it switch where they meet",
        _ => "let something give way where it switches: a resistance, a damper",
    })
}

fn step(solved: &Solved, time: f64, state: Option<Leaf>) -> Diagnostic {
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
    if let Some(gone) = flat.eliminated.iter().find(|gone| gone.leaf == rate)
        && let crate::expr::Node::Leaf(other) = flat.exprs.node(gone.expression)
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
        // Its rate is only another name for something known.
        None => {
            let span = flat.declaration(state.variable()).span;
            diagnostic.at(span, "declared here")
        }
    }
}

/// Something changes without end: again and again within one event, or in a crowd of events.
pub(super) fn restless(flat: &Flat, what: What, time: f64, crowd: bool) -> Diagnostic {
    let time = show_briefly(time);
    let text = match what {
        What::Relation(node) => flat.expression(node),
        What::Discrete(leaf) | What::Restart(leaf) => flat.leaf_name(leaf),
        What::Events => "the event".into(),
    };
    let named = match what {
        What::Events => text,
        _ => format!("`{text}`"),
    };
    let message = match crowd {
        true => format!("{named} changes without end near Time = {time}"),
        false => format!("{named} cannot be settled at Time = {time}"),
    };
    let diagnostic = Diagnostic::new(Code::Restless, message);
    let diagnostic = diagnostic.note(match what {
        _ if crowd => "endlessly many events follow each other there in no time",
        What::Relation(_) => "each time it is decided, the model moves the other way",
        What::Discrete(_) => "its next value is never its value: `new` is applied until both agree",
        What::Restart(_) => "what a `when` makes of it lets a `when` act again, without end",
        What::Events => "what is decided in one round is decided otherwise in the next one",
    });
    let place = place(flat, what);
    let in_when = matches!(&place, Some((_, text)) if text == IN_WHEN);
    let diagnostic = match place {
        Some((span, text)) => diagnostic.at(span, text),
        None => diagnostic,
    };
    diagnostic.hint(match what {
        What::Relation(_) if in_when => {
            "what a `when` restarts comes back ever sooner: end the run before, or let it stay at rest once \
             it is slow"
        }
        What::Relation(_) | What::Events => {
            "let it have two thresholds (hysteresis), or make smooth what jumps with it"
        }
        What::Discrete(_) => "to count or to toggle, use a `when`: it acts once",
        What::Restart(_) => "let it restart where the conditions of all `when`s are false",
    })
}

/// How the condition of a `when` is marked.
const IN_WHEN: &str = "the condition of this `when`";

/// The equation that mentions it.
pub(super) fn place(flat: &Flat, what: What) -> Option<(crate::base::source::Span, String)> {
    let wanted = match what {
        What::Relation(node) => node,
        What::Events => return None,
        What::Restart(leaf) => {
            let restarts = flat.equation_ids().find(|id| {
                let equation = &flat.equations[id.index()];
                let left = flat.exprs.node(equation.left);
                matches!(equation.kind, EquationKind::When(..))
                    && left == crate::expr::Node::Leaf(Leaf::Init(leaf.variable()))
            })?;
            let span = flat.equations[restarts.index()].span;
            return Some((span, flat.equation_text(restarts)));
        }
        What::Discrete(leaf) => {
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
