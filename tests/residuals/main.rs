//! Solved models are right: evaluated at random states, inputs and switch positions, the result is
//! put into the flat equations by a tree walk that shares no code with the solver, and every
//! residual vanishes to rounding. On the models of the examples, the papers and the manual, and on
//! thousands of generated ones; `BGM_CASES=20000` makes so many of each family, `--nocapture` shows
//! how many came out how.

#![allow(clippy::print_stdout)]

mod bonds;
mod circuits;
mod files;
mod model;
mod oracle;
mod point;
mod random;
mod rank;
mod signals;
#[path = "../common/text.rs"]
mod text;
mod types;

use std::collections::BTreeMap;

use bgm::compile::Aliases;
use bgm::diagnostics::Diagnostics;
use bgm::flat::Flat;
use bgm::listing::{equations::equations, solved::solved as list, sorted::sorted as list_sorted};
use bgm::solve::Solved;
use bgm::sort::sort;
use model::Model;
use point::{Outcome, Solution, same_values, solve, try_point};
use random::Random;
use text::{all_diagnostics, compile_text};

type Generator = fn(&mut Random, bool) -> Model;

/// One model in this many is anything, whether it has a solution or not.
const WILD: u64 = 20;
/// Points tried on each model.
const POINTS: u64 = 2;
const ELIMINATION: &str = "elimination changes values:";

fn cases(usual: u64) -> u64 {
    let asked = std::env::var("BGM_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

fn flat(text: &str) -> Flat {
    let compiled = compile_text(text);
    match compiled.flat {
        Some(flat) => flat,
        None => panic!("{text}\n{}", all_diagnostics(&compiled)),
    }
}

fn generated(generate: Generator, seed: u64) -> Model {
    generate(&mut Random::new(seed), seed % WILD == WILD - 1)
}

/// How many came out how.
#[derive(Debug, Default)]
struct Tally {
    models: usize,
    /// Not solvable, by code.
    refused: BTreeMap<&'static str, usize>,
    points: usize,
    /// No solution was found, and there is none.
    singular: usize,
    /// No solution was found.
    unexplained: Vec<String>,
    wrong: Vec<String>,
}

impl Tally {
    /// Solves a model in both ways and evaluates it at some points.
    fn try_model(&mut self, make: &dyn Fn() -> Flat, seed: u64) {
        self.models += 1;
        let original = make();
        let eliminated = solve(make(), Aliases::Eliminate);
        let kept = solve(make(), Aliases::Keep);
        let (eliminated, kept) = match (eliminated, kept) {
            (Ok(eliminated), Ok(kept)) => (eliminated, kept),
            (Err(code), Err(other)) if code == other => {
                *self.refused.entry(code.text()).or_default() += 1;
                return;
            }
            // Found out by one and not by the other: right either way.
            (Err(code), Ok(_)) | (Ok(_), Err(code)) if rank::is_singular(&original, seed) => {
                *self.refused.entry(code.text()).or_default() += 1;
                return;
            }
            (one, other) => {
                let code = |result: Result<Solved, bgm::diagnostics::Code>| result.err();
                let (one, other) = (code(one), code(other));
                self.wrong
                    .push(format!("with elimination {one:?}, without {other:?}"));
                return;
            }
        };
        for seed in (0..POINTS).map(|point| POINTS * seed + point) {
            let one = self.try_point(&original, &eliminated, seed);
            // The long form at every other point: it costs most of the time.
            if seed % 2 == 1 {
                continue;
            }
            let other = self.try_point(&original, &kept, seed);
            if let (Some(one), Some(other)) = (one, other)
                && let Err(why) = same_values((&original, &one), (&original, &other))
                && !rank::is_singular(&original, seed)
            {
                self.wrong.push(format!("{ELIMINATION} {why}"));
            }
        }
    }

    fn try_point(&mut self, original: &Flat, solved: &Solved, seed: u64) -> Option<Solution> {
        self.points += 1;
        match try_point(original, solved, seed) {
            Outcome::Holds(solution) => return Some(*solution),
            Outcome::Skipped(why) => match rank::is_singular(original, seed) {
                true => self.singular += 1,
                false => self.unexplained.push(why),
            },
            Outcome::Wrong(why) => self.wrong.push(why),
        }
        None
    }
}

/// Generates, solves, evaluates; a failure is shown as small as it can be made.
fn campaign(name: &str, generate: Generator, count: u64) {
    let mut tally = Tally::default();
    for seed in 0..count {
        let model = generated(generate, seed);
        let text = model.text();
        tally.try_model(&|| flat(&text), seed);
        if let [first, ..] = &tally.wrong[..] {
            let small = model.shrunk(|model| fails(model, seed, first));
            panic!(
                "{name} {seed}: {first}\n{}\nmade smaller:\n{}",
                text,
                small.text()
            );
        }
    }
    let refused: usize = tally.refused.values().sum();
    let skipped = tally.singular + tally.unexplained.len();
    println!(
        "{name}: {} models, {refused} refused {:?}; {} points, {skipped} skipped ({} of them singular)",
        tally.models, tally.refused, tally.points, tally.singular
    );
    assert!(refused * 10 < tally.models * 3, "{name}: refused {refused}");
    let why = &tally.unexplained;
    assert!(
        skipped * 100 < tally.points,
        "{name}: skipped {skipped} {why:?}"
    );
}

fn fails(model: &Model, seed: u64, first: &str) -> bool {
    let text = model.text();
    if compile_text(&text).flat.is_none() {
        return false;
    }
    let mut tally = Tally::default();
    tally.try_model(&|| flat(&text), seed);
    // The same kind of failure, and not of a model that has no solution.
    let kind = |why: &str| why.starts_with(ELIMINATION);
    (tally.wrong.iter()).any(|other| kind(other) == kind(first))
        && !rank::is_singular(&flat(&text), POINTS * seed)
}

#[test]
fn residuals_of_circuits_vanish() {
    campaign("circuits", circuits::generate, cases(1200));
}

#[test]
fn residuals_of_bond_graphs_vanish() {
    campaign("bond graphs", bonds::generate, cases(1200));
}

#[test]
fn residuals_of_equations_vanish() {
    campaign(
        "equations",
        |random, _| signals::generate(random),
        cases(1200),
    );
}

/// About the form of the text, with equations that contradict each other or roots of negative numbers; and
/// switches that are in no loop, which one position makes singular.
const NO_SOLUTION: [&str; 4] = ["Layout", "Latex", "SwitchFlow", "SwitchEffort"];

#[test]
fn residuals_of_the_models_in_files_vanish() {
    let mut tally = Tally::default();
    for file in files::all() {
        let count = files::models(&file).len();
        for at in 0..count {
            let make = || files::models(&file).swap_remove(at);
            if NO_SOLUTION.contains(&make().model()) {
                continue;
            }
            tally.try_model(&make, at as u64);
            if let [first, ..] = &tally.wrong[..] {
                let name = files::models(&file)[at].model().to_string();
                panic!("{}, {name}: {first}", file.display());
            }
        }
    }
    println!("files: {tally:?}");
    assert!(tally.models > 50);
    let refused: usize = tally.refused.values().sum();
    assert!(refused * 4 < tally.models, "{:?}", tally.refused);
    assert_eq!(tally.singular, 0);
    assert!(tally.unexplained.is_empty(), "{:?}", tally.unexplained);
}

/// What must not depend on the order of declarations: the names that elimination keeps, and what
/// stands for the others.
fn survivors(solved: &Solved) -> Vec<String> {
    let flat = &solved.flat;
    let mut found: Vec<String> = (flat.eliminated.iter())
        .map(|gone| {
            let (name, value) = (flat.leaf_name(gone.leaf), flat.expression(gone.expression));
            format!("{name} = {value}")
        })
        .collect();
    found.sort();
    found
}

/// The same model in another order: `Err` says what is different, and `Ok` whether there was something
/// to compare.
fn same_in_any_order(
    plain: &dyn Fn() -> Flat,
    other: &dyn Fn() -> Flat,
    seed: u64,
) -> Result<bool, String> {
    for aliases in [Aliases::Eliminate, Aliases::Keep] {
        let (one, two) = match (solve(plain(), aliases), solve(other(), aliases)) {
            (Ok(one), Ok(two)) => (one, two),
            (Err(one), Err(two)) if one == two => return Ok(true),
            _ if rank::is_singular(&plain(), seed) => return Ok(true),
            (one, two) => return Err(format!("{:?} and {:?}", one.err(), two.err())),
        };
        let (kept, kept_too) = (survivors(&one), survivors(&two));
        if kept != kept_too {
            return Err(format!("survivors {kept:#?} and {kept_too:#?}"));
        }
        let (plain, other) = (plain(), other());
        match (try_point(&plain, &one, seed), try_point(&other, &two, seed)) {
            (Outcome::Holds(a), Outcome::Holds(b)) => same_values((&plain, &a), (&other, &b))?,
            (Outcome::Wrong(why), _) | (_, Outcome::Wrong(why)) => return Err(why),
            (Outcome::Skipped(_), _) | (_, Outcome::Skipped(_)) => return Ok(false),
        }
    }
    Ok(true)
}

#[test]
fn order_does_not_matter_in_generated_models() {
    let families: [Generator; 3] = [circuits::generate, bonds::generate, |random, _| {
        signals::generate(random)
    }];
    let (count, mut skipped) = (cases(300), 0);
    for seed in 0..count {
        let model = generated(families[seed as usize % 3], seed);
        let compare = |model: &Model| {
            let text = model.text();
            let shuffled = model.shuffled(&mut Random::new(seed + 1));
            same_in_any_order(&|| flat(&text), &|| flat(&shuffled), seed)
        };
        let compared = compare(&model);
        skipped += u64::from(matches!(compared, Ok(false)));
        if let Err(why) = compared {
            let small = model.shrunk(|model| {
                compile_text(&model.text()).flat.is_some()
                    && !rank::is_singular(&flat(&model.text()), seed)
                    && compare(model).is_err()
            });
            let other = small.shuffled(&mut Random::new(seed + 1));
            panic!("{seed}: {why}\nmade smaller:\n{}\n{other}", small.text());
        }
    }
    assert!(skipped * 100 < count, "skipped {skipped}");
}

#[test]
fn order_does_not_matter_in_files() {
    for file in files::all() {
        let names: Vec<String> = (files::models(&file).iter())
            .map(|flat| flat.model().to_string())
            .collect();
        for seed in 0..3 {
            let shuffled = files::shuffled(&file, &mut Random::new(seed));
            for name in &names {
                let plain = || files::model(&file, None, name);
                let other = || files::model(&file, Some(&shuffled), name);
                if let Err(why) = same_in_any_order(&plain, &other, seed) {
                    panic!("{}, {name}: {why}\n{shuffled}", file.display());
                }
            }
        }
    }
}

/// Terms that take each other away do so wherever they stand.
#[test]
fn what_cancels_is_gone() {
    let orders = [
        "y + a - b = 0",
        "a + y - b = 0",
        "-b + a + y = 0",
        "y - b + a = 0",
        "y + a = b",
        "b - y = a",
    ];
    for order in orders {
        let text = format!(
            "model M\n  input u\n  output y\n  local a, b, c\n  a = c\n  b = c\n  c = sin(u)\n  {order}\nend\n"
        );
        let solved = solve(flat(&text), Aliases::Eliminate).expect("solvable");
        assert_eq!(survivors(&solved), ["b = a", "c = a", "y = 0"], "{order}");
        assert_eq!(solved.flat.equations.len(), 1, "{order}");
    }
}

fn listings(make: &dyn Fn() -> Flat) -> String {
    let mut out = equations(&make(), Default::default());
    let mut said = Diagnostics::default();
    let flat = make();
    if let Some(sorted) = sort(&flat, &mut said) {
        out += &list_sorted(&flat, &sorted, Default::default());
    }
    for aliases in [Aliases::Eliminate, Aliases::Keep] {
        if let Ok(solved) = solve(make(), aliases) {
            out += &list(&solved, Default::default());
        }
    }
    out
}

#[test]
fn running_twice_gives_the_same_bytes() {
    for file in files::all() {
        for at in 0..files::models(&file).len() {
            let make = || files::models(&file).swap_remove(at);
            assert_eq!(listings(&make), listings(&make));
        }
    }
    let families: [Generator; 3] = [circuits::generate, bonds::generate, |random, _| {
        signals::generate(random)
    }];
    for seed in 0..90 {
        let text = generated(families[seed as usize % 3], seed).text();
        assert_eq!(listings(&|| flat(&text)), listings(&|| flat(&text)));
    }
}
