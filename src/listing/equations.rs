//! Lists the flat equations as text, one in each line.

use super::lines::Lines;
use crate::expr::print::Style;
use crate::flat::Flat;

pub fn equations(flat: &Flat, style: Style) -> String {
    let mut lines = Lines::new(flat, style, "");
    lines.equations(flat.equation_ids(), &[]);
    lines.out
}
