//! What is said of a model that cannot be sorted: the smallest sets of equations and unknowns at
//! fault, as the user wrote them.

use super::Row;
use super::incidence::Columns;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::flat::{EqId, EquationKind, Flat, Leaf};
use crate::structure::{Incidence, Matching, Part, overdetermined, underdetermined};

/// More than this at once helps nobody.
const MOST: usize = 5;

/// Too many or too few equations, in the model or in a part of it.
pub fn report(
    flat: &Flat,
    rows: &[Row],
    columns: &Columns,
    pattern: &Incidence,
    matching: &Matching,
    diagnostics: &mut Diagnostics,
) {
    for part in overdetermined(pattern, matching).iter().take(MOST) {
        let unknowns = names(flat, columns, &part.columns);
        let message = match part.columns.len() {
            0 => "an equation has no unknown".to_string(),
            1 => format!("two equations determine {unknowns}"),
            many => format!(
                "{} equations determine {many} unknowns: {unknowns}",
                many + 1
            ),
        };
        let diagnostic = Diagnostic::new(Code::TooManyEquations, message);
        let diagnostic = with_part(flat, rows, part, diagnostic);
        diagnostics.push(diagnostic.hint("one of these equations is too many"));
    }
    for part in underdetermined(pattern, matching).iter().take(MOST) {
        let unknowns = names(flat, columns, &part.columns);
        let message = match part.rows.len() {
            0 => format!("nothing determines {unknowns}"),
            rows => format!(
                "{} unknowns have only {}: {unknowns}",
                part.columns.len(),
                crate::listing::count(rows, "equation")
            ),
        };
        let mut diagnostic = Diagnostic::new(Code::TooFewEquations, message);
        let variable = columns.leaf(part.start).variable();
        let text = format!("`{}` is declared here", flat.name(variable));
        diagnostic = diagnostic.at(flat.declaration(variable).span, text);
        let diagnostic = with_part(flat, rows, part, diagnostic);
        diagnostics.push(diagnostic.hint(match part.rows.is_empty() {
            true => "write an equation for it, connect it, or remove it",
            false => "an equation is missing among these",
        }));
    }
}

/// Constraints between states: the index has to be reduced first.
pub fn report_index(
    flat: &Flat,
    rows: &[Row],
    pattern: &Incidence,
    matching: &Matching,
    diagnostics: &mut Diagnostics,
) {
    for part in overdetermined(pattern, matching).iter().take(MOST) {
        let diagnostic = Diagnostic::new(
            Code::HigherIndex,
            "states depend on each other: the index must be reduced first",
        );
        let diagnostic = with_part(flat, rows, part, diagnostic);
        diagnostics.push(
            diagnostic
                .note("these equations relate states only, or leave no unknown to solve them for"),
        );
    }
}

/// `` `a`, `b` and 3 more ``
fn names(flat: &Flat, columns: &Columns, part: &[u32]) -> String {
    const SHOWN: usize = 6;
    let mut text: Vec<String> = (part.iter().take(SHOWN))
        .map(|&column| {
            let leaf = columns.leaf(column);
            let name = flat.name(leaf.variable());
            match leaf {
                Leaf::New(_) => format!("`new({name})`"),
                _ => format!("`{name}`"),
            }
        })
        .collect();
    if part.len() > SHOWN {
        text.push(format!("and {} more", part.len() - SHOWN));
    }
    text.join(", ")
}

/// The equations of the part.
fn with_part(flat: &Flat, rows: &[Row], part: &Part, diagnostic: Diagnostic) -> Diagnostic {
    let equations = (part.rows.iter()).filter_map(|&row| match &rows[row as usize] {
        Row::Equation(id) => Some(*id),
        Row::When(_, ids) => ids.first().copied(),
    });
    with_equations(flat, equations.collect(), diagnostic)
}

/// Shows equations: those of the compiled file before those of others, and what was written before
/// connections.
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
        // Equal texts of the library are told apart by what they say of the instance.
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
