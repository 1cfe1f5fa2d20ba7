//! Mechanisms whose states are chosen while they run.

use std::f64::consts::{PI, TAU};

use crate::support::trial::{Trial, within};

const G: f64 = 9.81;

/// The arithmetic-geometric mean.
fn agm(mut a: f64, mut b: f64) -> f64 {
    for _ in 0..10 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    a
}

/// The period of a pendulum of length 1 released at an angle (Gauss): 2 pi sqrt(L/g)/agm(1, cos(angle/2)).
fn period(angle: f64) -> f64 {
    TAU * (1.0 / G).sqrt() / agm(1.0, (0.5 * angle).cos())
}

/// Released at 90 degrees, ten periods at tolerance 1e-9: the period from the passages through the
/// lowest point, the length, the energy.
#[test]
fn pendulum_released_level() {
    let period = period(0.5 * PI);
    within((period - 2.3678419).abs(), 5e-8);
    let trial = Trial::file("examples/pendulum_swing.bgm").until(10.0 * period);
    let names = ["x", "y", "vx", "vy", "E", "F"];
    let result = trial.points(401).run(&names);
    within(result.worst(|_, at| at[0].hypot(at[1]) - 1.0), 1e-8);
    within(result.worst(|_, at| at[0] * at[2] + at[1] * at[3]), 1e-8);
    within(result.worst(|_, at| at[4]), 1e-5);
    // E is what it says; the rod's force is what holds the bob: F = (v^2 - g y)/L^2.
    let energy = |at: &[f64]| 0.5 * (at[2] * at[2] + at[3] * at[3]) + G * at[1];
    within(result.worst(|_, at| at[4] - energy(at)), 1e-12);
    within(
        result.worst(|_, at| at[5] - (at[2] * at[2] + at[3] * at[3] - G * at[1])),
        1e-7,
    );
    // Row 10 + 20 k is at (1/4 + k/2) periods: the bob is at the bottom, and a little late if x/vx > 0.
    let passage = |k: usize| {
        let row = &result.rows[10 + 20 * k];
        within(row[0].abs(), 1e-4);
        result.times[10 + 20 * k] - row[0] / row[2]
    };
    let measured = (passage(18) - passage(0)) / 9.0;
    within((measured - period).abs(), 1e-7);
    assert!(result.summary.choices >= 20, "{:?}", result.summary);
    // Level again at the end.
    let last = result.last();
    within((last[0] - 1.0).abs(), 1e-8);
    within(last[1].abs(), 1e-4);
}

/// theta'' = -g sin(theta), theta from straight down, by the classical method of Runge and Kutta with tiny steps.
fn polar(theta: f64, rate: f64, times: &[f64]) -> Vec<(f64, f64)> {
    let f = |theta: f64, rate: f64| (rate, -G * theta.sin());
    let mut at = (theta, rate);
    let mut now = 0.0;
    let mut all = Vec::new();
    for &time in times {
        let steps = ((time - now) / 1e-4).ceil();
        let h = (time - now) / steps;
        for _ in 0..steps as usize {
            let a = f(at.0, at.1);
            let b = f(at.0 + 0.5 * h * a.0, at.1 + 0.5 * h * a.1);
            let c = f(at.0 + 0.5 * h * b.0, at.1 + 0.5 * h * b.1);
            let d = f(at.0 + h * c.0, at.1 + h * c.1);
            at.0 += h / 6.0 * (a.0 + 2.0 * b.0 + 2.0 * c.0 + d.0);
            at.1 += h / 6.0 * (a.1 + 2.0 * b.1 + 2.0 * c.1 + d.1);
        }
        now = time;
        all.push(at);
    }
    all
}

/// Pushed with 7 m/s from below it goes round and round: against the equation of the angle.
#[test]
fn pendulum_over_the_top() {
    let trial = Trial::file("examples/pendulum_swing.bgm").experiment("over");
    let result = trial.run(&["x", "y", "vx", "vy", "E"]);
    let truth = polar(0.0, 7.0, &result.times);
    assert!(truth[truth.len() - 1].0 > 3.0 * TAU, "it goes round");
    let mut worst: f64 = 0.0;
    for (row, (theta, rate)) in result.rows.iter().zip(truth) {
        let (sin, cos) = theta.sin_cos();
        let at = [sin, -cos, rate * cos, rate * sin];
        for (found, expected) in row.iter().zip(at) {
            worst = worst.max((found - expected).abs());
        }
    }
    within(worst, 1e-5);
    within(result.worst(|_, at| at[0].hypot(at[1]) - 1.0), 1e-8);
    within(result.worst(|_, at| at[4] - (24.5 - G)), 1e-5);
    assert!(result.summary.choices >= 8, "{:?}", result.summary);
}

/// Every method goes over the top.
#[test]
fn pendulum_by_every_method() {
    for method in bgm::simulate::integrate::Method::ALL {
        let trial = Trial::file("examples/pendulum_swing.bgm").experiment("over");
        let result = trial
            .tolerance(1e-7, 1e-9)
            .method(method)
            .run(&["x", "y", "E"]);
        let truth = polar(0.0, 7.0, &result.times);
        let off = result.off(0, |t| {
            let at = result.times.partition_point(|&other| other < t);
            truth[at].0.sin()
        });
        within(off, 1e-3);
        within(result.worst(|_, at| at[0].hypot(at[1]) - 1.0), 1e-8);
    }
}

/// The crank turns full circles. Without friction all work of the torque is motion:
/// J w^2/2 + m v^2/2 = tau (phi - phi0); with it, less.
#[test]
fn slider_crank() {
    let names = ["phi", "x", "theta", "w", "v", "S"];
    let trial = Trial::file("examples/slider_crank.bgm").tolerance(1e-9, 1e-11);
    let energy = |at: &[f64]| 0.5 * 0.02 * at[3] * at[3] + 0.5 * 0.5 * at[4] * at[4];
    let work = |at: &[f64]| 0.5 * (at[0] - 0.5 * PI);
    for friction in [false, true] {
        let trial = match friction {
            true => trial.clone(),
            false => trial.clone().set("b=0"),
        };
        let result = trial.run(&names);
        assert!(result.last()[0] > 10.0 * TAU, "{:?}", result.last());
        let along = |at: &[f64]| 0.1 * at[0].cos() + 0.3 * at[2].cos() - at[1];
        let across = |at: &[f64]| 0.1 * at[0].sin() - 0.3 * at[2].sin();
        within(result.worst(|_, at| along(at)), 1e-9);
        within(result.worst(|_, at| across(at)), 1e-9);
        // The rod stays the way it was put together.
        within(result.worst(|_, at| at[2]), (1.0_f64 / 3.0).asin() + 1e-9);
        match friction {
            false => {
                let whole = work(result.last());
                within(result.worst(|_, at| energy(at) - work(at)) / whole, 1e-6);
            }
            true => {
                let last = result.last();
                assert!(energy(last) < work(last));
            }
        }
    }
}

/// Both rods keep their lengths, the bobs move along their circles, and the energy of bobs and spring stays.
#[test]
fn coupled_pendulums() {
    let names = [
        "P1.x", "P1.y", "P1.vx", "P1.vy", "P2.x", "P2.y", "P2.vx", "P2.vy", "S.l",
    ];
    let trial = Trial::file("examples/coupled_pendulums.bgm").tolerance(1e-10, 1e-12);
    let result = trial.run(&names);
    let energy = |at: &[f64]| {
        let bob = |at: &[f64]| 0.5 * (at[2] * at[2] + at[3] * at[3]) + G * at[1];
        bob(&at[..4]) + bob(&at[4..8]) + 0.5 * 2.0 * (at[8] - 0.5) * (at[8] - 0.5)
    };
    let first = energy(&result.rows[0]);
    within(result.worst(|_, at| energy(at) - first), 1e-5);
    within(result.worst(|_, at| at[0].hypot(at[1]) - 1.0), 1e-8);
    within(result.worst(|_, at| at[4].hypot(at[5]) - 1.0), 1e-8);
    within(result.worst(|_, at| at[0] * at[2] + at[1] * at[3]), 1e-8);
    let apart = |at: &[f64]| (0.5 + at[4] - at[0]).hypot(at[5] - at[1]);
    within(result.worst(|_, at| at[8] - apart(at)), 1e-9);
    // Released again over the top, a fast one: the other is dragged along.
    let fast = trial
        .init("P1.x=0")
        .init("P1.y=-1")
        .init("P1.vx=8")
        .until(5.0);
    let result = fast.run(&names);
    let first = energy(&result.rows[0]);
    within((first - (32.0 - 2.0 * G)).abs(), 1e-9);
    within(result.worst(|_, at| energy(at) - first), 1e-5);
    within(result.worst(|_, at| at[0].hypot(at[1]) - 1.0), 1e-8);
    within(result.worst(|_, at| at[4].hypot(at[5]) - 1.0), 1e-8);
}
