//! Notes on an R-field besides its numbers: its place in the sorted equations, and the quality of the chosen forms.

use std::fmt::Write;

use super::fields::port;
use crate::base::words::count;
use crate::bond::fields::Fields;
use crate::bond::fields::place::Place;
use crate::bond::fields::resistive::RField;
use crate::bond::net::Gives;
use crate::expr::show_number;
use crate::flat::InstanceId;

pub(super) const NOT_IN_LOOP: &str = "in no loop: signs settle what the strokes leave open";
pub(super) const IN_SEVERAL_LOOPS: &str = "signs settle what couples them";
pub(super) const NOT_SORTED: &str = "not: the equations cannot be sorted";

/// At most this many submodels are named.
const NAMED: usize = 4;

pub(super) fn notes(found: &Fields, field: &RField, out: &mut String) {
    let _ = writeln!(out, "sorted     {}", place(found, &field.place));
    if let Place::Loop { signals, .. } = &field.place
        && !signals.is_empty()
    {
        let names: Vec<String> = signals.iter().map(|&id| found.flat.name(id)).collect();
        let _ = writeln!(
            out,
            "signals    {}: computed in the loop, from what the sequence computes",
            names.join(", ")
        );
    }
    let Some(choice) = &field.choice else {
        return;
    };
    let names = |list: &mut dyn Iterator<Item = String>| list.collect::<Vec<_>>().join(", ");
    let unknown = names(&mut choice.unknown.iter().map(|one| port(found, one)));
    let _ = match &choice.largest {
        Some(gain) => {
            let rest = match unknown.is_empty() {
                true => String::new(),
                false => format!("; not known of {unknown}"),
            };
            writeln!(
                out,
                "gains      at most {}, between {} and {}{rest}",
                brief(gain.value),
                port(found, &gain.r),
                port(found, &gain.g)
            )
        }
        None => writeln!(out, "gains      not known, nor are the slopes of {unknown}"),
    };
    if let Some(better) = &choice.better {
        let changes = (better.changes.iter()).map(|(one, gives)| {
            let form = match gives {
                Gives::Effort => "resistance",
                Gives::Flow => "conductance",
            };
            format!("{}={form}", port(found, one))
        });
        let most = better.largest.map_or(0.0, |gain| gain.value);
        let _ = writeln!(
            out,
            "better     {}: gains of at most {}",
            changes.collect::<Vec<_>>().join(", "),
            brief(most)
        );
    }
}

/// Returns the place of a field in the sorted equations: `a loop of 9 equations`.
fn place(found: &Fields, place: &Place) -> String {
    let (number, of, equations, also) = match place {
        Place::Loop {
            number,
            of,
            equations,
            also,
            ..
        } => (number, of, equations, also),
        Place::Several { numbers, of } => {
            let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
            return format!(
                "in loops {} of {of}: {IN_SEVERAL_LOOPS}",
                numbers.join(", ")
            );
        }
        Place::Apart => return NOT_IN_LOOP.to_string(),
        Place::Unsorted => return NOT_SORTED.to_string(),
    };
    let equations = count(*equations, "equation");
    let mut text = match of {
        1 => format!("a loop of {equations}"),
        _ => format!("loop {number} of {of}, {equations}"),
    };
    if !also.is_empty() {
        let mut names: Vec<String> = (also.iter().take(NAMED))
            .map(|&id| submodel(found, id))
            .collect();
        if also.len() > NAMED {
            names.push("...".to_string());
        }
        let _ = write!(text, "; also laws of {}", names.join(", "));
    }
    text
}

/// Returns the path of a submodel; for the model itself, its name.
pub(super) fn submodel(found: &Fields, id: InstanceId) -> String {
    match id {
        InstanceId::TOP => found.flat.model().to_string(),
        _ => found.flat.path(id),
    }
}

/// Rounds to three digits, which are enough for a comparison.
fn brief(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    show_number(rounded)
}
