//! From text to the solved listing: one measurement, and the table of many.

use std::io::{self, Write};

use bgm::compile::{Aliases, Options, load_flat, solved};
use bgm::listing::solved::solved as list;
use bgm::syntax::load::{Input, NoFiles};

#[path = "clock.rs"]
mod clock;

use crate::common::{measure_apart, peak_bytes};
use clock::Clock;

/// Prints seconds, bytes of memory, bytes of listing and the number of states.
pub fn measure(text: String) {
    let before = peak_bytes();
    let input = Input::Standard(text.into_bytes());
    let clock = Clock::start();
    let mut compiled = load_flat(&input, &Options::default(), &NoFiles);
    let flat = compiled.flat.take().expect("the model compiles");
    let model =
        solved(flat, Aliases::Eliminate, &mut compiled.diagnostics).map(|solution| solution.solved);
    let model = model.expect("the model is solved");
    let listing = list(&model, Default::default());
    let seconds = clock.seconds();
    let memory = peak_bytes()
        .zip(before)
        .map_or(0, |(after, before)| after - before);
    let states = model.flat.states().count();
    let mut out = io::stdout().lock();
    writeln!(out, "{seconds} {memory} {} {states}", listing.len())
        .expect("standard output is there");
}

/// What came of one measurement.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Not every table compares times.
    #[allow(dead_code)]
    pub seconds: f64,
    pub states: usize,
}

/// A line for each kind and size, the exponent of time against size where a kind follows itself.
/// `check` looks at what came of it and may say more at the end of the line.
pub fn table(
    heading: &str,
    runs: &[(&str, usize)],
    mut check: impl FnMut(&str, usize, Measured) -> String,
) {
    let mut out = io::stdout().lock();
    let mut say = |text: &str| writeln!(out, "{text}").expect("standard output is there");
    say(heading);
    let mut last: Option<(&str, usize, f64)> = None;
    for &(kind, size) in runs {
        let printed = measure_apart(kind, size);
        let numbers: Vec<f64> = (printed.split_whitespace())
            .map(|word| word.parse().expect("a number"))
            .collect();
        let [seconds, memory, listing, states] = numbers[..] else {
            panic!("{printed}");
        };
        let exponent = match last {
            Some((before, smaller, less)) if before == kind => {
                let growth = (seconds / less).ln() / (size as f64 / smaller as f64).ln();
                format!("{growth:.2}")
            }
            _ => String::new(),
        };
        let states = states as usize;
        let more = check(kind, size, Measured { seconds, states });
        let line = format!(
            "{kind:<12}{size:>9}{seconds:>8.3} s{:>9.1} us{:>8.0} MB{:>8.1} MB{exponent:>11}{more}",
            seconds * 1e6 / size as f64,
            memory / 1e6,
            listing / 1e6,
        );
        say(line.trim_end());
        last = Some((kind, size, seconds));
    }
}
