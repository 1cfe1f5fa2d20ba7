//! The model that is written, and its start.
//!
//! Before: a flat model with an experiment in it. After: the equations to write; for differentiated variables the
//! values at the start, and which of them are free. A Modelica tool takes each start value with `fixed = true` as an
//! equation, so there may be only as many as the model has degrees of freedom: the states that solving has found for
//! the start. Constraints that signs hide are written, so that the structure shows them. If a switch changes the index,
//! the form of the 1995 paper is written, which has the same index in all modes; if that form is not complete, the
//! equations as they are.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::{Refusal, paper};
use crate::base::diagnostics::Diagnostics;
use crate::compile::{Aliases, Modes, NoObserver, Paper, Presented, determine, presented};
use crate::evaluate::walk::{Errors, Known, Rounded};
use crate::evaluate::{Point, Walk, evaluate_start};
use crate::experiment::Experiment;
use crate::expr::Value;
use crate::flat::{Flat, Leaf, Type, VarId};
use crate::passes::blocks::{Block, Solved};
use crate::passes::index::show_constraints;
use crate::positions::{Positions, Values};

#[derive(Debug)]
pub struct Beginning {
    /// The model to write.
    pub written: Flat,
    /// Variables that always equal another one, or its negative (`true`).
    same: FxHashMap<VarId, (Leaf, bool)>,
    /// Variables whose values at the start are free.
    pub free: FxHashSet<Leaf>,
    pub values: Values,
    /// Unknowns of nonlinear loops with their values at the start: guesses for tools that iterate.
    pub guesses: Values,
    pub notes: Vec<String>,
}

/// `None` after an error that was reported.
pub fn beginning(
    flat: &Flat,
    experiment: &Experiment,
    said: &mut Diagnostics,
) -> Result<Option<Beginning>, Refusal> {
    let done = presented(flat.clone(), Aliases::Eliminate, &mut NoObserver, said);
    let Some(presented) = done else {
        return Ok(None);
    };
    let mut modes = match presented {
        Presented::One(solved) => {
            let values = at_once(&solved, experiment);
            return Ok(Some(of_solved(flat.clone(), &solved, values)));
        }
        Presented::Paper(paper) => {
            let Paper {
                mut modes,
                form,
                solved,
                ..
            } = *paper;
            if paper::jumps(&mut modes, &solved).is_ok() {
                let values = match paper::start(flat.clone(), experiment, &solved) {
                    Ok(values) => values,
                    Err(_) => at_once(&solved, experiment),
                };
                let mut beginning = of_solved(form, &solved, values);
                beginning.notes.push(format!(
                    "where {} comes to the position that changes the index, its equation is written differentiated, with a `reinit` (as in `bgm solve`)",
                    switches(&modes)
                ));
                return Ok(Some(beginning));
            }
            modes
        }
        Presented::ByPosition(modes, _) => *modes,
    };
    Ok(Some(by_position(flat, experiment, &mut modes)))
}

fn of_solved(written: Flat, solved: &Solved, values: Values) -> Beginning {
    let written = shown(written);
    let loops = solved.blocks.iter().filter_map(|block| match block {
        Block::Nonlinear(nonlinear) => Some(&nonlinear.unknowns),
        _ => None,
    });
    let guesses = (loops.flatten())
        .filter_map(|leaf| Some((*leaf, *values.get(leaf)?)))
        .collect();
    Beginning {
        free: free(&solved.flat),
        guesses,
        written,
        same: same(&solved.flat),
        values,
        notes: Vec::new(),
    }
}

/// Shows what signs hide from a tool that examines only the structure: a reference for each part without ground, and
/// constraints between states (a loop of capacitors away from ground), which replace equations that follow from them.
fn shown(flat: Flat) -> Flat {
    match determine(flat, &mut NoObserver) {
        Ok(mut looked_at) => {
            show_constraints(&mut looked_at.flat, &looked_at.findings.constraints);
            looked_at.flat
        }
        Err(refused) => refused.into_flat(),
    }
}

/// The states, and the candidates that the run chooses at the start.
fn free(flat: &Flat) -> FxHashSet<Leaf> {
    let mut free: FxHashSet<Leaf> = flat.states().collect();
    for selection in flat.selections() {
        let count = selection.states as usize;
        match selection.choice.len() == count {
            true => free.extend(&selection.choice),
            false => free.extend(selection.candidates.iter().take(count)),
        }
    }
    free
}

/// Values at the start before any event. Where they cannot be computed, the given ones.
fn at_once(solved: &Solved, experiment: &Experiment) -> Values {
    let flat = &solved.flat;
    let mut point = Point::new(solved);
    point.time = experiment.start;
    let known = evaluate_start(solved, &mut point).is_ok();
    let mut values = Values::default();
    for id in flat.variable_ids() {
        let variable = flat.variable(id);
        for order in 0..=variable.order {
            let leaf = Leaf::at_order(id, order);
            let value = match known {
                true => point.real(leaf),
                false => flat.start_of(leaf).and_then(Value::real),
            };
            if let Some(value) = value.filter(|value| value.is_finite()) {
                values.insert(leaf, value);
            }
        }
    }
    values
}

/// A model with different equations in each mode of its switches is written as it is. Its states are those of the mode
/// at the start.
fn by_position(flat: &Flat, experiment: &Experiment, positions: &mut Modes) -> Beginning {
    let unknown = |id: &VarId| flat.variable(*id).kind.is_unknown();
    let leaves: Vec<Leaf> = (flat.variable_ids().filter(unknown))
        .map(Leaf::Var)
        .collect();
    let values = paper::at_start(flat.clone(), experiment, flat, &leaves).unwrap_or_default();
    let known = position(flat, experiment, positions, &values);
    let mut keys = known.into_iter().chain(positions.candidates());
    let solved = keys.find_map(|key| positions.take_solved(&key, &mut NoObserver));
    let free = solved.map(|solved| free(&solved.flat)).unwrap_or_default();
    Beginning {
        written: shown(flat.clone()),
        same: FxHashMap::default(),
        free,
        values,
        guesses: Values::default(),
        notes: vec![format!(
            "{} changes the index of the model, or leaves something open; the class is valid, but a tool that analyses it once for all positions cannot simulate it",
            switches(positions)
        )],
    }
}

/// The mode of the switches at the start; `None` if a condition is not known.
fn position(
    flat: &Flat,
    experiment: &Experiment,
    positions: &Positions,
    values: &FxHashMap<Leaf, f64>,
) -> Option<Box<[bool]>> {
    let leaf = |leaf: Leaf| {
        let variable = flat.variable(leaf.variable());
        let value = match (values.get(&leaf), variable.ty) {
            (Some(&value), Type::Real) => Value::Real(value),
            (Some(&value), Type::Boolean) => Value::Bool(value != 0.0),
            (None, _) => flat.value(leaf.variable())?.value,
        };
        Some(Rounded::exact(value))
    };
    let known = Known {
        time: experiment.start,
        leaf: &leaf,
    };
    let mut walk = Walk::default();
    let mut truth = |condition| {
        let value = walk.value(&flat.exprs, condition, &known, Errors::Ignore);
        value.ok().and_then(|rounded| rounded.value.bool())
    };
    (positions.written_switches.iter())
        .map(|switch| truth(switch.condition))
        .collect()
}

fn switches(positions: &Positions) -> String {
    let names: Vec<String> = (0..positions.switches.len())
        .map(|at| format!("`{}`", positions.switch_name(at)))
        .collect();
    match names.as_slice() {
        [one] => format!("the switch {one}"),
        _ => format!("one of the switches {}", names.join(", ")),
    }
}

impl Beginning {
    /// The variable that solving found to be equal to this one, or its negative (`true`).
    pub fn same_as(&self, id: VarId) -> Option<(Leaf, bool)> {
        self.same.get(&id).copied()
    }
}

/// Variables that are others, or their negatives, after solving.
fn same(flat: &Flat) -> FxHashMap<VarId, (Leaf, bool)> {
    let mut found = FxHashMap::default();
    for alias in &flat.eliminated {
        let Leaf::Var(id) = alias.leaf else {
            continue;
        };
        if let Some(other) = flat.exprs.signed_leaf(alias.expression) {
            found.insert(id, other);
        }
    }
    found
}
