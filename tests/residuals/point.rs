//! Random points, and the values of all variables there by way of the solved model.

use std::collections::BTreeMap;

use bgm::compile::{Aliases, solved};
use bgm::diagnostics::{Code, Diagnostics};
use bgm::evaluate::{Point, Reason, evaluate};
use bgm::expr::Value;
use bgm::flat::{Flat, Kind, Leaf, Type, VarId};
use bgm::solve::Solved;

use super::bonds::WARM;
use super::oracle::{Met, Values, all_hold, walk};
use super::random::Random;

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
}

/// States, inputs and switch positions by their names alone, so that the order of declarations
/// makes no difference.
pub fn known(flat: &Flat, seed: u64) -> Values {
    let orders: Vec<u8> = flat
        .variables
        .iter()
        .map(|variable| variable.order)
        .collect();
    let mut values = Values {
        time: Random::new(seed).real(0.0, 1.0),
        ..Values::default()
    };
    // Temperatures and the like are positive: in files so is everything, at every other point.
    let all_positive = seed % 2 == 1;
    for id in flat.variable_ids() {
        let variable = flat.variable(id);
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
            Kind::State | Kind::Input => {
                values.of.insert(Leaf::Var(id), any());
                let highest = orders[id.index()];
                let known = match variable.kind {
                    Kind::State => highest,
                    _ => highest + 1,
                };
                for order in 1..known {
                    values.of.insert(Leaf::Der(id, order), any());
                }
            }
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
            Kind::Algebraic | Kind::Output | Kind::Auxiliary => {}
        }
    }
    values
}

/// Solves a model, or says why not.
pub fn solve(flat: Flat, aliases: Aliases) -> Result<Solved, Code> {
    let mut said = Diagnostics::default();
    solved(flat, aliases, &mut said).ok_or_else(|| {
        let first = said.iter().next().expect("a refusal has a reason");
        first.code
    })
}

/// Evaluates a solved model and puts the result into the equations as they were flattened.
pub fn try_point(original: &Flat, solved: &Solved, seed: u64) -> Outcome {
    let mut values = known(original, seed);
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
            Reason::NoValue | Reason::NotZero => Outcome::Wrong(why),
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
    match all_hold(original, &values) {
        Ok(tie) => Outcome::Holds(Box::new(Solution { values, tie })),
        Err(why) => Outcome::Wrong(why),
    }
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
