//! Reduced models do what the models do that they were made of: the rates of all states agree at arbitrary points, in models of the
//! thesis (McCalla 1991), in circuits, and in random bond graphs; in linear models also the answer to any frequency, computed by
//! a plain elimination of the flat equations that shares no code with the compiler.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::support::frequency::solve_at;
use crate::support::generate::{bonds, circuits};
use crate::support::random::Random;
use crate::support::trial::Trial;
use bgm::base::diagnostics::Diagnostics;
use bgm::compile::{Aliases, Options, Solution, load_flat, solved};
use bgm::evaluate::{Point, evaluate};
use bgm::expr::Value;
use bgm::flat::{Flat, Kind, Leaf};
use bgm::revise::form::Form;
use bgm::revise::reduce::{ReduceOptions, Revised, reduce};
use bgm::revise::{Failure, RevisionContext};
use bgm::syntax::load::{Files, Input, NoFiles};
use nalgebra::Complex;

fn revise(text: &str, model: Option<&str>, wishes: &ReduceOptions) -> Result<Revised, Failure> {
    let options = Options {
        model: model.map(str::to_string),
        ..Options::default()
    };
    let path = PathBuf::from("model.bgm");
    let context = RevisionContext::new(&path, &options, &NoFiles);
    reduce(&context, text, wishes)
}

fn reduced(text: &str) -> Revised {
    revise(text, None, &ReduceOptions::default()).unwrap_or_else(|why| panic!("{why:?}\n{text}"))
}

fn flat(text: &str) -> Flat {
    let input = Input::Standard(text.as_bytes().to_vec());
    let compiled = load_flat(&input, &Options::default(), &NoFiles);
    (compiled.flat).unwrap_or_else(|| panic!("{:?}\n{text}", compiled.diagnostics))
}

/// Rates of states at a point that depends on names only.
fn rates(flat: &Flat, states: &BTreeMap<String, f64>) -> Option<BTreeMap<String, f64>> {
    let solution = solved(flat.clone(), Aliases::Keep, &mut Diagnostics::default())?;
    let Solution { solved, positions } = solution;
    if positions.is_some() || !solved.flat.selections().is_empty() {
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
        let before = solve_at(&old, s, &[(input, 1.0)]);
        let after = solve_at(&new, s, &[(input, 1.0)]);
        for (was, is) in names {
            let (a, b) = (before[*was], after[*is]);
            assert!(
                (a - b).norm() <= 1e-9 * a.norm().max(1e-9),
                "{was}: {a} and {b}"
            );
        }
    }
}

#[test]
fn random_bond_graphs() {
    let (mut models, mut gone, mut compared, mut refused) = (0, 0, 0, 0);
    for seed in 0..1200 {
        let mut random = Random::new(seed + 90_000);
        let model = match seed % 4 {
            0 => circuits::generate(&mut random, false),
            _ => bonds::dependent(&mut random, false),
        };
        let text = model.text();
        let input = Input::Standard(text.clone().into_bytes());
        if load_flat(&input, &Options::default(), &NoFiles)
            .flat
            .is_none()
        {
            continue;
        }
        // All forms of the equivalent have the same value.
        let wishes = ReduceOptions {
            form: [None, Some(Form::Gain), Some(Form::Attenuation)][(seed % 3) as usize],
            ..ReduceOptions::default()
        };
        let Ok(revised) = revise(&text, None, &wishes) else {
            continue;
        };
        models += 1;
        gone += revised.steps.len();
        let stuck = |why: &str| why.contains('`');
        refused += revised.left.iter().filter(|left| stuck(&left.why)).count();
        if !revised.steps.is_empty() && compare(&text, &revised.text, seed) {
            compared += 1;
        }
    }
    println!("{models} models, {gone} storages gone, {compared} compared, {refused} refused");
    assert!(gone > 200 && compared > 80, "{gone} {compared}");
    assert!(refused * 20 < gone, "{refused} of {gone} refused");
}

fn thesis() -> String {
    std::fs::read_to_string("tests/papers/mccalla-1991.bgm").expect("it is there")
}

fn of_thesis(model: &str) -> Revised {
    let text = thesis();
    let done = revise(&text, Some(model), &ReduceOptions::default());
    done.unwrap_or_else(|why| panic!("{model}: {why:?}"))
}

/// Trajectories of both texts agree, by the names they have there.
fn same_trajectories(old: &Trial, new: &Trial, names: &[(&str, &str)]) {
    let before: Vec<&str> = names.iter().map(|(was, _)| *was).collect();
    let after: Vec<&str> = names.iter().map(|(_, is)| *is).collect();
    let (first, second) = (old.run(&before), new.run(&after));
    assert!(first.failure.is_none() && second.failure.is_none());
    assert!(first.rows.len() > 10 && first.rows.len() == second.rows.len());
    let columns = 0..names.len();
    for column in columns {
        let most = |rows: &[Vec<f64>]| rows.iter().fold(0.0_f64, |m, row| m.max(row[column].abs()));
        let size = most(&first.rows);
        assert!(size > 0.0, "{} never moves", names[column].0);
        for (a, b) in first.rows.iter().zip(&second.rows) {
            let (a, b) = (a[column], b[column]);
            assert!(
                (a - b).abs() <= 1e-5 * size,
                "{}: {a} and {b}",
                names[column].0
            );
        }
    }
}

fn trial(text: &str, until: f64) -> Trial {
    Trial::of(text, until)
}

/// Figures 10 to 12 and equation (18), at random values.
#[test]
fn the_lever_arm() {
    let mut random = Random::new(7);
    for _ in 0..5 {
        let [m1, m2, a, b] = [(); 4].map(|()| random.number(0.2, 5.0));
        let text = format!(
            "@bondgraph\nmodel Lever\n  parameter m1 = {m1}, m2 = {m2}, a = {a}, b = {b}\n  submodel (SE) F\n  \
             submodel (I) I1(I = m1), I2(I = m2, ic f = 0.5)\n  submodel (TF) TF(m = b/a)\n  junction1 A, B\n  \
             input u\n  output y, z\n  connect F at A, I1 at A, TF from A to B, I2 at B\n  F.E0 = u\n  \
             y = I1.f\n  z = I2.e + I1.e\nend\nexperiment Lever\n  simutime 1\n  input u = sin(5*Time)\nend\n"
        );
        // The mass with the start value would be the state.
        let wishes = ReduceOptions {
            remove: vec!["I2".to_string()],
            ..ReduceOptions::default()
        };
        let revised = revise(&text, None, &wishes).expect("I2 can go");
        let [step] = &revised.steps[..] else {
            panic!("one storage goes");
        };
        assert_eq!(step.path, "I2 1B TF 1A I1");
        assert_eq!(step.value, "I1.I = m1 + (b/a)**2*m2");
        assert_eq!(step.dropped, ["TF", "B"]);
        let flat = flat(&revised.text);
        let named = |name: &str| flat.variable_ids().find(|&id| flat.name(id) == name);
        let value = named("I1.I")
            .and_then(|id| flat.value(id))
            .map(|given| given.value);
        let Some(Value::Real(value)) = value else {
            panic!("{}", revised.text);
        };
        assert!((value - (m1 + (b / a) * (b / a) * m2)).abs() < 1e-9 * value);
        // The start value of the mass that is gone is that of the other.
        let names = [("y", "y"), ("z", "z"), ("I1.f", "I1.f")];
        same_trajectories(&trial(&text, 1.0), &trial(&revised.text, 1.0), &names);
        same_answers(&text, &revised.text, "u", &[("y", "y"), ("z", "z")]);
    }
}

/// Figures 6 and 7: ma + mb.
#[test]
fn two_masses() {
    let revised = of_thesis("TwoMasses");
    assert_eq!(revised.steps[0].value, "I1.I = I1_I + I2_I");
    let old = trial(&thesis(), 5.0).model("TwoMasses").input("u=1");
    let new = trial(&revised.text, 5.0).input("u=1");
    same_trajectories(&old, &new, &[("y", "y")]);
}

/// Figures 13 and 14: I + r**2*C, and either of the two may go.
#[test]
fn a_gyrator_between_an_inertance_and_a_capacitance() {
    let revised = of_thesis("Figure13");
    assert_eq!(revised.steps[0].value, "I1.I = I1_I + G_r**2*C1_C");
    let old = trial(&thesis(), 5.0).model("Figure13").input("u=1");
    same_trajectories(&old, &trial(&revised.text, 5.0).input("u=1"), &[("y", "y")]);
    let wishes = ReduceOptions {
        remove: vec!["I1".to_string()],
        ..ReduceOptions::default()
    };
    let other = revise(&thesis(), Some("Figure13"), &wishes).expect("I1 can go instead");
    assert_eq!(other.steps[0].removed, "I1");
    assert_eq!(other.steps[0].value, "C1.C = C1_C + I1_I/G.r**2");
    same_trajectories(&old, &trial(&other.text, 5.0).input("u=1"), &[("y", "y")]);
}

/// Figure 8: the thesis stops at its 1-junction; as a storage with two ports it can be reduced.
#[test]
fn a_path_that_splits() {
    let plain = of_thesis("Figure8");
    assert!(plain.steps.is_empty());
    assert_eq!(plain.left[0].name, "C3");
    assert!(
        plain.left[0].why.contains("splits at the 1-junction j"),
        "{:?}",
        plain.left
    );
    let wishes = ReduceOptions {
        matrix: true,
        ..ReduceOptions::default()
    };
    let matrix = revise(&thesis(), Some("Figure8"), &wishes).expect("it has a matrix form");
    assert!(matrix.left.is_empty(), "{:?}", matrix.left);
    let old = trial(&thesis(), 20.0).model("Figure8").input("u=sin(Time)");
    let new = trial(&matrix.text, 20.0).input("u=sin(Time)");
    let names = [("y", "y"), ("C1.e", "C1_C2.e[1]"), ("C2.e", "C1_C2.e[2]")];
    same_trajectories(&old, &new, &names);
}

/// Figure 2 and appendix B: modulated transformers.
#[test]
fn what_is_modulated_stays() {
    let revised = of_thesis("RollerCoaster");
    assert!(revised.steps.is_empty());
    assert_eq!(
        revised.left[0].why,
        "a modulated transformer was found: Track"
    );
    assert!(of_thesis("RobotArm").steps.is_empty());
}

/// Storages with a start value, a displacement as state, uses in equations and experiments, signs.
#[test]
fn what_is_said_of_a_storage_that_goes() {
    let text = "@bondgraph\n\
        model type Spring\n  cut A(e/f)\n  parameter k = 1.0 'N/m'\n  local q 'm'\n  der(q) = f\n  e = k*q\nend\n\
        model Springs\n  submodel (SF) F\n  submodel (R) R1(R = 2)\n  submodel (Spring) S1(k = 3), S2(k = 5) (ic q = 0.4)\n  \
        submodel (TF) T(m = -2)\n  node a\n  input u\n  output y, z, w\n  \
        connect F at a, R1 at a, S1 at a, T:A at a, S2 at T:B\n  F.F0 = u\n  y = S2.q\n  z = S1.f + 2*S2.f\n  \
        w = S2.k*T.f1\nend\n\
        experiment Springs\n  simutime 2\n  input u = cos(3*Time)\n  parameter S2.k = 7\n  plot S2.q, S1.q\nend\n\
        experiment other for Springs\n  simutime 2\n  input u = 1\n  init S2.q = 1\nend\n";
    let revised = reduced(text);
    assert_eq!(revised.steps.len(), 1, "{}", revised.text);
    for experiment in ["Springs", "other"] {
        let old = trial(text, 2.0).experiment(experiment);
        let new = trial(&revised.text, 2.0).experiment(experiment);
        let names = [("y", "y"), ("z", "z"), ("w", "w")];
        same_trajectories(&old, &new, &names);
    }
    assert!(
        revised.text.contains("parameter S2_k = 7"),
        "{}",
        revised.text
    );
}

/// Coils in series are joined where one goes; capacitors in parallel leave a gap.
#[test]
fn circuits() {
    let text = "@electrical\n\
        model Filter\n  submodel (VoltageSource) U0\n  submodel (Inductor) L1(L = 1E-3), L2(L = 2E-3)\n  \
        submodel (Capacitor) C1(C = 1E-6), C2(C = 3E-6) (ic u = 2)\n  submodel (Resistor) R1(R = 20)\n  submodel Ground\n  \
        input v\n  output y, i\n  connect Ground - U0 - L1 - R1 - L2 - (C1 // C2) - Ground\n  U0.E0 = v\n  y = C2.u\n  \
        i = C2.i\nend\n";
    let revised = reduced(text);
    assert_eq!(revised.steps.len(), 2, "{}", revised.text);
    assert!(
        revised.text.contains("Ground - U0 - L1 - R1 - C1 - Ground"),
        "{}",
        revised.text
    );
    let names = [("y", "y"), ("i", "i"), ("L1.i", "L1.i")];
    let run = |text: &str| trial(text, 2e-3).input("v=sin(5000*Time)");
    same_trajectories(&run(text), &run(&revised.text), &names);
}

/// Capacitors in series are independent; one can be left of them when that is asked for.
#[test]
fn merged_when_asked_for() {
    let text = "@electrical\n\
        model Series\n  submodel (VoltageSource) U0\n  submodel (Capacitor) C1(C = 1E-6, ic u = 2), C2(C = 2E-6, ic u = -0.5)\n  \
        submodel (Resistor) R1(R = 1E3)\n  submodel Ground\n  input v\n  output y, z\n  \
        connect Ground - U0 - R1 - C1 - reversed C2 - Ground\n  U0.E0 = v\n  y = C1.u\n  z = C2.u + 1000*C2.i\nend\n";
    assert!(reduced(text).steps.is_empty());
    let wishes = ReduceOptions {
        merge: true,
        ..ReduceOptions::default()
    };
    let revised = revise(text, None, &wishes).expect("it is sound");
    assert_eq!(
        revised.steps.len(),
        1,
        "{:?}\n{}",
        revised.left,
        revised.text
    );
    assert_eq!(flat(&revised.text).states().count(), 1);
    let run = |text: &str| trial(text, 5e-3).input("v=10");
    same_trajectories(&run(text), &run(&revised.text), &[("y", "y"), ("z", "z")]);
}

/// ENPORT's two forms: a parameter of the type that is not in the form follows one of the model that is.
#[test]
fn forms_of_the_equivalent() {
    let with = |text: &str, model: &str, form: Form, merge: bool| {
        let wishes = ReduceOptions {
            form: Some(form),
            merge,
            ..ReduceOptions::default()
        };
        let done = revise(text, Some(model), &wishes);
        done.unwrap_or_else(|why| panic!("{model}: {why:?}"))
    };
    let masses = "@bondgraph\nmodel Masses\n  submodel (SE) F\n  submodel (I) A(I = 2), B(I = 3)\n  \
        junction1 v\n  input u\n  connect F at v, A at v, B at v\n  F.E0 = u\nend\n";
    let gain = with(masses, "Masses", Form::Gain, false);
    assert!(
        gain.text.contains("A_gain = 1/(A_I + B_I)"),
        "{}",
        gain.text
    );
    assert!(gain.text.contains("A(I = 1/A_gain)"), "{}", gain.text);
    let attenuation = with(masses, "Masses", Form::Attenuation, false);
    assert!(
        attenuation.text.contains("A(I = A_I + B_I)"),
        "{}",
        attenuation.text
    );
    for revised in [&gain, &attenuation] {
        assert!(compare(masses, &revised.text, 1), "{}", revised.text);
    }
    // A type whose parameter is a gain: the other way round.
    let types = "@bondgraph\nmodel type J\n  cut A(e/f)\n  parameter G = 1\n  der(f) = G*e\nend\n";
    let gains = masses
        .replace("@bondgraph\n", types)
        .replace("(I) A(I = 2), B(I = 3)", "(J) A(G = 0.5), B(G = 0.25)");
    let gain = with(&gains, "Masses", Form::Gain, false);
    assert!(
        gain.text.contains("A(G = 1/(1/A_G + 1/B_G))"),
        "{}",
        gain.text
    );
    let attenuation = with(&gains, "Masses", Form::Attenuation, false);
    assert!(
        attenuation.text.contains("A(G = 1/A_att)"),
        "{}",
        attenuation.text
    );
    for revised in [&gain, &attenuation] {
        assert!(compare(&gains, &revised.text, 1), "{}", revised.text);
    }
    // Merged storages, too.
    let series = "@bondgraph\nmodel Series\n  submodel (SE) U0\n  submodel (R) R1\n  submodel (C) C1(C = 2), C2(C = 3)\n  \
        junction1 i\n  output y\n  connect U0 at i, R1 at i, C1 at i, C2 at i\n  U0.E0 = 1\n  y = R1.f\nend\n";
    let merged = with(series, "Series", Form::Gain, true);
    assert!(merged.text.contains("C1(C = 1/C1_gain)"), "{}", merged.text);
    let run = |text: &str| trial(text, 3.0);
    same_trajectories(&run(series), &run(&merged.text), &[("y", "y")]);
}

/// What lies in submodels, arrays and `for`s is written out first.
#[test]
fn hierarchies_are_written_out() {
    let text = "@bondgraph\n\
        model type Shaft\n  cut A(e/f), B(e2/-f2)\n  main path P <A - B>\n  parameter J = 1.0\n  terminal w\n  \
        submodel (I) I1(I = J/2), I2(I = J/2)\n  submodel (R) D(R = 0.1)\n  junction1 j\n  connect A at j, B at j, I1 at j, I2 at j, D at j\n  \
        w = I1.f\nend\n\
        model Train\n  parameter J = 3\n  submodel (Shaft) s[3](J = J)\n  submodel (TF) G[2](m = 4)\n  submodel (SE) F\n  \
        submodel (R) B\n  output y\n  connect F at s[1]:A, B at s[3]:B\n  for i in 1 to 2 do\n    \
        connect G[i] from s[i]:B to s[i + 1]:A\n  endfor\n  F.E0 = 1 + sin(Time)\n  y = s[3].w\nend\n\
        experiment Train\n  simutime 20\n  parameter s[2].J = 5\n  plot y, s[1].I1.f\nend\n";
    let revised = reduced(text);
    assert!(revised.expanded);
    assert_eq!(
        revised.steps.len(),
        5,
        "{:?}\n{}",
        revised.left,
        revised.text
    );
    assert_eq!(flat(&revised.text).states().count(), 1);
    let names = [("y", "y"), ("s[1].I1.f", "s_1_I1.f")];
    same_trajectories(&trial(text, 20.0), &trial(&revised.text, 20.0), &names);
}

/// ReduceOptions that cannot be had are refused by name.
#[test]
fn refusals() {
    let refusal = |model: &str, name: &str| {
        let wishes = ReduceOptions {
            remove: vec![name.to_string()],
            ..ReduceOptions::default()
        };
        match revise(&thesis(), Some(model), &wishes) {
            Err(Failure::Refused(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    assert!(refusal("TwoMasses", "I3").contains("I3"));
    assert!(refusal("TwoMasses", "B").contains("B"));
    assert!(refusal("RollerCoaster", "I2").contains("modulated transformer"));
}

/// Every model of the examples and papers can be written out, and is the same then; what cannot be is counted.
#[test]
fn examples_are_written_out() {
    let (mut done, mut refused) = (0, Vec::new());
    for folder in ["examples", "tests/papers"] {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
            .expect(folder)
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|end| end == "bgm"))
            .collect();
        files.sort();
        for path in files {
            let text = std::fs::read_to_string(&path).expect("it can be read");
            let names: Vec<&str> = (text.lines())
                .filter_map(|line| line.strip_prefix("model "))
                .filter_map(|rest| rest.split_whitespace().last())
                .filter(|name| !text.contains(&format!("model type {name}")))
                .filter(|name| !text.contains(&format!("model class {name}")))
                .collect();
            for name in names {
                let options = Options {
                    model: Some(name.to_string()),
                    ..Options::default()
                };
                let context = RevisionContext::new(&path, &options, &NoFiles);
                let Some(flat) = context.compile(&text).flat else {
                    continue;
                };
                match bgm::revise::expand::expand(&context, &text, &flat) {
                    Ok(_) => done += 1,
                    Err(why) => refused.push(format!("{}, {name}: {why}", path.display())),
                }
            }
        }
    }
    println!("{done} written out, {refused:#?}");
    assert!(
        done > 50 && refused.len() * 20 < done,
        "{done}, {refused:#?}"
    );
}

/// The parameter of the storage that stays is one of the storage that goes.
#[test]
fn a_parameter_of_what_goes() {
    let text = "@bondgraph\nmodel Same\n  submodel (I) I1(I = I2.I, ic f = 1), I2(I = 3)\n  submodel (R) r(R = 2)\n  \
        junction1 A\n  output y\n  connect I1 at A, I2 at A, r at A\n  y = r.f\nend\n";
    let revised = reduced(text);
    assert!(
        revised.text.contains("I1(I = I2_I + I2_I"),
        "{}",
        revised.text
    );
    same_trajectories(&trial(text, 2.0), &trial(&revised.text, 2.0), &[("y", "y")]);
}

/// A part that is connected the other way round has the other sign, in experiments and `when`s too.
#[test]
fn reversed_in_parallel_away_from_ground() {
    let text = "@electrical\nmodel Turned\n  submodel (ConstantVoltage) U0(E = 10)\n  \
        submodel (Capacitor) C1(C = 0.1), C2(C = 0.2)\n  submodel (Resistor) R1(R = 1), R2(R = 2)\n  submodel Ground\n  \
        output y, z\n  local n\n  connect Ground - U0 - R1 - (C1 // reversed C2) - R2 - Ground\n  y = C1.u\n  z = C2.i\n  \
        when C2.u < -5 then\n    new(n) = 1\n  endwhen\nend\n\
        experiment Turned\n  simutime 3\n  init C2.u = 1\n  plot y, C2.u, n\nend\n";
    let revised = reduced(text);
    assert_eq!(revised.steps.len(), 1, "{:?}", revised.left);
    assert!(
        revised.text.contains("init C1.u = 1*(-1)"),
        "{}",
        revised.text
    );
    let names = [("y", "y"), ("z", "z"), ("n", "n")];
    same_trajectories(&trial(text, 3.0), &trial(&revised.text, 3.0), &names);
}

/// A start value of a displacement in an experiment, and plots of what cannot be kept.
#[test]
fn start_values_of_experiments() {
    let text = "@bondgraph\n\
        model type Spring\n  cut A(e/f)\n  parameter k = 1\n  local x\n  der(x) = f\n  e = k*x\nend\n\
        model Two\n  submodel (Spring) a(k = 2), b(k = 3)\n  submodel (R) r\n  node n\n  output y\n  \
        connect a at n, b at n, r at n\n  y = r.f\nend\n\
        experiment Two\n  simutime 3\n  init b.x = 2\nend\n";
    let revised = reduced(text);
    assert_eq!(revised.steps.len(), 1, "{:?}", revised.left);
    same_trajectories(&trial(text, 3.0), &trial(&revised.text, 3.0), &[("y", "y")]);
    let powers = text.replace("init b.x = 2", "plot b.A.power");
    let kept = reduced(&powers);
    assert_eq!(kept.left[0].why, "`b.A.power` is used, and would be gone");
}

/// Files in memory that count how often each is read.
struct Counting {
    texts: Vec<(&'static str, &'static str)>,
    reads: std::cell::RefCell<Vec<PathBuf>>,
}

impl Files for Counting {
    fn read(&self, path: &std::path::Path) -> std::io::Result<Vec<u8>> {
        let found = self
            .texts
            .iter()
            .find(|(name, _)| std::path::Path::new(name) == path);
        let (_, text) = found.ok_or(std::io::ErrorKind::NotFound)?;
        self.reads.borrow_mut().push(path.to_path_buf());
        Ok(text.as_bytes().to_vec())
    }

    fn identity(&self, path: &std::path::Path) -> PathBuf {
        path.to_path_buf()
    }

    fn list(&self, _: &std::path::Path) -> Vec<String> {
        Vec::new()
    }
}

#[test]
fn what_a_model_includes_is_read_once() {
    let text = "@parts\n@electrical\nmodel M\n  submodel (Tank) a, b\n  submodel (ConstantVoltage) U0(E = 1)\n  \
                submodel (Resistor) R(R = 1)\n  submodel Ground\n  output y\n  \
                connect Ground - U0 - R - (a // b) - Ground\n  y = R.i\nend\n";
    let files = Counting {
        texts: vec![(
            "parts.bgm",
            "@electrical\nmodel type Tank\n  cut A(Va/i) B(Vb/-i)\n  main path P <A - B>\n  parameter C = 1\n  local u\n  u = Va - Vb\n  i = C*der(u)\nend\n",
        )],
        reads: std::cell::RefCell::default(),
    };
    let (path, options) = (PathBuf::from("model.bgm"), Options::default());
    let context = RevisionContext::new(&path, &options, &files);
    let done =
        reduce(&context, text, &ReduceOptions::default()).unwrap_or_else(|why| panic!("{why:?}"));
    assert!(!done.steps.is_empty(), "{done:?}");
    assert_eq!(*files.reads.borrow(), [PathBuf::from("parts.bgm")]);
    // A text that includes other files has them.
    assert!(
        context
            .compile("@electrical\nmodel M\n  local x\n  x = 1\nend\n")
            .flat
            .is_some()
    );
    assert_eq!(files.reads.borrow().len(), 1);
    assert!(context.compile(text).flat.is_some());
}
