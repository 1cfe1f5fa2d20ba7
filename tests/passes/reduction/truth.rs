//! A model compared with what is known of it by other means.
//!
//! A [`Truth`] holds values by name, all at one moment and consistent: parameters, inputs, states,
//! derivatives, forces. From it a model is given its parameters, its inputs and *those variables that it
//! has chosen as states*; everything else is computed, and has to come out as the truth says. So a test
//! does not depend on which states were chosen, and where the model leaves the choice open, every regular
//! choice is tried.

use std::collections::BTreeMap;

use bgm::compile::{Aliases, Options, load_flat, solved};
use bgm::evaluate::{Failure, Point, evaluate};
use bgm::expr::Value;
use bgm::flat::{Flat, Kind, Leaf, Selection};
use bgm::passes::blocks::Solved;
use bgm::syntax::load::{Input, NoFiles};

use crate::support::text::all_diagnostics;

/// Values by name: `x`, `der(x)`, `P1.x`.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    values: BTreeMap<String, f64>,
    pub time: f64,
}

impl Truth {
    pub fn of(values: &[(&str, f64)]) -> Truth {
        let mut truth = Truth::default();
        truth.add(values);
        truth
    }

    pub fn add(&mut self, values: &[(&str, f64)]) {
        for &(name, value) in values {
            self.values.insert(name.to_string(), value);
        }
    }

    fn get(&self, name: &str) -> f64 {
        let value = self.values.get(name);
        *value.unwrap_or_else(|| panic!("the truth does not say what {name} is"))
    }
}

fn text(file: &str) -> Vec<u8> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read(root.join(file)).expect("the file is there")
}

fn options(model: &str) -> Options {
    Options {
        model: Some(model.to_string()),
        ..Options::default()
    }
}

/// As it was written.
pub fn flat(file: &str, model: &str) -> Flat {
    let mut compiled = load_flat(&Input::Standard(text(file)), &options(model), &NoFiles);
    let flat = compiled.flat.take();
    flat.unwrap_or_else(|| panic!("{}", all_diagnostics(&compiled)))
}

/// With aliases and without.
pub fn both(file: &str, model: &str) -> [Solved; 2] {
    [Aliases::Eliminate, Aliases::Keep].map(|aliases| {
        let mut compiled = load_flat(&Input::Standard(text(file)), &options(model), &NoFiles);
        let said = all_diagnostics(&compiled);
        let flat = (compiled.flat.take()).unwrap_or_else(|| panic!("{said}"));
        let model =
            solved(flat, aliases, &mut compiled.diagnostics).map(|solution| solution.solved);
        model.unwrap_or_else(|| panic!("{}", all_diagnostics(&compiled)))
    })
}

/// How many states the model has, whichever they are now.
pub fn order(model: &Solved) -> usize {
    let fixed = model.flat.states().count();
    fixed
        + (selections(model).iter())
            .map(|selection| selection.states as usize)
            .sum::<usize>()
}

pub fn selections(model: &Solved) -> &[Selection] {
    let reduction = model.flat.reduction.as_ref();
    reduction.map_or(&[], |reduction| &reduction.selections)
}

/// The names of the states that are fixed.
pub fn states(model: &Solved) -> Vec<String> {
    let mut names: Vec<String> = (model.flat.states())
        .map(|leaf| model.flat.leaf_name(leaf))
        .collect();
    names.sort();
    names
}

pub fn leaf(flat: &Flat, name: &str) -> Leaf {
    let found = flat.variable_ids().find_map(|id| {
        let order = flat.variable(id).order;
        (0..=order)
            .map(|order| Leaf::at_order(id, order))
            .find(|&leaf| flat.leaf_name(leaf) == name)
    });
    found.unwrap_or_else(|| panic!("no {name}"))
}

/// A point with parameters, inputs and fixed states as the truth has them. What the truth does not name keeps its
/// value; but every state and input has to be named.
pub fn point(model: &Solved, truth: &Truth) -> Point {
    let flat = &model.flat;
    let mut point = Point::new(model);
    point.time = truth.time;
    for id in flat.variable_ids() {
        let variable = flat.variable(id);
        let name = flat.name(id);
        match variable.kind {
            Kind::Parameter => {
                if let Some(&value) = truth.values.get(&name) {
                    point.set(Leaf::Var(id), Value::Real(value));
                }
            }
            Kind::Input => {
                for order in 0..=variable.order {
                    let leaf = Leaf::at_order(id, order);
                    let value = truth.get(&flat.leaf_name(leaf));
                    point.set(leaf, Value::Real(value));
                }
            }
            _ => {}
        }
    }
    for state in flat.states() {
        let value = truth.get(&flat.leaf_name(state));
        point.set(state, Value::Real(value));
    }
    point
}

/// The evaluated point has what the truth says.
pub fn compare(model: &Solved, point: &Point, truth: &Truth) {
    let size = (truth.values.values()).fold(1.0, |size: f64, value| size.max(value.abs()));
    for (name, &wanted) in &truth.values {
        let found = point.real(leaf(&model.flat, name));
        let found = found.unwrap_or_else(|| panic!("{name} has no value"));
        assert!(
            (found - wanted).abs() <= 1e-8 * (wanted.abs() + 1e-3 * size),
            "{name} is {found} instead of {wanted}, where {truth:?}"
        );
    }
}

/// A model without an open choice of states.
pub fn agrees(models: &[Solved], truth: &Truth) {
    for model in models {
        assert!(selections(model).is_empty(), "a choice is open");
        let mut point = point(model, truth);
        evaluate(model, &mut point).unwrap_or_else(|failure| panic!("{failure}, where {truth:?}"));
        compare(model, &point, truth);
    }
}

/// A model with open choices. `regular` says whether the truth is well determined by these states of a
/// selection. Returns how many choices were tried.
pub fn agrees_for_all_choices(
    models: &[Solved],
    truth: &Truth,
    regular: impl Fn(&[String]) -> bool,
) -> usize {
    let mut tried = 0;
    for model in models {
        assert!(!selections(model).is_empty(), "nothing to choose");
        let mut choices: Vec<Vec<Leaf>> = vec![Vec::new()];
        for selection in selections(model) {
            let good: Vec<Vec<Leaf>> = subsets(&selection.candidates, selection.states as usize)
                .into_iter()
                .filter(|chosen| {
                    let names: Vec<String> = (chosen.iter())
                        .map(|&leaf| model.flat.leaf_name(leaf))
                        .collect();
                    regular(&names)
                })
                .collect();
            assert!(!good.is_empty(), "no choice is regular in {selection:?}");
            choices = (choices.iter())
                .flat_map(|begun| good.iter().map(|next| [&begun[..], next].concat()))
                .collect();
        }
        for chosen in choices {
            let point = evaluated(model, &chosen, truth).unwrap_or_else(|failure| {
                let names: Vec<String> = (chosen.iter())
                    .map(|&leaf| model.flat.leaf_name(leaf))
                    .collect();
                panic!("{failure}, with the states {names:?}, where {truth:?}")
            });
            compare(model, &point, truth);
            tried += 1;
        }
    }
    tried
}

/// With these candidates as states. What is not chosen is found by iteration: it begins near by, so that of
/// several solutions (a bob above or below its pivot) the one that is meant is found.
pub fn evaluated(model: &Solved, chosen: &[Leaf], truth: &Truth) -> Result<Point, Failure> {
    let mut point = point(model, truth);
    for &leaf in selections(model).iter().flat_map(|one| &one.candidates) {
        let value = truth.get(&model.flat.leaf_name(leaf));
        match chosen.contains(&leaf) {
            true => point.set(leaf, Value::Real(value)),
            false => point.guess(leaf, Value::Real(value + 0.02 * (1.0 + value.abs()))),
        }
    }
    evaluate(model, &mut point)?;
    Ok(point)
}

fn subsets(of: &[Leaf], size: usize) -> Vec<Vec<Leaf>> {
    let mut found = vec![Vec::new()];
    for (at, &leaf) in of.iter().enumerate() {
        let longer: Vec<Vec<Leaf>> = (found.iter())
            .filter(|begun: &&Vec<Leaf>| begun.len() < size)
            .map(|begun| [&begun[..], &[leaf]].concat())
            .collect();
        found.extend(longer);
        let left = of.len() - at - 1;
        found.retain(|begun| begun.len() + left >= size);
    }
    found
}
