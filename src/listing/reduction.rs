//! Describes the result of index reduction in words: the differentiated equations, the states that were kept or
//! dropped, and the reasons.

use super::lines::Lines;
use crate::base::words::count;
use crate::expr::show_number;
use crate::flat::{Derived, Dropped, EquationKind, Flat, Leaf, Merit, Reduction, Selection};

/// Returns the origin of an equation that is not in the source: `derivative of x = y`.
pub fn remark(flat: &Flat, kind: EquationKind) -> Option<String> {
    match kind {
        EquationKind::Constraint => Some("constraint: what several equations add up to".into()),
        EquationKind::Derivative(at) => {
            let derived = flat.reduction.as_ref()?.derived.get(at as usize)?;
            let which = match derived.times {
                1 => "derivative".to_string(),
                2 => "second derivative".to_string(),
                3 => "third derivative".to_string(),
                times => format!("derivative {times}"),
            };
            Some(format!("{which} of {}", original(flat, derived)))
        }
        _ => None,
    }
}

/// Returns the text of the equation that was differentiated: `x = y`.
pub fn original(flat: &Flat, derived: &Derived) -> String {
    let (left, right) = (derived.of.left, derived.of.right);
    format!("{} = {}", flat.expression(left), flat.expression(right))
}

/// Returns the index for the first line of a listing: `, index 2`.
pub fn index(flat: &Flat) -> String {
    match &flat.reduction {
        Some(reduction) => format!(", index {}", reduction.index),
        None => String::new(),
    }
}

/// Returns each equation that was differentiated, once, at its highest derivative.
pub fn differentiated(reduction: &Reduction) -> impl Iterator<Item = &Derived> {
    let list = &reduction.derived;
    // The list contains the derivatives of an equation one after the other.
    (list.iter().enumerate())
        .filter(|(at, derived)| {
            list.get(at + 1)
                .is_none_or(|next| next.times <= derived.times)
        })
        .map(|(_, derived)| derived)
}

pub fn times(times: u8) -> String {
    match times {
        1 => "once".into(),
        2 => "twice".into(),
        times => format!("{times} times"),
    }
}

/// Returns the reason why a state was dropped: `depends on C1.e, which has a start value`.
pub fn why(flat: &Flat, dropped: &Dropped) -> String {
    let Some(&best) = dropped.others.first() else {
        if dropped.merit == Merit::Zero {
            return "the coefficient of its derivative is zero as given".into();
        }
        return "nothing is left to choose: it follows from inputs, parameters and Time".into();
    };
    let names = names(flat, &dropped.others);
    let reason = match dropped.merit {
        Merit::Alone | Merit::Zero => return format!("depends on {names}"),
        Merit::Divisor => {
            return format!("depends on {names}; the constraint can surely be solved for it alone");
        }
        Merit::Restarted => "a `when` restarts",
        Merit::Wish if flat.wish(dropped.state.variable()) == Some(false) => {
            return format!("depends on {names}; it is declared `nostate` itself");
        }
        Merit::Wish => "is declared `state`",
        Merit::Written => "the source differentiates",
        Merit::Start => "has a start value",
        Merit::StartDepth => "has a start value from further out",
        Merit::Nearer => "is nearer the top by its name",
        Merit::Through => "is a through variable",
        Merit::Name => "comes first in the alphabet",
    };
    match dropped.others.len() {
        1 => format!("depends on {names}, which {reason}"),
        _ => format!(
            "depends on {names}, of which {} {reason}",
            flat.leaf_name(best)
        ),
    }
}

pub fn names(flat: &Flat, leaves: &[Leaf]) -> String {
    let names: Vec<String> = leaves.iter().map(|&leaf| flat.leaf_name(leaf)).collect();
    names.join(", ")
}

/// Returns the description of a selection: `1 state of x, y`.
pub fn choice(flat: &Flat, selection: &Selection) -> String {
    choice_words(selection, &names(flat, &selection.candidates))
}

/// Returns the states that are selected at the start, with their values if known: `x = 0.6`.
pub fn choice_at_start(flat: &Flat, selection: &Selection) -> String {
    let value = |leaf: &Leaf| {
        let at = selection
            .candidates
            .iter()
            .position(|other| other == leaf)?;
        selection.start.get(at)
    };
    let words: Vec<String> = (selection.choice.iter())
        .map(|leaf| match value(leaf) {
            Some(&value) => format!(
                "{} = {}",
                flat.leaf_name(*leaf),
                show_number(rounded(value))
            ),
            None => flat.leaf_name(*leaf),
        })
        .collect();
    words.join(", ")
}

/// Removes the last digits, which are rounding errors.
fn rounded(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

pub fn choice_words(selection: &Selection, names: &str) -> String {
    format!("{} of {names}", count(selection.states as usize, "state"))
}

/// Returns the level of a mechanical selection (positions, velocities, accelerations), if there are several levels.
pub fn level(flat: &Flat, selection: &Selection) -> Option<&'static str> {
    let deep = flat.selections().iter().any(|other| other.times > 0);
    match selection.times {
        0 if deep => Some("positions"),
        1 => Some("velocities"),
        2 => Some("accelerations"),
        _ => None,
    }
}

impl Lines<'_> {
    /// Writes the differentiated equations, the states that were dropped, and the derivatives of inputs, under
    /// headings.
    pub(super) fn reduction(&mut self) {
        let flat = self.flat;
        let Some(reduction) = &flat.reduction else {
            return;
        };
        if !reduction.derived.is_empty() {
            self.heading("DIFFERENTIATED EQUATIONS");
        }
        for derived in differentiated(reduction) {
            self.begin(derived.of.origin);
            let (text, times) = (original(flat, derived), times(derived.times));
            self.out.push_str(&format!("{text}, {times}\n"));
        }
        if !reduction.dropped.is_empty() {
            self.heading("NO LONGER STATES: START VALUES FOLLOW");
            for dropped in &reduction.dropped {
                let name = flat.leaf_name(dropped.state);
                let why = why(flat, dropped);
                self.out.push_str(&format!("{name}: {why}\n"));
            }
        }
        if !reduction.inputs.is_empty() {
            self.heading("DERIVATIVES OF INPUTS: INPUTS OF THEIR OWN");
            for &leaf in &reduction.inputs {
                let name = flat.leaf_name(leaf);
                self.out.push_str(&format!("{name}\n"));
            }
        }
    }

    /// Writes one row of a selection.
    pub(super) fn selection(&mut self, at: u32) {
        let flat = self.flat;
        self.begin_blank();
        let text = choice(flat, &flat.selections()[at as usize]);
        self.out.push_str(&format!("{text}\n"));
    }
}
