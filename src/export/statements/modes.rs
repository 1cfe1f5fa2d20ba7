//! The jump when a mode of the switches begins, as statements.

use super::Statements;
use crate::positions::Jump;

/// The system for the jump: equations that hold afterwards, and equations integrated over the instant.
pub fn jump<'p, S: Statements<'p>>(to: &mut S, jump: &Jump) {
    let end = S::END;
    let size = jump.columns.len();
    for (i, row) in jump.rows.iter().enumerate() {
        let sides = (row.holds).map(|(left, right)| (to.value(left), to.value(right)));
        let holds = sides.is_some();
        to.begin_row(i, sides);
        for &(j, coefficient) in &row.entries {
            let value = to.value(coefficient.expression());
            let entry = to.entry(size, i, j as usize);
            to.line(&format!("{entry} = {}{end}", value.text));
            if !holds {
                to.line(&format!(
                    "rest[{i}] += {entry} * (now[{j}] - start[{j}]){end}"
                ));
            }
        }
        to.cut();
    }
}

/// Checks constraints of lower order, which have to hold already.
pub fn lower<'p>(to: &mut impl Statements<'p>, jump: &Jump) {
    let flat = to.model().flat;
    for row in &jump.rows {
        for &(left, right) in &row.lower {
            let mut states: Vec<usize> = Vec::new();
            for side in [left, right] {
                (flat.exprs).leaves(side, |leaf| states.extend(to.state(leaf)));
            }
            states.sort_unstable();
            states.dedup();
            let (left, right) = (to.value(left), to.value(right));
            let condition = to.differ(&left, &right, &states);
            let about = format!(
                "{} = {}",
                flat.expression(row.equation.left),
                flat.expression(row.equation.right)
            );
            let what = "no impulse can move what has to hold when switches change";
            to.fail_if(&condition, what, &about);
        }
    }
}
