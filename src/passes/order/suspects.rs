//! Chooses the unknowns and equations that a diagnostic names where the structure leaves a choice.
//!
//! In a part with one unknown too many, any of its unknowns could be the one without an equation. The user wants to
//! read a certain one: a misspelt name, an unknown of a submodel that lacks an equation, a terminal that nothing sets.
//! Such unknowns are *suspects*. The matching leaves the most suspicious ones without an equation.

use rustc_hash::{FxHashMap, FxHashSet};

use super::case::Case;
use super::count::{Counts, WrongCount};
use crate::base::diagnostics::nearest;
use crate::flat::{InstanceId, Role, VarId};
use crate::structure::{Matching, NONE, disputed_rows, maximum_matching};

/// Why an unknown is left over.
#[derive(Clone, Copy, Debug)]
pub enum Cause {
    /// The undeclared name of this variable was probably meant to be the unknown.
    Misspelt(VarId),
    /// The submodel has too few equations.
    TooFew(WrongCount),
    /// A terminal that no equation outside sets.
    Unset,
    /// A terminal that no equation of its own type contains.
    Unmentioned,
    /// A local variable that occurs only in equations for other variables.
    Read,
}

/// The unknowns that lack an equation, if a cause for it is known.
pub fn unknowns(case: &Case<'_>, counts: &Counts, matching: &Matching) -> Vec<(u32, Cause)> {
    let turned = matching.clone().transposed();
    let disputed = disputed_rows(&case.uses, &turned);
    let mut causes: FxHashMap<u32, Cause> = FxHashMap::default();
    let mut suspicion = vec![0u8; case.columns.len()];
    for column in (0..case.columns.len() as u32).filter(|&at| disputed[at as usize]) {
        let variable = case.variable(column);
        let inner = case.instance(column) != InstanceId::TOP;
        let set_inside = defined_inside(case, column);
        if counts.is_unset(case, variable) && (inner || !set_inside) {
            causes.insert(column, Cause::Unset);
            suspicion[column as usize] = if set_inside { 1 } else { 2 };
        } else if inner && is_unmentioned(case, column) {
            causes.insert(column, Cause::Unmentioned);
            suspicion[column as usize] = 2;
        } else if is_only_read(case, column) {
            causes.insert(column, Cause::Read);
            suspicion[column as usize] = 2;
        }
    }
    for wrong in &counts.too_few {
        for (place, column) in likeliest(case, wrong, &disputed, &causes)
            .into_iter()
            .enumerate()
        {
            causes.insert(column, Cause::TooFew(*wrong));
            suspicion[column as usize] = if place < wrong.difference as usize {
                4
            } else {
                3
            };
        }
    }
    for (column, wrong) in misspelt(case, &disputed) {
        causes.insert(column, Cause::Misspelt(wrong));
        suspicion[column as usize] = 5;
    }
    if causes.is_empty() {
        return Vec::new();
    }
    let mut left = left_over(case, &suspicion);
    // A submodel is named for at most as many unknowns as it lacks equations. Its other unknowns are then no suspects,
    // and the matching is repeated.
    const TURNS: usize = 4;
    for _ in 0..TURNS {
        left.sort_by_key(|&column| (u8::MAX - suspicion[column as usize], column));
        let mut named: FxHashMap<InstanceId, u32> = FxHashMap::default();
        let mut kept: FxHashSet<u32> = FxHashSet::default();
        let mut full: Vec<InstanceId> = Vec::new();
        let mut again = false;
        for &column in &left {
            if let Some(Cause::TooFew(wrong)) = causes.get(&column) {
                let count = named.entry(wrong.instance).or_default();
                *count += 1;
                if *count <= wrong.difference {
                    kept.insert(column);
                }
                if *count == wrong.difference {
                    full.push(wrong.instance);
                }
                again |= *count > wrong.difference;
            }
        }
        if !again {
            break;
        }
        for column in full.into_iter().flat_map(|at| case.own_columns(at)) {
            if let Some(Cause::TooFew(_)) = causes.get(&column)
                && !kept.contains(&column)
            {
                causes.remove(&column);
                suspicion[column as usize] = 0;
            }
        }
        left = left_over(case, &suspicion);
    }
    left.sort_unstable();
    (left.into_iter())
        .filter_map(|at| Some((at, *causes.get(&at)?)))
        .collect()
}

/// The unknowns without an equation in a matching that prefers to leave out the most suspicious ones.
fn left_over(case: &Case<'_>, suspicion: &[u8]) -> Vec<u32> {
    let best = maximum_matching(
        &case
            .uses
            .with_row_grades(|column| suspicion[column as usize]),
    );
    (0..case.columns.len() as u32)
        .filter(|&at| best.column_of[at as usize] == NONE)
        .collect()
}

/// Whether it is a signal that equations outside read, but that no equation inside or outside sets.
fn is_unmentioned(case: &Case<'_>, column: u32) -> bool {
    let signal = matches!(
        case.role(column),
        Role::Terminal | Role::Input | Role::Output
    );
    signal
        && case.uses_inside(column) == 0
        && (case.uses.row(column).iter()).all(|&(row, _)| {
            case.is_from_connection(row) || case.target(row) != Some(case.variable(column))
        })
}

/// Whether it is a local variable that occurs only in equations whose left side is another unknown alone.
pub fn is_only_read(case: &Case<'_>, column: u32) -> bool {
    let uses = case.uses.row(column);
    let reads = |row: u32| {
        let target = case.target(row).filter(|_| !case.is_from_connection(row));
        target.is_some_and(|target| {
            target != case.variable(column) && case.columns.of_variable(target).is_some()
        })
    };
    matches!(case.role(column), Role::Local | Role::Output)
        && !uses.is_empty()
        && uses.iter().all(|&(row, _)| reads(row))
}

/// Whether an equation of the same model has the variable alone on its left side.
fn defined_inside(case: &Case<'_>, column: u32) -> bool {
    (case.uses.row(column).iter()).any(|&(row, _)| {
        case.origin(row) == case.instance(column) && case.target(row) == Some(case.variable(column))
    })
}

/// The unknowns of the submodel, most probable first: those that occur in the fewest of its equations, and local
/// variables before others.
fn likeliest(
    case: &Case<'_>,
    wrong: &WrongCount,
    disputed: &[bool],
    taken: &FxHashMap<u32, Cause>,
) -> Vec<u32> {
    let mut own: Vec<u32> = (case.own_columns(wrong.instance))
        .filter(|&column| disputed[column as usize] && !taken.contains_key(&column))
        .collect();
    own.sort_by_key(|&column| {
        let shared = !matches!(case.role(column), Role::Local | Role::Implicit);
        let defined = defined_inside(case, column);
        (case.uses_inside(column), defined, shared, column)
    });
    own
}

/// Finds undeclared names, each used in a single equation, that resemble the name of an unknown without an equation.
fn misspelt(case: &Case<'_>, disputed: &[bool]) -> Vec<(u32, VarId)> {
    // Limits of the search: with more mistakes at once it would take too long.
    const TRIED: usize = 100;
    const NAMES: usize = 10_000;
    let mut found = Vec::new();
    let implicit = (0..case.columns.len() as u32)
        .filter(|&column| case.role(column) == Role::Implicit && case.uses.row(column).len() <= 1);
    for column in implicit.take(TRIED) {
        let name = |column: u32| {
            case.flat
                .names
                .name(case.flat.declaration(case.variable(column)).name)
        };
        let known: Vec<(u32, &str)> = case
            .own_columns(case.instance(column))
            .filter(|&at| disputed[at as usize] && case.role(at) != Role::Implicit)
            .map(|at| (at, name(at)))
            .take(NAMES)
            .collect();
        let near = nearest(name(column), known.iter().map(|&(_, name)| name));
        if let Some(near) = near
            && let Some(&(at, _)) = known.iter().find(|(_, name)| *name == near)
        {
            found.push((at, case.variable(column)));
        }
    }
    found
}

/// How suspicious each equation is, where there are too many.
pub fn equations(
    case: &Case<'_>,
    counts: &Counts,
    matching: &Matching,
) -> (Vec<u8>, FxHashMap<u32, WrongCount>) {
    let disputed = disputed_rows(case.pattern, matching);
    let mut suspicion: Vec<u8> = (0..case.rows.len() as u32)
        .map(|row| {
            match (
                case.is_from_connection(row),
                concerns_only_submodels(case, row),
            ) {
                (true, _) => 0,
                (false, false) => 1,
                (false, true) => 2,
            }
        })
        .collect();
    let mut of_submodels = FxHashMap::default();
    if counts.too_many.is_empty() {
        return (suspicion, of_submodels);
    }
    let mut own: FxHashMap<InstanceId, Vec<u32>> = FxHashMap::default();
    for row in (0..case.rows.len() as u32).filter(|&row| disputed[row as usize]) {
        if !case.is_from_connection(row) {
            own.entry(case.origin(row)).or_default().push(row);
        }
    }
    for wrong in &counts.too_many {
        let rows = own.get(&wrong.instance).map_or(&[][..], Vec::as_slice);
        for &row in rows.iter().rev().take(wrong.difference as usize) {
            suspicion[row as usize] = 3;
            of_submodels.insert(row, *wrong);
        }
    }
    (suspicion, of_submodels)
}

/// Whether an equation contains only unknowns that submodels determine by themselves: no variable of its own model, and
/// no terminal.
pub fn concerns_only_submodels(case: &Case<'_>, row: u32) -> bool {
    let origin = case.origin(row);
    let entries = case.pattern.row(row);
    !entries.is_empty()
        && !case.is_from_connection(row)
        && entries.iter().all(|&(column, _)| {
            let signal = matches!(
                case.role(column),
                Role::Terminal | Role::Input | Role::Output
            );
            !signal && case.instance(column) != origin
        })
}

/// Ranks unknowns for parts without a known cause: those of the model itself are named first.
pub fn own_first(case: &Case<'_>) -> Vec<u8> {
    (0..case.columns.len() as u32)
        .map(|column| match case.instance(column) {
            InstanceId::TOP if defined_inside(case, column) => 1,
            InstanceId::TOP => 2,
            _ => 0,
        })
        .collect()
}
