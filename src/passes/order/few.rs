//! Diagnostics about too few equations, with a text for each cause.

use rustc_hash::FxHashMap;

use super::by_type::{Groups, of_type};
use super::case::{Case, listed};
use super::suspects::{Cause, is_only_read};
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::Span;
use crate::base::words::count as counted;
use crate::flat::{EquationKind, InstanceId, Role};
use crate::structure::Part;

/// Reports one part with too few equations.
pub fn too_few(case: &Case<'_>, part: &Part) -> Diagnostic {
    let name = case.name(part.start);
    let declaration = case.flat.declaration(case.variable(part.start));
    let instance = case.instance(part.start);
    let message = match part.rows.len() {
        0 => format!("nothing determines {name}"),
        rows => format!(
            "{} unknowns have only {}: {}",
            part.columns.len(),
            counted(rows, "equation"),
            case.names(&part.columns)
        ),
    };
    let mut diagnostic = Diagnostic::new(Code::TooFewEquations, message);
    if instance != InstanceId::TOP {
        let text = format!(
            "{} is of type {}",
            case.path(instance),
            case.type_name(instance)
        );
        diagnostic = diagnostic.at(case.submodel_span(instance), text);
    }
    let text = format!("{} is declared here", case.local_name(part.start));
    diagnostic = diagnostic.at(declaration.span, text);
    diagnostic = case.with_equations(&part.rows, diagnostic);
    let open = part.columns.iter().find_map(|&column| {
        let is_effort = case.role(column) == Role::Across;
        is_effort
            .then(|| unconnected(case, case.instance(column)))
            .flatten()
    });
    if let Some(open) = open {
        return diagnostic.hint(format!(
            "{} has cuts that nothing is connected to: what they hold is left open",
            case.path(open)
        ));
    }
    let undefined: Vec<u32> = (part.columns.iter().copied())
        .filter(|&column| !case.is_defined(column))
        .collect();
    if part.rows.len() > 1 && (1..=3).contains(&undefined.len()) {
        let names = case.names(&undefined);
        diagnostic = diagnostic.note(format!("no equation has {names} alone on the left"));
    }
    let in_type = case.type_name(instance);
    let local = case.local_name(part.start);
    diagnostic.hint(match (part.rows.is_empty(), declaration.role, instance) {
        (false, _, _) => "an equation is missing among these".to_string(),
        (true, Role::Across | Role::Through | Role::Both, InstanceId::TOP) => {
            format!("connect something to the cut of {local}, or write an equation for it")
        }
        (true, _, InstanceId::TOP) => format!("write an equation for {local}, or remove it"),
        (true, _, _) => format!("write an equation for {local} in {in_type}, or remove it there"),
    })
}

/// Returns the instance if one of its cuts is not connected.
fn unconnected(case: &Case<'_>, instance: InstanceId) -> Option<InstanceId> {
    let open = case.own_columns(instance).any(|column| {
        (case.uses.row(column).iter())
            .any(|&(row, _)| case.equation(row).kind == EquationKind::ZeroFlow)
    });
    (open && instance != InstanceId::TOP).then_some(instance)
}

/// Reports undeclared names that resemble the name of an unknown without an equation.
pub fn misspelt(case: &Case<'_>, known: &[(u32, Cause)], found: &mut Vec<Diagnostic>) {
    for &(column, cause) in known {
        let Cause::Misspelt(wrong) = cause else {
            continue;
        };
        let flat = case.flat;
        let instance = case.instance(column);
        let text = flat.names.name(flat.declaration(wrong).name);
        let local = case.local_name(column);
        let message = format!("nothing determines {}", case.name(column));
        let mut diagnostic = Diagnostic::new(Code::TooFewEquations, message)
            .at(
                flat.declaration(wrong).span,
                "not declared, and became a local",
            )
            .at(
                flat.declaration(case.variable(column)).span,
                format!("{local} is declared here"),
            );
        if instance != InstanceId::TOP {
            let place = case.submodel_span(instance);
            diagnostic = diagnostic.at(place, format!("used in {}", case.path(instance)));
        }
        found.push(diagnostic.hint(format!(
            "`{text}` was not declared and became a local; did you mean {local}?"
        )));
    }
}

/// Reports local variables that are read but have no equation.
pub fn only_read(case: &Case<'_>, known: &[(u32, Cause)], found: &mut Vec<Diagnostic>) {
    for &(column, cause) in known {
        let Cause::Read = cause else { continue };
        let instance = case.instance(column);
        let local = case.local_name(column);
        let message = format!("nothing determines {}", case.name(column));
        let span = case.flat.declaration(case.variable(column)).span;
        let mut diagnostic = Diagnostic::new(Code::TooFewEquations, message)
            .at(span, format!("{local} is declared here"));
        let mut place = String::new();
        if instance != InstanceId::TOP {
            let text = format!("used in {}", case.path(instance));
            diagnostic = diagnostic.at(case.submodel_span(instance), text);
            place = format!(" in {}", case.type_name(instance));
        }
        let first = case.uses.row(column).first().map(|&(row, _)| row);
        diagnostic = case.with_equations(first.as_slice(), diagnostic);
        let name = local.trim_matches('`');
        found.push(diagnostic.hint(format!("write `{name} = ...`{place}")));
    }
}

/// Reports submodels that lack equations; those of one type share a diagnostic.
pub fn too_few_of_submodels(case: &Case<'_>, known: &[(u32, Cause)], found: &mut Vec<Diagnostic>) {
    let mut groups = Groups::default();
    for &(column, cause) in known {
        if let Cause::TooFew(wrong) = cause {
            groups.add(case, column, wrong);
        }
    }
    for (wrong, _, instances) in groups.list {
        let (what, mut diagnostic) =
            of_type(case, Code::TooFewEquations, "few", &wrong, &instances);
        let local = |column: u32| case.local_name(column);
        let silent: Vec<u32> = (case.own_columns(wrong.instance))
            .filter(|&column| case.uses_inside(column) == 0)
            .collect();
        let class = case.type_name(wrong.instance);
        if !silent.is_empty() {
            let names = listed(&silent, local);
            diagnostic = diagnostic.note(format!("no equation of {class} speaks of {names}"));
        }
        let read: Vec<u32> = (case.own_columns(wrong.instance))
            .filter(|&column| is_only_read(case, column))
            .collect();
        let whose = match read.is_empty() {
            true => String::new(),
            false => format!(", perhaps for {}", listed(&read, local)),
        };
        found.push(diagnostic.hint(format!("write {what} more in {class}{whose}")));
    }
}

/// Reports terminals that nothing sets; those of one submodel (or array of submodels) share a
/// diagnostic.
pub fn unset(case: &Case<'_>, known: &[(u32, Cause)], found: &mut Vec<Diagnostic>) {
    let mut places: Vec<(Span, Vec<u32>)> = Vec::new();
    let mut silent: Vec<bool> = Vec::new();
    let mut at: FxHashMap<Span, usize> = FxHashMap::default();
    for &(column, cause) in known {
        if let Cause::Unset | Cause::Unmentioned = cause {
            let span = match case.instance(column) {
                InstanceId::TOP => case.flat.declaration(case.variable(column)).span,
                inner => case.submodel_span(inner),
            };
            let place = *at.entry(span).or_insert_with(|| {
                places.push((span, Vec::new()));
                silent.push(false);
                places.len() - 1
            });
            places[place].1.push(column);
            silent[place] |= matches!(cause, Cause::Unmentioned);
        }
    }
    for ((span, columns), silent) in places.into_iter().zip(silent) {
        found.push(unset_at(case, span, &columns, silent));
    }
}

fn unset_at(case: &Case<'_>, span: Span, columns: &[u32], silent: bool) -> Diagnostic {
    let message = format!("nothing sets {}", case.names(columns));
    let mut diagnostic = Diagnostic::new(Code::TooFewEquations, message);
    let first = columns[0];
    let name = case.flat.name(case.variable(first));
    let instance = case.instance(first);
    if instance == InstanceId::TOP {
        return diagnostic
            .at(span, "a terminal of the compiled model")
            .hint(format!(
                "write `{name} = ...`, or declare it with `input {name}` if it comes from outside"
            ));
    }
    let class = case.type_name(instance);
    diagnostic = diagnostic.at(span, format!("{} is of type {class}", case.path(instance)));
    let mut declared: Vec<u32> = Vec::new();
    for &column in columns {
        let declaration = case.flat.variable(case.variable(column)).declaration;
        if !declared.contains(&declaration.0) && declared.len() < 3 {
            declared.push(declaration.0);
            let place = case.flat.declaration(case.variable(column)).span;
            let text = format!("{} is a terminal of {class}", case.local_name(column));
            diagnostic = diagnostic.at(place, text);
        }
    }
    // The cure is written in the type that contains the submodel.
    let parent = case.flat.instances[instance.index()].parent;
    let mut seen = String::new();
    case.flat
        .write_name(case.variable(first), parent, &mut seen);
    let place = match parent {
        InstanceId::TOP => String::new(),
        inner => format!(" in {}", case.type_name(inner)),
    };
    if silent {
        let local = case.local_name(first);
        return diagnostic
            .note(format!("no equation of {class} speaks of {local}"))
            .hint(format!(
                "write an equation for {local} in {class}, or `{seen} = ...`{place}"
            ));
    }
    let in_array = case.flat.instances[instance.index()].index > 0;
    diagnostic.hint(match in_array && columns.len() > 1 {
        true => format!("write `{seen} = ...`{place} and so on, in a `for` if all are alike"),
        false => format!("write `{seen} = ...`{place}"),
    })
}
