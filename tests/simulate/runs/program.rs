//! The program itself, as a user starts it.

use std::process::Command;

use super::stiff::{HIRES, ROBERTSON, relative};
use crate::support::trial::within;

/// What `bgm simulate` prints; it must end well.
fn simulate(arguments: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_bgm"))
        .arg("simulate")
        .args(arguments)
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{arguments:?}: {said}");
    String::from_utf8(done.stdout).expect("it prints text")
}

/// The columns of the last row of a CSV, by names in its first.
fn last(csv: &str, names: &[&str]) -> Vec<f64> {
    let heads: Vec<&str> = csv
        .lines()
        .next()
        .expect("there is a head")
        .split(',')
        .collect();
    let row: Vec<&str> = (csv.lines().last().expect("there is a row"))
        .split(',')
        .collect();
    (names.iter())
        .map(|name| {
            let at = heads
                .iter()
                .position(|head| head == name)
                .expect("it is there");
            row[at].parse().expect("it is a number")
        })
        .collect()
}

/// The published references (see the tests of stiff problems), with nothing but the file.
#[test]
fn stiff_problems() {
    let csv = simulate(&["examples/robertson.bgm"]);
    let names = ["Time", "y1", "y2", "y3"];
    let row = last(&csv, &names);
    assert_eq!(row[0], 1e11);
    within(relative(&row[1..], &ROBERTSON), 1e-5);
    let csv = simulate(&["examples/hires.bgm"]);
    let row = last(&csv, &["y1", "y2", "y3", "y4", "y5", "y6", "y7", "y8"]);
    within(relative(&row, &HIRES), 1e-5);
}

/// `--steady --until 0` just prints the steady state, with units.
#[test]
fn steady_state() {
    let text = simulate(&["examples/diode.bgm", "--steady", "--until", "0"]);
    let line = text.lines().find(|line| line.starts_with("i = "));
    let number = line.and_then(|line| line.strip_prefix("i = ")?.strip_suffix(" A"));
    let i: f64 = (number.expect("the current is there").parse()).expect("it is a number");
    // (5 - u)/R = Is (exp(u/Vt) - 1) + Gp u, solved for u by hand: u = Vt ln((i - Gp u)/Is + 1).
    let mut u: f64 = 0.4;
    for _ in 0..50 {
        u = 0.026 * (((5.0 - u) / 1e3 - 1e-9 * u) / 1e-9 + 1.0).ln();
    }
    within((i - (5.0 - u) / 1e3).abs(), 1e-12);
}
