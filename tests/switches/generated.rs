//! Whatever a circuit with ideal switches and diodes is, its run ends: with rows that satisfy the equations, with
//! jumps that conserve charge and flux, with the same values however it is written, and with those of the same
//! circuit with leaky switches; or with the word that a position is impossible.
//!
//! `BGM_CASES=2000` makes so many (from `BGM_FIRST` on), `BGM_SEED=17` only this one; `--nocapture` shows how many
//! came out how.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::circuit::Circuit;
use crate::residuals::{Record, record};
use crate::support::random::Random;
use crate::support::trial::Trial;

/// Nothing happens here.
const UNTIL: f64 = 3.013_7;
/// More steps are no run of such a circuit.
const STEPS: u64 = 20_000;

/// How a circuit came out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Done {
        jumped: bool,
        compared: bool,
    },
    /// Refused, before the run or in it: that is no failure.
    Refused(&'static str),
    Wrong(&'static str, String),
}

const REFUSALS: [&str; 8] = [
    "E0601", "E0602", "E0603", "E0604", "E0605", "E0606", "E0905", "E0906",
];

fn outcome(circuit: &Circuit) -> Outcome {
    let made = catch_unwind(AssertUnwindSafe(|| tried(circuit)));
    made.unwrap_or_else(|_| Outcome::Wrong("panics", String::new()))
}

fn tried(circuit: &Circuit) -> Outcome {
    let trial = |leaky: bool| Trial::of(&circuit.text(leaky), UNTIL).points(31);
    let refused = |code: &'static str| {
        // What contradicts itself makes large currents or voltages when it leaks.
        let leaky = record(&trial(true).tolerance(1e-6, 1e-8), STEPS).ok();
        let Some(leaky) = leaky.filter(Record::is_done) else {
            return Outcome::Refused(code);
        };
        let later = leaky.rows.iter().filter(|row| row.1 > 0.0);
        let largest = (later.flat_map(|row| &row.2)).fold(0.0, |most: f64, v| most.max(v.abs()));
        match largest < 1e4 && code != "E0606" {
            true => Outcome::Wrong("refused", format!("{code}, leaky up to {largest:e}")),
            false => Outcome::Refused(code),
        }
    };
    let ideal = match record(&trial(false).tolerance(1e-9, 1e-11), STEPS) {
        Ok(record) => record,
        Err(said) => {
            let codes = said.iter().map(|one| one.code.text());
            let mut errors = codes.filter(|code| code.starts_with('E'));
            let code = errors.next().unwrap_or("none");
            return match REFUSALS.contains(&code) {
                true => refused(code),
                false => Outcome::Wrong(code, format!("{said:?}")),
            };
        }
    };
    let at = ideal.summary.time;
    match &ideal.failure {
        Some((code, _)) if REFUSALS.contains(code) => return refused(code),
        Some((code, why)) => return Outcome::Wrong(code, why.clone()),
        None if ideal.stopped => return Outcome::Wrong("too many steps", format!("Time = {at}")),
        None => {}
    }
    if let Err(why) = ideal.check() {
        return Outcome::Wrong("residual", why);
    }
    if let Err(why) = circuit.conserves(&ideal) {
        return Outcome::Wrong("conservation", why);
    }
    let last = |record: &Record, name: &str| {
        let at = record.column(name).expect("it is in the equations");
        record.rows.last().expect("there is a row").2[at]
    };
    let jumped = ideal.summary.jump_count > 0;
    let differs = |other: &Record, off: f64| {
        circuit.storages().find_map(|(_, name)| {
            let (one, other) = (last(&ideal, &name), last(other, &name));
            let differs = (one - other).abs() > off * (1.0 + one.abs());
            differs.then(|| format!("{name} = {one}, {other}"))
        })
    };
    // The order in which it is written is no matter.
    let mut turned = circuit.clone();
    turned.parts.reverse();
    let turned = Trial::of(&turned.text(false), UNTIL).points(31);
    let why = match record(&turned.tolerance(1e-9, 1e-11), STEPS) {
        Err(said) => Some(format!("{said:?}")),
        Ok(other) if !other.is_done() => Some(format!("{:?} {}", other.failure, other.stopped)),
        Ok(other) => differs(&other, 1e-5),
    };
    if let Some(why) = why {
        return Outcome::Wrong("turned round", why);
    }
    // Where charges jump, what leaks in the meantime may go another way.
    let leaky = (!jumped).then(|| record(&trial(true).tolerance(1e-7, 1e-9), STEPS).ok());
    let Some(leaky) = leaky.flatten().filter(Record::is_done) else {
        return Outcome::Done {
            jumped,
            compared: false,
        };
    };
    if let Some(why) = differs(&leaky, 1e-3) {
        return Outcome::Wrong("differs from leaky", why);
    }
    Outcome::Done {
        jumped,
        compared: true,
    }
}

#[test]
#[allow(clippy::print_stdout)]
fn circuits_with_switches_anywhere() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("BGM_FIRST").unwrap_or(0);
    let seeds = match number("BGM_SEED") {
        Some(seed) => seed..seed + 1,
        None => first..first + number("BGM_CASES").unwrap_or(300_u64),
    };
    let mut tally: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for seed in seeds {
        let circuit = Circuit::generate(&mut Random::new(seed));
        let found = outcome(&circuit);
        let key = match &found {
            Outcome::Wrong(kind, _) => format!("wrong: {kind}"),
            other => format!("{other:?}"),
        };
        *tally.entry(key).or_default() += 1;
        if let Outcome::Wrong(kind, _) = found {
            let same = |other: &Circuit| match outcome(other) {
                Outcome::Wrong(one, _) => one == kind,
                _ => false,
            };
            let small = circuit.shrunk(&same);
            let why = outcome(&small);
            wrong.push(format!("seed {seed}: {why:?}\n{}", small.text(false)));
        }
    }
    println!("{tally:#?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
