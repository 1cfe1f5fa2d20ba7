//! The register program of a ladder of resistors and capacitors: building it, one evaluation of the
//! rates, one Jacobian, all against size.
//!
//! `cargo bench --bench program` prints the table that docs/performance.md keeps. Times are those of the
//! processor; an assignment is one of the solved model.

#![allow(clippy::print_stdout)]

#[path = "common/clock.rs"]
mod clock;
mod common;

use std::hint::black_box;

use bgm::compile::{Aliases, Options, load_flat, solved};
use bgm::program::build;
use bgm::program::machine::{Extent, Machine};
use bgm::syntax::load::{Input, NoFiles};
use clock::Clock;
use common::{Shunt, asked, measure_apart, peak_bytes, quick, written_out};

/// Each is repeated for so many seconds.
const LONG_ENOUGH: f64 = 0.3;

fn measure(size: usize) {
    let input = Input::Standard(written_out(size, Shunt::Capacitor).into_bytes());
    let mut compiled = load_flat(&input, &Options::default(), &NoFiles);
    let flat = compiled.flat.take().expect("the model compiles");
    let model =
        solved(flat, Aliases::Eliminate, &mut compiled.diagnostics).map(|solution| solution.solved);
    let model = model.expect("the model is solved");
    let assignments = model.assignments().count();
    let before = peak_bytes();

    let clock = Clock::start();
    let program = build(&model, &[]);
    let built = clock.seconds();
    let clock = Clock::start();
    let mut machine = Machine::new(&program);
    let ready = clock.seconds();
    let memory = peak_bytes()
        .zip(before)
        .map_or(0, |(after, before)| after - before);

    let states = vec![0.5; program.state_count()];
    let evaluation = repeated(|at| {
        let done = machine.evaluate(1e-3 * at as f64, &states, Extent::Rates);
        black_box(done).expect("a ladder can be evaluated");
    });
    let mut entries = vec![0.0; machine.pattern().nnz()];
    let jacobian = repeated(|_| {
        let done = machine.jacobian(&mut entries);
        black_box(done).expect("a ladder has a Jacobian");
    });
    println!(
        "{built} {ready} {memory} {evaluation} {jacobian} {assignments} {} {} {}",
        program.continuous.code.len(),
        program.registers.len(),
        entries.len(),
    );
}

/// Seconds for one.
fn repeated(mut one: impl FnMut(usize)) -> f64 {
    one(0);
    let clock = Clock::start();
    let mut count = 0;
    loop {
        count += 1;
        one(count);
        let seconds = clock.seconds();
        if seconds > LONG_ENOUGH {
            return seconds / count as f64;
        }
    }
}

fn main() {
    if let Some((_, size)) = asked() {
        return measure(size);
    }
    let sizes: &[usize] = match quick() {
        true => &[20],
        false => &[1_000, 10_000, 100_000],
    };
    println!(
        "  stages   build   ready   memory  rates: each  Jacobian: each  instructions  registers"
    );
    for &size in sizes {
        let printed = measure_apart("ladder", size);
        let numbers: Vec<f64> = (printed.split_whitespace())
            .map(|word| word.parse().expect("a number"))
            .collect();
        let [
            built,
            ready,
            memory,
            evaluation,
            jacobian,
            assignments,
            code,
            registers,
            entries,
        ] = numbers[..]
        else {
            panic!("{printed}");
        };
        assert!(entries >= (3 * size - 2) as f64, "three diagonals");
        let each = |seconds: f64| seconds * 1e9 / assignments;
        println!(
            "{size:>8}{built:>6.2} s{ready:>6.2} s{:>6.0} MB{:>10.1} ns{:>13.1} ns{:>14.2}{:>11.1}",
            memory / 1e6,
            each(evaluation),
            each(jacobian),
            code / assignments,
            registers / assignments,
        );
    }
}
