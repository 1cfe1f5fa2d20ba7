//! What a review has found: each was wrong once.

use bgm::simulate::integrate::Method;

use crate::support::trial::{Trial, within};

/// The first rate says nothing about how long a step may be.
#[test]
fn tiny_rates_at_the_start() {
    let text = "model M\n local x\n der(x) = 1e-50 + sin(Time)\nend";
    for method in Method::ALL {
        let result = Trial::of(text, 2.0).method(method).run(&["x"]);
        within(result.off(0, |t| 1.0 - t.cos()), 1e-5);
    }
}

/// x is half of the time, whatever the digits of the instants.
#[test]
fn pulses_go_on() {
    for (period, width, until) in [(1e-3, 5e-4, 1.0), (0.1, 0.001, 10.0), (0.1, 0.01, 100.0)] {
        let text = format!(
            "model M\n local x, y\n y = if mod(Time, {period}) < {width} then 1 else 0\n der(x) = y\nend"
        );
        let result = Trial::of(&text, until).run(&["x"]);
        within(
            (result.last()[0] - until * width / period).abs(),
            1e-8 * until,
        );
    }
}

/// sin passes 0.5 upwards in each period: also where there is nothing to integrate, and few rows.
#[test]
fn no_states_and_few_rows() {
    let text = "model M\n local n\n when sin(Time) > 0.5 then new(n) = n + 1 endwhen\nend";
    let result = Trial::of(text, 1000.0).points(3).run(&["n"]);
    assert_eq!(result.last(), [160.0]);
}

#[test]
fn equal_for_a_moment() {
    let text = "model M\n local m, n, x\n der(x) = 1\n when Time == 1.5 then new(m) = m + 1 endwhen
 when x == 0.75 then new(n) = n + 1 endwhen\nend";
    let result = Trial::of(text, 2.0).run(&["m", "n"]);
    assert_eq!(result.last(), [1.0, 1.0]);
}

/// A ball that comes to rest is told, however fast.
#[test]
fn balls_that_come_to_rest() {
    for (relation, e) in [("h <= 0", 0.5), ("h < 0", 0.1), ("h < 0", 0.8)] {
        let text = format!(
            "model M\n local h, v\n der(h) = v\n der(v) = -9.81\n init(h) = 1
 when {relation} then init(v) = -{e}*pre(v) endwhen\nend"
        );
        let result = Trial::of(&text, 10.0).run(&["h"]);
        assert_eq!(result.code, Some("E0902"), "{relation} {e}");
        let first = (2.0 / 9.81_f64).sqrt();
        let rest = first * (1.0 + 2.0 * e / (1.0 - e));
        within((result.summary.time - rest).abs(), 1e-3);
    }
}

/// 0.1 + 9999*0.1 is 1000 but for the last digit.
#[test]
fn samples_at_the_end() {
    let text = "model M\n local n, x\n when sample(0.1, 0.1) then new(n) = n + 1 endwhen\n der(x) = n\nend";
    let result = Trial::of(text, 1000.0).points(2).run(&["n"]);
    assert_eq!(result.last(), [10000.0]);
}

/// The integral of max(0, sin - 0.9) over one hump, twice.
#[test]
fn humps_are_not_passed_over() {
    let text = "model M\n local x\n der(x) = max(0, sin(Time) - 0.9)\nend";
    let from = 0.9_f64.asin();
    let to = std::f64::consts::PI - from;
    let hump = from.cos() - to.cos() - 0.9 * (to - from);
    let result = Trial::of(text, 10.0).run(&["x"]);
    within((result.last()[0] - 2.0 * hump).abs(), 1e-6);
}

/// There is none: what holds at one is what moves it.
#[test]
fn no_steady_state_of_a_thermostat() {
    let text = "model M\n local x, on\n der(x) = (if on then 1 else 0) - 0.1*x
 new(on) = if x < 3 then true elseif x > 5 then false else on\nend";
    let result = Trial::of(text, 1.0).steady().run(&["x"]);
    assert_eq!(result.code, Some("E0903"));
}

/// The relation of the start does not hold where it is at rest; and a pendulum comes to rest below.
#[test]
fn steady_states_behind_a_relation_and_another_choice() {
    let text = "model M\n local x\n der(x) = if x < 2 then 1 else 3 - x\nend";
    let result = Trial::of(text, 1.0).steady().run(&["x"]);
    within((result.rows[0][0] - 3.0).abs(), 1e-9);
    let text = "model M\n local x, y, vx, vy, F\n der(x) = vx\n der(y) = vy\n der(vx) = -F*x - vx
 der(vy) = -F*y - 9.81 - vy\n x**2 + y**2 = 1\n init(x) = 0.8\n init(y) = -0.6\nend";
    let result = Trial::of(text, 1.0).steady().run(&["x", "y"]);
    within(result.rows[0][0].abs(), 1e-6);
    within((result.rows[0][1] + 1.0).abs(), 1e-9);
}

/// Two tanks: sign(0) is 0, and there they stay.
#[test]
fn tanks_come_to_rest() {
    let text = "model M\n local a, b\n der(a) = -sign(a - b)*sqrt(abs(a - b))
 der(b) = sign(a - b)*sqrt(abs(a - b))\n init(a) = 1\nend";
    let result = Trial::of(text, 5.0).run(&["a", "b"]);
    within((result.last()[0] - 0.5).abs(), 1e-6);
    within((result.last()[1] - 0.5).abs(), 1e-6);
}

/// Near and away again between two looks.
#[test]
fn short_dips_are_found() {
    for condition in ["abs(x - 5) < 0.01", "(x - 5)**2 < 1e-6"] {
        let text = format!(
            "model M\n local x, n\n der(x) = 1\n when {condition} then new(n) = n + 1 endwhen\nend"
        );
        let result = Trial::of(&text, 10.0).run(&["n"]);
        assert_eq!(result.last(), [1.0], "{condition}");
    }
}

/// acos(0.4)/pi of the time q is 1.
#[test]
fn fast_carriers() {
    let text =
        "model M\n local c, q, x\n c = 0.5 + 0.5*sin(1000*Time)\n q = if c < 0.3 then 1 else 0
 der(x) = q - x\nend";
    for method in Method::ALL {
        let result = Trial::of(text, 1.0)
            .tolerance(1e-6, 1e-9)
            .method(method)
            .run(&["x"]);
        let truth = 0.4_f64.acos() / std::f64::consts::PI * (1.0 - (-1.0_f64).exp());
        within((result.last()[0] - truth).abs(), 1e-3);
    }
}

/// Between events what was before is what is.
#[test]
fn before_is_now_between_events() {
    let text = "model M\n local n, d\n when sample(0.5, 0.5) then new(n) = n + 1 endwhen
 d = n - pre(n)\nend";
    let result = Trial::of(text, 2.0).run(&["d", "n"]);
    assert!(result.rows.iter().all(|row| row[0] == 0.0));
    assert_eq!(result.last()[1], 4.0);
}

/// What is not a number is told with its line, not iterated on.
#[test]
fn whens_that_set_what_is_no_number() {
    for action in ["init(x) = 1/0", "new(n) = ln(-x)"] {
        let text = format!(
            "model M\n local x, n\n der(x) = 1\n n = n\n when x > 1 then {action} endwhen\nend"
        );
        let text = text.replace(
            " n = n\n",
            if action.starts_with("init") {
                " n = 0\n"
            } else {
                ""
            },
        );
        let result = Trial::of(&text, 3.0).run(&["x"]);
        assert_eq!(result.code, Some("E0802"), "{action}");
        assert!(result.rows.iter().flatten().all(|value| value.is_finite()));
    }
}

/// Two variables in one `when`, beside relations that have to be settled one by one.
#[test]
fn all_that_a_when_does() {
    let text = "model M\n local x, a, b\n der(x) = 1
 when x > 1 then\n new(a) = a + 1\n new(b) = b + 2\n endwhen\nend";
    let result = Trial::of(text, 2.0).run(&["a", "b"]);
    assert_eq!(result.last(), [1.0, 2.0]);
}
