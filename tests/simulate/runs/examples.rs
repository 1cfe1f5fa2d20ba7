//! Every example runs, and every row satisfies the equations as they were flattened.
//!
//! The equations are evaluated by the plain walk of the residual tests, which shares no code with the
//! simulator: derivatives are columns like others.

use bgm::expr::Value;
use bgm::flat::{Flat, Kind, Leaf, Type};

use crate::support::oracle::{Met, NOTHING, TOLERANCE, Values, holds_at_all_times, walk};
use crate::support::trial::Trial;

/// The leaves of the equations that have values of their own: no parameters.
fn leaves(flat: &Flat) -> Vec<Leaf> {
    let mut found = Vec::new();
    let mut stack = Vec::new();
    for equation in flat.equations.iter().filter(|one| holds_at_all_times(one)) {
        stack.extend([equation.left, equation.right]);
    }
    let mut seen = std::collections::HashSet::new();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        if let bgm::expr::Node::Leaf(leaf) = flat.exprs.node(id) {
            found.push(leaf);
        }
        flat.exprs.operands(id, &mut stack);
    }
    found.retain(|leaf| {
        let kind = flat.variable(leaf.variable()).kind;
        !matches!(kind, Kind::Parameter | Kind::Constant)
    });
    // new(x) is x where events are settled.
    for leaf in &mut found {
        if let Leaf::New(id) = *leaf {
            *leaf = Leaf::Var(id);
        }
    }
    found.sort_unstable_by_key(|leaf| (leaf.variable(), leaf.order()));
    found.dedup();
    found
}

fn value(flat: &Flat, leaf: Leaf, number: f64) -> Value {
    match flat.variable(leaf.variable()).ty {
        Type::Boolean => Value::Bool(number != 0.0),
        Type::Real => Value::Real(number),
    }
}

/// Runs a model and puts every row into its equations; how many equations held in all.
fn check(what: &str, trial: &Trial) -> usize {
    let flat = trial.flat();
    let leaves = leaves(&flat);
    let names: Vec<String> = leaves.iter().map(|&leaf| flat.leaf_name(leaf)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let result = trial.run(&names);
    assert_eq!(result.failure, None, "{what}");
    let mut values = Values::default();
    for id in flat.variable_ids() {
        if let (Kind::Parameter | Kind::Constant, Some(given)) =
            (flat.variable(id).kind, flat.value(id))
        {
            values.of.insert(Leaf::Var(id), given.value);
        }
    }
    let mut held = 0;
    for (&time, row) in result.times.iter().zip(&result.rows) {
        values.time = time;
        let mut largest: f64 = 0.0;
        for (&leaf, &number) in leaves.iter().zip(row) {
            let value = value(&flat, leaf, number);
            values.of.insert(leaf, value);
            values.of.insert(Leaf::New(leaf.variable()), value);
            largest = largest.max(number.abs());
        }
        for equation in flat.equations.iter().filter(|one| holds_at_all_times(one)) {
            let mut met = Met::default();
            let mut side = |id| {
                walk(&flat, id, &values, &mut met).unwrap_or_else(|trouble| {
                    panic!("{what} at {time}: {}: {trouble:?}", flat.expression(id))
                })
            };
            let (left, right) = (side(equation.left), side(equation.right));
            let off = match (left, right) {
                (Value::Real(left), Value::Real(right)) => (left - right).abs(),
                (left, right) if left == right => 0.0,
                _ => 1.0,
            };
            let bound = TOLERANCE * met.scale + NOTHING * largest;
            // At the instant of an event either truth will do.
            assert!(
                off <= bound || met.tie,
                "{what} at Time = {time}: `{} = {}`: {left} = {right}",
                flat.expression(equation.left),
                flat.expression(equation.right),
            );
            held += usize::from(off <= bound);
        }
    }
    held
}

#[test]
fn all_examples_run_and_satisfy_their_equations() {
    let mut files: Vec<_> = (std::fs::read_dir("examples").expect("there are examples"))
        .map(|entry| entry.expect("a folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|end| end == "bgm"))
        .collect();
    files.sort();
    assert!(files.len() >= 20);
    for path in files {
        let name = path.to_string_lossy().into_owned();
        let trial = Trial::file(&name);
        let mut experiments: Vec<(Option<&str>, Option<&str>)> = Vec::new();
        for line in trial.text.lines() {
            // `experiment M`, and `experiment name for M`.
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["experiment", model] => experiments.push((None, Some(model))),
                ["experiment", name, "for", model] => experiments.push((Some(name), Some(model))),
                _ => (),
            }
        }
        assert!(!experiments.is_empty(), "{name} has no experiment");
        for (experiment, model) in experiments {
            let mut trial = trial.clone();
            trial.model = model.map(str::to_string);
            trial.request.experiment = experiment.map(str::to_string);
            let held = check(&name, &trial);
            assert!(held >= 10, "{name}: {held}");
        }
    }
}
