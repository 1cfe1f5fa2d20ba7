//! Diagnostics about signs that cancel.

use super::findings::{Combination, Findings, Movement};
use super::replace::Reference;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics, NON_CAUSAL};
use crate::expr::{BinaryOp, ExprId, Node};
use crate::flat::{EqId, EquationKind, Flat, InstanceId};
use crate::passes::showing::with_equations;

/// The most diagnostics at once.
const MOST: usize = 5;
/// The most names in a list.
const SHOWN: usize = 8;

/// Of a sum of equations that leaves nothing.
const FOLLOWS: &str = "all unknowns cancel: one of these equations follows from the others";

/// Reports equations that contradict each other or are redundant, and unknowns that are free.
pub fn report_cancelling(flat: &Flat, found: &Findings, diagnostics: &mut Diagnostics) {
    let all = || found.given.iter().chain(&found.redundant);
    for combination in all().take(MOST) {
        let cancel = match combination.rest.is_empty() {
            true => FOLLOWS.into(),
            false => format!(
                "all unknowns cancel: these equations leave only `{}`",
                rest(flat, combination)
            ),
        };
        // In redundant equations, no part prescribes anything.
        let parts = match found.given.contains(combination) {
            true => parts(flat, combination),
            false => Vec::new(),
        };
        let names = listed(&parts);
        let message = match &parts[..] {
            [] => cancel,
            [_] => format!("{NON_CAUSAL}{names} contradicts itself; {cancel}"),
            _ => format!("{NON_CAUSAL}{names} contradict each other; {cancel}"),
        };
        diagnostics.push(of_cancelled(flat, combination, message));
    }
    // If something is determined twice, something else is undetermined. That is no separate error.
    if all().next().is_none() {
        open(flat, &found.movements, diagnostics);
    }
}

/// Reports equations whose sum leaves only what other equations determine already, however often
/// they are differentiated.
pub fn cancelling(flat: &Flat, list: &[Combination], diagnostics: &mut Diagnostics) {
    for combination in list.iter().take(MOST) {
        let message = match combination.rest.is_empty() {
            true => FOLLOWS.into(),
            false => format!(
                "unknowns cancel: these equations leave only `{}`, and others determine that already",
                rest(flat, combination)
            ),
        };
        diagnostics.push(of_cancelled(flat, combination, message));
    }
}

fn of_cancelled(flat: &Flat, combination: &Combination, message: String) -> Diagnostic {
    let named = message.starts_with(NON_CAUSAL);
    let diagnostic = Diagnostic::new(Code::UnknownsCancel, message);
    let mut diagnostic = with_equations(flat, ids(combination), diagnostic);
    let parts = parts(flat, combination);
    if !parts.is_empty() && !named {
        diagnostic = diagnostic.note(format!("they come from {}", listed(&parts)));
    }
    diagnostic.hint(
        "something is determined twice, as by sources side by side: take one of them away, or let \
         something give way (a resistance)",
    )
}

/// Reports the potentials that were set to zero, with one message for each place in the source.
pub fn floating(flat: &Flat, references: &[Reference], diagnostics: &mut Diagnostics) {
    let span = |reference: &Reference| reference.replaced.span;
    let mut order: Vec<&Reference> = references.iter().collect();
    order.sort_by_key(|reference| span(reference));
    for same in order.chunk_by(|a, b| span(a) == span(b)) {
        let [first, others @ ..] = same else { continue };
        let name = flat.name(first.potential);
        let paths: Vec<String> = first.parts.iter().map(|&part| flat.path(part)).collect();
        let mut diagnostic = Diagnostic::new(
            Code::NoGround,
            format!("a part without ground: `{name}` is set to 0"),
        )
        .at(span(first), instead(flat, first))
        .note(format!("the part consists of {}", listed(&paths)));
        if !others.is_empty() {
            let names: Vec<String> = (others.iter())
                .map(|other| flat.name(other.potential))
                .collect();
            diagnostic = diagnostic.note(format!(
                "the same holds for other parts: {} set to 0 too",
                match names.as_slice() {
                    [_] => format!("{} is", listed(&names)),
                    _ => format!("{} are", listed(&names)),
                }
            ));
        }
        diagnostics.push(diagnostic.hint(
            "connect a ground to one of its nodes (`Common` in @electrical), or whatever holds a node in place",
        ));
    }
}

fn instead(flat: &Flat, reference: &Reference) -> String {
    let replaced = &reference.replaced;
    format!(
        "in place of `{} = {}`, which follows from the others",
        flat.expression(replaced.left),
        flat.expression(replaced.right)
    )
}

/// Reports unknowns that are free.
fn open(flat: &Flat, list: &[Movement], diagnostics: &mut Diagnostics) {
    for movement in list.iter().take(MOST) {
        let Some(first) = movement.variables().next() else {
            continue;
        };
        let mut names: Vec<String> = movement.variables().map(|id| flat.name(id)).collect();
        names.sort_by(|a, b| (a.matches('.').count(), a).cmp(&(b.matches('.').count(), b)));
        let message = match names.len() {
            1 => format!("no equation notices a change of {}", listed(&names)),
            _ => format!(
                "no equation notices when {} are moved together",
                listed(&names)
            ),
        };
        let text = format!("`{}` is declared here", flat.name(first));
        diagnostics.push(
            Diagnostic::new(Code::MovesFreely, message)
                .at(flat.declaration(first).span, text)
                .hint("an equation that holds one of them is missing, such as a ground"),
        );
    }
}

fn ids(combination: &Combination) -> Vec<EqId> {
    combination.equations.iter().map(|&(id, _)| id).collect()
}

/// The submodels whose equations take part, and those of the terms that are left, by name.
fn parts(flat: &Flat, combination: &Combination) -> Vec<String> {
    let equations = (combination.equations.iter())
        .map(|(id, _)| &flat.equations[id.index()])
        .filter(|equation| equation.kind == EquationKind::Equation)
        .map(|equation| equation.origin);
    let left = (combination.rest.iter()).filter_map(|&(id, _)| match flat.exprs.node(id) {
        Node::Leaf(leaf) => Some(flat.variable(leaf.variable()).instance),
        _ => None,
    });
    let mut paths: Vec<String> = equations
        .chain(left)
        .filter(|&instance| instance != InstanceId::TOP)
        .map(|instance| flat.path(instance))
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// A list of names: `` `a`, `b` and 3 more ``.
pub fn listed(names: &[String]) -> String {
    let quoted = |names: &[String]| {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        quoted.join(", ")
    };
    match names {
        [] => String::new(),
        [only] => quoted(std::slice::from_ref(only)),
        [before @ .., last] if names.len() <= SHOWN => {
            format!("{} and `{last}`", quoted(before))
        }
        _ => format!(
            "{} and {} more",
            quoted(&names[..SHOWN]),
            names.len() - SHOWN
        ),
    }
}

/// The terms that a combination leaves, as an equation without minus signs.
fn rest(flat: &Flat, combination: &Combination) -> String {
    let side = |sign: i64| {
        let terms = (combination.rest.iter()).filter(|(_, times)| times.signum() == sign);
        let mut shown: Vec<String> = (terms.clone().take(SHOWN))
            .map(|&(id, times)| term(flat, id, times.abs()))
            .collect();
        if terms.count() > SHOWN {
            shown.push("...".into());
        }
        match shown.is_empty() {
            true => "0".to_string(),
            false => shown.join(" + "),
        }
    };
    // Either side can be the left one: it is the one with more terms.
    let positive = combination
        .rest
        .iter()
        .filter(|(_, times)| *times > 0)
        .count();
    match 2 * positive >= combination.rest.len() {
        true => format!("{} = {}", side(1), side(-1)),
        false => format!("{} = {}", side(-1), side(1)),
    }
}

fn term(flat: &Flat, id: ExprId, times: i64) -> String {
    let text = flat.expression(id);
    let tight = match flat.exprs.node(id) {
        Node::If(..) => false,
        Node::Binary(op, ..) => matches!(op, BinaryOp::Mul | BinaryOp::Div | BinaryOp::Pow),
        _ => true,
    };
    match (times, tight) {
        (1, true) => text,
        (1, false) => format!("({text})"),
        (_, true) => format!("{times}*{text}"),
        (_, false) => format!("{times}*({text})"),
    }
}
