//! Linear analyses as text and data: matrices, poles, frequency responses. The formats are in docs/linear.md and docs/json.md.

pub mod bode;
pub mod formats;
pub mod json;
pub mod locus;
pub mod matrices;
pub mod poles;
pub mod symbolic;

use crate::analyse::Analysed;
use crate::expr::{show_briefly, show_number};

/// The title of an analysis, with its mode.
pub fn title(what: &str, analysed: &Analysed) -> String {
    let linear = &analysed.linear;
    let (model, time) = (linear.flat().model(), show_briefly(linear.point.time));
    let mut text = format!("{what} OF {model} AT Time = {time}\n");
    if let Some(mode) = &analysed.mode {
        text.push_str(&format!("MODE: {}\n", mode.name));
    }
    text
}

/// A number with up to so many digits that matter, for tables.
pub fn short(value: f64) -> String {
    const DIGITS: usize = 6;
    if value == 0.0 || !value.is_finite() {
        return show_number(value + 0.0);
    }
    let rounded: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    show_number(rounded)
}

/// Rows with columns aligned to the right, the first to the left; two spaces between.
pub fn aligned(rows: &[Vec<String>], indent: &str, out: &mut String) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = indent.to_string();
        for (at, cell) in row.iter().enumerate() {
            let wide = widths[at];
            match at {
                0 => line.push_str(&format!("{cell:<wide$}")),
                _ => line.push_str(&format!("  {cell:>wide$}")),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}
