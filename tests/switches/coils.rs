//! Switches and diodes beside coils: positions that take a coil out of play, and currents that have to go somewhere.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, PI, TAU};

use crate::look::{CLOSE, changes, close, constant, exact, happens, jumps, nothing_jumps};
use crate::look::{only_jump, zero};
use crate::support::trial::{same_times, within};

/// E = 2, R = L = 1, from zero.
fn rise(t: f64) -> f64 {
    2.0 * (1.0 - (-t).exp())
}

/// Opened and closed again, three times, each from what was reached: the coil forgets everything.
#[test]
fn opened_and_closed_again() {
    let text = "@electrical
model M
  submodel (ConstantVoltage) U0(E = 2)
  submodel (IdealSwitch) S
  submodel (Resistor) R1
  submodel (Inductor) L1(L = 1)
  submodel Ground
  connect Ground - U0 - R1 - S - L1 - Ground
  S.OpenSwitch = mod(Time, 1) >= 0.75
end";
    let result = exact(text, 3.5).points(281).run(&["L1.i", "S.u", "L1.u"]);
    let current = |t: f64| match t % 1.0 < 0.75 {
        true => rise(t % 1.0),
        false => 0.0,
    };
    within(result.off(0, current), CLOSE);
    for period in [0.0, 1.0, 2.0] {
        zero(&result, 0, period + 0.75, period + 1.0);
        zero(&result, 2, period + 0.75, period + 1.0);
    }
    let all = jumps(&result);
    assert_eq!(all.len(), 3);
    for (at, jump) in all.iter().enumerate() {
        close(jump.time, at as f64 + 0.75);
        close(jump.impulse("S.u"), rise(0.75));
        close(jump.lost(), 0.5 * rise(0.75) * rise(0.75));
    }
}

const TWO_IN_SERIES: &str = "@electrical
model M
  parameter first = 1, second = 1.5
  submodel (ConstantVoltage) U0(E = 2)
  submodel (IdealSwitch) S1, S2
  submodel (Resistor) R1
  submodel (Inductor) L1(L = 1)
  submodel Ground
  connect Ground - U0 - S1 - S2 - L1 - R1 - Ground
  S1.OpenSwitch = Time >= first and Time < 2
  S2.OpenSwitch = Time >= second and Time < 3
end";

/// While both are open they say the same of the current, and nothing says how they share the voltage. Closing
/// the first does not help.
#[test]
fn two_switches_in_series() {
    let result = exact(TWO_IN_SERIES, 5.0).run(&["L1.i", "S1.u", "S2.u"]);
    let current = |t: f64| match t {
        t if t < 1.0 => rise(t),
        t if t < 3.0 => 0.0,
        t => rise(t - 3.0),
    };
    within(result.off(0, current), CLOSE);
    zero(&result, 0, 1.0, 3.0);
    let both = |t: f64| if (1.0..3.0).contains(&t) { 2.0 } else { 0.0 };
    within(result.worst(|t, row| row[1] + row[2] - both(t)), CLOSE);
    zero(&result, 2, 1.0, 1.5);
    zero(&result, 1, 2.0, 3.0);
    let jump = only_jump(&result);
    close(jump.impulse("S1.u"), rise(1.0));
    close(jump.lost(), 0.5 * rise(1.0) * rise(1.0));
}

/// Both at one instant: there is one impulse. At a 1-junction nothing tells them apart, and each has half of it.
#[test]
fn two_switches_at_once() {
    let result = exact(TWO_IN_SERIES, 5.0).set("second=1").run(&["L1.i"]);
    zero(&result, 0, 1.0, 3.0);
    let jump = only_jump(&result);
    close(jump.impulse("S1.u") + jump.impulse("S2.u"), rise(1.0));
    close(jump.lost(), 0.5 * rise(1.0) * rise(1.0));
    let text = "@bondgraph
model M
  submodel (SE) U0
  submodel (Sw) S1, S2
  submodel (R) R1
  submodel (I) L1
  junction1 j
  connect U0 at j, S1 at j, S2 at j, R1 at j, L1 at j
  U0.E0 = 2
  S1.OpenSwitch = Time >= 1
  S2.OpenSwitch = Time >= 1
end";
    let result = exact(text, 2.0).run(&["L1.f", "S1.e", "S2.e"]);
    zero(&result, 0, 1.0, 2.0);
    let jump = only_jump(&result);
    let half = |t: f64| if t < 1.0 { 0.0 } else { 1.0 };
    for (at, name) in [(1, "S1.e"), (2, "S2.e")] {
        close(jump.impulse(name), 0.5 * rise(1.0));
        within(result.off(at, half), CLOSE);
    }
    close(jump.lost(), 0.5 * rise(1.0) * rise(1.0));
}

/// A switch across the second of two coils in series. When it opens they must have one current, and the flux of
/// both stays: L1 i1/(L1 + L2). When it closes again the second coil keeps what it has.
#[test]
fn coil_forced_into_a_coil() {
    let text = "@electrical
model M
  submodel (ConstantVoltage) U0(E = 2)
  submodel (IdealSwitch) S
  submodel (Resistor) R1
  submodel (Inductor) L1(L = 1), L2(L = 3)
  submodel Ground
  connect Ground - U0 - R1 - L1 - (L2 // S) - Ground
  S.OpenSwitch = Time >= 1 and Time < 2
end";
    let result = exact(text, 4.0).run(&["L1.i", "L2.i", "S.i", "L2.u"]);
    let both = |t: f64| 2.0 + (0.25 * rise(1.0) - 2.0) * (0.25 * (1.0 - t)).exp();
    let first = |t: f64| match t {
        t if t < 1.0 => rise(t),
        t if t < 2.0 => both(t),
        t => 2.0 + (both(2.0) - 2.0) * (2.0 - t).exp(),
    };
    let second = |t: f64| match t {
        t if t < 1.0 => 0.0,
        t => both(t.min(2.0)),
    };
    within(result.off(0, first), CLOSE);
    within(result.off(1, second), CLOSE);
    within(result.off(2, |t| first(t) - second(t)), CLOSE);
    zero(&result, 1, 0.0, 1.0);
    zero(&result, 2, 1.0, 2.0);
    zero(&result, 3, 2.0, 4.0);
    constant(&result, 1, 2.0, 4.0);
    let jump = only_jump(&result);
    close(jump.change("L1.i").1, 0.25 * rise(1.0));
    close(jump.change("L2.i").1, 0.25 * rise(1.0));
    close(jump.impulse("S.u"), 0.75 * rise(1.0));
    close(jump.lost(), 0.5 * 0.75 * rise(1.0) * rise(1.0));
}

/// A coil that is shorted by a diode, without any resistance: its current goes round for ever.
#[test]
fn coil_shorted_by_a_diode() {
    let text = "@electrical
model M
  submodel (ConstantVoltage) U0(E = 2)
  submodel (IdealSwitch) S
  submodel (Resistor) R1
  submodel (Inductor) L1(L = 1)
  submodel (IdealDiode) D1
  submodel Ground
  connect Ground - U0 - R1 - S - (L1 // reversed D1) - Ground
  S.OpenSwitch = Time >= 1
end";
    let result = exact(text, 3.0).run(&["L1.i", "D1.i", "L1.u"]);
    within(result.off(0, |t| rise(t.min(1.0))), CLOSE);
    constant(&result, 0, 1.0, 3.0);
    zero(&result, 1, 0.0, 1.0);
    zero(&result, 2, 1.0, 3.0);
    nothing_jumps(&result);
}

/// The same fed by a current sin(t), which the coil takes as long as the voltage cos(t) is against the diode:
/// from pi to 3 pi/2. There the diode closes on a current that begins as (t - 3 pi/2)^2/2: neither it nor its
/// rate tells the way. From then on the coil keeps its -1.
#[test]
fn coil_and_diode_on_a_current() {
    let text = "@electrical
model M
  submodel (CurrentSource) I0
  submodel (Inductor) L1(L = 1)
  submodel (IdealDiode) D1
  submodel Ground
  connect Ground - I0 - (L1 // D1) - Ground
  I0.I0 = sin(Time)
end";
    let result = exact(text, 10.0)
        .points(1001)
        .run(&["L1.i", "D1.i", "L1.u"]);
    let coil = |t: f64| match t {
        t if t < PI => 0.0,
        t => t.min(1.5 * PI).sin(),
    };
    within(result.off(0, coil), CLOSE);
    within(result.off(1, |t| t.sin() - coil(t)), CLOSE);
    zero(&result, 0, 0.0, PI);
    zero(&result, 1, PI, 1.5 * PI);
    happens(&result, PI);
    nothing_jumps(&result);
}

/// A source, a diode, a coil and a capacitor: half a swing, i = sin(t) and u = 1 - cos(t), and then nothing
/// more. The capacitor keeps twice the voltage of the source.
#[test]
fn half_a_swing() {
    let text = "@electrical
model M
  submodel (ConstantVoltage) U0(E = 1)
  submodel (IdealDiode) D1
  submodel (Inductor) L1(L = 1)
  submodel (Capacitor) C1(C = 1)
  submodel Ground
  connect Ground - U0 - D1 - L1 - C1 - Ground
end";
    let names = ["L1.i", "C1.u", "D1.u", "D1.OpenSwitch"];
    let result = exact(text, 10.0).run(&names);
    let swing = |t: f64| if t < PI { t.sin() } else { 0.0 };
    within(result.off(0, swing), CLOSE);
    within(result.off(1, |t| 1.0 - t.min(PI).cos()), CLOSE);
    within(result.off(2, |t| if t < PI { 0.0 } else { -1.0 }), CLOSE);
    zero(&result, 0, PI, 10.0);
    close(constant(&result, 1, PI, 10.0), 2.0);
    same_times(&changes(&result, 3), &[PI], CLOSE);
    nothing_jumps(&result);
    // From a charge of its own it goes to 2 E - u; from one above the source it stays.
    let result = exact(text, 10.0).init("C1.u=-3").run(&names);
    close(constant(&result, 1, PI, 10.0), 5.0);
    let result = exact(text, 10.0).init("C1.u=1.5").run(&names);
    zero(&result, 0, 0.0, 10.0);
    close(constant(&result, 1, 0.0, 10.0), 1.5);
}

/// A switch that opens hands the current of a coil on to a capacitor, through a diode: a quarter of a swing
/// later all its energy is there.
#[test]
fn energy_handed_on() {
    let text = "@electrical
model M
  submodel (IdealSwitch) S
  submodel (IdealDiode) D1
  submodel (Inductor) L1(L = 1, ic i = 3)
  submodel (Capacitor) C1(C = 1)
  submodel Ground
  node x
  connect Ground - L1 - x - S - Ground
  connect x - D1 - C1 - Ground
  S.OpenSwitch = Time >= 1
end";
    let result = exact(text, 5.0).run(&["L1.i", "C1.u", "S.i"]);
    let phase = |t: f64| (t - 1.0).clamp(0.0, FRAC_PI_2);
    within(result.off(1, |t| 3.0 * phase(t).sin()), CLOSE);
    let current = |t: f64| match phase(t) < FRAC_PI_2 {
        true => 3.0 * phase(t).cos(),
        false => 0.0,
    };
    within(result.off(0, current), CLOSE);
    zero(&result, 0, 1.0 + FRAC_PI_2, 5.0);
    zero(&result, 2, 1.0, 5.0);
    close(constant(&result, 1, 1.0 + FRAC_PI_2, 5.0), 3.0);
    nothing_jumps(&result);
}

/// A rectifier with a freewheeling diode on a load that draws a constant 0.5 A, behind a coil of 1 H. While the
/// current goes over from one diode to the other, both conduct: from 0 to pi/3, where 1 - cos(t) has come to
/// 0.5, and from pi to 4 pi/3. Between these the coil has to carry what the load draws. A position in which
/// both are open is impossible.
#[test]
fn commutation_takes_its_time() {
    let text = "@electrical
model M
  submodel (VoltageSource) U0
  submodel (Inductor) Ls(L = 1)
  submodel (IdealDiode) D1, DF
  submodel (ConstantCurrent) load(I = 0.5)
  submodel Ground
  node x
  connect Ground - U0 - Ls - D1 - x - load - Ground
  connect Ground - DF - x
  U0.E0 = sin(Time)
end";
    let names = ["Ls.i", "DF.i", "load.u", "D1.OpenSwitch", "DF.OpenSwitch"];
    let result = exact(text, 12.0).points(601).run(&names);
    let current = |t: f64| match t % TAU {
        t if t < FRAC_PI_3 => 1.0 - t.cos(),
        t if t < PI => 0.5,
        t if t < 4.0 * FRAC_PI_3 => -0.5 - t.cos(),
        _ => 0.0,
    };
    within(result.off(0, current), CLOSE);
    within(result.off(1, |t| 0.5 - current(t)), CLOSE);
    let voltage = |t: f64| match t % TAU {
        t if (FRAC_PI_3..PI).contains(&t) => t.sin(),
        _ => 0.0,
    };
    within(result.off(2, voltage), CLOSE);
    zero(&result, 1, FRAC_PI_3, PI);
    zero(&result, 0, 4.0 * FRAC_PI_3, TAU);
    let first = [4.0 * FRAC_PI_3, TAU, TAU + 4.0 * FRAC_PI_3];
    same_times(&changes(&result, 3), &first, CLOSE);
    let second = [FRAC_PI_3, PI, TAU + FRAC_PI_3, TAU + PI];
    same_times(&changes(&result, 4), &second, CLOSE);
    nothing_jumps(&result);
}
