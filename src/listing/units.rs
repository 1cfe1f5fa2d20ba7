//! The units of all variables, as a section of a listing.

use crate::flat::{Flat, Leaf};

/// Empty unless units are asked for. An inferred unit is marked, since no line of the source tells it.
pub fn section(flat: &Flat) -> String {
    const WIDEST: usize = 40;
    if !flat.units.are_shown() {
        return String::new();
    }
    let mut lines: Vec<(String, String)> = Vec::new();
    for id in flat.variable_ids() {
        let declared = flat.declaration(id).remarks.unit.is_some();
        if let Some(unit) = flat.leaf_unit(Leaf::Var(id)) {
            let mark = if declared { "" } else { "  { inferred }" };
            lines.push((flat.name(id), format!("{unit}{mark}")));
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let widths = lines.iter().map(|(name, _)| name.chars().count());
    let width = widths.filter(|&width| width <= WIDEST).max().unwrap_or(0);
    let mut text = "\nUNITS\n\n".to_string();
    for (name, unit) in lines {
        text.push_str(&format!("{name:width$}  {unit}\n"));
    }
    text
}
