//! Starts and steady states of models that are not linear.

use crate::support::trial::{Trial, within};

/// The current of the library's diode at a voltage, and its slope.
fn diode(u: f64) -> (f64, f64) {
    let (is, vt, gp) = (1e-9, 0.026, 1e-9);
    let e = (u / vt).exp();
    (is * (e - 1.0) + gp * u, is / vt * e + gp)
}

/// Newton's method on (E - u)/R = i(u), from 0.6 V.
fn diode_voltage(e: f64, r: f64) -> f64 {
    let mut u = 0.6;
    for _ in 0..100 {
        let (i, slope) = diode(u);
        u -= (i - (e - u) / r) / (slope + 1.0 / r);
    }
    u
}

/// The example starts from zero and works; `--steady --until 0` gives the same.
#[test]
fn diode_and_resistor() {
    let u = diode_voltage(5.0, 1e3);
    within((diode(u).0 - (5.0 - u) / 1e3).abs(), 1e-15);
    let result = Trial::file("examples/diode.bgm").run(&["D1.u", "i"]);
    within(result.off(0, |_| u), 1e-9);
    within(result.off(1, |_| (5.0 - u) / 1e3), 1e-12);
    let steady = Trial::file("examples/diode.bgm").steady().until(0.0);
    let result = steady.run(&["D1.u", "i"]);
    assert_eq!(result.times, [0.0]);
    within((result.last()[0] - u).abs(), 1e-9);
}

/// With a capacitor across the diode: charging from zero, C u' = (5 - u)/R - i(u), against steps of our own.
/// Its steady state is the one without.
#[test]
fn diode_and_capacitor() {
    let text = "@electrical
        model M\n submodel (ConstantVoltage) U0(E = 5)\n submodel (Resistor) R1(R = 1E3)\n submodel (Diode) D1
        submodel (Capacitor) C1(C = 1E-6)\n submodel Ground\n connect Ground - U0 - R1 - (D1 // C1) - Ground\nend";
    let result = Trial::of(text, 1e-3).run(&["C1.u"]);
    let rate = |u: f64| ((5.0 - u) / 1e3 - diode(u).0) / 1e-6;
    let mut truth = vec![0.0];
    let h = 1e-8;
    let mut u = 0.0;
    for _ in 0..100 {
        for _ in 0..1000 {
            let a = rate(u);
            let b = rate(u + 0.5 * h * a);
            let c = rate(u + 0.5 * h * b);
            let d = rate(u + h * c);
            u += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
        }
        truth.push(u);
    }
    let off = result.off(0, |t| truth[(t / 1e-5).round() as usize]);
    within(off, 1e-7);
    let result = Trial::of(text, 0.0).steady().run(&["C1.u", "der(C1.u)"]);
    within((result.last()[0] - diode_voltage(5.0, 1e3)).abs(), 1e-9);
    within(result.last()[1].abs(), 1e-6);
    // It stays there.
    let result = Trial::of(text, 1.0).steady().run(&["C1.u"]);
    within(result.off(0, |_| diode_voltage(5.0, 1e3)), 1e-9);
}

/// A lamp with a capacitor across it at 6 V: y + 4.5 i(y) = 6 on the table's piece from 2 to 4, i = 0.2 + 0.05 y.
#[test]
fn lamp_at_rest() {
    let text = std::fs::read_to_string("examples/lamp.bgm").expect("the example is there");
    let text = text.replace("Cable - Lamp -", "Cable - (Lamp // C1) -");
    let text = text.replace(
        "submodel Lamp\n",
        "submodel Lamp\n  submodel (Capacitor) C1(C = 1E-3)\n",
    );
    let result = Trial::of(&text, 0.0).input("u=6").steady().run(&["y"]);
    let y = (6.0 - 4.5 * 0.2) / (1.0 + 4.5 * 0.05);
    assert!((2.0..4.0).contains(&y) || y > 4.0);
    let y = match y <= 4.0 {
        true => y,
        // From 4 to 8: i = 0.25 + 0.0375 y.
        false => (6.0 - 4.5 * 0.25) / (1.0 + 4.5 * 0.0375),
    };
    within((result.last()[0] - y).abs(), 1e-9);
}

/// A tank fed through a pipe with quadratic resistance, emptied through another: at rest the flows are equal,
/// (p0 - p)/k1 = p/k2. It starts empty, where the slope of the law is zero.
#[test]
fn tank_at_rest() {
    let text = "model M\n parameter p0 = 3E5, k1 = 2E8, k2 = 1E8, A = 1E-4\n local p, q1, q2
        A*der(p) = q1 - q2\n p0 - p = k1*q1*abs(q1)\n p = k2*q2*abs(q2)\nend";
    let result = Trial::of(text, 0.0).steady().run(&["p", "q1", "q2"]);
    let p = 3e5 * 1e8 / 3e8;
    within((result.last()[0] / p - 1.0).abs(), 1e-9);
    within((result.last()[1] - (p / 1e8).sqrt()).abs(), 1e-9);
    let result = Trial::of(text, 2e4).run(&["p"]);
    within((result.last()[0] / p - 1.0).abs(), 1e-6);
}

/// x' = 1 - sqrt(x) from x = 0, where the slope of the root is infinite. t = -2 sqrt(x) - 2 ln(1 - sqrt(x)); at rest
/// x = 1.
#[test]
fn infinite_slope() {
    let text = "model M\n local x\n der(x) = 1 - sqrt(x)\nend";
    let result = Trial::of(text, 0.0).steady().run(&["x"]);
    within((result.last()[0] - 1.0).abs(), 1e-9);
    let result = Trial::of(text, 5.0).run(&["x"]);
    let time = |x: f64| -2.0 * x.sqrt() - 2.0 * (1.0 - x.sqrt()).ln();
    within(result.worst(|t, at| time(at[0]) - t), 1e-6);
}

/// What nothing holds stays where it was: the angle of a shaft whose torques balance only at w = 0.
#[test]
fn free_integrator() {
    let text = "model M\n local phi, w, x\n der(phi) = w\n der(w) = -w\n der(x) = 2 - x
        init(phi) = 3\n init(w) = 0\nend";
    let result = Trial::of(text, 0.0).steady().run(&["phi", "w", "x"]);
    within((result.last()[0] - 3.0).abs(), 1e-9);
    within(result.last()[1].abs(), 1e-9);
    within((result.last()[2] - 2.0).abs(), 1e-9);
    // The charge of two capacitors in series with nothing between them: the sum of voltages is the
    // source's, the difference of charges is kept.
    let text = "@electrical
        model M\n submodel (ConstantVoltage) U0(E = 6)\n submodel (Resistor) R1(R = 10)
        submodel (Capacitor) C1(C = 1), C2(C = 2)\n submodel Ground\n connect Ground - U0 - R1 - C1 - C2 - Ground\nend";
    let result = Trial::of(text, 0.0)
        .steady()
        .init("C1.u=1")
        .run(&["C1.u", "C2.u"]);
    let (u1, u2) = (result.last()[0], result.last()[1]);
    within((u1 + u2 - 6.0).abs(), 1e-9);
    within((u1 - 2.0 * u2 - 1.0).abs(), 1e-9);
}

/// x' = 1 has no steady state, x' = 1 + x^2 neither.
#[test]
fn no_steady_state() {
    for rate in ["1", "1 + x**2"] {
        let text = format!("model M\n local x, y\n der(x) = {rate}\n der(y) = x - y\nend");
        let result = Trial::of(&text, 1.0).steady().run(&["x"]);
        assert_eq!(result.code, Some("E0903"), "{rate}");
        let message = result.failure.expect("it fails");
        assert!(message.contains("`x`"), "{message}");
        assert!(result.rows.is_empty());
    }
}

/// The steady state on the other side of a relation than the start: a heater with a switch that is off beyond 1.
#[test]
fn steady_behind_a_relation() {
    let text = "model M\n local x\n der(x) = (if x < 1 then 3 else 2) - x\nend";
    let result = Trial::of(text, 0.0).steady().run(&["x"]);
    within((result.last()[0] - 2.0).abs(), 1e-9);
}
