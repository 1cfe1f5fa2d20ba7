//! Values at the start that follow from start equations.
//!
//! Before: a point with the start values that are known. After: states and discrete variables have the values that their
//! equations `init(x) = v` give them, those that only have to agree do, and all other values follow.

use super::failure::{Failure, Reason};
use super::{Chosen, Point, evaluate_from_known};
use crate::expr::{Value, show_briefly};
use crate::flat::{Flat, Leaf};
use crate::passes::blocks::{Solved, StartEquation, StartRefused, StartSystem};

/// Start values agree up to this relative difference, as the user rounds them.
const AGREES: f64 = 1e-4;

/// What is known of discrete variables with a next value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discrete {
    /// They begin: a start equation may give them their value.
    Begins,
    /// They may have changed at the start, and keep that value.
    Known,
}

pub(super) fn start(
    solved: &Solved,
    point: &mut Point,
    discrete: Discrete,
) -> Result<Vec<Chosen>, Failure> {
    let Some(start) = &solved.start else {
        return evaluate_from_known(solved, point);
    };
    let flat = &solved.flat;
    let system = match (&start.system, &start.later, discrete) {
        (_, Some(later), Discrete::Known) => later,
        (Ok(system), ..) => system,
        (Err(refused), ..) => return Err(undetermined(flat, point, refused)),
    };
    determine(system, point).map_err(|failure| of_start(flat, failure, system))?;
    for guess in &start.guesses {
        if let Ok(value) = point.value(&flat.exprs, guess.value, &mut Default::default()) {
            point.guess(guess.target, value);
        }
    }
    let chosen = evaluate_from_known(solved, point)?;
    for equation in &start.agreeing {
        agree(flat, point, equation)?;
    }
    Ok(chosen)
}

/// The values that start equations give to what nobody gave: `init(x) = 2*v` also where v is given at a point.
pub(super) fn fill(solved: &Solved, point: &mut Point) -> Result<(), Failure> {
    let Some(Ok(system)) = solved.start.as_ref().map(|start| &start.system) else {
        return Ok(());
    };
    let open = |&&(leaf, _): &&(Leaf, Leaf)| !point.is_given(leaf);
    let open: Vec<Leaf> = (system.determines.iter().filter(open))
        .map(|&(leaf, _)| leaf)
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    let mut begun = point.clone();
    determine(system, &mut begun).map_err(|failure| of_start(&solved.flat, failure, system))?;
    for leaf in open {
        if let Some(value) = begun.get(leaf) {
            point.put(leaf, value);
        }
    }
    Ok(())
}

fn determine(system: &StartSystem, point: &mut Point) -> Result<(), Failure> {
    let mut larger = point.within(&system.solved);
    evaluate_from_known(&system.solved, &mut larger)?;
    point.take(&larger);
    for &(leaf, own) in &system.determines {
        if let Some(value) = larger.get(own) {
            point.put(leaf, value);
        }
    }
    Ok(())
}

/// The failure of a system, which says that it is about start equations.
fn of_start(flat: &Flat, mut failure: Failure, system: &StartSystem) -> Failure {
    const SHOWN: usize = 6;
    let names: Vec<String> = (system.determines.iter().take(SHOWN))
        .map(|&(leaf, _)| format!("`{}`", flat.leaf_name(leaf)))
        .collect();
    let note = match system.determines.len() > SHOWN {
        true => format!("{}, ...", names.join(", ")),
        false => names.join(", "),
    };
    failure
        .notes
        .push(format!("`init` equations give the start of {note}"));
    failure
}

/// Start equations that determine nothing, whatever the values are.
fn undetermined(flat: &Flat, point: &Point, refused: &StartRefused) -> Failure {
    let names: Vec<String> = (refused.unknowns.iter())
        .map(|&leaf| format!("`{}`", flat.leaf_name(leaf)))
        .collect();
    let message = match names.len() {
        1 => format!("the `init` equation of {} does not determine it", names[0]),
        _ => format!(
            "the `init` equations of {} do not determine them",
            names.join(", ")
        ),
    };
    let mut failure = Failure::new(Reason::StartUndetermined, point.time, message);
    failure.notes.extend(refused.why.iter().cloned());
    failure.unknowns.clone_from(&refused.unknowns);
    for &id in &refused.equations {
        failure.add_equation(flat, id);
    }
    failure
}

/// Both sides of a start equation that determines nothing have to agree.
fn agree(flat: &Flat, point: &Point, equation: &StartEquation) -> Result<(), Failure> {
    let wanted = point.value(&flat.exprs, equation.value, &mut Default::default());
    let (Ok(wanted), Some(found)) = (wanted, point.get(equation.target)) else {
        return Ok(());
    };
    let agrees = match (wanted, found) {
        (Value::Real(wanted), Value::Real(found)) => {
            (wanted - found).abs() <= AGREES * (wanted.abs() + found.abs()).max(1e-9)
        }
        _ => wanted == found,
    };
    if agrees {
        return Ok(());
    }
    let name = flat.leaf_name(equation.target);
    let text = |value: Value| match value {
        Value::Real(number) => show_briefly(number),
        Value::Bool(_) => value.to_string(),
    };
    let message = format!(
        "`{name}` cannot start at {}: it would be {}",
        text(wanted),
        text(found)
    );
    let mut failure = Failure::new(Reason::StartsContradict, point.time, message);
    let given = match equation.target {
        Leaf::Var(id) => flat.start(id),
        _ => None,
    };
    failure.notes.push(match given {
        Some(_) => format!("`{name}` has another start value, which is given as far out"),
        None => format!("`{name}` follows from other variables that have start values"),
    });
    failure
        .notes
        .push("leave one of these out, or let them agree".into());
    failure.unknowns.push(equation.target);
    failure.add_equation(flat, equation.equation);
    Err(failure)
}
