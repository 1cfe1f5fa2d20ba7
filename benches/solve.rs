//! From text to the solved listing: time and memory against size.
//!
//! `cargo bench --bench solve` prints the table that docs/performance.md keeps.

mod common;

use std::io::{self, Write};
use std::time::Instant;

use bgm::compile::{Aliases, Options, compile, solved};
use bgm::listing::solved::solved as list;
use bgm::load::{Input, NoFiles};
use common::{Shunt, asked, measure_apart, peak_bytes, quick, written_out};

/// Seconds, bytes of memory, bytes of listing.
fn measure(kind: &str, size: usize) {
    let shunt = match kind {
        "capacitors" => Shunt::Capacitor,
        _ => Shunt::Resistor,
    };
    let text = written_out(size, shunt);
    let before = peak_bytes();
    let input = Input::Standard(text.into_bytes());
    let start = Instant::now();
    let mut compiled = compile(&input, &Options::default(), &NoFiles);
    let flat = compiled.flat.take().expect("the model compiles");
    let model = solved(flat, Aliases::Eliminate, &mut compiled.diagnostics);
    let listing = list(&model.expect("the model is solved"), Default::default());
    let seconds = start.elapsed().as_secs_f64();
    let memory = peak_bytes()
        .zip(before)
        .map_or(0, |(after, before)| after - before);
    let mut out = io::stdout().lock();
    writeln!(out, "{seconds} {memory} {}", listing.len()).expect("standard output is there");
}

fn main() {
    if let Some((kind, size)) = asked() {
        return measure(&kind, size);
    }
    let runs: &[(&str, usize)] = match quick() {
        true => &[("capacitors", 20), ("resistors", 20)],
        false => &[
            ("capacitors", 1_000),
            ("capacitors", 10_000),
            ("capacitors", 100_000),
            ("resistors", 1_000),
            ("resistors", 10_000),
        ],
    };
    let mut out = io::stdout().lock();
    let mut say = |text: String| writeln!(out, "{text}").expect("standard output is there");
    say("ladder of      stages      time   per stage     memory    listing   exponent".into());
    let mut last: Option<(&str, usize, f64)> = None;
    for &(kind, size) in runs {
        let printed = measure_apart(kind, size);
        let numbers: Vec<f64> = (printed.split_whitespace())
            .map(|word| word.parse().expect("a number"))
            .collect();
        let [seconds, memory, listing] = numbers[..] else {
            panic!("{printed}");
        };
        let exponent = match last {
            Some((before, smaller, less)) if before == kind => {
                let growth = (seconds / less).ln() / (size as f64 / smaller as f64).ln();
                format!("{growth:.2}")
            }
            _ => String::new(),
        };
        say(format!(
            "{kind:<12}{size:>9}{seconds:>8.3} s{:>9.1} us{:>8.0} MB{:>8.1} MB{exponent:>11}",
            seconds * 1e6 / size as f64,
            memory / 1e6,
            listing / 1e6,
        ));
        last = Some((kind, size, seconds));
    }
}
