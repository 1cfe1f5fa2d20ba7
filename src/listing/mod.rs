//! Listings of models: text and LaTeX for people, JSON for programs.

pub mod causality;
pub mod causality_json;
pub mod equations;
pub mod explain;
mod field_laws;
pub mod fields;
pub mod fields_json;
pub mod json;
pub mod latex;
mod latex_letters;
mod latex_names;
pub mod latex_report;
pub mod latex_solved;
pub mod linear;
mod lines;
pub mod modes;
pub mod positions_json;
mod r_field_notes;
pub mod reduction;
mod reduction_json;
pub mod solved;
pub mod solved_json;
pub mod sorted;
pub mod storage_fields;

pub use lines::outputs_for_states;

use crate::base::words::count;

/// Returns the count of loops: `, no loops`, `, 1 loop of 3 equations`, `, 2 loops of at most 4 equations`.
fn loops_in_words(sizes: impl Iterator<Item = usize>) -> String {
    let (mut loops, mut largest) = (0, 0);
    for size in sizes {
        (loops, largest) = (loops + 1, largest.max(size));
    }
    match loops {
        0 => ", no loops".to_string(),
        1 => format!(", 1 loop of {}", count(largest, "equation")),
        _ => format!(
            ", {} of at most {}",
            count(loops, "loop"),
            count(largest, "equation")
        ),
    }
}
