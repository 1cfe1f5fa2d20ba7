//! Lists the sorted equations as text: each with its unknown in brackets, loops marked with `|`.

use super::lines::Lines;
use super::loops_in_words;
use crate::expr::print::Style;
use crate::flat::Flat;
use crate::passes::order::{Row, Sorted};

pub fn sorted(flat: &Flat, sorted: &Sorted, style: Style) -> String {
    sorted_in_some_mode(flat, sorted, None, style)
}

/// The same with what is to be said of the positions of switches.
pub fn sorted_in_some_mode(
    flat: &Flat,
    sorted: &Sorted,
    position: Option<&str>,
    style: Style,
) -> String {
    let sizes: Vec<usize> = sorted.loops().map(Vec::len).collect();
    let mut more = loops_in_words(sizes.iter().copied());
    if let Some(position) = position {
        more.push('\n');
        more.push_str(position);
    }
    let mut lines = Lines::new(flat, style, &more);
    for block in &sorted.blocks {
        lines.mark = match (sizes.is_empty(), block.len()) {
            (true, _) => "",
            (false, 1) => "  ",
            (false, _) => "| ",
        };
        for &row in block {
            let unknown = &[sorted.unknowns[row as usize]];
            match &sorted.rows[row as usize] {
                Row::Equation(id) => lines.equations([*id], unknown),
                Row::When(_, ids) => lines.equations(ids.iter().copied(), unknown),
                Row::Selection(at) => lines.selection(*at),
            }
        }
    }
    lines.mark = "";
    lines.reduction();
    lines.eliminated("ELIMINATED VARIABLES", |_| true);
    lines.out
}
