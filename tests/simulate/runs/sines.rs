//! Sines of Time limit the steps, but only while they matter.

use crate::support::trial::{Trial, within};

/// A source that dies away in a microsecond, seen through a resistor by a capacitor and an exponential diode, until 1 s.
fn diode(resistance: &str, capacitance: &str, until: f64) -> u64 {
    let text = format!(
        "model M\n output u\n local us
        us = 0.2*exp(-1E7*Time)*sin(1.26E9*Time)
        {capacitance}*der(u) = (us - u)/{resistance} - 1E-14*(exp(u/0.02585) - 1)\nend"
    );
    let trial = Trial::of(&text, until).tolerance(1e-6, 1e-9);
    let result = trial.run(&["u"]);
    if until == 1.0 {
        within(result.last()[0].abs(), 1e-9);
    }
    result.summary.counts.steps
}

#[test]
fn at_rest() {
    let steps = diode("1E6", "1E-9", 1.0);
    assert!(steps <= 2000, "{steps} steps");
    // Where the capacitor follows the source, accuracy needs steps while this acts, and nothing needs them afterwards.
    let (all, acting) = (diode("1E3", "1E-12", 1.0), diode("1E3", "1E-12", 1e-5));
    assert!(all <= acting + 500, "{all} steps, {acting} until 1e-5 s");
}

/// A burst in the middle of a long rest is seen: the integral of exp(-z**2) sin**2 is half of sqrt(pi).
#[test]
fn late_burst() {
    let text = "model M\n output x\n der(x) = exp(-((Time - 0.5)/0.01)**2)*sin(2E4*Time)**2\nend";
    let result = Trial::of(text, 1.0).run(&["x"]);
    let truth = 0.005 * std::f64::consts::PI.sqrt();
    within((result.last()[0] - truth).abs(), 1e-7);
}

/// A sine that no rate feels, but a relation.
#[test]
fn counted() {
    let text = "model M\n output x, n\n init(x) = 1\n der(x) = -x\n local s\n s = sin(100*Time)
        when s > 0.9 then\n new(n) = pre(n) + 1\n endwhen\nend";
    let result = Trial::of(text, 10.0).run(&["n"]);
    assert_eq!(result.last(), [159.0]);
}
