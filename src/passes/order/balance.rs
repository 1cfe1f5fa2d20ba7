//! What is said of a model that cannot be sorted: the smallest sets of equations and unknowns at
//! fault, as the user wrote them.
//!
//! Before: a matching that is not perfect. Causes that are known by their pattern are told first
//! and taken out of account; what is left is told as the smallest parts with one equation or one
//! unknown too many. No equation is shown twice.

use rustc_hash::FxHashSet;

use super::Row;
use super::blame;
use super::case::Case;
use super::count::count;
use super::few::{misspelt, only_read, too_few, too_few_of_submodels, unset};
use super::incidence::Columns;
use super::many::{joined, too_many, too_many_of_submodels};
use super::sources::in_rings;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::flat::Flat;
use crate::structure::{Incidence, LEFT_OUT, Matching, Part, overdetermined, underdetermined};

/// More than this at once helps nobody.
const MOST: usize = 5;

/// Of very many parts at fault the smallest are looked at.
const LOOKED_AT: usize = 50;

/// Too many or too few equations, in the model or in a part of it.
pub fn report(
    flat: &Flat,
    rows: &[Row],
    columns: &Columns,
    pattern: &Incidence,
    matching: &Matching,
    diagnostics: &mut Diagnostics,
) {
    let case = Case::new(flat, rows, columns, pattern);
    let counts = count(&case);
    let (blame, of_submodels) = blame::equations(&case, &counts, matching);
    let over = overdetermined(pattern, &blame);
    let known = blame::unknowns(&case, &counts, matching);
    let mut skipped = blame::own_first(&case);
    for &(column, _) in &known {
        skipped[column as usize] = LEFT_OUT;
    }
    let mut under = underdetermined(pattern, &skipped);
    under.truncate(LOOKED_AT);
    let mut found: Vec<Diagnostic> = Vec::new();

    too_many_of_submodels(&case, &over, &of_submodels, &mut found);
    let plain: Vec<&Part> = (over.iter())
        .filter(|part| !of_submodels.contains_key(&part.start))
        .take(LOOKED_AT)
        .collect();
    let mut shown: FxHashSet<u32> = FxHashSet::default();
    for part in in_rings(&case, joined(&plain)).iter().take(MOST) {
        if part.rows.iter().all(|row| shown.contains(row)) {
            continue;
        }
        let mut diagnostic = too_many(&case, part, &mut under, &shown);
        // A slip of the pen: the equation was meant for something else.
        if let ([_], [(column, _)], []) = (&over[..], &known[..], &under[..]) {
            let name = case.name(*column);
            diagnostic = diagnostic.hint(format!("is one of them meant for {name}?"));
        }
        found.push(diagnostic);
        shown.extend(&part.rows);
    }
    misspelt(&case, &known, &mut found);
    too_few_of_submodels(&case, &known, &mut found);
    unset(&case, &known, &mut found);
    only_read(&case, &known, &mut found);
    let mut shown: FxHashSet<u32> = FxHashSet::default();
    for part in under.iter().take(MOST) {
        if shown.contains(&part.start) {
            continue;
        }
        found.push(too_few(&case, part));
        shown.extend(&part.columns);
    }
    // Whatever was recognised: a model that is not balanced never passes in silence.
    if found.is_empty() {
        let (code, more) = match rows.len() > columns.len() {
            true => (Code::TooManyEquations, "more"),
            false => (Code::TooFewEquations, "fewer"),
        };
        let message = format!("a part of the model has {more} equations than unknowns");
        found.push(Diagnostic::new(code, message));
    }
    diagnostics.extend(found);
}

/// Constraints between states that index reduction has left.
pub fn report_index(
    flat: &Flat,
    rows: &[Row],
    columns: &Columns,
    pattern: &Incidence,
    diagnostics: &mut Diagnostics,
) {
    let case = Case::new(flat, rows, columns, pattern);
    for part in overdetermined(pattern, &[]).iter().take(MOST) {
        let diagnostic = Diagnostic::new(
            Code::HigherIndex,
            "states depend on each other, and what they depend on could not be resolved",
        );
        let diagnostic = case.with_equations(&part.rows, diagnostic);
        diagnostics.push(
            diagnostic
                .note("these equations relate states only, or leave no unknown to solve them for"),
        );
    }
}
