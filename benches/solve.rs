//! From text to the solved listing: time and memory against size.
//!
//! `cargo bench --bench solve` prints the table that docs/performance.md keeps.

mod common;
#[path = "common/solving.rs"]
mod solving;

use common::{Shunt, asked, quick, written_out};

fn main() {
    if let Some((kind, size)) = asked() {
        let shunt = match &kind[..] {
            "capacitors" => Shunt::Capacitor,
            _ => Shunt::Resistor,
        };
        return solving::measure(written_out(size, shunt));
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
    let heading = "ladder of      stages      time   per stage     memory    listing   exponent";
    solving::table(heading, runs, |kind, size, measured| {
        let expected = if kind == "capacitors" { size } else { 0 };
        assert_eq!(measured.states, expected, "states of {kind} {size}");
        String::new()
    });
}
