//! Which unknowns and equations are to be named where structure leaves a choice.
//!
//! Of a part with one unknown too many any unknown could be the one that lacks an equation. The
//! user means a certain one: a name that was misspelt, a submodel that is short of an equation, a
//! terminal that nothing sets. These are left over by the matching before others are.

use rustc_hash::{FxHashMap, FxHashSet};

use super::case::Case;
use super::count::{Counts, Off};
use crate::base::diagnostics::nearest;
use crate::flat::{InstanceId, Role, VarId};
use crate::structure::{Matching, NONE, disputed_rows, maximum_matching};

/// Why an unknown is left over.
#[derive(Clone, Copy, Debug)]
pub enum Cause {
    /// This undeclared name may have been meant for it.
    Misspelt(VarId),
    /// The submodel has too few equations.
    TooFew(Off),
    /// A terminal that nothing sets from outside.
    Unset,
    /// A terminal that its own type never speaks of.
    Silent,
    /// A local that equations for other variables read.
    Read,
}

/// The unknowns that lack an equation, as far as the cause is known.
pub fn unknowns(case: &Case<'_>, counts: &Counts, matching: &Matching) -> Vec<(u32, Cause)> {
    let turned = matching.clone().transposed();
    let disputed = disputed_rows(&case.uses, &turned);
    let mut causes: FxHashMap<u32, Cause> = FxHashMap::default();
    let mut blame = vec![0u8; case.columns.len()];
    for column in (0..case.columns.len() as u32).filter(|&at| disputed[at as usize]) {
        let variable = case.variable(column);
        let inner = case.instance(column) != InstanceId::TOP;
        let set_inside = defined_inside(case, column);
        if counts.is_unset(case, variable) && (inner || !set_inside) {
            causes.insert(column, Cause::Unset);
            blame[column as usize] = if set_inside { 1 } else { 2 };
        } else if inner && is_silent(case, column) {
            causes.insert(column, Cause::Silent);
            blame[column as usize] = 2;
        } else if is_only_read(case, column) {
            causes.insert(column, Cause::Read);
            blame[column as usize] = 2;
        }
    }
    for off in &counts.too_few {
        for (place, column) in likeliest(case, off, &disputed, &causes)
            .into_iter()
            .enumerate()
        {
            causes.insert(column, Cause::TooFew(*off));
            blame[column as usize] = if place < off.by as usize { 4 } else { 3 };
        }
    }
    for (column, wrong) in misspelt(case, &disputed) {
        causes.insert(column, Cause::Misspelt(wrong));
        blame[column as usize] = 5;
    }
    if causes.is_empty() {
        return Vec::new();
    }
    let mut left = left_over(case, &blame);
    // A submodel is not blamed for more than it lacks: once more without the others of its unknowns.
    const TURNS: usize = 4;
    for _ in 0..TURNS {
        left.sort_by_key(|&column| (u8::MAX - blame[column as usize], column));
        let mut blamed: FxHashMap<InstanceId, u32> = FxHashMap::default();
        let mut kept: FxHashSet<u32> = FxHashSet::default();
        let mut full: Vec<InstanceId> = Vec::new();
        let mut again = false;
        for &column in &left {
            if let Some(Cause::TooFew(off)) = causes.get(&column) {
                let count = blamed.entry(off.instance).or_default();
                *count += 1;
                if *count <= off.by {
                    kept.insert(column);
                }
                if *count == off.by {
                    full.push(off.instance);
                }
                again |= *count > off.by;
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
                blame[column as usize] = 0;
            }
        }
        left = left_over(case, &blame);
    }
    left.sort_unstable();
    (left.into_iter())
        .filter_map(|at| Some((at, *causes.get(&at)?)))
        .collect()
}

/// The unknowns that a matching leaves over, those of more blame before others.
fn left_over(case: &Case<'_>, blame: &[u8]) -> Vec<u32> {
    let best = maximum_matching(&case.uses.with_row_grades(|column| blame[column as usize]));
    (0..case.columns.len() as u32)
        .filter(|&at| best.column_of[at as usize] == NONE)
        .collect()
}

/// A signal that equations outside read, but nothing inside or outside sets.
fn is_silent(case: &Case<'_>, column: u32) -> bool {
    let signal = matches!(
        case.role(column),
        Role::Terminal | Role::Input | Role::Output
    );
    signal
        && case.uses_inside(column) == 0
        && (case.uses.row(column).iter())
            .all(|&(row, _)| case.is_made(row) || case.target(row) != Some(case.variable(column)))
}

/// A local that stands only in equations with another unknown alone on the left.
pub fn is_only_read(case: &Case<'_>, column: u32) -> bool {
    let uses = case.uses.row(column);
    let reads = |row: u32| {
        let target = case.target(row).filter(|_| !case.is_made(row));
        target.is_some_and(|target| {
            target != case.variable(column) && case.columns.of_variable(target).is_some()
        })
    };
    matches!(case.role(column), Role::Local | Role::Output)
        && !uses.is_empty()
        && uses.iter().all(|&(row, _)| reads(row))
}

/// Alone on the left of an equation of its own model.
fn defined_inside(case: &Case<'_>, column: u32) -> bool {
    (case.uses.row(column).iter()).any(|&(row, _)| {
        case.origin(row) == case.instance(column) && case.target(row) == Some(case.variable(column))
    })
}

/// The unknowns of the submodel, those that the fewest of its equations speak of first, and locals
/// before others.
fn likeliest(
    case: &Case<'_>,
    off: &Off,
    disputed: &[bool],
    taken: &FxHashMap<u32, Cause>,
) -> Vec<u32> {
    let mut own: Vec<u32> = (case.own_columns(off.instance))
        .filter(|&column| disputed[column as usize] && !taken.contains_key(&column))
        .collect();
    own.sort_by_key(|&column| {
        let shared = !matches!(case.role(column), Role::Local | Role::Implicit);
        let defined = defined_inside(case, column);
        (case.uses_inside(column), defined, shared, column)
    });
    own
}

/// Undeclared names of a single equation that are near to a name that lacks one.
fn misspelt(case: &Case<'_>, disputed: &[bool]) -> Vec<(u32, VarId)> {
    // More than a few slips at once are not worth the time.
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

/// How much an equation is to blame where there are too many.
pub fn equations(
    case: &Case<'_>,
    counts: &Counts,
    matching: &Matching,
) -> (Vec<u8>, FxHashMap<u32, Off>) {
    let disputed = disputed_rows(case.pattern, matching);
    let mut blame: Vec<u8> = (0..case.rows.len() as u32)
        .map(|row| match (case.is_made(row), meddles(case, row)) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        })
        .collect();
    let mut of_submodels = FxHashMap::default();
    if counts.too_many.is_empty() {
        return (blame, of_submodels);
    }
    let mut own: FxHashMap<InstanceId, Vec<u32>> = FxHashMap::default();
    for row in (0..case.rows.len() as u32).filter(|&row| disputed[row as usize]) {
        if !case.is_made(row) {
            own.entry(case.origin(row)).or_default().push(row);
        }
    }
    for off in &counts.too_many {
        let rows = own.get(&off.instance).map_or(&[][..], Vec::as_slice);
        for &row in rows.iter().rev().take(off.by as usize) {
            blame[row as usize] = 3;
            of_submodels.insert(row, *off);
        }
    }
    (blame, of_submodels)
}

/// An equation that speaks only of what submodels determine by themselves: of none of the model's
/// own variables, and of no terminal.
pub fn meddles(case: &Case<'_>, row: u32) -> bool {
    let origin = case.origin(row);
    let entries = case.pattern.row(row);
    !entries.is_empty()
        && !case.is_made(row)
        && entries.iter().all(|&(column, _)| {
            let signal = matches!(
                case.role(column),
                Role::Terminal | Role::Input | Role::Output
            );
            !signal && case.instance(column) != origin
        })
}

/// Which unknown of a part without a known cause is named first: one of the model's own.
pub fn own_first(case: &Case<'_>) -> Vec<u8> {
    (0..case.columns.len() as u32)
        .map(|column| match case.instance(column) {
            InstanceId::TOP if defined_inside(case, column) => 1,
            InstanceId::TOP => 2,
            _ => 0,
        })
        .collect()
}
