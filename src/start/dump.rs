//! The start values of the states of a solved model, as lines.
//!
//! ```text
//! v3 C1.e = 5
//! selection 0: [v7] of [v7 v9] at [1, 0]
//! ```

use std::fmt::Write;

use crate::expr::{Value, show_number};
use crate::flat::dump::{Shown, shown};
use crate::passes::blocks::Solved;

pub fn dump(solved: &Solved) -> String {
    let flat = &solved.flat;
    let mut out = format!("start {}: {} states\n", flat.model(), flat.state_count());
    for state in flat.states() {
        let value = match flat.start_of(state) {
            None => "not given".to_string(),
            Some(Value::Real(number)) => show_number(number),
            Some(Value::Bool(truth)) => truth.to_string(),
        };
        let _ = writeln!(out, "{} {} = {value}", Shown(state), flat.leaf_name(state));
    }
    for (at, selection) in flat.selections().iter().enumerate() {
        let (choice, candidates) = (shown(&selection.choice), shown(&selection.candidates));
        let values: Vec<String> = selection.start.iter().map(|&v| show_number(v)).collect();
        let values = values.join(", ");
        let _ = writeln!(
            out,
            "selection {at}: [{choice}] of [{candidates}] at [{values}]"
        );
    }
    out
}
