//! Augmented models come to the models that they were made of as the new storage grows stiff (McCalla 1991, section 2.2 and appendices A and
//! B), and parasitic storages break R-fields (Hood, Rosenberg, Withers and Zhou 1987).

#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use crate::support::trial::Trial;
use bgm::compile::Options;
use bgm::revise::augment::{Augmented, Proposal, augment, propose};
use bgm::revise::{Failure, RevisionContext};
use bgm::syntax::load::NoFiles;

fn with<T>(model: &str, work: impl FnOnce(&RevisionContext<'_>) -> T) -> T {
    let options = Options {
        model: Some(model.to_string()),
        ..Options::default()
    };
    let path = PathBuf::from("model.bgm");
    work(&RevisionContext::new(&path, &options, &NoFiles))
}

fn augmented(text: &str, model: &str, at: &[&str], value: f64) -> Augmented {
    let at: Vec<String> = at.iter().map(|name| (*name).to_string()).collect();
    with(model, |context| augment(context, text, &at, Some(value)))
        .unwrap_or_else(|why| panic!("{model}: {why:?}"))
}

fn proposals(text: &str, model: &str) -> Vec<Proposal> {
    with(model, |context| propose(context, text)).unwrap_or_else(|why| panic!("{model}: {why:?}"))
}

fn file(name: &str) -> String {
    std::fs::read_to_string(format!("tests/papers/{name}.bgm")).expect(name)
}

/// The largest differences from the model itself, for one value after the other.
fn differences(
    (text, model): (&str, &str),
    at: &[&str],
    values: &[f64],
    names: &[&str],
    run: impl Fn(&str) -> Trial,
) -> Vec<f64> {
    let exact = run(text).run(names);
    assert!(exact.failure.is_none(), "{:?}", exact.failure);
    (values.iter())
        .map(|&value| {
            let done = augmented(text, model, at, value);
            let last = done.added.last().expect("something was added");
            assert_eq!(last.dependent.1, 0, "{}", done.text);
            let found = run(&done.text).run(names);
            assert!(found.failure.is_none(), "{:?}", found.failure);
            (exact.rows.iter().zip(&found.rows))
                .flat_map(|(a, b)| a.iter().zip(b))
                .fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
        })
        .collect()
}

/// Each is about a tenth of the one before, as each spring is ten times as stiff.
fn come_closer(found: &[f64], least: f64) {
    println!("{found:?}");
    for pair in found.windows(2) {
        assert!(pair[1] < pair[0] / 5.0, "{found:?}");
    }
    assert!(found.last().is_some_and(|last| *last < least), "{found:?}");
}

/// Figures 2 and 4, appendix A: the spring C3 between the track and the vertical motion.
#[test]
fn the_roller_coaster() {
    let text = file("mccalla-1991");
    let run = |text: &str| {
        let trial = Trial::of(text, 10.0).model("RollerCoaster");
        trial.tolerance(1e-9, 1e-10)
    };
    let model = (text.as_str(), "RollerCoaster");
    let found = differences(model, &["vy"], &[1e-5, 1e-6, 1e-7], &["x", "y"], run);
    come_closer(&found, 1e-2);
}

/// Appendix B: springs at the joint of the two links.
#[test]
fn the_robot_arm() {
    let text = file("mccalla-1991");
    let run = |text: &str| {
        let trial = Trial::of(text, 2.0).model("RobotArm").input("tau=0");
        trial.tolerance(1e-8, 1e-10)
    };
    let model = (text.as_str(), "RobotArm");
    let found = differences(
        model,
        &["nx", "ny"],
        &[1e-4, 1e-5, 1e-6],
        &["th1", "th2"],
        run,
    );
    come_closer(&found, 1e-3);
}

/// Reduced, as it is, and augmented: the same lever; and start values go along.
#[test]
fn the_lever_arm() {
    let text = "@bondgraph\nmodel Lever\n  submodel (SE) F\n  submodel (I) I1(I = 1, ic f = 0.5), I2(I = 2)\n  \
        submodel (TF) TF(m = 2)\n  junction1 A, B\n  input u\n  output y\n  \
        connect F at A, I1 at A, TF from A to B, I2 at B\n  F.E0 = u\n  y = I2.f\nend\n";
    for at in ["A", "B"] {
        let run = |text: &str| {
            Trial::of(text, 1.0)
                .input("u=9*Time")
                .tolerance(1e-9, 1e-11)
        };
        let found = differences((text, "Lever"), &[at], &[1e-5, 1e-6, 1e-7], &["y"], run);
        come_closer(&found, 1e-3);
    }
}

/// A capacitance that depends on another: a small inertance between them, in a circuit.
#[test]
fn capacitors_in_parallel() {
    let text = "@electrical\nmodel Parallel\n  submodel (VoltageSource) U0\n  submodel (Capacitor) C1(C = 1E-6), C2(C = 2E-6)\n  \
        submodel (Resistor) R1(R = 1E3), R2(R = 5)\n  submodel Ground\n  input v\n  output y\n  node n\n  \
        connect Ground - U0 - R1 - n, C1 from n to Ground, C2 from n to Ground\n  connect R2 from n to Ground\n  U0.E0 = v\n  y = C1.u\nend\n";
    let places = proposals(text, "Parallel");
    let helped = places.iter().filter(|one| {
        one.outcome
            .as_ref()
            .is_ok_and(|added| added.kind == "I" && added.dependent == (1, 0))
    });
    assert_eq!(helped.count(), 1, "{places:?}");
    let at = places[0].junction.clone();
    let run = |text: &str| Trial::of(text, 1e-3).input("v=10").tolerance(1e-8, 1e-12);
    let found = differences((text, "Parallel"), &[&at], &[1e-7, 1e-8], &["y"], run);
    come_closer(&found, 1e-3);
}

/// Figures 6 and 7: one storage breaks the field, or makes it smaller.
#[test]
fn r_fields_are_broken() {
    let text = file("hood-1987");
    let resistors = |model: &str| -> Vec<(String, &'static str, usize)> {
        (proposals(&text, model).into_iter())
            .map(|one| {
                let added = one.outcome.unwrap_or_else(|why| panic!("{why}"));
                assert_eq!(added.resistors.0, 3);
                (one.junction, added.kind, added.resistors.1)
            })
            .collect()
    };
    assert_eq!(resistors("Figure6"), [("j".to_string(), "I", 0)]);
    let expected = [
        ("j1", "I", 2),
        ("j2", "I", 2),
        ("j3", "I", 2),
        ("n", "C", 0),
    ];
    let expected = expected.map(|(name, kind, left)| (name.to_string(), kind, left));
    assert_eq!(resistors("Figure7"), expected);
    // The steady flow is that of the field.
    let names = ["f"];
    let inputs = |trial: Trial| trial.input("ea=5").input("eb=1").input("ec=2");
    let exact = inputs(Trial::of(&text, 1.0).model("Figure7")).run(&names);
    let broken = augmented(&text, "Figure7", &["n"], 1e-3);
    let found = inputs(Trial::of(&broken.text, 1.0).model("Figure7")).run(&names);
    let last = |rows: &[Vec<f64>]| rows.last().map(|row| row[0]).unwrap_or_default();
    assert!((last(&exact.rows) - last(&found.rows)).abs() < 1e-5);
}

#[test]
fn refusals() {
    let text = file("mccalla-1991");
    let refusal = |model: &str, at: &str| {
        let at = [at.to_string()];
        match with(model, |context| augment(context, &text, &at, None)) {
            Err(Failure::Refused(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        refusal("RollerCoaster", "nowhere"),
        "there is no junction `nowhere`; a storage would help at vy"
    );
    assert_eq!(
        refusal("RollerCoasterAugmented", "vy"),
        "nothing depends on the junction `vy`; no storage is dependent, and there is no implicit R-field"
    );
}

/// A junction inside of a submodel is reached by writing the model out.
#[test]
fn junctions_of_submodels() {
    let text = "@bondgraph\n\
        model type Pair\n  cut A(e/f)\n  submodel (I) I1(I = 1), I2(I = 2)\n  submodel (TF) T(m = 3)\n  junction1 a, b\n  \
        connect A at a, I1 at a, T from a to b, I2 at b\nend\n\
        model Whole\n  submodel (SE) F\n  submodel Pair\n  node n\n  output y\n  connect F at n, Pair at n\n  F.E0 = 1\n  y = Pair.I1.f\nend\n";
    let done = augmented(text, "Whole", &["Pair.b"], 1e-7);
    assert!(done.expanded);
    assert_eq!(done.added[0].dependent, (1, 0));
    let exact = Trial::of(text, 1.0).run(&["y"]);
    let found = Trial::of(&done.text, 1.0).run(&["y"]);
    for (a, b) in exact.rows.iter().zip(&found.rows) {
        assert!((a[0] - b[0]).abs() < 1e-3, "{a:?} {b:?}");
    }
}

/// Start values that others determine, in the model and in its experiments, are kept.
#[test]
fn start_values_are_kept() {
    let text = "@bondgraph\nmodel Pair\n  submodel (I) L1(I = 2), L2(I = 5, ic f = 1.5)\n  submodel (R) Ra(R = 3)\n  \
        submodel (SE) U\n  junction1 i\n  input u\n  output y\n  connect L1 at i, L2 at i, Ra at i, U at i\n  U.E0 = u\n  y = Ra.f\nend\n\
        experiment Pair\n  simutime 2\n  input u = 1 + Time\nend\n\
        experiment other for Pair\n  simutime 2\n  input u = 4\n  init L2.f = 3\nend\n";
    for experiment in ["Pair", "other"] {
        let run = |text: &str| {
            let trial = Trial::of(text, 2.0).experiment(experiment);
            trial.tolerance(1e-9, 1e-11)
        };
        let found = differences((text, "Pair"), &["i"], &[1e-5, 1e-6, 1e-7], &["y"], run);
        come_closer(&found, 1e-3);
    }
}
