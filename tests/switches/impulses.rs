//! Jumps in models without ideal switches: steps of what is differentiated, restarts of what a constraint ties, start values that
//! contradict each other. Charge, flux and momentum are conserved there by the same law.

use std::f64::consts::{FRAC_PI_4, PI};

use crate::look::{CLOSE, close, exact, jumps, nothing_jumps, only_jump, root};
use crate::support::trial::{Trial, within};

fn divider(source: &str, more: &str) -> String {
    format!(
        "@electrical
model M
  submodel ({source}
  submodel (Capacitor) C1(C = 1), C2(C = 3)
  submodel Ground
  connect Ground - U - C1 - C2 - Ground
{more}
end"
    )
}

/// 10 V on 1 F and 3 F in series: one charge of 7.5 C goes through both. The source gives it at 5 V on average.
#[test]
fn step_on_a_divider() {
    let text = divider("StepVoltage) U(height = 10, t0 = 1)", "");
    let result = exact(&text, 2.0).run(&["C1.u", "C2.u"]);
    assert_eq!(result.said, Vec::<&str>::new());
    let step = |height: f64| move |t: f64| if t < 1.0 { 0.0 } else { height };
    within(result.off(0, step(7.5)), CLOSE);
    within(result.off(1, step(2.5)), CLOSE);
    let jump = only_jump(&result);
    close(jump.time, 1.0);
    close(jump.change("C1.u").1, 7.5);
    close(jump.impulse("U.i"), 7.5);
    close(jump.given("U"), 37.5);
}

/// The same where a switch that has nothing to do with it makes positions.
#[test]
fn beside_a_switch() {
    let more = "  submodel (IdealSwitch) S
  submodel (Inductor) L(L = 1)
  submodel (ConstantVoltage) E
  connect Ground - E - S - L - Ground
  S.OpenSwitch = Time < 0.5";
    let text = divider("StepVoltage) U(height = 10, t0 = 1)", more);
    let result = exact(&text, 2.0).run(&["C1.u", "L.i"]);
    within(result.off(0, |t| if t < 1.0 { 0.0 } else { 7.5 }), CLOSE);
    within(result.off(1, |t| (t - 0.5).max(0.0)), CLOSE);
    let jump = only_jump(&result);
    close(jump.impulse("U.i"), 7.5);
    close(jump.given("U"), 37.5);
}

/// Pulses of 10 V; 2 Ohm discharge C2. Each edge moves C2 by 2.5 V; between edges the constant voltage leaves it one time constant,
/// 2 Ohm * (1 F + 3 F).
#[test]
fn pulses_on_a_divider() {
    let text = "@electrical
model M
  submodel (PulseVoltage) U(height = 10, period = 1, width = 0.25, t0 = 0.5)
  submodel (Capacitor) C1(C = 1), C2(C = 3)
  submodel (Resistor) R(R = 2)
  submodel Ground
  connect Ground - U - C1 - (C2 // R) - Ground
end";
    let result = exact(text, 6.2).points(63).run(&["C1.u", "C2.u"]);
    let edges = (0..6).flat_map(|n| {
        let rise = 0.5 + f64::from(n);
        [(rise, 2.5), (rise + 0.25, -2.5)]
    });
    let edges: Vec<(f64, f64)> = edges.collect();
    let second = |t: f64| {
        let past = edges.iter().filter(|(at, _)| t > at - 1e-9);
        past.map(|(at, by)| by * (-(t - at) / 8.0).exp())
            .sum::<f64>()
    };
    let source = |t: f64| {
        let past = edges.iter().filter(|(at, _)| t > at - 1e-9);
        past.map(|(_, by)| 4.0 * by).sum::<f64>()
    };
    within(result.off(1, second), CLOSE);
    within(result.off(0, |t| source(t) - second(t)), CLOSE);
    assert_eq!(jumps(&result).len(), 12);
    assert!(result.said.is_empty());
}

/// A step of current into two coils in parallel: both take one flux.
#[test]
fn current_into_coils() {
    let text = "@electrical
model M
  submodel (StepCurrent) I(height = 10, t0 = 1)
  submodel (Inductor) L1(L = 1), L2(L = 3)
  submodel Ground
  node x
  connect Ground - I - x
  connect x - L1 - Ground, x - L2 - Ground
end";
    let result = exact(text, 2.0).run(&["L1.i", "L2.i"]);
    let step = |height: f64| move |t: f64| if t < 1.0 { 0.0 } else { height };
    within(result.off(0, step(7.5)), CLOSE);
    within(result.off(1, step(2.5)), CLOSE);
    let jump = only_jump(&result);
    close(jump.impulse("I.u"), -7.5);
    close(jump.given("I"), 37.5);
}

/// A gear shifts at Time = 1. The torques follow from its form after that: no energy is gained.
#[test]
fn gear_shift() {
    let text = "model M
  local w1, w2, T1, T2
  der(w1) = -T1
  2*der(w2) = T2
  0 = if Time < 1 then w1 - 2*w2 else w1 - w2
  0 = if Time < 1 then T2 - 2*T1 else T2 - T1
  init(w2) = 1
end";
    let result = exact(text, 2.0).run(&["w1", "w2"]);
    let shifted = |before: f64| move |t: f64| if t < 1.0 { before } else { 4.0 / 3.0 };
    within(result.off(0, shifted(2.0)), CLOSE);
    within(result.off(1, shifted(1.0)), CLOSE);
    let jump = only_jump(&result);
    close(jump.impulse("T1"), 2.0 / 3.0);
    close(jump.impulse("T2"), 2.0 / 3.0);
}

/// The same with capacitors: their charge is 8 before and after.
#[test]
fn charges_shift() {
    let text = "model M
  local u1, u2, i1, i2
  der(u1) = i1
  2*der(u2) = i2
  0 = if Time < 1 then u1 - 2*u2 else u1 - u2
  0 = if Time < 1 then i2 + 2*i1 else i2 + i1
  init(u2) = 2
end";
    let result = exact(text, 2.0).run(&["u1", "u2"]);
    within(
        result.off(0, |t| if t < 1.0 { 4.0 } else { 8.0 / 3.0 }),
        CLOSE,
    );
    within(result.worst(|_, row| row[0] + 2.0 * row[1] - 8.0), CLOSE);
}

/// Whatever steps: an `if`, `floor`, `mod`, `sign`, a sample, a discrete variable that a `when` sets, an input. 1 F and 3 F share each step.
#[test]
fn whatever_steps() {
    let steps: [(&str, &str, fn(f64) -> f64); 7] = [
        ("u = 4*Time + (if Time < 1 then 0 else 4)", "", |t| {
            if t < 1.0 { 4.0 * t } else { 4.0 * t + 4.0 }
        }),
        ("u = 4*floor(Time)", "", |t| 4.0 * t.floor()),
        ("u = 4*mod(Time, 1)", "", |t| 4.0 * (t - t.floor())),
        (
            "u = 4*sign(Time - 1)",
            "",
            |t| if t < 1.0 { -4.0 } else { 4.0 },
        ),
        (
            "u = 4*n",
            "local n
  new(n) = if sample(0.5, 0.5) then pre(n) + 1 else n",
            |t| 4.0 * (2.0 * t).floor(),
        ),
        (
            "u = 4*d",
            "local d
  when Time >= 1 then
    new(d) = 2
  endwhen",
            |t| if t < 1.0 { 0.0 } else { 8.0 },
        ),
        (
            "u = if high then 4 else 0",
            "local high
  high = Time >= 0.5 and Time < 1.5",
            |t| if (0.5..1.5).contains(&t) { 4.0 } else { 0.0 },
        ),
    ];
    for (step, more, source) in steps {
        let text = format!(
            "model M
  local u, u1, u2, i
  {more}
  {step}
  der(u1) = i
  3*der(u2) = i
  u = u1 + u2
  init(u2) = 1
end"
        );
        let result = exact(&text, 1.9).points(39).run(&["u1", "u2"]);
        assert_eq!(result.failure, None, "{step}");
        let off = source(0.0);
        // A row at the instant of an event has the values after it, and 0.1*n is no number of binary digits.
        let second = |t: f64| 1.0 + 0.25 * (source(t + 1e-12) - off);
        assert!(
            result.off(1, second) < CLOSE,
            "{step}: {}",
            result.off(1, second)
        );
        assert!(result.summary.jump_count > 0, "{step}");
    }
}

/// An input whose expression steps.
#[test]
fn input_that_steps() {
    let text = "model M
  input u
  local u1, u2, i
  der(u1) = i
  3*der(u2) = i
  u = u1 + u2
end";
    let result = exact(text, 2.0)
        .input("u=if Time < 1 then 0 else 8")
        .run(&["u1", "u2"]);
    within(result.off(0, |t| if t < 1.0 { 0.0 } else { 6.0 }), CLOSE);
    within(result.off(1, |t| if t < 1.0 { 0.0 } else { 2.0 }), CLOSE);
}

/// A position that is prescribed with a corner: its velocity jumps by 2, the force has an impulse of 2*3.
#[test]
fn corner_of_a_position() {
    for corner in [
        "abs(Time - 1)",
        "max(1 - Time, Time - 1)",
        "-min(1 - Time, Time - 1)",
        "table(Time, [0, 1, 2], [1, 0, 1])",
    ] {
        let text = format!(
            "model M
  local x, v, F, y, w
  x = {corner}
  der(x) = v
  3*der(v) = F + y
  y = w - v
  der(w) = -y
end"
        );
        let result = exact(&text, 1.9).run(&["v", "w"]);
        assert_eq!(result.failure, None, "{corner}");
        within(result.off(0, |t| if t < 1.0 { -1.0 } else { 1.0 }), CLOSE);
        let jump = only_jump(&result);
        close(jump.change("v").0, -1.0);
        close(jump.change("v").1, 1.0);
    }
}

/// No impulse moves a position.
#[test]
fn step_of_a_position() {
    let text = "model M
  local x, v, F
  x = if Time < 1 then 0 else 1
  der(x) = v
  der(v) = F
end";
    let result = exact(text, 2.0).run(&["x"]);
    assert_eq!(result.code, Some("E0906"));
}

/// A capacity that changes at the instant at which its voltage jumps: C*der(u) makes charge from nothing, der(C*u) does not.
#[test]
fn capacity_that_steps() {
    let text = |stored: &str| {
        format!(
            "model M
  local u, i, C, q, went
  C = if Time < 1 then 1 else 2
  u = if Time < 1 then 1 else 5
  {stored}
  der(went) = i
  init(went) = 0
end"
        )
    };
    let result = exact(&text("q = 0\n  C*der(u) = i"), 2.0).run(&["u"]);
    assert_eq!(result.code, Some("E0906"));
    assert!(
        result
            .failure
            .is_some_and(|message| message.contains("`u`"))
    );
    let result = exact(&text("q = C*u\n  der(q) = i"), 2.0).run(&["u", "went"]);
    within(result.off(1, |t| if t < 1.0 { 0.0 } else { 9.0 }), CLOSE);
    // Where its voltage does not jump it may change.
    let text = "model M
  local u, C
  C = if Time < 1 then 1 else 2
  C*der(u) = 1
end";
    let result = exact(text, 2.0).run(&["u"]);
    nothing_jumps(&result);
    within(
        result.off(0, |t| if t < 1.0 { t } else { 1.0 + 0.5 * (t - 1.0) }),
        CLOSE,
    );
}

/// A peak detector from the start: nobody gave the capacitor a voltage, so it has that of the source, and keeps it.
#[test]
fn peak_detector() {
    let text = |source: &str, more: &str| {
        format!(
            "@electrical
model M
  submodel (VoltageSource) U
  submodel (IdealDiode) D
  submodel (Capacitor) C(C = 1{more})
  submodel Ground
  connect Ground - U - D - C - Ground
  U.E0 = {source}
end"
        )
    };
    for source in [
        "cos(Time)",
        "1",
        "if Time < 3 then 1 else 0.5",
        "cos(Time + 0.3)/cos(0.3)",
    ] {
        let result = exact(&text(source, ""), 5.0).run(&["C.u"]);
        assert_eq!(result.failure, None, "{source}");
        within(result.off(0, |_| 1.0), CLOSE);
    }
    // It rises with the source, then keeps the peak.
    let result = exact(&text("cos(Time - 0.5)", ""), 5.0).run(&["C.u"]);
    within(result.off(0, |t| (t.min(0.5) - 0.5).cos()), CLOSE);
    // A voltage that was given is the one before: it jumps, and that is told.
    let result = exact(&text("cos(Time)", ", ic u = 0.25"), 5.0).run(&["C.u"]);
    within(result.off(0, |_| 1.0), CLOSE);
    let jump = only_jump(&result);
    close(jump.change("C.u").0, 0.25);
    close(jump.impulse("D.i"), 0.75);
}

/// The same with a load: it follows the cosine until its slope is that of the discharge, and again from where they meet.
#[test]
fn peak_detector_with_load() {
    let text = "@electrical
model M
  submodel (VoltageSource) U
  submodel (IdealDiode) D
  submodel (Capacitor) C(C = 1)
  submodel (Resistor) R
  submodel Ground
  node x
  connect Ground - U - D - x - C - Ground
  connect x - R - Ground
  U.E0 = cos(Time)
end";
    let result = exact(text, 8.0).run(&["C.u"]);
    let off = FRAC_PI_4;
    let decay = |t: f64| off.cos() * (off - t).exp();
    let on = root(|t| decay(t) - t.cos(), PI, 2.0 * PI);
    let again = 2.0 * PI + off;
    let truth = |t: f64| match t {
        t if t < off => t.cos(),
        t if t < on => decay(t),
        t if t < again => t.cos(),
        t => off.cos() * (again - t).exp(),
    };
    within(result.off(0, truth), CLOSE);
}

/// A free wheel that drives an inertia from the start: the mechanical peak detector.
#[test]
fn free_wheel_at_the_start() {
    let text = "model M
  local w1, w2, T, open
  w1 = cos(Time)
  2*der(w2) = T
  0 = if open then T else w1 - w2
  new(open) = not w1 - w2 > 0 and not T > 0
end";
    let result = exact(text, 5.0).run(&["w2"]);
    within(result.off(0, |_| 1.0), CLOSE);
    nothing_jumps(&result);
    // An inertia that turns, given, takes an impulse.
    let result = exact(text, 5.0).init("w2=0.5").run(&["w2"]);
    within(result.off(0, |_| 1.0), CLOSE);
    close(only_jump(&result).impulse("T"), 1.0);
}

/// Rectifiers of several phases at all angles of the start: the capacitor has the highest voltage, of a bridge the difference of
/// the highest and the lowest.
#[test]
fn rectifiers_at_the_start() {
    for phases in 2..7_u32 {
        for turn in 0..7 {
            let angle =
                |k: u32| 2.0 * PI * f64::from(k) / f64::from(phases) + 0.9 * f64::from(turn);
            for bridge in [false, true] {
                let mut text =
                    String::from("@electrical\nmodel M\n  submodel Ground\n  node p, m\n");
                for k in 0..phases {
                    text += &format!(
                        "  submodel (VoltageSource) U{k}\n  submodel (IdealDiode) D{k}, E{k}\n  node n{k}\n  U{k}.E0 = 10*cos(Time + {})\n  connect Ground - U{k} - n{k} - D{k} - p\n",
                        angle(k)
                    );
                    if bridge {
                        text += &format!("  connect m - E{k} - n{k}\n");
                    } else {
                        text = text.replace(&format!(", E{k}"), "");
                    }
                }
                if !bridge {
                    text += "  connect m - Ground\n";
                }
                text += "  submodel (Capacitor) C(C = 0.1)\n  submodel (Resistor) R(R = 1)\n  connect p - C - m, p - R - m\nend";
                let result = exact(&text, 0.01).points(2).run(&["C.u"]);
                assert_eq!(
                    result.failure, None,
                    "{phases} phases, turn {turn}, bridge {bridge}"
                );
                let all = (0..phases).map(|k| 10.0 * angle(k).cos());
                let highest = all.clone().fold(f64::NEG_INFINITY, f64::max);
                let lowest = all.fold(f64::INFINITY, f64::min);
                let expected = if bridge {
                    highest - lowest
                } else {
                    highest.max(0.0)
                };
                let found = result.rows[0][0];
                assert!(
                    (found - expected).abs() < 1e-8,
                    "{phases} {turn} {bridge}: {found} {expected}"
                );
            }
        }
    }
}

/// Three inertias in a differential, w1 = w2 + w3. What a `when` restarts is set from outside; the momenta of the two others balance
/// the impulse that the differential passes on, whichever of the three is no state.
#[test]
fn restart_in_a_differential() {
    let text = |restarted: &str| {
        format!(
            "model M
  local w1, w2, w3, T1, T2, T3
  der(w1) = T1
  der(w2) = T2
  der(w3) = T3
  w1 = w2 + w3
  T2 = -T1
  T3 = -T1
  init(w2) = 0.2
  init(w3) = 0.1
  when Time >= 1 then
    init({restarted}) = 1
  endwhen
end"
        )
    };
    for (restarted, after) in [
        ("w1", [1.0, 0.55, 0.45]),
        ("w2", [0.7, 1.0, -0.3]),
        ("w3", [0.75, -0.25, 1.0]),
    ] {
        let result = exact(&text(restarted), 2.0).run(&["w1", "w2", "w3"]);
        for (at, before) in [0.3, 0.2, 0.1].into_iter().enumerate() {
            within(
                result.off(at, |t| if t < 1.0 { before } else { after[at] }),
                CLOSE,
            );
        }
        only_jump(&result);
    }
}

/// Capacitors in parallel: a restart of either is a restart of both.
#[test]
fn restart_in_parallel() {
    for restarted in ["C1", "C2"] {
        let text = format!(
            "@electrical
model M
  submodel (Capacitor) C1(C = 1, ic u = 2), C2(C = 3)
  submodel (Resistor) R(R = 0.5)
  submodel Ground
  node x
  connect x - C1 - Ground, x - C2 - Ground, x - R - Ground
  when Time >= 1 then
    init({restarted}.u) = 5
  endwhen
end"
        );
        let result = exact(&text, 2.0).run(&["C1.u", "C2.u"]);
        let truth = |t: f64| match t {
            t if t < 1.0 => 2.0 * (-0.5 * t).exp(),
            t => 5.0 * (-0.5 * (t - 1.0)).exp(),
        };
        within(result.off(0, truth), CLOSE);
        within(result.off(1, truth), CLOSE);
    }
}

/// What a source determines cannot be restarted.
#[test]
fn restart_of_what_is_determined() {
    let text = "model M
  local u, i
  u = sin(Time)
  der(u) = i
  when Time >= 1 then
    init(u) = 5
  endwhen
end";
    let failed = std::panic::catch_unwind(|| exact(text, 2.0).run(&["u"]).code);
    assert_ne!(failed.ok(), Some(None), "it has to be refused");
}

/// Start values that contradict each other are an error, unless they are said to be values before the start.
#[test]
fn start_jump() {
    let text = "@electrical
model M
  submodel (Capacitor) C1(C = 1, ic u = 10), C2(C = 3, ic u = 2), C3(C = 5)
  submodel Ground
  node x
  connect x - C1 - Ground, x - C2 - Ground, x - C3 - Ground
end";
    let refused = std::panic::catch_unwind(|| exact(text, 1.0).run(&["C1.u"]));
    let said = refused.err().and_then(|why| why.downcast::<String>().ok());
    assert!(said.is_some_and(|said| said.contains("StartsContradict")));
    // Nobody gave C3 a voltage: it follows, and takes no charge from the others.
    let result = exact(text, 1.0).start_jump().run(&["C1.u", "C2.u", "C3.u"]);
    for at in 0..3 {
        within(result.off(at, |_| 4.0), CLOSE);
    }
    let jump = only_jump(&result);
    close(jump.time, 0.0);
    close(jump.change("C1.u").0, 10.0);
    // Values that agree stay.
    let text = divider("ConstantVoltage) U(E = 4)", "").replace("C1(C = 1)", "C1(C = 1, ic u = 3)");
    let result = Trial::of(&text, 1.0).start_jump().run(&["C1.u", "C2.u"]);
    within(result.off(0, |_| 3.0), CLOSE);
    within(result.off(1, |_| 1.0), CLOSE);
    nothing_jumps(&result);
}
