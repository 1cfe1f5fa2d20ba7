//! Relations: instants, states afterwards, ties at the start, and models that change without end.

use crate::support::trial::{Trial, same_times, within};

/// sqrt(2 h0/g) to the first impact, then flights of 2 e^n times that.
fn impacts(e: f64, until: f64) -> Vec<f64> {
    let first = (2.0 / 9.81_f64).sqrt();
    let mut times = vec![first];
    let mut flight = 2.0 * e * first;
    while times[times.len() - 1] + flight < until {
        times.push(times[times.len() - 1] + flight);
        flight *= e;
    }
    times
}

#[test]
fn bouncing_ball() {
    let result = Trial::file("examples/bouncing_ball.bgm").run(&["h", "v", "n"]);
    let expected = impacts(0.8, 3.5);
    // `h < 0` becomes true, and false again when the ball has left.
    let impacts = result.changes_of(2);
    let times: Vec<f64> = impacts.iter().map(|event| event.time).collect();
    same_times(&times, &expected, 1e-8);
    for (at, event) in impacts.iter().enumerate() {
        let speed = 9.81 * expected[0] * 0.8_f64.powi(at as i32);
        within((event.before[1] + speed).abs(), 1e-7);
        within((event.after[1] - 0.8 * speed).abs(), 1e-7);
        assert_eq!(event.after[2], (at + 1) as f64);
    }
    let flight = |t: f64| {
        let behind = expected.partition_point(|&impact| impact <= t);
        if behind == 0 {
            return 1.0 - 0.5 * 9.81 * t * t;
        }
        let since = t - expected[behind - 1];
        let speed = 9.81 * expected[0] * 0.8_f64.powi(behind as i32);
        speed * since - 0.5 * 9.81 * since * since
    };
    within(result.off(0, flight), 1e-7);
}

/// Where it comes to rest: t1 (1 + e)/(1 - e) = 4.0637.
#[test]
fn ball_at_rest() {
    let trial = Trial::file("examples/bouncing_ball.bgm").until(20.0);
    let result = trial.run(&["h"]);
    assert_eq!(result.code, Some("E0902"));
    let message = result.failure.expect("it fails");
    assert!(message.contains("`h < 0`"), "{message}");
    let rest = (2.0 / 9.81_f64).sqrt() * 1.8 / 0.2;
    within((result.summary.time - rest).abs(), 1e-3);
    // What was computed is kept.
    assert_eq!(result.times.last(), Some(&result.summary.time));
}

/// x' = u with u a step at 0.3, beside a decay that makes steps long: relations in Time are hit exactly.
#[test]
fn step_in_time() {
    let text = "model M\n local x, z\n der(x) = if Time > 0.3 then 1 else 0\n der(z) = -z\n init(z) = 1\nend";
    let result = Trial::of(text, 1.0).run(&["x", "z"]);
    assert_eq!(result.event_times(), [0.3]);
    within(result.off(0, |t| (t - 0.3).max(0.0)), 1e-14);
    assert_eq!(result.events[0].after[0], 0.0);
    // Scaled and turned round: still linear in Time.
    let text = "model M\n parameter a = 3, b = 0.9\n local x\n der(x) = if b - a*Time >= 0 then 2 else -1\nend";
    let result = Trial::of(text, 1.0).run(&["x"]);
    same_times(&result.event_times(), &[0.3], 1e-15);
    let truth = |t: f64| if t < 0.3 { 2.0 * t } else { 0.6 - (t - 0.3) };
    within(result.off(0, truth), 1e-13);
}

/// A pulse of width 0.1 in each period of 0.25: the integral at each row, and 16 switchings in 2 s (that at 0 is
/// the start, that at 2 the end).
#[test]
fn pulses() {
    let text = "model M\n local x\n der(x) = if mod(Time, 0.25) < 0.1 then 1 else 0\nend";
    let result = Trial::of(text, 2.0).points(401).run(&["x"]);
    let whole = |t: f64| (t / 0.25 + 1e-9).floor();
    let truth = |t: f64| 0.1 * whole(t) + (t - 0.25 * whole(t)).clamp(0.0, 0.1);
    within(result.off(0, truth), 1e-12);
    let mut expected = Vec::new();
    for k in 0..8 {
        expected.extend([0.25 * f64::from(k), 0.25 * f64::from(k) + 0.1]);
    }
    expected.remove(0);
    let mut times = result.event_times();
    times.retain(|&time| time < 2.0);
    times.dedup();
    same_times(&times, &expected, 1e-14);
}

/// Through a table of Time, a piecewise linear input u: x' = u has a piecewise quadratic integral.
#[test]
fn table_of_time() {
    let text = "model M\n local x\n der(x) = table(Time, [0, 0.3, 0.7, 1], [0, 3, -1, 0])\nend";
    let result = Trial::of(text, 1.5).run(&["x", "der(x)"]);
    let corners = [(0.0, 0.0), (0.3, 3.0), (0.7, -1.0), (1.0, 0.0), (1.5, 0.0)];
    let u = |t: f64| {
        for pair in corners.windows(2) {
            if t <= pair[1].0 {
                let part = (t - pair[0].0) / (pair[1].0 - pair[0].0);
                return pair[0].1 + part * (pair[1].1 - pair[0].1);
            }
        }
        0.0
    };
    let integral = |t: f64| {
        let mut sum = 0.0;
        for pair in corners.windows(2) {
            let end = t.min(pair[1].0);
            if end > pair[0].0 {
                sum += 0.5 * (u(end) + pair[0].1) * (end - pair[0].0);
            }
        }
        sum
    };
    within(result.off(1, u), 1e-13);
    within(result.off(0, integral), 1e-9);
}

/// sign, floor and ceil of a state s = t in rates: integrals by hand.
#[test]
fn functions_that_jump() {
    let text = "model M\n local s, a, b, c\n der(s) = 1\n init(s) = -1.5\n der(a) = sign(s)\n der(b) = floor(s)\n der(c) = ceil(2*s)\nend";
    let result = Trial::of(text, 3.0).run(&["a", "b", "c", "s"]);
    within(result.off(0, |t| (t - 1.5).abs() - 1.5), 1e-8);
    // The sum of floor over [0, t], by its pieces.
    let sum = |f: &dyn Fn(f64) -> f64, t: f64, width: f64| {
        let mut sum = 0.0;
        let mut at = 0.0;
        while at < t {
            let end = (at + width).min(t);
            sum += f(0.5 * (at + end) - 1.5) * (end - at);
            at = end;
        }
        sum
    };
    within(result.off(1, |t| sum(&|s| s.floor(), t, 0.5)), 1e-8);
    within(result.off(2, |t| sum(&|s| (2.0 * s).ceil(), t, 0.5)), 1e-8);
}

/// Two relations that change at one instant, each from its own state.
#[test]
fn two_at_one_instant() {
    let text = "model M\n local x, y, a, b\n der(x) = 1\n der(y) = -2\n init(y) = 1
        der(a) = if x > 0.5 then 1 else 0\n der(b) = if y < 0 then a else -1\nend";
    let result = Trial::of(text, 2.0).run(&["a", "b"]);
    within(result.off(0, |t| (t - 0.5).max(0.0)), 1e-8);
    let b = |t: f64| match t < 0.5 {
        true => -t,
        false => -0.5 + 0.5 * (t - 0.5) * (t - 0.5),
    };
    within(result.off(1, b), 1e-8);
    let times = result.event_times();
    assert!((1..=2).contains(&times.len()), "{times:?}");
}

/// x > 0 with x = 0 at the start: growing at once, growing later (x'(0) = 0), falling, and staying.
#[test]
fn zero_at_the_start() {
    let of = |rate: &str| {
        let text = format!(
            "model M\n local x, y\n der(x) = {rate}\n der(y) = if x > 0 then 1 else -1\nend"
        );
        Trial::of(&text, 2.0).run(&["y"])
    };
    within(of("1").off(0, |t| t), 1e-8);
    within(of("-1").off(0, |t| -t), 1e-8);
    within(of("0").off(0, |t| -t), 1e-8);
    // x = t^2/2 and t^3/3: the relation is true behind the start. It takes x to be more than nothing beside
    // the tolerance of a relation.
    within(of("Time").off(0, |t| t), 1e-5);
    within(of("Time**2").off(0, |t| t), 1e-3);
}

/// x falls to zero, then is pushed back from either side: a sliding motion, which no sequence of events follows. It
/// begins at 1.
#[test]
fn chattering() {
    let text = "model M\n local x\n der(x) = if x > 0 then -1 else 1\n init(x) = 1\nend";
    let result = Trial::of(text, 3.0).run(&["x"]);
    assert_eq!(result.code, Some("E0902"), "{:?}", result.failure);
    let message = result.failure.expect("it fails");
    assert!(message.contains("`x > 0`"), "{message}");
    within((result.summary.time - 1.0).abs(), 1e-6);
    // With two thresholds it goes to and fro between them.
    let text = "model M\n local x, up\n der(x) = if up then 1 else -1\n init(x) = 1
        new(up) = x < -0.1 or up and not x > 0.1\nend";
    let result = Trial::of(text, 3.0).run(&["x", "up"]);
    let times: Vec<f64> = (result.changes_of(1).iter())
        .map(|event| event.time)
        .collect();
    let expected: Vec<f64> = (0..10).map(|at| 1.1 + 0.2 * f64::from(at)).collect();
    same_times(&times, &expected, 1e-7);
}

/// The heater's period by the closed form in the file, from switching off to switching off, and the way there: from 15
/// to 21 with the heater on takes R C ln((Tout + R P - 15)/(Tout + R P - 21)).
#[test]
fn thermostat() {
    let result = Trial::file("examples/thermostat.bgm").run(&["T", "on"]);
    let rc = 0.01 * 5e5;
    let (hot, out): (f64, f64) = (5.0 + 0.01 * 3000.0, 5.0);
    let heat = |from: f64, to: f64| rc * ((hot - from) / (hot - to)).ln();
    let cool = |from: f64, to: f64| rc * ((from - out) / (to - out)).ln();
    let mut expected = vec![heat(15.0, 21.0)];
    loop {
        let cold = expected[expected.len() - 1] + cool(21.0, 19.0);
        let warm = cold + heat(19.0, 21.0);
        expected.extend([cold, warm].into_iter().filter(|&time| time < 20000.0));
        if warm >= 20000.0 {
            break;
        }
    }
    let switched: Vec<f64> = (result.changes_of(1).iter())
        .map(|event| event.time)
        .collect();
    same_times(&switched, &expected, 1e-3);
    let period = switched[2] - switched[0];
    within(
        (period / (cool(21.0, 19.0) + heat(19.0, 21.0)) - 1.0).abs(),
        1e-7,
    );
    assert_eq!(result.rows[0][1], 1.0, "it is cold at first");
}

/// An impact in a pendulum: at the lowest point the velocity is turned round and halved. vx is a candidate of the choice of
/// states. Energy after the n-th impact: m g (1 + y) is a quarter of before; the flight between is symmetric.
#[test]
fn restart_of_a_candidate() {
    let text = "model M\n local x, y, vx, vy, F, n\n der(x) = vx\n der(y) = vy\n der(vx) = -F*x\n der(vy) = -F*y - 9.81
        x**2 + y**2 = 1\n init(x) = 0.6\n init(y) = -0.8
        when x < 0 then init(vx) = -0.5*pre(vx)\n new(n) = n + 1\n endwhen\nend";
    let result = Trial::of(text, 3.0)
        .tolerance(1e-9, 1e-11)
        .run(&["x", "y", "vx", "vy", "n"]);
    within(result.worst(|_, at| at[0].hypot(at[1]) - 1.0), 1e-8);
    let energy = |at: &[f64]| 0.5 * (at[2] * at[2] + at[3] * at[3]) + 9.81 * (at[1] + 1.0);
    let first = 9.81 * 0.2;
    within(
        result.worst(|_, at| energy(at) - first * 0.25_f64.powf(at[4])),
        1e-7,
    );
    let impacts = result.changes_of(4);
    assert!(impacts.len() >= 3);
    for event in impacts {
        within((event.after[2] + 0.5 * event.before[2]).abs(), 1e-9);
    }
    // Started at rest where y says nothing of the motion, and kicked there: y is a state or not, x must be.
    let text = "model M\n local x, y, vx, vy, F\n der(x) = vx\n der(y) = vy\n der(vx) = -F*x\n der(vy) = -F*y - 9.81
        x**2 + y**2 = 1\n init(x) = 1\n init(y) = 0
        when Time > 0.2 then init(vy) = 0\n endwhen\nend";
    let result = Trial::of(text, 1.0).run(&["x", "y", "vx", "vy"]);
    within(result.worst(|_, at| at[0].hypot(at[1]) - 1.0), 1e-8);
    within(result.events[0].after[3].abs(), 1e-12);
    within(result.events[0].after[2].abs(), 1e-9);
}
