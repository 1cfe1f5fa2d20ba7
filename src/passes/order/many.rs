//! Diagnostics about too many equations, with a text for each cause.

use rustc_hash::{FxHashMap, FxHashSet};

use super::by_type::{Groups, of_type};
use super::case::{Case, FEW};
use super::count::WrongCount;
use super::patterns::{floats, report_floating, report_known};
use super::sources::{report_sources, sources};
use super::suspects;
use crate::base::diagnostics::{Code, Diagnostic};
use crate::flat::{EquationKind, InstanceId, VarId};
use crate::structure::Part;

/// Joins parts with the same unknowns, such as three equations for `x`.
pub fn joined(parts: &[&Part]) -> Vec<Part> {
    let mut list: Vec<Part> = Vec::new();
    for part in parts {
        match (list.iter_mut())
            .find(|known| known.columns == part.columns && !part.columns.is_empty())
        {
            Some(known) => {
                known.rows.extend(&part.rows);
                known.rows.sort_unstable();
                known.rows.dedup();
            }
            None => list.push((*part).clone()),
        }
    }
    list
}

/// Reports one part with too many equations, and with it the unknowns that it leaves undetermined
/// elsewhere.
pub fn too_many(
    case: &Case<'_>,
    part: &Part,
    under: &mut Vec<Part>,
    shown: &FxHashSet<u32>,
) -> Diagnostic {
    if let [row] = part.rows[..] {
        return report_known(case, row);
    }
    if let Some(at) = under.iter().position(|under| floats(case, part, under)) {
        return report_floating(case, &under.remove(at));
    }
    let superfluous = part
        .rows
        .iter()
        .find(|&&row| suspects::concerns_only_submodels(case, row));
    if let (None, Some(sources)) = (superfluous, sources(case, part)) {
        // Each equation too many leaves one part elsewhere undetermined.
        let mut open: Vec<u32> = Vec::new();
        for _ in part.columns.len()..part.rows.len() {
            let follows = (under.iter()).position(|under| {
                (under.columns.iter()).any(|&at| sources.leave_undetermined(case, part, at))
            });
            open.extend(follows.into_iter().flat_map(|at| under.remove(at).columns));
        }
        open.sort_unstable();
        open.dedup();
        let diagnostic = report_sources(case, part, &sources);
        return match open.is_empty() {
            true => diagnostic,
            false => diagnostic.note(format!("this leaves {} undetermined", case.names(&open))),
        };
    }
    let fresh: Vec<u32> = (part.rows.iter().copied())
        .filter(|row| !shown.contains(row))
        .collect();
    let size = format!(
        "{} equations determine only {} unknowns",
        part.rows.len(),
        part.columns.len()
    );
    let unknowns = case.names(&part.columns);
    let message = match (part.rows.len(), part.columns.len()) {
        (2, 1) => format!("two equations determine {unknowns}"),
        (rows, 1) => format!("{rows} equations determine {unknowns}"),
        (_, columns) if columns > FEW => size.clone(),
        _ => format!("{size}: {unknowns}"),
    };
    if let Some(instance) = zero_flow(case, part) {
        // The unknown on the other side of the cut then lacks an equation.
        let follows = under.iter().position(|under| {
            let of = |&column: &u32| case.instance(column) == instance;
            under.columns.iter().any(of)
        });
        let mut diagnostic = Diagnostic::new(Code::TooManyEquations, message);
        diagnostic = case.with_equations(&fresh, diagnostic);
        if let Some(at) = follows {
            let names = case.names(&under.remove(at).columns);
            diagnostic = diagnostic.note(format!("this leaves {names} undetermined"));
        }
        return diagnostic.hint(match instance {
            InstanceId::TOP => "what flows through a cut of the compiled model is zero: \
                 nothing is outside"
                .to_string(),
            inner => format!(
                "what flows through a cut that is not connected is zero: connect all cuts of {}",
                case.path(inner)
            ),
        });
    }
    // An equation may have the wrong variable by mistake.
    if let [_] = under[..]
        && let Some(other) = under.pop()
    {
        return instead(case, &message, &fresh, &other);
    }
    if let Some((target, rows)) = twice(case, part)
        && rows.len() < part.rows.len()
    {
        let name = case.flat.name(target);
        let message = match rows.len() {
            2 => format!("two equations say what `{name}` is"),
            many => format!("{many} equations say what `{name}` is"),
        };
        let diagnostic = Diagnostic::new(Code::TooManyEquations, message);
        return (case.with_equations(&rows, diagnostic))
            .note(format!("with what else speaks of these variables, {size}"))
            .hint("remove one of them");
    }
    let diagnostic = Diagnostic::new(Code::TooManyEquations, message);
    let diagnostic = case.with_equations(&fresh, diagnostic);
    diagnostic.hint(match superfluous {
        Some(&row) => format!(
            "remove `{}`: submodels determine all that it speaks of",
            case.text(row)
        ),
        None => "one of these equations is too many".to_string(),
    })
}

/// Reports one equation too many and, elsewhere, one too few.
fn instead(case: &Case<'_>, message: &str, rows: &[u32], other: &Part) -> Diagnostic {
    let lacking = case.names(&other.columns);
    let message = match other.rows.len() {
        0 => format!("{message}, and none determines {lacking}"),
        _ => format!("{message}, and too few are left for {lacking}"),
    };
    let diagnostic = Diagnostic::new(Code::TooManyEquations, message);
    let diagnostic = case.with_equations(rows, diagnostic);
    let name = case.name(other.start);
    let declaration = case.flat.declaration(case.variable(other.start)).span;
    diagnostic
        .at(declaration, format!("{name} lacks an equation"))
        .hint(format!("is one of these equations meant for {name}?"))
}

/// Finds a variable that is alone on the left side of several equations of one model.
fn twice(case: &Case<'_>, part: &Part) -> Option<(VarId, Vec<u32>)> {
    let key = |row: u32| Some((case.target(row)?, case.origin(row)));
    let mut keys: Vec<((VarId, InstanceId), u32)> = (part.rows.iter())
        .filter(|&&row| !case.is_from_connection(row))
        .filter_map(|&row| Some((key(row)?, row)))
        .collect();
    keys.sort_unstable();
    let same = keys.windows(2).find(|pair| pair[0].0 == pair[1].0)?;
    let ((target, _), _) = same[0];
    let rows = keys.iter().filter(|(known, _)| *known == same[0].0);
    Some((target, rows.map(|&(_, row)| row).collect()))
}

/// Finds a submodel with a cut whose flow is zero because it is not connected.
fn zero_flow(case: &Case<'_>, part: &Part) -> Option<InstanceId> {
    let zero = |row: &&u32| case.equation(**row).kind == EquationKind::ZeroFlow;
    let row = part.rows.iter().find(zero)?;
    let &(column, _) = case.pattern.row(*row).first()?;
    Some(case.instance(column))
}

/// Reports submodels with too many equations; those of one type share a diagnostic.
pub fn too_many_of_submodels(
    case: &Case<'_>,
    over: &[Part],
    of_submodels: &FxHashMap<u32, WrongCount>,
    found: &mut Vec<Diagnostic>,
) {
    let mut groups = Groups::default();
    let mut rows: Vec<(u32, WrongCount)> = of_submodels
        .iter()
        .map(|(&row, &wrong)| (row, wrong))
        .collect();
    rows.sort_unstable_by_key(|&(row, _)| row);
    for (row, wrong) in rows {
        groups.add(case, row, wrong);
    }
    // If there are very many parts, only some were looked for.
    let parts: FxHashMap<u32, &Part> = over.iter().map(|part| (part.start, part)).collect();
    for (wrong, rows, instances) in groups.list {
        let (what, mut diagnostic) =
            of_type(case, Code::TooManyEquations, "many", &wrong, &instances);
        let part = rows.iter().find_map(|row| parts.get(row));
        let own: Vec<u32> = (part.into_iter())
            .flat_map(|part| {
                let whose = case.origin(part.start);
                (part.rows.iter().copied())
                    .filter(move |&row| case.origin(row) == whose && !case.is_from_connection(row))
            })
            .collect();
        diagnostic = case.with_equations(&own, diagnostic);
        found.push(diagnostic.hint(format!(
            "remove {what} from {}",
            case.type_name(wrong.instance)
        )));
    }
}
