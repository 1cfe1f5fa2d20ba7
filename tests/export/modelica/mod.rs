//! Classes of Modelica: what is written, and what front ends of other people make of it.

mod generated;
mod judge;
mod requests;

use std::path::{Path, PathBuf};

use bgm::compile::{Options, prepare};
use bgm::flat::{Flat, Kind, Type};
use bgm::syntax::load::Input;
use judge::{agree, exported, folder, judge, rows, simulated, text};

use crate::support::files::{Disk, inside};
use crate::support::kept;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The examples, and a model that has all that is awkward.
fn sources() -> Vec<PathBuf> {
    let mut found = inside(&["examples"]);
    found.extend(
        ["awkward", "hidden", "jumpy"]
            .map(|name| root().join(format!("tests/modelica/{name}.bgm"))),
    );
    found.push(root().join("tests/export/awkward.bgm"));
    found
}

/// Models of a file that can be compiled by themselves.
fn models(source: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(source).expect("a file");
    let named = |line: &str| {
        let rest = line.strip_prefix("model ")?.trim();
        let name = match rest.strip_prefix('(') {
            Some(based) => based.split_once(')')?.1.trim(),
            None => rest,
        };
        let plain = !name.starts_with("type ") && !name.starts_with("class ");
        plain.then(|| name.to_string())
    };
    text.lines().filter_map(named).collect()
}

#[test]
fn classes_are_as_they_were() {
    let golden = [
        ("examples/rlc.bgm", "rlc"),
        ("examples/bouncing_ball.bgm", "bouncing_ball"),
        ("examples/sampled_control.bgm", "sampled_control"),
        ("examples/thermostat.bgm", "thermostat"),
        ("examples/rectifier.bgm", "rectifier"),
        ("examples/inductive_load.bgm", "inductive_load"),
        ("examples/buck.bgm", "buck"),
        ("examples/pendulum.bgm", "pendulum"),
        ("tests/modelica/awkward.bgm", "awkward"),
        ("tests/modelica/jumpy.bgm", "jumpy"),
        ("tests/modelica/hidden.bgm", "hidden"),
    ];
    let folder = folder("golden");
    for (source, name) in golden {
        let file = folder.join(format!("{name}.mo"));
        exported(source, &file, &[]);
        let found = std::fs::read_to_string(&file).expect("a file");
        kept(&root().join(format!("tests/modelica/{name}.mo")), &found);
    }
}

/// The flat model with its experiment.
fn flat(source: &Path, model: &str) -> Flat {
    let options = Options {
        model: Some(model.to_string()),
        ..Options::default()
    };
    let input = Input::File(source.to_path_buf());
    let prepared = prepare(&input, &options, &Disk::default());
    prepared.model.expect("the model compiles").0
}

/// Equations and unknowns, as both front ends count them. A derivative below the highest has a variable and an
/// equation of its own in the class, and so have conditions that got a name.
#[test]
fn front_ends_find_the_equations_and_unknowns_of_the_model() {
    let folder = folder("count");
    let (mut files, mut wanted) = (Vec::new(), Vec::new());
    for source in sources() {
        for model in models(&source) {
            let file = folder.join(format!("{model}{}.mo", files.len()));
            exported(text(&source), &file, &["--model", &model]);
            let flat = flat(&source, &model);
            let class = std::fs::read_to_string(&file).expect("a file");
            let named = class.matches("\n  Boolean 'when ").count();
            let of_unknowns = || {
                flat.variables
                    .iter()
                    .filter(|known| known.kind.is_unknown())
            };
            let lower: usize = of_unknowns()
                .map(|known| usize::from(known.order).saturating_sub(1))
                .sum();
            let real = of_unknowns()
                .filter(|known| known.ty == Type::Real && known.kind != Kind::Discrete)
                .count();
            let more = named + lower;
            wanted.push([
                flat.equation_count() + more,
                flat.unknown_count() + more,
                real + lower,
                real + lower,
            ]);
            files.push(file);
        }
    }
    assert!(files.len() > 30);
    let names: Vec<&str> = files.iter().map(|file| text(file)).collect();
    let arguments: Vec<&str> = ["count"].into_iter().chain(names.iter().copied()).collect();
    let Some(found) = judge(&arguments) else {
        return;
    };
    assert_eq!(found.lines().count(), files.len());
    for ((line, wanted), name) in found.lines().zip(&wanted).zip(&names) {
        let counts = wanted.map(|count| count.to_string()).join(",");
        assert_eq!(line, format!("{name},{counts}"));
    }
}

/// File, model, how far rumoca may be off (beside the largest value).
const AGREE: &[(&str, &str, f64)] = &[
    ("examples/rlc.bgm", "RLC", 1e-7),
    ("examples/rlc_circuit.bgm", "RLC", 1e-7),
    ("examples/gyrator.bgm", "Gyrator", 1e-7),
    ("examples/lever_arm.bgm", "LeverArm", 1e-9),
    ("examples/dc_motor.bgm", "DCMotor", 1e-6),
    ("examples/hires.bgm", "Hires", 1e-6),
    ("examples/robertson.bgm", "Robertson", 1e-5),
    // Loops.
    ("examples/wheatstone.bgm", "Wheatstone", 1e-12),
    ("examples/pipes.bgm", "Network", 1e-8),
    ("examples/lamp.bgm", "LampCircuit", 1e-9),
    ("examples/diode.bgm", "DiodeResistor", 1e-9),
    // States that depend on each other.
    ("examples/capacitors.bgm", "OnSource", 1e-6),
    ("examples/capacitors.bgm", "Parallel", 1e-6),
    ("examples/differential.bgm", "Car", 1e-7),
    ("examples/geared_inertias.bgm", "GearedInertias", 1e-7),
    ("tests/modelica/hidden.bgm", "Hidden", 1e-6),
    ("examples/pendulum.bgm", "Pendulum", 1e-6),
    // Its energy is zero but for errors.
    ("examples/pendulum_swing.bgm", "PendulumSwing", 1e-2),
    ("examples/coupled_pendulums.bgm", "CoupledPendulums", 1e-5),
    ("examples/slider_crank.bgm", "SliderCrank", 1e-4),
    // Events.
    ("examples/bouncing_ball.bgm", "BouncingBall", 1e-8),
    ("examples/sampled_control.bgm", "SampledControl", 1e-8),
    ("examples/thermostat.bgm", "Thermostat", 1e-8),
    ("tests/modelica/jumpy.bgm", "Jumpy", 1e-7),
    ("tests/modelica/awkward.bgm", "Awkward", 1e-7),
    ("tests/export/awkward.bgm", "Awkward", 1e-7),
    // Ideal switches.
    ("examples/rectifier.bgm", "Rectifier", 1e-6),
    ("examples/inductive_load.bgm", "InductiveLoad", 1e-6),
    ("examples/inductive_wave.bgm", "InductiveWave", 1e-6),
    ("examples/interrupted_coil.bgm", "InterruptedCoil", 1e-6),
];

#[test]
fn rumoca_simulates_what_the_simulator_does() {
    let folder = folder("run");
    for &(source, model, part) in AGREE {
        let stem = Path::new(source).file_stem().and_then(|stem| stem.to_str());
        let stem = format!("{}-{model}", stem.expect("text"));
        let class = folder.join(format!("{stem}.mo"));
        let csv = folder.join(format!("{stem}.csv"));
        exported(source, &class, &["--model", model]);
        simulated(source, &csv, &["--model", model, "--vars", "*"]);
        let Some(found) = judge(&["run", text(&class), text(&csv)]) else {
            return;
        };
        let wanted = rows(&std::fs::read_to_string(&csv).expect("a file"));
        let found = rows(&found);
        let compared = agree(&stem, &wanted, &found, part);
        assert_eq!(compared + 1, wanted.0.len(), "{stem}: columns");
    }
}

/// What the manual says that rumoca does not simulate.
#[test]
fn rumoca_says_why_it_does_not_simulate_the_others() {
    let folder = folder("words");
    for name in [
        "bridge",
        "buck",
        "clutch",
        "freewheel",
        "switched_capacitors",
        "thyristor_bridge",
    ] {
        let class = folder.join(format!("{name}.mo"));
        let said = exported(&format!("examples/{name}.bgm"), &class, &[]);
        assert!(said.contains("changes the index of the model"), "{said}");
        let Some(words) = judge(&["words", text(&class)]) else {
            return;
        };
        let known = [
            "algebraic projection did not establish coordinate convergence",
            "is singular in its active branch combination",
        ];
        assert!(
            known.iter().any(|known| words.contains(known)),
            "{name}: {words}"
        );
    }
}
