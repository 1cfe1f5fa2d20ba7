//! Diagnostics about models that cannot be sorted: the smallest sets of equations and unknowns that
//! are wrong, as the user wrote them.
//!
//! Before: a maximum matching that is not perfect. Causes with a known pattern are reported first,
//! and their equations and unknowns are set aside. For the rest, the smallest parts with one
//! equation or one unknown too many are reported. No equation is shown twice.

use rustc_hash::FxHashSet;

use super::Row;
use super::case::Case;
use super::count::count;
use super::few::{misspelt, only_read, too_few, too_few_of_submodels, unset};
use super::incidence::Columns;
use super::many::{joined, too_many, too_many_of_submodels};
use super::sources::in_rings;
use super::suspects;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::flat::Flat;
use crate::structure::{Incidence, LEFT_OUT, Matching, Part, overdetermined, underdetermined};

/// The most diagnostics at once.
const MOST: usize = 5;

/// If there are very many parts, this many of the smallest are looked at.
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
    let (suspicion, of_submodels) = suspects::equations(&case, &counts, matching);
    let over = overdetermined(pattern, &suspicion);
    let known = suspects::unknowns(&case, &counts, matching);
    let mut skipped = suspects::own_first(&case);
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
        // An equation may have the wrong variable by mistake.
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
    // In any case there is a diagnostic: a model that is not balanced must never pass without one.
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

/// Reports constraints between states that are left after index reduction.
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
