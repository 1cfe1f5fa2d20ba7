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

/// The values at a point of a model, by name.
fn values(text: &str, at: &str, names: &[&str]) -> Result<Vec<f64>, String> {
    let (flat, _) = compiled(text);
    let mut said = Diagnostics::default();
    let mut model = solved(flat, Aliases::Eliminate, &mut said).expect("it is solved");
    let placed = evaluate_at(&mut model, at, &mut NoObserver).map_err(|error| match error {
        PointError::Request(text) => text,
        PointError::Diagnostic(diagnostic) => diagnostic.code.text().to_string(),
    })?;
    let flat = match &placed.mode {
        Some((_, Some(by))) => &by.flat,
        _ => &model.solved.flat,
    };
    let value = |name: &&str| {
        let mut all = flat.variable_ids();
        let id = all.find(|&id| flat.name(id) == **name).expect(name);
        match placed.point.get(Leaf::Var(id)) {
            Some(Value::Real(value)) => value,
            Some(Value::Bool(truth)) => f64::from(u8::from(truth)),
            None => f64::NAN,
        }
    };
    Ok(names.iter().map(value).collect())
}

#[test]
fn diodes_that_nobody_gave_are_settled() {
    let text = std::fs::read_to_string("examples/buck.bgm").expect("it is there");
    let names = ["D1.OpenSwitch", "L1.i", "D1.u", "D1.i"];
    let at = |at: &str| values(&text, at, &names);
    // The switch is closed: the diode blocks 10 V.
    assert_eq!(at("Time=0.05,L1.i=2"), Ok(vec![1.0, 2.0, -10.0, 0.0]));
    // It is open: the diode has the current of the coil.
    assert_eq!(at("Time=0.2,L1.i=2"), Ok(vec![0.0, 2.0, 0.0, 2.0]));
    // Both are open: the coil has no current, which may be said, but no other one.
    let open = at("Time=0.2,D1.OpenSwitch=true,L1.i=0,C1.u=3");
    assert_eq!(open, Ok(vec![1.0, 0.0, -3.0, 0.0]));
    let other = at("Time=0.2,D1.OpenSwitch=true,L1.i=1,C1.u=3");
    assert!(other.is_err_and(|said| said.contains("`L1.i`")));
    // Only the diode that agrees.
    assert_eq!(at("Time=0.05,D1.OpenSwitch=false"), Err("E0905".into()));
}

#[test]
fn start_equations_and_discrete_variables_at_a_point() {
    let text = "model M
  local x, v, on, y
  der(v) = -1
  der(x) = v
  init(v) = 5
  init(x) = 2*v
  y = x + v
  new(on) = if on then v > 1 else v > 4
end
";
    let names = ["x", "v", "y", "on"];
    assert_eq!(values(text, "", &names), Ok(vec![10.0, 5.0, 15.0, 1.0]));
    assert_eq!(values(text, "v=3", &names), Ok(vec![6.0, 3.0, 9.0, 0.0]));
    assert_eq!(
        values(text, "v=3,on=true", &names),
        Ok(vec![6.0, 3.0, 9.0, 1.0])
    );
    assert_eq!(
        values(text, "v=3,x=1", &names),
        Ok(vec![1.0, 3.0, 4.0, 0.0])
    );
    // It asks for another value whatever it is.
    let text = "model M
  local b, y
  new(b) = not b
  y = if b then 1 else 2
end
";
    assert_eq!(values(text, "", &["y"]), Ok(vec![2.0]));
}
