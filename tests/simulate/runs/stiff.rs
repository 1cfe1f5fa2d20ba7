//! Stiff problems with published references, with the tolerances written in their files.

use crate::support::trial::{Trial, within};

pub fn relative(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    (found.iter().zip(expected)).fold(0.0, |worst: f64, (found, expected)| {
        worst.max(((found - expected) / expected).abs())
    })
}

/// Mazzia and Magherini, Test Set for Initial Value Problem Solvers, problem ROBER, to 1e11.
pub const ROBERTSON: [f64; 3] = [
    0.2083340149701255e-7,
    0.8333360770334713e-13,
    0.999999979166505,
];

#[test]
fn robertson() {
    let result = Trial::file("examples/robertson.bgm").run(&["y1", "y2", "y3"]);
    assert_eq!(result.times.last(), Some(&1e11));
    within(relative(result.last(), &ROBERTSON), 1e-5);
}

/// The same with the sum of the three as an equation: y3 is no state any more.
#[test]
fn robertson_with_its_balance() {
    let text = "model Robertson\n output y1, y2, y3\n der(y1) = -0.04*y1 + 1E4*y2*y3
        der(y2) = 0.04*y1 - 1E4*y2*y3 - 3E7*y2**2\n y1 + y2 + y3 = 1\n init(y1) = 1\nend";
    let trial = Trial::of(text, 1e11).tolerance(1e-8, 1e-18);
    let result = trial.run(&["y1", "y2", "y3"]);
    within(relative(result.last(), &ROBERTSON), 1e-5);
}

/// The same, problem HIRES, to 321.8122.
pub const HIRES: [f64; 8] = [
    0.7371312573325668e-3,
    0.1442485726316185e-3,
    0.5888729740967575e-4,
    0.1175651343283149e-2,
    0.2386356198831331e-2,
    0.6238968252742796e-2,
    0.2849998395185769e-2,
    0.2850001604814231e-2,
];

#[test]
fn hires() {
    let names = ["y1", "y2", "y3", "y4", "y5", "y6", "y7", "y8"];
    let result = Trial::file("examples/hires.bgm").run(&names);
    within(relative(result.last(), &HIRES), 1e-5);
}
