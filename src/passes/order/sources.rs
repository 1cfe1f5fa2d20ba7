//! Sources that contradict each other, so that no causality is possible.
//!
//! Before: a part of a model with too many equations. After: the submodels that prescribe its efforts, or its flows, if
//! the part consists of nothing else; and the diagnostic about them.

use super::case::{Case, listed};
use super::patterns::{has, word};
use crate::base::diagnostics::{Code, Diagnostic, NON_CAUSAL};
use crate::expr::Node;
use crate::flat::{InstanceId, Role};
use crate::structure::Part;

/// Submodels that prescribe the same variable.
pub struct Sources {
    pub submodels: Vec<InstanceId>,
    /// What connects them and passes the variable on: a transformer, a gear, a gyrator.
    between: Vec<InstanceId>,
    held: Held,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Efforts,
    Flows,
    /// One prescribes an effort and another a flow, with a gyrator between them.
    Both,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// One source contradicts another.
    Several,
    /// One source contradicts a ground.
    Ground,
    /// Both ends of one source are connected with each other.
    Alone,
}

impl Sources {
    /// Whether this unknown is undetermined because these sources contradict each other: sources in parallel share a
    /// flow, and nothing determines how they divide it; correspondingly for sources in series.
    pub fn leave_undetermined(&self, case: &Case<'_>, part: &Part, column: u32) -> bool {
        let role = case.role(column);
        let other = match self.held {
            Held::Efforts => role == Role::Through,
            Held::Flows => role == Role::Across,
            Held::Both => matches!(role, Role::Across | Role::Through),
        };
        let at = case.instance(column);
        // One variable of a bond is prescribed, the other is undetermined.
        let of_bond = role == Role::Both
            && (case.own_columns(at)).any(|own| part.columns.binary_search(&own).is_ok());
        of_bond || other && (self.submodels.contains(&at) || self.between.contains(&at))
    }
}

pub fn sources(case: &Case<'_>, part: &Part) -> Option<Sources> {
    let (across, through) = (
        has(case, part, Role::Across),
        has(case, part, Role::Through),
    );
    let held = match (across, through) {
        (true, true) => Held::Both,
        (true, false) => Held::Efforts,
        (false, true) => Held::Flows,
        (false, false) => return None,
    };
    let all: Vec<InstanceId> = (submodels(case, part).into_iter())
        .filter(|&at| roles(case, part, at) != (false, false))
        .collect();
    let (between, holding): (Vec<InstanceId>, Vec<InstanceId>) =
        (all.iter()).partition(|&&at| passes_on(case, at));
    let not_ground = |list: &[InstanceId]| -> Vec<InstanceId> {
        let kept = list.iter().filter(|&&at| !is_ground(case, part, at));
        kept.copied().collect()
    };
    let several = |submodels, between| {
        Some(Sources {
            submodels,
            between,
            held,
            fault: Fault::Several,
        })
    };
    let real = not_ground(&holding);
    if held == Held::Both {
        // A part with both roles can have any other cause, so only parts with one role are sources.
        let one_role = |&at: &InstanceId| roles(case, part, at) != (true, true);
        let known = real.len() > 1 && !between.is_empty() && holding.iter().all(one_role);
        return (known && only_terminals(case, part))
            .then(|| several(real, between))
            .flatten();
    }
    if real.len() > 1 {
        return several(real, between);
    }
    // What passes a variable on may also prescribe one, as a controlled source does.
    let real = not_ground(&all);
    if real.len() > 1 {
        return several(real, Vec::new());
    }
    let fault = match &all[..] {
        [] => return None,
        &[only] => {
            // A source with both ends at the same node.
            let ends = (case.own_columns(only))
                .filter(|column| part.columns.binary_search(column).is_ok())
                .filter(|&column| case.role(column) == Role::Across);
            if held != Held::Efforts || ends.count() < 2 {
                return None;
            }
            Fault::Alone
        }
        // A source with both ends at the ground contradicts the ground.
        _ => Fault::Ground,
    };
    Some(Sources {
        submodels: all,
        between: Vec::new(),
        held,
        fault,
    })
}

/// Parts that have to be taken together to find their sources: in a ring without ground, each of two flow sources
/// contradicts the sums of flows, but in truth they contradict each other.
pub fn in_rings(case: &Case<'_>, list: Vec<Part>) -> Vec<Part> {
    let mut kept: Vec<Part> = Vec::new();
    for part in list {
        let unnamed = |part: &Part| sources(case, part).is_none();
        let share =
            |a: &Part, b: &Part| a.columns.iter().any(|c| b.columns.binary_search(c).is_ok());
        let together = (kept.iter().enumerate())
            .filter(|(_, other)| share(other, &part) && unnamed(other) && unnamed(&part))
            .map(|(at, other)| (at, union(other, &part)))
            .find(|(_, both)| !unnamed(both));
        match together {
            Some((at, both)) => kept[at] = both,
            None => kept.push(part),
        }
    }
    kept
}

fn union(a: &Part, b: &Part) -> Part {
    let both = |a: &[u32], b: &[u32]| {
        let mut both = [a, b].concat();
        both.sort_unstable();
        both.dedup();
        both
    };
    Part {
        rows: both(&a.rows, &b.rows),
        columns: both(&a.columns, &b.columns),
        ..a.clone()
    }
}

/// The submodels whose equations take part, each once, in order.
fn submodels(case: &Case<'_>, part: &Part) -> Vec<InstanceId> {
    let mut found: Vec<InstanceId> = (part.rows.iter())
        .filter(|&&row| !case.is_from_connection(row))
        .map(|&row| case.origin(row))
        .filter(|&origin| origin != InstanceId::TOP)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether efforts, and whether flows, of a submodel belong to the part.
fn roles(case: &Case<'_>, part: &Part, at: InstanceId) -> (bool, bool) {
    let has = |role: Role| {
        (case.own_columns(at))
            .any(|column| case.role(column) == role && part.columns.binary_search(&column).is_ok())
    };
    (has(Role::Across), has(Role::Through))
}

/// Whether it has two flows of its own, so that it lies between two others.
fn passes_on(case: &Case<'_>, at: InstanceId) -> bool {
    let flows = (case.own_columns(at)).filter(|&column| case.role(column) == Role::Through);
    flows.count() > 1
}

/// Whether the compiled model itself contributes only equations for its terminals.
fn only_terminals(case: &Case<'_>, part: &Part) -> bool {
    (part.rows.iter())
        .filter(|&&row| case.origin(row) == InstanceId::TOP && !case.is_from_connection(row))
        .all(|&row| {
            let column = case.target(row).and_then(|id| case.columns.of_variable(id));
            column.is_some_and(|column| case.role(column) == Role::Terminal)
        })
}

/// Whether its only equation says that a variable is a number.
fn is_ground(case: &Case<'_>, part: &Part, instance: InstanceId) -> bool {
    (part.rows.iter())
        .filter(|&&row| case.origin(row) == instance && !case.is_from_connection(row))
        .all(|&row| {
            let right = case.flat.exprs.node(case.equation(row).right);
            case.target(row).is_some() && matches!(right, Node::Number(_))
        })
}

pub fn report_sources(case: &Case<'_>, part: &Part, sources: &Sources) -> Diagnostic {
    let names = listed(&sources.submodels, |at| case.path(at));
    let what = match sources.held {
        Held::Efforts => word(case, part, "voltage source", "effort source"),
        Held::Flows => word(case, part, "current source", "flow source"),
        Held::Both => "source",
    };
    let how = match (sources.fault, sources.held) {
        (Fault::Several, _) if !sources.between.is_empty() => {
            let between = listed(&sources.between, |at| case.path(at));
            format!("s joined by {between}")
        }
        (Fault::Several, Held::Efforts) => "s in parallel".to_string(),
        (Fault::Several, _) => "s in series".to_string(),
        (_, Held::Efforts) => " in a short circuit".to_string(),
        (..) => " in an open circuit".to_string(),
    };
    let fault = match sources.fault {
        Fault::Alone => "",
        _ => " contradict each other",
    };
    let message = format!("{NON_CAUSAL}{what}{how}: {names}{fault}");
    let diagnostic = Diagnostic::new(Code::TooManyEquations, message);
    let (own, others): (Vec<u32>, Vec<u32>) =
        (part.rows.iter().copied()).partition(|&row| sources.submodels.contains(&case.origin(row)));
    let diagnostic = case.with_equations(&own, diagnostic);
    let diagnostic = case.with_equations(&others, diagnostic);
    let remove = match sources.fault {
        Fault::Alone => "remove it",
        _ => "remove one of them",
    };
    diagnostic.hint(match (sources.fault, sources.held) {
        (Fault::Several, _) if !sources.between.is_empty() => {
            format!(
                "let something give way on one of the sides (a resistor, a spring), or {remove}"
            )
        }
        (Fault::Alone, _) => format!("connect its ends to different nodes, or {remove}"),
        (_, Held::Efforts) => format!("put a resistor between them, or {remove}"),
        _ => format!("put a resistor in parallel to one of them, or {remove}"),
    })
}
