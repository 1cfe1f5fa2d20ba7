//! Prints flat expressions as source text, with new names of variables.

use crate::expr::ExprId;
use crate::flat::{Flat, Names, Printer};

/// Returns an expression as it can stand in the body of the model.
pub fn text(flat: &Flat, names: &Names, id: ExprId) -> String {
    let mut out = String::new();
    let printer = Printer {
        names: Some(names),
        ..Printer::new(flat)
    };
    printer.write(id, &mut out);
    out
}
