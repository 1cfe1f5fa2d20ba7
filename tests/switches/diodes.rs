//! Many diodes without storages, and diodes that say the same thing twice.

use crate::look::{CLOSE, changes, close, exact, nothing_jumps, zero};
use crate::support::trial::{same_times, within};
use std::f64::consts::{PI, TAU};

/// Two diodes in series. While both are open nothing says how they share the voltage, and nothing tells them
/// apart either: each has half.
#[test]
fn in_series() {
    let text = "@bondgraph
model M
  submodel (SE) U0
  submodel (R) R1(R = 2)
  submodel (D) D1, D2
  junction1 j
  connect U0 at j, R1 at j, D1 at j, D2 at j
  U0.E0 = sin(Time)
end";
    let names = ["R1.f", "D1.e", "D2.e", "D1.OpenSwitch", "D2.OpenSwitch"];
    let result = exact(text, 10.0).run(&names);
    within(result.off(0, |t| 0.5 * t.sin().max(0.0)), CLOSE);
    for at in [1, 2] {
        within(result.off(at, |t| 0.5 * t.sin().min(0.0)), CLOSE);
        zero(&result, at, 0.0, PI);
        same_times(&changes(&result, at + 2), &[PI, TAU, 3.0 * PI], CLOSE);
    }
    zero(&result, 0, PI, TAU);
}

/// In a circuit the potential between them has a say in what is least, so the shares may be others; neither is
/// ever positive. With a coil behind them they open on it together, too.
#[test]
fn in_series_with_a_coil() {
    let text = "@electrical
model M
  submodel (VoltageSource) U0
  submodel (IdealDiode) D1, D2
  submodel (Resistor) R1
  submodel (Inductor) L1(L = 1)
  submodel Ground
  connect Ground - U0 - D1 - R1 - L1 - D2 - Ground
  U0.E0 = sin(Time)
end";
    // As for a single diode: see the first tests.
    let stop = 3.940_733_135_692_915;
    let free = |t: f64| 0.5 * (t.sin() - t.cos() + (-t).exp());
    let current = |t: f64| if t % TAU < stop { free(t % TAU) } else { 0.0 };
    let result = exact(text, 13.0).run(&["L1.i", "D1.u", "D2.u"]);
    within(result.off(0, current), CLOSE);
    zero(&result, 0, stop, TAU);
    let blocked = |t: f64| if t % TAU < stop { 0.0 } else { t.sin() };
    within(result.worst(|t, row| row[1] + row[2] - blocked(t)), CLOSE);
    for at in [1, 2] {
        within(result.worst(|_, row| row[at].max(0.0)), CLOSE);
    }
    nothing_jumps(&result);
}

/// Two diodes in parallel have one voltage of zero while they conduct; they share the current equally.
#[test]
fn in_parallel() {
    let text = "@electrical
model M
  submodel (VoltageSource) U0
  submodel (Resistor) R1(R = 2)
  submodel (IdealDiode) D1, D2
  submodel Ground
  connect Ground - U0 - R1 - (D1 // D2) - Ground
  U0.E0 = sin(Time)
end";
    let result = exact(text, 10.0).run(&["R1.i", "D1.i", "D2.i", "D1.u"]);
    within(result.off(0, |t| 0.5 * t.sin().max(0.0)), CLOSE);
    within(result.off(1, |t| 0.25 * t.sin().max(0.0)), CLOSE);
    within(result.off(2, |t| 0.25 * t.sin().max(0.0)), CLOSE);
    within(result.off(3, |t| t.sin().min(0.0)), CLOSE);
}

/// Two switches in parallel beside a coil: as long as one of them is closed the other may do what it likes.
#[test]
fn switches_in_parallel() {
    let text = "@electrical
model M
  submodel (ConstantVoltage) U0(E = 2)
  submodel (Resistor) R1
  submodel (Inductor) L1(L = 1)
  submodel (IdealSwitch) S1, S2
  submodel Ground
  connect Ground - U0 - R1 - L1 - (S1 // S2) - Ground
  S1.OpenSwitch = Time >= 1 and Time < 2
  S2.OpenSwitch = Time >= 3
end";
    let result = exact(text, 4.0).run(&["L1.i", "S1.i", "S2.i"]);
    let all = |t: f64| 2.0 * (1.0 - (-t).exp());
    within(result.off(0, all), CLOSE);
    let share = |t: f64| match t {
        t if (1.0..2.0).contains(&t) => 0.0,
        t if t < 3.0 => 0.5,
        _ => 1.0,
    };
    within(result.off(1, |t| share(t) * all(t)), CLOSE);
    within(result.off(2, |t| (1.0 - share(t)) * all(t)), CLOSE);
    zero(&result, 1, 1.0, 2.0);
    zero(&result, 2, 3.0, 4.0);
    nothing_jumps(&result);
}

/// Two diodes and two batteries hold a signal between -0.5 and 1.
#[test]
fn clamp() {
    let text = "@electrical
model M
  submodel (VoltageSource) U0
  submodel (Resistor) R1(R = 4)
  submodel (IdealDiode) D1, D2
  submodel (ConstantVoltage) B1(E = 1), B2(E = 0.5)
  submodel (VoltageSensor) out
  submodel Ground
  node x
  connect Ground - U0 - R1 - x - out - Ground
  connect x - D1 - reversed B1 - Ground
  connect Ground - reversed B2 - D2 - x
  U0.E0 = 2*sin(Time)
end";
    let result = exact(text, 10.0).run(&["out.y", "D1.i", "D2.i"]);
    let v = |t: f64| 2.0 * t.sin();
    within(result.off(0, |t| v(t).clamp(-0.5, 1.0)), CLOSE);
    within(result.off(1, |t| 0.25 * (v(t) - 1.0).max(0.0)), CLOSE);
    within(result.off(2, |t| 0.25 * (-0.5 - v(t)).max(0.0)), CLOSE);
}

/// The larger of two sources, or zero if both are negative. Where one overtakes the other the current changes over at
/// once; both conducting would join two sources.
#[test]
fn larger_of_two() {
    let text = "@electrical
model M
  submodel (VoltageSource) U1, U2
  submodel (IdealDiode) D1, D2
  submodel (Resistor) R1
  submodel Ground
  node x
  connect Ground - U1 - D1 - x - R1 - Ground
  connect Ground - U2 - D2 - x
  U1.E0 = sin(Time)
  U2.E0 = 0.8*cos(Time)
end";
    let result = exact(text, 10.0).run(&["R1.u", "D1.i", "D2.i"]);
    let (first, second) = (|t: f64| t.sin(), |t: f64| 0.8 * t.cos());
    let larger = |t: f64| first(t).max(second(t)).max(0.0);
    within(result.off(0, larger), CLOSE);
    let own = |t: f64, mine: f64, other: f64| if mine > other { larger(t) } else { 0.0 };
    within(result.off(1, |t| own(t, first(t), second(t))), CLOSE);
    within(result.off(2, |t| own(t, second(t), first(t))), CLOSE);
}

/// A wave shaper: eight branches of a diode, a resistor of 2 Ohm and a voltage of 0.3 k. The n lowest of them
/// conduct where the n-th does and the next does not: 3 sin(t) - y = sum of (y - 0.3 k)/2 over k up to n.
#[test]
fn eight_branches() {
    let text = "@electrical
model M
  parameter n = 8
  submodel (VoltageSource) U0, B[n]
  submodel (Resistor) R0, R[n](R = 2)
  submodel (IdealDiode) D[n]
  submodel Ground
  node x
  output y
  connect Ground - U0 - R0 - x
  for k in 1 to n do
    connect x - D[k] - R[k] - reversed B[k] - Ground
    B[k].E0 = 0.3*k
  endfor
  U0.E0 = 9*sin(Time)
  y = R0.Vb
end";
    let result = exact(text, 10.0).run(&["y", "D[1].i", "D[8].i"]);
    let y = |t: f64| {
        let v = 9.0 * t.sin();
        let with = |n: i32| {
            let sum: f64 = (1..=n).map(|k| 0.3 * f64::from(k)).sum();
            (v + 0.5 * sum) / (1.0 + 0.5 * f64::from(n))
        };
        let mut n = 0;
        while n < 8 && with(n) > 0.3 * f64::from(n + 1) {
            n += 1;
        }
        with(n)
    };
    assert!(y(1.57) > 2.4, "all of them conduct");
    within(result.off(0, y), CLOSE);
    within(result.off(1, |t| 0.5 * (y(t) - 0.3).max(0.0)), CLOSE);
    within(result.off(2, |t| 0.5 * (y(t) - 2.4).max(0.0)), CLOSE);
    let last = result.last();
    close(last[1], 0.0);
    assert!(result.summary.events < 100, "{:?}", result.summary);
}

/// A current source whose only way would be through a diode against its direction: no position is possible, and that is
/// said; a closed diode never carries a current backwards.
#[test]
fn no_way_back() {
    let current = 1.65;
    let text = format!(
        "@electrical
model M
  submodel (ConstantCurrent) I0(I = {current})
  submodel (IdealDiode) D1
  submodel (IdealSwitch) S
  submodel (Inductor) L1(L = 1.81)
  submodel (ConstantVoltage) U0(E = 1.39)
  submodel (Resistor) R1(R = 1.12)
  submodel Ground
  node a, b
  connect I0 from a to b, S from b to a
  connect Ground - D1 - U0 - b
  connect L1 from a to Ground, R1 from Ground to a
  S.OpenSwitch = Time >= 1.33
end"
    );
    let result = exact(&text, 3.0).run(&["D1.i"]);
    assert_eq!(result.code, Some("E0905"));
    assert!(result.rows.iter().all(|row| row[0] >= 0.0));
}
