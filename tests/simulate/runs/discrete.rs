//! Discrete variables: samples, counters, `elsewhen`, models without states.

use crate::support::trial::{Trial, same_times, within};

/// Between samples x' = u - a x is an exponential: exact at every row.
#[test]
fn sampled_control() {
    let result = Trial::file("examples/sampled_control.bgm").run(&["x", "u"]);
    let (a, k, r, period) = (0.5, 4.0, 1.0, 0.1);
    let p = f64::exp(-a * period);
    let mut samples = vec![(0.0, k * r)];
    for n in 0..30 {
        let (x, u): (f64, f64) = samples[n];
        let next = p * x + (1.0 - p) / a * u;
        samples.push((next, k * (r - next)));
    }
    let at = |t: f64| {
        let n = (t / period + 1e-9).floor();
        let (x, u) = samples[n as usize];
        let p = (-a * (t - n * period)).exp();
        (p * x + (1.0 - p) / a * u, u)
    };
    within(result.off(0, |t| at(t).0), 1e-8);
    within(result.off(1, |t| at(t).1), 4e-8);
    // Exactly at k*T.
    let times: Vec<f64> = (1..=30).map(|k| 0.0 + f64::from(k) * 0.1).collect();
    same_times(&result.event_times(), &times[..result.events.len()], 0.0);
}

/// Ten thousand samples: each at exactly start + k*period, none missed, none twice.
#[test]
fn many_samples() {
    let text = "model M\n local n, x\n der(x) = 1\n when sample(0.05, 0.1) then new(n) = n + 1\n endwhen\nend";
    let result = Trial::of(text, 1000.0).run(&["n", "x"]);
    let times: Vec<f64> = (0..10_000).map(|k| 0.05 + f64::from(k) * 0.1).collect();
    same_times(&result.event_times(), &times, 0.0);
    assert_eq!(result.last()[0], 10_000.0);
    within((result.last()[1] - 1000.0).abs(), 1e-6);
    for (at, event) in result.events.iter().enumerate() {
        assert_eq!(
            (event.before[0], event.after[0]),
            (at as f64, at as f64 + 1.0)
        );
    }
}

/// Samples restart a state in a model without any relation: a saw.
#[test]
fn samples_restart() {
    let text =
        "model M\n local x\n der(x) = 1\n when sample(0.3, 0.3) then init(x) = 0\n endwhen\nend";
    let result = Trial::of(text, 2.0).run(&["x"]);
    let times: Vec<f64> = (0..6).map(|k| 0.3 + f64::from(k) * 0.3).collect();
    same_times(&result.event_times(), &times, 0.0);
    for event in &result.events {
        within((event.before[0] - 0.3).abs(), 1e-8);
        assert_eq!(event.after[0], 0.0);
    }
    within((result.last()[0] - 0.2).abs(), 1e-8);
}

/// A counter that counts how often a sine rises through 0.5, and keeps when it last did: pre() is the value
/// before the event.
#[test]
fn counter() {
    let text = "model M\n local x, v, n, t, d\n der(x) = v\n der(v) = -x\n init(v) = 1
        when x > 0.5 then new(n) = pre(n) + 1\n new(t) = Time\n new(d) = Time - pre(t)\n endwhen\nend";
    let result = Trial::of(text, 30.0)
        .tolerance(1e-10, 1e-12)
        .run(&["n", "t", "d"]);
    let first = 0.5_f64.asin();
    let tau = std::f64::consts::TAU;
    assert_eq!(result.last()[0], 5.0);
    within((result.last()[1] - (first + 4.0 * tau)).abs(), 1e-7);
    within((result.last()[2] - tau).abs(), 1e-7);
}

/// `elsewhen` acts only where the earlier conditions are false.
#[test]
fn elsewhen() {
    let text = "model M\n local x, a\n der(x) = 1
        when x > 1.01 then new(a) = 1\n elsewhen x > 0.51 then new(a) = 2\n elsewhen x > 1.51 then new(a) = 3\n endwhen\nend";
    let result = Trial::of(text, 2.0).run(&["a"]);
    // At 1.51 the first condition is still true.
    let truth = |t: f64| match t {
        t if t < 0.51 => 0.0,
        t if t < 1.01 => 2.0,
        _ => 1.0,
    };
    within(result.off(0, truth), 0.0);
    // Both become true at once: the first acts.
    let text = "model M\n local x, a\n der(x) = 1
        when x > 1 then new(a) = 1\n elsewhen 2*x > 2 then new(a) = 2\n endwhen\nend";
    let result = Trial::of(text, 2.0).run(&["a"]);
    assert_eq!(result.last()[0], 1.0);
}

/// Counting without a `when` never settles; the row that is kept is from before the event.
#[test]
fn unsettled() {
    let text = "model M\n local a, x\n der(x) = 1\n new(a) = if Time > 0.5 then a + 1 else 0\nend";
    let result = Trial::of(text, 1.0).points(8).run(&["a", "x"]);
    assert_eq!(result.code, Some("E0902"));
    let message = result.failure.as_deref().expect("it fails");
    assert!(
        message.contains("`a` cannot be settled at Time = 0.5"),
        "{message}"
    );
    assert_eq!(result.times.last(), Some(&0.5));
    assert_eq!(result.rows[result.rows.len() - 1][0], 0.0);
}

/// Two samplers of different periods that meet, and a `when` that reads what the other sets: one settles
/// on the other.
#[test]
fn samplers_that_meet() {
    let text = "model M\n local n, m, s
        when sample(0, 0.2) then new(n) = n + 1\n endwhen
        when sample(0, 0.3) then new(m) = m + 1\n endwhen\n s = n + 10*m\nend";
    let result = Trial::of(text, 1.2).points(121).run(&["n", "m", "s"]);
    let n = |t: f64| 1.0 + (t / 0.2 + 1e-9).floor();
    let m = |t: f64| 1.0 + (t / 0.3 + 1e-9).floor();
    within(result.off(0, n), 0.0);
    within(result.off(1, m), 0.0);
    within(result.off(2, |t| n(t) + 10.0 * m(t)), 0.0);
}

/// No states, only discrete variables: a ring of two bits shifted at each sample (period 4), and a delay through pre.
#[test]
fn discrete_only() {
    let text = "model M\n local a, b
        when sample(1, 1) then new(a) = 1 - b\n new(b) = a\n endwhen\nend";
    let result = Trial::of(text, 10.0).points(21).run(&["a", "b"]);
    let expected = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    for (time, row) in result.times.iter().zip(&result.rows) {
        let (a, b) = expected[(time + 1e-9).floor() as usize % 4];
        assert_eq!((row[0], row[1]), (a, b), "at {time}");
    }
}

/// No dynamics at all: solved at each point, and that is said. The bridge's output by the voltage dividers:
/// with R5 between them, by the star of Thevenin sources.
#[test]
fn no_dynamics() {
    let result = Trial::file("examples/wheatstone.bgm").run(&["y"]);
    assert!(result.said.contains(&"W0901"), "{:?}", result.said);
    let left = 10.0 * 200.0 / 300.0;
    let right = 10.0 * 310.0 / 460.0;
    let inner = 100.0 * 200.0 / 300.0 + 150.0 * 310.0 / 460.0;
    let y = (left - right) * 1000.0 / (1000.0 + inner);
    within(result.off(0, |_| y), 1e-12);
    // With an input of Time it follows it.
    let result = Trial::file("examples/lamp.bgm")
        .input("u=12*Time")
        .until(1.0)
        .run(&["y", "u"]);
    within(result.off(1, |t| 12.0 * t), 1e-12);
    // u = y + 4.5 i(y), checked by its inverse.
    let table = [
        (0.0, 0.0),
        (1.0, 0.21),
        (2.0, 0.30),
        (4.0, 0.40),
        (8.0, 0.55),
        (12.0, 0.66),
    ];
    let current = |y: f64| {
        for pair in table.windows(2) {
            if y <= pair[1].0 {
                return pair[0].1
                    + (y - pair[0].0) / (pair[1].0 - pair[0].0) * (pair[1].1 - pair[0].1);
            }
        }
        0.66
    };
    within(
        result.worst(|_, at| at[0] + 4.5 * current(at[0]) - at[1]),
        1e-9,
    );
}
