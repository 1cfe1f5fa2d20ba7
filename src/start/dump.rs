//! The start values of the states of a solved model, as lines.
//!
//! ```text
//! v3 C1.e = 5
//! selection 0: [v7] of [v7 v9] at [1, 0]
//! ```

use std::fmt::Write;

use crate::expr::{Value, show_number};
use crate::flat::dump::{Shown, shown};
use crate::passes::blocks::{self, Solved};

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
    if let Some(start) = &solved.start {
        match &start.system {
            Ok(system) => {
                for &(leaf, own) in &system.determines {
                    let _ = writeln!(out, "{} is {} of the start", Shown(leaf), Shown(own));
                }
                out.push_str(&blocks::dump::dump(&system.solved));
            }
            Err(refused) => {
                let _ = writeln!(out, "refused {:?}", refused.equations);
            }
        }
        for (word, all) in [("agrees", &start.agreeing), ("guess", &start.guesses)] {
            for of in all {
                let _ = writeln!(out, "{word} {:?} for {}", of.equation, Shown(of.target));
            }
        }
    }
    out
}
