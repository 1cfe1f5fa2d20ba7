//! What the tests of switches share: runs at tight tolerances, what a run says of its jumps, values that are
//! exact, roots.

use std::collections::BTreeMap;

use crate::support::trial::{Result, Trial, within};

/// What a closed form is met to. Runs have tolerances of 1e-11 for it.
pub const CLOSE: f64 = 1e-8;

/// A text to a time, with tight tolerances and 101 points.
pub fn exact(text: &str, until: f64) -> Trial {
    Trial::of(text, until).tolerance(1e-11, 1e-13)
}

/// An example with its experiment, but for tight tolerances.
pub fn example(name: &str) -> Trial {
    Trial::file(&format!("examples/{name}.bgm")).tolerance(1e-11, 1e-13)
}

/// A jump of states, as the run tells it.
#[derive(Clone, Debug)]
pub struct Jump {
    pub time: f64,
    lost: Option<f64>,
    changes: BTreeMap<String, (f64, f64)>,
    impulses: BTreeMap<String, f64>,
    given: BTreeMap<String, f64>,
}

impl Jump {
    /// A variable before and after.
    #[track_caller]
    pub fn change(&self, name: &str) -> (f64, f64) {
        match self.changes.get(name) {
            Some(&change) => change,
            None => panic!("{name} does not jump: {self:?}"),
        }
    }

    /// The impulse of a variable of a switch.
    #[track_caller]
    pub fn impulse(&self, name: &str) -> f64 {
        match self.impulses.get(name) {
            Some(&impulse) => impulse,
            None => panic!("{name} has no impulse: {self:?}"),
        }
    }

    /// The energy that a submodel that steps has given.
    #[track_caller]
    pub fn given(&self, name: &str) -> f64 {
        match self.given.get(name) {
            Some(&given) => given,
            None => panic!("{name} has given nothing: {self:?}"),
        }
    }

    /// The energy that the switches have taken. They have it from their ports.
    #[track_caller]
    pub fn lost(&self) -> f64 {
        self.lost.expect("the switches have ports")
    }

    pub fn jumps(&self, name: &str) -> bool {
        self.changes.contains_key(name)
    }
}

/// The jumps of a run that came to its end. This is the only place that knows how a run keeps them.
#[track_caller]
pub fn jumps(result: &Result) -> Vec<Jump> {
    assert_eq!(result.failure, None);
    (result.summary.jumps.iter())
        .map(|jump| Jump {
            time: jump.time,
            lost: jump.lost,
            changes: (jump.changes.iter())
                .map(|(name, before, after)| (name.clone(), (*before, *after)))
                .collect(),
            impulses: (jump.impulses.iter())
                .map(|(name, impulse)| (name.clone(), *impulse))
                .collect(),
            given: jump.given.iter().cloned().collect(),
        })
        .collect()
}

/// The only jump of a run.
#[track_caller]
pub fn only_jump(result: &Result) -> Jump {
    let mut all = jumps(result);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// Asserts that a run had no jump.
#[track_caller]
pub fn nothing_jumps(result: &Result) {
    let all = jumps(result);
    assert!(all.is_empty(), "{all:?}");
}

/// Asserts that a number is another one, to what closed forms are met to.
#[track_caller]
pub fn close(found: f64, expected: f64) {
    within((found - expected).abs(), CLOSE * expected.abs().max(1.0));
}

/// A variable in the rows between two times, these excluded: a row at the instant of an event has the values
/// after it, whatever the last digit of its time.
fn between(result: &Result, at: usize, from: f64, to: f64) -> Vec<f64> {
    let rows = result.times.iter().zip(result.column(at));
    let found: Vec<f64> = rows
        .filter(|&(&time, _)| time > from + 1e-9 && time < to - 1e-9)
        .map(|(_, value)| value)
        .collect();
    assert!(!found.is_empty(), "no rows from {from} to {to}");
    found
}

/// Asserts that a variable is zero to the last bit between two times.
#[track_caller]
pub fn zero(result: &Result, at: usize, from: f64, to: f64) {
    held(result, at, from, to, 0.0);
}

/// Asserts that a variable has one value between two times, to the last bit.
#[track_caller]
pub fn held(result: &Result, at: usize, from: f64, to: f64, expected: f64) {
    for value in between(result, at, from, to) {
        within((value - expected).abs(), 0.0);
    }
}

/// Asserts that a variable stays what it is between two times, to the last bit, and gives that.
#[track_caller]
pub fn constant(result: &Result, at: usize, from: f64, to: f64) -> f64 {
    let first = between(result, at, from, to)[0];
    held(result, at, from, to, first);
    first
}

/// Asserts that something happens at a time; other things may happen too.
#[track_caller]
pub fn happens(result: &Result, time: f64) {
    let times = result.event_times();
    let nearest = (times.iter().map(|event| (event - time).abs())).fold(f64::INFINITY, f64::min);
    assert!(nearest.is_finite(), "nothing happens");
    within(nearest, CLOSE);
}

/// The times at which a variable changes.
pub fn changes(result: &Result, at: usize) -> Vec<f64> {
    (result.changes_of(at).iter())
        .map(|event| event.time)
        .collect()
}

/// Where a function changes its sign, to the last digits.
pub fn root(of: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let sign = of(low) > 0.0;
    assert!(sign != (of(high) > 0.0), "no root from {low} to {high}");
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        match (of(middle) > 0.0) == sign {
            true => low = middle,
            false => high = middle,
        }
    }
    0.5 * (low + high)
}
