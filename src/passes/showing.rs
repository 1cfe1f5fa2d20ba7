//! Equations in diagnostics.

use crate::base::diagnostics::Diagnostic;
use crate::flat::{EqId, EquationKind, Flat};

/// Shows equations: those of the compiled file before those of other files, and written ones before
/// those of connections.
pub fn with_equations(
    flat: &Flat,
    mut equations: Vec<EqId>,
    mut diagnostic: Diagnostic,
) -> Diagnostic {
    const SHOWN: usize = 12;
    equations.sort_by_key(|id| {
        let equation = &flat.equations[id.index()];
        let made = !matches!(equation.kind, EquationKind::Equation);
        (equation.span.file, made, *id)
    });
    for &id in equations.iter().take(SHOWN) {
        let equation = &flat.equations[id.index()];
        let text = flat.equation_text(id);
        // Equal texts from the library are distinguished by the names of their instances.
        diagnostic = match diagnostic
            .labels
            .iter()
            .any(|label| label.span == equation.span)
        {
            true => diagnostic.note(format!("and {text}")),
            false => diagnostic.at(equation.span, text),
        };
    }
    if equations.len() > SHOWN {
        diagnostic = diagnostic.note(format!("and {} more equations", equations.len() - SHOWN));
    }
    diagnostic
}
