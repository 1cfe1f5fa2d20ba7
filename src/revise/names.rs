//! Flat expressions as text of a model: variables by other names than they had.

use crate::expr::ExprId;
use crate::flat::{Flat, Names, Printer};

/// An expression, as the body of the model can have it.
pub fn text(flat: &Flat, names: &Names, id: ExprId) -> String {
    let mut out = String::new();
    let printer = Printer {
        names: Some(names),
        ..Printer::new(flat)
    };
    printer.write(id, &mut out);
    out
}
