//! Reduced models do what the models do that they were made of: the rates of all states agree at arbitrary points, in models of the
//! thesis (McCalla 1991), in circuits, and in random bond graphs; in linear models also the answer to any frequency, computed by
//! a plain elimination of the flat equations that shares no code with the compiler.

#![allow(clippy::print_stdout)]

#[path = "residuals/bonds.rs"]
mod bonds;
#[path = "residuals/circuits.rs"]
#[allow(dead_code)]
mod circuits;
mod common;
#[path = "residuals/model.rs"]
#[allow(dead_code)]
mod model;
#[path = "residuals/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "residuals/signals.rs"]
#[allow(dead_code)]
mod signals;
#[path = "residuals/types.rs"]
#[allow(dead_code)]
mod types;

use std::collections::BTreeMap;
use std::path::PathBuf;

use bgm::compile::{Aliases, Options, compile, solved};
use bgm::diagnostics::Diagnostics;
use bgm::evaluate::{Point, evaluate};
use bgm::expr::Value;
use bgm::flat::{Flat, Kind, Leaf};
use bgm::load::{Input, NoFiles};
use bgm::revise::reduce::{Revised, Wishes, reduce};
use bgm::revise::{Desk, Failure};
use nalgebra::Complex;
use random::Random;

fn revise(text: &str, model: Option<&str>, wishes: &Wishes) -> Result<Revised, Failure> {
    let options = Options {
        model: model.map(str::to_string),
        ..Options::default()
    };
    let path = PathBuf::from("model.bgm");
    let desk = Desk {
        path: &path,
        options: &options,
        files: &NoFiles,
    };
    reduce(&desk, text, wishes)
}

fn reduced(text: &str) -> Revised {
    revise(text, None, &Wishes::default()).unwrap_or_else(|why| panic!("{why:?}\n{text}"))
}

fn flat(text: &str) -> Flat {
    let input = Input::Standard(text.as_bytes().to_vec());
    let compiled = compile(&input, &Options::default(), &NoFiles);
    (compiled.flat).unwrap_or_else(|| panic!("{:?}\n{text}", compiled.diagnostics))
}

/// Rates of states at a point that depends on names only.
fn rates(flat: &Flat, states: &BTreeMap<String, f64>) -> Option<BTreeMap<String, f64>> {
    let solved = solved(flat.clone(), Aliases::Keep, &mut Diagnostics::default())?;
    if solved.positions.is_some() || !solved.flat.selections().is_empty() {
        return None;
    }
    let mut point = Point::new(&solved);
    point.time = 0.2;
    for leaf in solved.flat.states().collect::<Vec<_>>() {
        let value = *states.get(&solved.flat.leaf_name(leaf))?;
        point.set(leaf, Value::Real(value));
    }
    for id in solved.flat.variable_ids() {
        if solved.flat.variable(id).kind == Kind::Input && solved.flat.variable(id).order == 0 {
            point.set(Leaf::Var(id), Value::Real(0.7));
        }
    }
    evaluate(&solved, &mut point).ok()?;
    let rate = |leaf: Leaf| {
        let next = Leaf::at_order(leaf.variable(), leaf.order()? + 1);
        Some((solved.flat.leaf_name(leaf), point.real(next)?))
    };
    Some(solved.flat.states().filter_map(rate).collect())
}

/// The old model with the states of the new one.
fn with_states(mut old: Flat, new: &Flat) -> Flat {
    let kept: Vec<String> = (new.variable_ids())
        .filter(|&id| new.variable(id).states > 0)
        .map(|id| new.name(id))
        .collect();
    let ids: Vec<_> = old.variable_ids().collect();
    old.wishes = (ids.into_iter())
        .filter(|&id| old.variable(id).states > 0)
        .map(|id| (id, kept.contains(&old.name(id))))
        .collect();
    old
}

/// True if there was something to compare.
fn compare(text: &str, new: &str, seed: u64) -> bool {
    let (old, new_flat) = (flat(text), flat(new));
    let mut random = Random::new(seed);
    let states: BTreeMap<String, f64> = (new_flat.states())
        .map(|leaf| (new_flat.leaf_name(leaf), random.number(0.3, 2.0)))
        .collect();
    let old = with_states(old, &new_flat);
    let (Some(before), Some(after)) = (rates(&old, &states), rates(&new_flat, &states)) else {
        return false;
    };
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        after.keys().collect::<Vec<_>>(),
        "{text}\n{new}"
    );
    for (name, rate) in &before {
        let size = rate.abs().max(1e-3);
        assert!(
            (rate - after[name]).abs() <= 1e-6 * size,
            "{name}: {rate} and {}\n{text}\n{new}",
            after[name]
        );
    }
    true
}

/// The answer of both models to frequencies, in the variables that are named.
fn same_answers(text: &str, new: &str, input: &str, names: &[(&str, &str)]) {
    let (old, new) = (flat(text), flat(new));
    for s in [Complex::new(0.3, 1.7), Complex::new(2.0, -0.4)] {
        let before = common::solve_at(&old, s, &[(input, 1.0)]);
        let after = common::solve_at(&new, s, &[(input, 1.0)]);
        for (was, is) in names {
            let (a, b) = (before[*was], after[*is]);
            assert!((a - b).norm() <= 1e-9 * a.norm().max(1e-9), "{was}: {a} and {b}");
        }
    }
}

#[test]
fn random_bond_graphs() {
    let (mut models, mut gone, mut compared, mut refused) = (0, 0, 0, 0);
    for seed in 0..700 {
        let mut random = Random::new(seed + 90_000);
        let model = match seed % 4 {
            0 => circuits::generate(&mut random, false),
            _ => bonds::dependent(&mut random, false),
        };
        let text = model.text();
        let input = Input::Standard(text.clone().into_bytes());
        if compile(&input, &Options::default(), &NoFiles).flat.is_none() {
            continue;
        }
        let Ok(revised) = revise(&text, None, &Wishes::default()) else {
            continue;
        };
        models += 1;
        gone += revised.steps.len();
        let stuck = |why: &str| why.contains('`');
        if std::env::var_os("SHOW").is_some() {
            for left in revised.left.iter().filter(|left| stuck(&left.why)) {
                println!("{} {} {}\n{text}", left.name, left.path, left.why);
            }
        }
        refused += revised.left.iter().filter(|left| stuck(&left.why)).count();
        if !revised.steps.is_empty() && compare(&text, &revised.text, seed) {
            compared += 1;
        }
    }
    println!("{models} models, {gone} storages gone, {compared} compared, {refused} refused");
    assert!(gone > 100 && compared > 50, "{gone} {compared}");
    assert!(refused * 20 < gone, "{refused} of {gone} refused");
}
