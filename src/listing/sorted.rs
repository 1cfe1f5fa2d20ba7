//! The sorted equations as text: each with its unknown in brackets, loops marked with `|`.

use super::lines::{Lines, count};
use crate::expr::print::Style;
use crate::flat::Flat;
use crate::sort::{Row, Sorted};

pub fn sorted(flat: &Flat, sorted: &Sorted, style: Style) -> String {
    let sizes: Vec<usize> = sorted.loops().map(Vec::len).collect();
    let more = match sizes.iter().max() {
        None => ", no loops".to_string(),
        Some(largest) => {
            let loops = count(sizes.len(), "loop");
            let most = if sizes.len() == 1 { "of" } else { "of at most" };
            format!(", {loops} {most} {}", count(*largest, "equation"))
        }
    };
    let mut lines = Lines::new(flat, style, &more);
    for block in &sorted.blocks {
        lines.mark = match (sizes.is_empty(), block.len()) {
            (true, _) => "",
            (false, 1) => "  ",
            (false, _) => "| ",
        };
        for &row in block {
            let unknown = Some(sorted.unknowns[row as usize]);
            match &sorted.rows[row as usize] {
                Row::Equation(id) => lines.equations([*id], unknown),
                Row::When(_, ids) => lines.equations(ids.iter().copied(), unknown),
            }
        }
    }
    lines.eliminated();
    lines.out
}
