//! What `bgm solve --at` and `--format json` say of a circuit with switches agrees with itself: the values satisfy the equations as they
//! were written, with the switches as the values say; the position that is told is that of the conditions; and of the
//! positions listed as data those with a solution are the possible ones, with as many states as is told.

use std::collections::BTreeMap;

use bgm::base::diagnostics::Diagnostics;
use bgm::base::source::Sources;
use bgm::compile::at_point::{PointError, evaluate_at};
use bgm::compile::{Aliases, Listed, NoObserver, Options, listed, load_flat, solved};
use bgm::expr::Value;
use bgm::flat::{EquationKind, Flat, Leaf, Type};
use bgm::listing::positions_json::ByPosition;
use bgm::listing::solved_json;
use bgm::syntax::load::{Input, NoFiles};
use serde_json::Value as Json;

use crate::circuit::Circuit;
use crate::support::oracle::{Met, Values, walk};
use crate::support::random::Random;

fn compiled(text: &str) -> (Flat, Sources) {
    let input = Input::Standard(text.as_bytes().to_vec());
    let done = load_flat(&input, &Options::default(), &NoFiles);
    (done.flat.expect("circuits are sound"), done.sources)
}

fn is_true(value: Value) -> bool {
    value == Value::Bool(true)
}

/// The equations that do not hold.
fn broken(flat: &Flat, values: &Values) -> Vec<String> {
    let mut found = Vec::new();
    for id in flat.equation_ids() {
        let equation = &flat.equations[id.index()];
        if equation.kind != EquationKind::Equation {
            continue;
        }
        let mut met = Met::default();
        let sides = [equation.left, equation.right].map(|side| walk(flat, side, values, &mut met));
        let fits = match &sides {
            [Ok(Value::Real(a)), Ok(Value::Real(b))] => (a - b).abs() <= 1e-7 * (1.0 + met.scale),
            [Ok(a), Ok(b)] => met.tie || a == b,
            _ => false,
        };
        if !fits {
            found.push(format!("{}: {sides:?}", flat.equation_text(id)));
        }
    }
    found
}

/// The settings of a point: a time, and a truth for each discrete boolean.
fn settings(flat: &Flat, random: &mut Random) -> String {
    let mut texts = vec![format!("Time={}", random.number(0.0, 3.0))];
    for id in flat.variable_ids() {
        let variable = flat.variable(id);
        let discrete = variable.kind == bgm::flat::Kind::Discrete;
        if discrete && variable.ty == Type::Boolean && random.chance(70) {
            texts.push(format!("{}={}", flat.name(id), random.chance(50)));
        }
    }
    texts.join(",")
}

fn at_a_point(text: &str, random: &mut Random, tally: &mut BTreeMap<&'static str, usize>) {
    let (flat, _) = compiled(text);
    let mut said = Diagnostics::default();
    let Some(mut model) = solved(flat, Aliases::Eliminate, &mut said) else {
        return;
    };
    let Some(positions) = model.positions.as_deref().map(|modes| (**modes).clone()) else {
        *tally.entry("one set of formulas").or_default() += 1;
        return;
    };
    for _ in 0..4 {
        let at = settings(&positions.written, random);
        let placed = match evaluate_at(&mut model, &at, &mut NoObserver) {
            Ok(placed) => placed,
            Err(PointError::Diagnostic(diagnostic)) => {
                assert!(diagnostic.code.text() == "E0905", "{diagnostic:?}");
                *tally.entry("nowhere").or_default() += 1;
                continue;
            }
            Err(other) => panic!("{at}: {other:?}\n{text}"),
        };
        let (key, other) = placed.mode.expect("it has positions");
        *tally
            .entry(if other.is_some() {
                "by itself"
            } else {
                "as one"
            })
            .or_default() += 1;
        let mut values = Values {
            time: placed.point.time,
            ..Values::default()
        };
        let written = &positions.written;
        for id in written.variable_ids() {
            let variable = written.variable(id);
            let orders = (0..=variable.order).map(|order| Leaf::at_order(id, order));
            for leaf in orders.chain([Leaf::New(id), Leaf::Pre(id)]) {
                let given = || match leaf {
                    Leaf::Var(_) => written.value(id).map(|given| given.value),
                    _ => None,
                };
                if let Some(value) = placed.point.get(leaf).or_else(given) {
                    values.of.insert(leaf, value);
                }
            }
        }
        let wrong = broken(written, &values);
        assert!(wrong.is_empty(), "{at} in {key:?}: {wrong:#?}\n{text}");
        for (switch, &truth) in positions.written_switches.iter().zip(&key) {
            let mut met = Met::default();
            let found = walk(written, switch.condition, &values, &mut met).expect("it has a value");
            assert!(met.tie || is_true(found) == truth, "{at}: {key:?}\n{text}");
        }
    }
}

fn as_data(text: &str, tally: &mut BTreeMap<&'static str, usize>) {
    let (flat, sources) = compiled(text);
    let mut said = Diagnostics::default();
    let done = listed(flat, Aliases::Eliminate, &mut NoObserver, &mut said);
    let Some(Listed::ByPosition(model, table)) = done else {
        return;
    };
    *tally.entry("listed by position").or_default() += 1;
    let more = ByPosition {
        table: &table,
        sources: &sources,
    };
    let mut out = Vec::new();
    solved_json::write(&model, &sources, Some(&more), &mut out).expect("memory can be written");
    let whole: Json = serde_json::from_slice(&out).expect("it is json");
    let json = &whole["positions"];
    let list = json["list"].as_array().expect("a list");
    let switches = json["switches"].as_array().expect("a list").len();
    let mut solutions = 0;
    for entry in list {
        assert_eq!(entry["key"].as_array().map(Vec::len), Some(switches));
        let possible = entry["possible"].as_bool().expect("a flag");
        let solution = entry.get("solution");
        solutions += usize::from(possible);
        assert_eq!(
            possible && solutions <= 8,
            solution.is_some(),
            "{entry:#}\n{text}"
        );
        let Some(solution) = solution else {
            continue;
        };
        let chosen: u64 = (solution["reduction"]["selections"]
            .as_array()
            .into_iter()
            .flatten())
        .filter_map(|one| one["states"].as_u64())
        .sum();
        let states = solution["states"].as_array().map_or(0, Vec::len) as u64;
        assert_eq!(
            entry["order"].as_u64(),
            Some(states + chosen),
            "{entry:#}\n{text}"
        );
    }
    if let Some(shown) = json["shown"].as_array() {
        let found = list
            .iter()
            .find(|entry| entry["key"].as_array() == Some(shown));
        assert!(
            found.is_none_or(|entry| entry["possible"] == true),
            "{text}"
        );
    }
}

#[test]
#[allow(clippy::print_stdout)]
fn flags_and_values_agree() {
    let mut tally = BTreeMap::new();
    for seed in 0..400 {
        let mut random = Random::new(seed + 70_000);
        let text = Circuit::generate(&mut random).text(false);
        at_a_point(&text, &mut random, &mut tally);
        if seed % 4 == 0 {
            as_data(&text, &mut tally);
        }
    }
    println!("{tally:#?}");
    let seen = |name| tally.get(name).copied().unwrap_or(0) > 10;
    assert!(
        seen("by itself") && seen("as one") && seen("listed by position"),
        "{tally:?}"
    );
}
