//! The register program against the plain evaluator, on generated models of all families and on every
//! model in files that can be solved: with every variable and derivative as a column, at random states,
//! inputs, discrete values and times. `BGM_CASES=2000` makes so many of each family, `--nocapture` shows
//! how many came out how.

#![allow(clippy::print_stdout)]

mod choices;
mod functions;
mod large;
mod slopes;
mod subject;
mod values;

use crate::support::cases;
use crate::support::files::{inside, models};
use crate::support::generate::model::Model;
use crate::support::generate::{bonds, circuits, mechanics, planar, signals, storages};
use crate::support::random::Random;
use crate::support::text::{compile_text, flat};
use subject::{Subject, Tally};

type Generator = fn(&mut Random, bool) -> Model;

/// Everything that is compared, at one point of one model.
fn everything(subject: &mut Subject, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let Some(setting) = subject.setting(seed, tally) else {
        return Ok(());
    };
    values::compare(&setting, tally)?;
    slopes::jacobian(&setting, tally)?;
    slopes::along_time(&setting, tally)?;
    choices::compare(&setting, tally)
}

fn campaign(name: &str, generate: Generator, usual: u64) {
    let mut tally = Tally::default();
    for seed in 0..cases(usual) {
        let model = generate(&mut Random::new(seed), false);
        let text = model.text();
        let Some(mut subject) = Subject::of(flat(&text)) else {
            tally.refused += 1;
            continue;
        };
        tally.models += 1;
        for seed in 2 * seed..2 * seed + 2 {
            if let Err(why) = everything(&mut subject, seed, &mut tally) {
                let small = model.shrunk(|model| fails(&model.text(), seed));
                panic!(
                    "{name} {seed}: {why}\n{text}\nmade smaller:\n{}",
                    small.text()
                );
            }
        }
    }
    tally.end(name);
}

fn fails(text: &str, seed: u64) -> bool {
    let Some(flat) = compile_text(text).flat else {
        return false;
    };
    let Some(mut subject) = Subject::of(flat) else {
        return false;
    };
    everything(&mut subject, seed, &mut Tally::default()).is_err()
}

#[test]
fn circuits_agree() {
    campaign("circuits", circuits::generate, 150);
}

#[test]
fn bond_graphs_agree() {
    campaign("bond graphs", bonds::generate, 150);
}

#[test]
fn equations_agree() {
    campaign("equations", |random, _| signals::generate(random), 300);
}

#[test]
fn dependent_storages_agree() {
    campaign("storages", storages::generate, 100);
    campaign("dependent bond graphs", bonds::dependent, 100);
}

#[test]
fn drives_agree() {
    campaign("drives", mechanics::generate, 100);
}

#[test]
fn pendulums_agree() {
    campaign("pendulums", planar::generate, 60);
}

const FOLDERS: [&str; 4] = [
    "examples",
    "tests/papers",
    "tests/language",
    "tests/solving",
];

#[test]
fn files_agree() {
    let mut tally = Tally::default();
    for file in inside(&FOLDERS) {
        for flat in models(&file) {
            let name = flat.model().to_string();
            let Some(mut subject) = Subject::of(flat) else {
                tally.refused += 1;
                continue;
            };
            tally.models += 1;
            for seed in 0..6 {
                if let Err(why) = everything(&mut subject, seed, &mut tally) {
                    panic!("{}, {name}, {seed}: {why}", file.display());
                }
            }
        }
    }
    assert!(tally.models > 50);
    println!("files: {tally:?}");
    assert!(tally.stuck == 0, "{tally:?}");
}
