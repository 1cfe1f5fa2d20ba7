//! Programs of random circuits with switches do what the simulator does, in C and in Python: or they are refused.
//!
//! `BGM_CASES`, `BGM_FIRST` and `BGM_SEED` as for the circuits themselves.

use std::collections::BTreeMap;
use std::process::Command;

use crate::circuit::Circuit;
use crate::support::programs::{Rows, bgm, compiled, folder, has, rows, stderr};
use crate::support::random::Random;

/// Nothing happens here.
const UNTIL: &str = "3.0137";

/// What differs, if anything does.
fn differs(wanted: &Rows, found: &Rows) -> Option<String> {
    let largest = |column: usize| {
        let all = wanted.1.iter().map(|row| row[column].abs());
        all.fold(1e-3_f64, f64::max)
    };
    // A diode without voltage and current may be either: what tells are the states, where there are any.
    let is_truth = |name: &String| name.ends_with("OpenSwitch");
    let stateless = wanted.0.iter().skip(1).all(is_truth);
    for (at, name) in wanted.0.iter().enumerate() {
        let scale = largest(at);
        if is_truth(name) && !stateless {
            continue;
        }
        for (row, other) in wanted.1.iter().zip(&found.1) {
            if (row[at] - other[at]).abs() > 1e-6 * scale {
                return Some(format!(
                    "`{name}` is {} at Time = {}, and {} in the program",
                    row[at], row[0], other[at]
                ));
            }
        }
    }
    (wanted.1.len() != found.1.len()).then(|| "other rows".to_string())
}

/// What a circuit comes to with each target, or why there is none.
fn tried(seed: u64, python: bool) -> (&'static str, Option<String>) {
    let circuit = Circuit::generate(&mut Random::new(seed));
    compared(&circuit.text(false), &format!("circuit-{seed}"), python)
}

/// The same of the model `M` in a text; its files have a folder of their own.
pub fn compared(text: &str, name: &str, python: bool) -> (&'static str, Option<String>) {
    let folder = folder(name);
    let place = |name: &str| folder.join(name).to_str().expect("text").to_string();
    let model = place("m.bgm");
    std::fs::write(&model, text).expect("a file can be written");
    let run = ["--until", UNTIL, "--points", "31"];
    let mut simulate = vec!["simulate", &model, "-o", "-", "--tolerance", "1e-9"];
    simulate.extend(run);
    let wanted = bgm(&simulate);
    if !wanted.status.success() {
        return ("no run", None);
    }
    let wanted = rows(&String::from_utf8(wanted.stdout).expect("text"));
    let mut targets = vec![("c", place("m.c"))];
    if python {
        targets.push(("python", place("m.py")));
    }
    for (target, file) in &targets {
        let mut export = vec!["export", &model, "--to", target, "-o", file];
        export.extend(["--tolerance", "1e-9"]);
        export.extend(run);
        let output = bgm(&export);
        if !output.status.success() {
            return match stderr(&output).contains("cannot be exported") {
                true => ("refused", None),
                false => ("no program", Some(stderr(&output))),
            };
        }
        let output = match *target {
            "c" => Command::new(compiled(file.as_ref(), "M")).output(),
            _ => Command::new("python3").arg(file).output(),
        };
        let output = output.expect("the program runs");
        if !output.status.success() {
            return ("fails", Some(format!("{target}: {}", stderr(&output))));
        }
        let found = rows(&String::from_utf8(output.stdout).expect("text"));
        if let Some(why) = differs(&wanted, &found) {
            return ("differs", Some(format!("{target}: {why}")));
        }
    }
    let _ = std::fs::remove_dir_all(folder);
    ("agrees", None)
}

#[test]
#[allow(clippy::print_stdout)]
fn programs_of_circuits_agree_with_the_simulator() {
    if !has("cc") {
        return;
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("BGM_FIRST").unwrap_or(0);
    let seeds = match number("BGM_SEED") {
        Some(seed) => seed..seed + 1,
        None => first..first + number("BGM_CASES").unwrap_or(24_u64),
    };
    let python = has("python3");
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for seed in seeds {
        let (outcome, why) = tried(seed, python && seed % 4 == 0);
        *tally.entry(outcome).or_default() += 1;
        wrong.extend(why.map(|why| format!("seed {seed}: {outcome}: {why}")));
    }
    println!("{tally:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
