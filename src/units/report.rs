//! Which contradictions are told, and in which words.
//!
//! A contradiction whose derivation has fewer than two declared units is silent: Time, derivatives and functions alone
//! declare nothing. What was inferred from a pair that contradicts is doubtful, and what follows from it is silent.

use rustc_hash::FxHashSet;

use super::message::Words;
use super::offsets;
use super::spread::{Cause, Found, Origin, Spread, Wrong};
use crate::base::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::base::source::{Sources, Span};
use crate::expr::ExprId;
use crate::flat::{Leaf, VarId};

/// The most variables that the derivation of a unit is followed through.
const MOST: usize = 200;

/// Where the units of some expressions come from.
#[derive(Debug, Default)]
pub struct Derivation {
    /// Variables whose units are declared, and values with units.
    pub declared: Vec<VarId>,
    /// Variables whose units follow, the nearest first.
    pub inferred: Vec<VarId>,
}

pub fn report(spread: &mut Spread<'_>, sources: &Sources, diagnostics: &mut Diagnostics) {
    let (misused, absolute) = offsets::misused(spread);
    for (id, offset) in absolute {
        if let Some(measure) = &mut spread.measures[id.index()] {
            measure.offset = offset;
        }
    }
    let words = Words { spread, sources };
    let mut spans: FxHashSet<Span> = FxHashSet::default();
    for misused in &misused {
        spans.insert(misused.span);
        diagnostics.push(words.celsius(misused));
    }
    let mut doubtful: FxHashSet<VarId> = FxHashSet::default();
    for found in &spread.found {
        // Conversions between scales are no mistakes.
        let handed = found.pair.handed;
        if handed && found.wrong_factor() {
            continue;
        }
        let derivation = derivation(spread, found);
        // What a function wants counts, if it is given something declared.
        let given = leaves(spread, found.pair.a);
        let declared = given
            .iter()
            .any(|id| spread.causes[id.index()] == Cause::Declared);
        let functions = usize::from(found.pair.b.is_none() && declared);
        let told = derivation.declared.len() + functions >= 2
            && !derivation.inferred.iter().any(|id| doubtful.contains(id));
        if !told {
            continue;
        }
        if spans.contains(&found.pair.span) && !handed {
            continue;
        }
        let Some(diagnostic) = told_as(&words, found, handed, &derivation) else {
            continue;
        };
        if diagnostic.severity() != Severity::Hint {
            spans.insert(found.pair.span);
            doubtful.extend(derivation.inferred.iter().copied());
        }
        diagnostics.push(diagnostic);
    }
    for literal in spread.literals {
        if let Some(diagnostic) = words.literal(literal) {
            diagnostics.push(diagnostic);
        }
    }
}

fn told_as(
    words: &Words<'_, '_>,
    found: &Found,
    handed: bool,
    derivation: &Derivation,
) -> Option<Diagnostic> {
    match (found.wrong, handed) {
        (Wrong::Dimension(_), true) => Some(words.meeting(found, derivation)),
        (Wrong::Dimension(ratio), false) => Some(words.different(found, &ratio, derivation)),
        (Wrong::Factor(ratio), _) => Some(words.factor(found, &ratio, derivation)),
        (Wrong::Number(ratio), _) => words.number(found, &ratio, derivation),
    }
}

/// Follows units back to what declares them, breadth first.
fn derivation(spread: &Spread<'_>, found: &Found) -> Derivation {
    let mut derivation = Derivation::default();
    let mut seen: FxHashSet<VarId> = FxHashSet::default();
    let mut work: std::collections::VecDeque<VarId> = std::collections::VecDeque::new();
    let pair = &found.pair;
    work.extend(leaves(spread, pair.a));
    work.extend(pair.b.into_iter().flat_map(|b| leaves(spread, b)));
    if let Origin::Value(at) = found.origin {
        work.push_back(spread.flat.values[at as usize].variable);
    }
    while let Some(id) = work.pop_front() {
        if !seen.insert(id) || seen.len() > MOST {
            continue;
        }
        match spread.causes[id.index()] {
            Cause::Open => {}
            Cause::Declared | Cause::Itself => derivation.declared.push(id),
            Cause::Pair(at) => {
                if spread.literal(id).is_some() {
                    derivation.declared.push(id);
                    continue;
                }
                derivation.inferred.push(id);
                let pair = &spread.kept[at as usize].pair;
                work.extend(leaves(spread, pair.a));
                work.extend(pair.b.into_iter().flat_map(|b| leaves(spread, b)));
            }
        }
    }
    derivation
}

/// The variables in an expression whose units matter.
pub fn leaves(spread: &Spread<'_>, root: ExprId) -> Vec<VarId> {
    let mut found = Vec::new();
    let mut stack = vec![root];
    while let Some(id) = stack.pop() {
        if found.len() > MOST {
            break;
        }
        match spread.flat.exprs.node(id) {
            crate::expr::Node::Leaf(leaf) => {
                let id = Leaf::variable(leaf);
                if spread.measures[id.index()].is_some() && !found.contains(&id) {
                    found.push(id);
                }
            }
            _ => {
                let before = stack.len();
                spread
                    .flat
                    .exprs
                    .each_operand(id, |operand| stack.push(operand));
                stack[before..].reverse();
            }
        }
    }
    found
}
