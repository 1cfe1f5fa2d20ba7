//! Checks that a changed model equals the old one where it should.
//!
//! Before: the flat models of both texts. After: nothing, or the name of a common variable that has another value in
//! the new model, at the start or at an arbitrary point. Points are given by states, inputs and Time; both models
//! have the same states. A model with modes is compared in those of its first candidates that both models have.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Obstacle;
use crate::base::diagnostics::Diagnostics;
use crate::bond::BondGraph;
use crate::compile::{Aliases, NoObserver, solved};
use crate::evaluate::{Point, evaluate, evaluate_start};
use crate::expr::Value;
use crate::flat::{Flat, Kind, Leaf, Type};
use crate::passes::blocks::Solved;

/// The number of arbitrary_point points, besides the start.
const POINTS: usize = 3;
/// The number of modes that are compared.
const POSITIONS: usize = 8;

#[derive(Debug)]
pub struct Change<'a> {
    /// Submodels whose variables may differ.
    pub touched: &'a FxHashSet<String>,
    /// Potentials, of which only differences matter. They may differ.
    pub apart: &'a FxHashSet<String>,
    /// New names of old variables.
    pub renamed: &'a [(String, String)],
    /// States of the new model that are sums of states of the old one.
    pub sums: &'a [StateSum],
}

/// A state of the new model, and the old states whose sum it is.
#[derive(Clone, Debug)]
pub struct StateSum {
    pub new: String,
    pub old: Vec<Addend>,
}

#[derive(Clone, Debug)]
pub struct Addend {
    pub name: String,
    pub factor: f64,
    /// The start value of the old state, and its share in the growth of the sum.
    pub start: f64,
    pub share: f64,
}

impl StateSum {
    /// Makes a state that is a multiple of one of the old model.
    pub fn multiple(new: String, old: String, factor: f64) -> Self {
        let addend = Addend {
            name: old,
            factor,
            start: 0.0,
            share: 1.0 / factor,
        };
        StateSum {
            new,
            old: vec![addend],
        }
    }
}

/// Returns the potentials at the pins of parts. Adding or removing another part of their loop shifts them.
pub fn potentials(model: &BondGraph) -> FxHashSet<String> {
    (model.graph.elements())
        .flat_map(|(_, element)| &element.summed)
        .map(|&id| model.flat.name(id))
        .collect()
}

/// Compares the old model with the new one.
pub fn check_equal(before: &Flat, after: &Flat, change: &Change<'_>) -> Result<(), Obstacle> {
    let mut diagnostics = Diagnostics::default();
    let Some(mut old) = solved(
        before.clone(),
        Aliases::Eliminate,
        &mut Diagnostics::default(),
    ) else {
        return Ok(());
    };
    let Some(mut new) = solved(after.clone(), Aliases::Eliminate, &mut diagnostics) else {
        let first = diagnostics.iter().next().map(|one| one.message.clone());
        return Err(Obstacle::Broken(first.unwrap_or_default()));
    };
    match (&mut old.positions, &mut new.positions) {
        (Some(first), Some(second)) => {
            for key in first.candidates().take(POSITIONS) {
                let old = first.take_solved(&key, &mut NoObserver);
                let new = second.take_solved(&key, &mut NoObserver);
                if let (Some(old), Some(new)) = (old, new) {
                    check_equal_solved(&old, &new, change)?;
                }
            }
            Ok(())
        }
        _ => check_equal_solved(&old.solved, &new.solved, change),
    }
}

/// Compares only at the start, because the numbers in [`Change::sums`] hold without an experiment.
pub fn check_equal_starts(
    before: &Flat,
    after: &Flat,
    change: &Change<'_>,
) -> Result<(), Obstacle> {
    let mut ignored = Diagnostics::default();
    let old = solved(before.clone(), Aliases::Eliminate, &mut ignored);
    let new = solved(after.clone(), Aliases::Eliminate, &mut ignored);
    match (old, new) {
        (Some(old), Some(new)) if old.positions.is_none() && new.positions.is_none() => {
            let (old, new) = (&old.solved, &new.solved);
            match started(old) {
                Some(at) => compare(old, &at, new, started(new), change),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn started(solved: &Solved) -> Option<Point> {
    let mut point = Point::new(solved);
    (evaluate_start(solved, &mut point).ok()).map(|_| point)
}

fn check_equal_solved(old: &Solved, new: &Solved, change: &Change<'_>) -> Result<(), Obstacle> {
    let states = |solved: &Solved| {
        let mut names: Vec<String> = (solved.flat.states())
            .map(|leaf| solved.flat.leaf_name(leaf))
            .collect();
        names.sort_unstable();
        names
    };
    let (mut first, mut second) = (states(old), states(new));
    for sum in change.sums {
        second.retain(|name| *name != sum.new);
        first.retain(|name| !sum.old.iter().any(|old| old.name == *name));
    }
    if let Some(odd) = (first.iter().find(|name| !second.contains(name)))
        .or_else(|| second.iter().find(|name| !first.contains(name)))
    {
        return Err(Obstacle::Changes(odd.clone()));
    }
    if let Some(at) = started(old) {
        compare(old, &at, new, started(new), change)?;
    }
    // States that the run selects must satisfy constraints, so no point is arbitrary there.
    if !old.flat.selections().is_empty() {
        return Ok(());
    }
    for number in 1..=POINTS {
        let (mut given, mut sums) = (Vec::new(), Vec::new());
        for sum in change.sums {
            let grown = value_from_name(&sum.new, number);
            let mut total = 0.0;
            for old in &sum.old {
                let value = old.start + old.factor * old.share * grown;
                total += old.factor * value;
                given.push((old.name.clone(), value));
            }
            sums.push((sum.new.clone(), total));
        }
        if let Some(at) = arbitrary_point(old, number, &given) {
            compare(old, &at, new, arbitrary_point(new, number, &sums), change)?;
        }
    }
    Ok(())
}

/// Returns a number between 0.5 and 1.5 that depends on a name.
fn value_from_name(name: &str, number: usize) -> f64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ number as u64;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    0.5 + (hash >> 40) as f64 / (1u64 << 24) as f64
}

/// Makes a point whose states and inputs depend only on their names, except those given.
fn arbitrary_point(solved: &Solved, number: usize, given: &[(String, f64)]) -> Option<Point> {
    let flat = &solved.flat;
    let mut point = Point::new(solved);
    point.time = 0.1 * number as f64;
    let inputs = (flat.variable_ids())
        .filter(|&id| flat.variable(id).kind == Kind::Input && flat.variable(id).ty == Type::Real)
        .flat_map(|id| (0..=flat.variable(id).order).map(move |order| Leaf::at_order(id, order)));
    for leaf in flat.states().chain(inputs).collect::<Vec<_>>() {
        let name = flat.leaf_name(leaf);
        let known = given.iter().find(|(one, _)| *one == name);
        let value = known.map_or_else(|| value_from_name(&name, number), |&(_, value)| value);
        point.set(leaf, Value::Real(value));
    }
    evaluate(solved, &mut point).ok().map(|()| point)
}

fn compare(
    old: &Solved,
    at: &Point,
    new: &Solved,
    found: Option<Point>,
    change: &Change<'_>,
) -> Result<(), Obstacle> {
    let Some(found) = found else {
        return Err(Obstacle::Broken("it cannot be evaluated".to_string()));
    };
    let reals = |solved: &Solved, point: &Point| -> FxHashMap<String, f64> {
        let flat = &solved.flat;
        let values = (flat.variable_ids())
            .filter(|&id| flat.variable(id).kind.is_unknown())
            .filter_map(|id| Some((flat.name(id), point.real(Leaf::Var(id))?)));
        let rates = flat.states().filter_map(|state| {
            let rate = Leaf::at_order(state.variable(), state.order()? + 1);
            Some((flat.leaf_name(rate), point.real(rate)?))
        });
        values.chain(rates).collect()
    };
    let summed = |name: &str| {
        let state = name
            .strip_prefix("der(")
            .and_then(|name| name.strip_suffix(')'));
        change
            .sums
            .iter()
            .any(|sum| Some(sum.new.as_str()) == state)
    };
    let (before, after) = (reals(old, at), reals(new, &found));
    let largest = before
        .values()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    let mut names: Vec<(&str, &str)> = (after.keys().map(|name| (name.as_str(), name.as_str())))
        .filter(|(name, _)| {
            let owner = name.split('.').next().unwrap_or("");
            let touched = name.contains('.') && change.touched.contains(owner);
            !(touched || change.apart.contains(*name) || summed(name))
        })
        .chain(
            change
                .renamed
                .iter()
                .map(|(new, old)| (new.as_str(), old.as_str())),
        )
        .collect();
    names.sort_unstable();
    for (name, was) in names {
        if let (Some(&new), Some(&old)) = (after.get(name), before.get(was)) {
            let size = new.abs().max(old.abs());
            if (new - old).abs() > 1e-6 * size + 1e-10 * largest {
                return Err(Obstacle::Changes(was.to_string()));
            }
        }
    }
    Ok(())
}
