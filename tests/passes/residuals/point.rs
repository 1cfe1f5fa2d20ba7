//! Random points, and the values of all variables there by way of the solved model.

use std::collections::BTreeMap;

use bgm::base::diagnostics::{Code, Diagnostics};
use bgm::compile::{self, Aliases, solved};
use bgm::evaluate::{Point, Reason, evaluate};
use bgm::expr::Value;
use bgm::flat::{Flat, Kind, Leaf, Type, VarId};
use bgm::passes::blocks::Solved;

use super::derivatives::derivatives_hold;
use crate::support::generate::bonds::WARM;
use crate::support::generate::planar;
use crate::support::oracle::{Met, Values, all_hold, walk};
use crate::support::random::Random;

/// What became of a solved model at a point.
#[derive(Debug)]
pub enum Outcome {
    /// Every equation holds.
    Holds(Box<Solution>),
    /// There is no solution at this point, as far as the solved model can tell.
    Skipped(String),
    Wrong(String),
}

#[derive(Debug)]
pub struct Solution {
    pub values: Values,
    /// A relation was decided by rounding.
    pub tie: bool,
    /// So many derivatives of equations vanish.
    pub derivatives: usize,
    /// The states were chosen at this point: there may be other solutions.
    pub selected: bool,
}

/// States, inputs and switch positions by their names alone, so that neither the order of
/// declarations nor elimination makes a difference. Which are states, and of which inputs there are
/// derivatives, says the model as it was solved.
pub fn known(flat: &Flat, reduced: &Flat, seed: u64) -> Values {
    let mut values = Values {
        time: Random::new(seed).real(0.0, 1.0),
        ..Values::default()
    };
    // Temperatures and the like are positive: in files so is everything, at every other point.
    let all_positive = seed % 2 == 1;
    let chosen = chosen(reduced, seed);
    for id in flat.variable_ids() {
        let variable = reduced.variable(id);
        let name = flat.name(id);
        let sign = match all_positive || name.starts_with(WARM) {
            true => 1.0,
            false => -1.0,
        };
        let mut random = Random::of(&name, seed);
        let mut any = || match variable.ty {
            Type::Boolean => Value::Bool(random.chance(50)),
            Type::Real => {
                let size = random.real(0.3, 2.0);
                Value::Real(if random.chance(50) { sign * size } else { size })
            }
        };
        match variable.kind {
            Kind::Discrete => {
                // A number that is discrete is 0 or 1: the position of a switch.
                let value = match any() {
                    Value::Real(value) => Value::Real(f64::from(value > 1.0)),
                    truth => truth,
                };
                values.of.insert(Leaf::Var(id), value);
            }
            Kind::Parameter | Kind::Constant => {
                if let Some(given) = flat.value(id) {
                    values.of.insert(Leaf::Var(id), given.value);
                }
            }
            kind => {
                for order in 0..=variable.order {
                    let (leaf, value) = (Leaf::at_order(id, order), any());
                    let state = reduced.is_state(leaf) || chosen.contains(&leaf);
                    if kind == Kind::Input || state {
                        values.of.insert(leaf, value);
                    }
                }
            }
        }
    }
    values
}

/// Of candidates for states: those of the model, all that move along the first axis of a plane, or all that move
/// along the second.
fn chosen(reduced: &Flat, seed: u64) -> Vec<Leaf> {
    let all = (reduced.reduction.iter()).flat_map(|done| &done.selections);
    all.flat_map(|selection| {
        let axis: &[char] = match seed % 3 {
            0 => &planar::FIRST_AXIS,
            1 => &planar::SECOND_AXIS,
            _ => return selection.choice.clone(),
        };
        let mut candidates = selection.candidates.clone();
        candidates.sort_by_key(|&leaf| {
            let name = reduced.name(leaf.variable());
            let name = name.trim_end_matches(|end: char| end.is_ascii_digit());
            !name.ends_with(axis)
        });
        candidates.truncate(selection.states as usize);
        candidates
    })
    .collect()
}

/// Solves a model, or says why not.
pub fn solve(flat: Flat, aliases: Aliases) -> Result<Solved, Code> {
    solution(flat, aliases).map(|solution| solution.solved)
}

/// The same with its modes.
pub fn solution(flat: Flat, aliases: Aliases) -> Result<compile::Solution, Code> {
    let mut said = Diagnostics::default();
    solved(flat, aliases, &mut said).ok_or_else(|| {
        let first = said.iter().next().expect("a refusal has a reason");
        first.code
    })
}

/// Evaluates a solved model and puts the result into the equations as they were flattened.
pub fn try_point(original: &Flat, solved: &Solved, seed: u64) -> Outcome {
    let mut values = known(original, &solved.flat, seed);
    let mut point = Point::new(solved);
    point.time = values.time;
    for (&leaf, &value) in &values.of {
        point.set(leaf, value);
    }
    if let Err(failure) = evaluate(solved, &mut point) {
        let why = failure.to_string();
        return match failure.reason {
            Reason::Divisor | Reason::Singular | Reason::NotFound | Reason::NotFinite => {
                Outcome::Skipped(why)
            }
            Reason::NoValue
            | Reason::NotZero
            | Reason::Restarts
            | Reason::StartUndetermined
            | Reason::StartsContradict => Outcome::Wrong(why),
        };
    }
    for leaf in solved.blocks.iter().flat_map(|block| block.unknowns()) {
        match point.get(*leaf) {
            Some(value) => values.of.insert(*leaf, value),
            None => return Outcome::Wrong(format!("no {}", solved.flat.leaf_name(*leaf))),
        };
    }
    // What was eliminated, by what stands for it.
    for gone in &solved.flat.eliminated {
        match walk(&solved.flat, gone.expression, &values, &mut Met::default()) {
            Ok(value) => values.of.insert(gone.leaf, value),
            Err(trouble) => return Outcome::Wrong(format!("{trouble:?}")),
        };
    }
    // Nothing happens at a plain point.
    for id in original.variable_ids() {
        if let Some(&value) = values.of.get(&Leaf::Var(id)) {
            values.of.insert(Leaf::Pre(id), value);
        }
    }
    if let Some(id) = missing(original, &values) {
        let name = original.name(id);
        return Outcome::Wrong(format!("{name} has no value"));
    }
    let held = all_hold(original, &values).and_then(|tie| {
        let derivatives = derivatives_hold(original, &values)?;
        Ok((tie, derivatives))
    });
    match held {
        Ok((tie, derivatives)) => Outcome::Holds(Box::new(Solution {
            values,
            tie,
            derivatives,
            selected: has_selections(&solved.flat),
        })),
        Err(why) => Outcome::Wrong(why),
    }
}

fn has_selections(flat: &Flat) -> bool {
    let mut all = flat.reduction.iter().flat_map(|done| &done.selections);
    all.next().is_some()
}

/// A variable without a value.
fn missing(flat: &Flat, values: &Values) -> Option<VarId> {
    let mut ids = flat.variable_ids();
    ids.find(|&id| !values.of.contains_key(&Leaf::Var(id)))
}

/// The same values of all variables in two solutions, by name; `Err` says where they are not.
pub fn same_values(one: (&Flat, &Solution), other: (&Flat, &Solution)) -> Result<(), String> {
    const TOLERANCE: f64 = 1e-7;
    let named = |(flat, solution): (&Flat, &Solution)| -> BTreeMap<String, Value> {
        (solution.values.of.iter())
            .filter(|(leaf, _)| leaf.variable().index() < flat.variables.len())
            .map(|(&leaf, &value)| (flat.leaf_name(leaf), value))
            .collect()
    };
    let (a, b) = (named(one), named(other));
    if !a.keys().eq(b.keys()) {
        return Err(format!("{:?} and {:?}", a.keys(), b.keys()));
    }
    let largest = (a.values().filter_map(|value| value.real()))
        .fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let tie = one.1.tie || other.1.tie;
    for ((name, a), b) in a.iter().zip(b.values()) {
        let same = match (a, b) {
            (Value::Real(a), Value::Real(b)) => {
                (a - b).abs() <= TOLERANCE * (a.abs() + 1e-3 * largest)
            }
            _ => a == b,
        };
        // What relations decide may be anything where rounding decides them.
        let decided = a.bool().is_some() || name.starts_with("new(");
        if !(same || tie && decided) {
            return Err(format!("{name} is {a} and {b}"));
        }
    }
    Ok(())
}
