//! Switches and diodes beside capacitors: charges that move in no time.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_6, PI, TAU};

use crate::look::{CLOSE, close, constant, exact, happens, jumps, nothing_jumps};
use crate::look::{only_jump, root, zero};
use crate::support::trial::within;

/// Three capacitors of 1, 2 and 3 F to ground, charged with 0.6 A at the first; switches between each two close
/// one after the other. The charge is 17 + 0.6 t throughout. The third switch closes a loop of switches: it
/// moves nothing, and what goes round in the loop is nobody's matter, so nothing does: the sum of the three
/// currents is zero.
#[test]
fn three_in_a_triangle() {
    let text = "@electrical
model M
  submodel (ConstantCurrent) I0(I = 0.6)
  submodel (Capacitor) C1(C = 1, ic u = 1), C2(C = 2, ic u = 2), C3(C = 3, ic u = 4)
  submodel (IdealSwitch) S12, S23, S31
  submodel Ground
  node n1, n2, n3
  connect Ground - I0 - n1
  connect n1 - C1 - Ground, n2 - C2 - Ground, n3 - C3 - Ground
  connect n1 - S12 - n2 - S23 - n3 - S31 - n1
  S12.OpenSwitch = Time < 1
  S23.OpenSwitch = Time < 2
  S31.OpenSwitch = Time < 3
end";
    let names = ["C1.u", "C2.u", "C3.u", "S12.i", "S23.i", "S31.i"];
    let result = exact(text, 4.0).run(&names);
    let all = |t: f64| (17.0 + 0.6 * t) / 6.0;
    let two = |t: f64| (5.0 + 0.6 * t) / 3.0;
    let first = |t: f64| match t {
        t if t < 1.0 => 1.0 + 0.6 * t,
        t if t < 2.0 => two(t),
        t => all(t),
    };
    let second = |t: f64| if t < 1.0 { 2.0 } else { first(t) };
    let third = |t: f64| if t < 2.0 { 4.0 } else { first(t) };
    within(result.off(0, first), CLOSE);
    within(result.off(1, second), CLOSE);
    within(result.off(2, third), CLOSE);
    let found = jumps(&result);
    assert_eq!(found.len(), 2, "{found:?}");
    close(found[0].change("C1.u").0, 1.6);
    close(found[0].change("C2.u").1, 5.6 / 3.0);
    assert!(!found[0].jumps("C3.u"));
    close(found[0].lost(), 0.5 * (2.0 / 3.0) * 0.4 * 0.4);
    close(found[1].change("C3.u").1, 18.2 / 6.0);
    close(found[1].impulse("S23.i"), 3.0 * (18.2 / 6.0 - 4.0));
    // S12 passes on what C1 gives of it; it had no voltage and takes no energy.
    close(found[1].impulse("S12.i"), two(2.0) - 18.2 / 6.0);
    let apart = two(2.0) - 4.0;
    close(found[1].lost(), 0.5 * 1.5 * apart * apart);
    // 0.2 A go into C2 and 0.3 A into C3.
    let last = result.last();
    close(last[3] - last[4], 0.2);
    close(last[4] - last[5], 0.3);
    close(last[3] + last[4] + last[5], 0.0);
}

/// Capacitors and switches in turn in a ring. As long as two switches are open a part of it hangs in the air.
/// When the last one closes, one charge q goes all around: the sum of u + q/C is zero.
#[test]
fn three_in_a_ring() {
    let text = "@electrical
model M
  submodel (Capacitor) C1(C = 1, ic u = 3), C2(C = 2, ic u = 1), C3(C = 4, ic u = 3)
  submodel (IdealSwitch) S1, S2, S3
  submodel Ground
  connect loop C1 - S1 - C2 - S2 - C3 - S3
  connect Ground at C1:A
  S1.OpenSwitch = Time < 1
  S2.OpenSwitch = Time < 1.5
  S3.OpenSwitch = Time < 2
end";
    let result = exact(text, 3.0).run(&["C1.u", "C2.u", "C3.u"]);
    for (at, (before, after)) in [(3.0, -1.0), (1.0, -1.0), (3.0, 2.0)].iter().enumerate() {
        let truth = |t: f64| if t < 2.0 { *before } else { *after };
        within(result.off(at, truth), CLOSE);
    }
    let jump = only_jump(&result);
    close(jump.time, 2.0);
    for switch in ["S1.i", "S2.i", "S3.i"] {
        close(jump.impulse(switch), -4.0);
    }
    close(jump.lost(), 14.0);
}

/// A switch across a capacitor that is charged through a resistor.
#[test]
fn shorted() {
    let text = "@electrical
model M
  submodel (ConstantVoltage) U0(E = 2)
  submodel (Resistor) R1
  submodel (Capacitor) C1(C = 1)
  submodel (IdealSwitch) S
  submodel Ground
  connect Ground - U0 - R1 - (C1 // S) - Ground
  S.OpenSwitch = not (Time >= 1 and Time < 2)
end";
    let result = exact(text, 4.0).run(&["C1.u", "S.i", "C1.i"]);
    let charge = |t: f64| 2.0 * (1.0 - (-t).exp());
    let voltage = |t: f64| match t {
        t if t < 1.0 => charge(t),
        t if t < 2.0 => 0.0,
        t => charge(t - 2.0),
    };
    within(result.off(0, voltage), CLOSE);
    let short = |t: f64| if (1.0..2.0).contains(&t) { 2.0 } else { 0.0 };
    within(result.off(1, short), CLOSE);
    zero(&result, 0, 1.0, 2.0);
    zero(&result, 2, 1.0, 2.0);
    let jump = only_jump(&result);
    close(jump.impulse("S.i"), charge(1.0));
    close(jump.lost(), 0.5 * charge(1.0) * charge(1.0));
}

/// 8 V charge C1 in the first half of each second, C1 charges C2 in the second half. The switches change at one
/// instant: if they did so one after the other, C2 would be at the source. C2 has 8 (1 - (3/4)^n) after n
/// times.
#[test]
fn charge_pump() {
    let text = "@electrical
model M
  submodel (ConstantVoltage) U0(E = 8)
  submodel (IdealSwitch) S1, S2
  submodel (Capacitor) C1(C = 1, ic u = 8), C2(C = 3)
  submodel Ground
  node x
  connect Ground - U0 - S1 - x - C1 - Ground
  connect x - S2 - C2 - Ground
  S1.OpenSwitch = mod(Time, 1) >= 0.5
  S2.OpenSwitch = mod(Time, 1) < 0.5
end";
    let result = exact(text, 5.25).points(106).run(&["C1.u", "C2.u"]);
    let stage = |n: i32| 8.0 * (1.0 - 0.75_f64.powi(n));
    let times = |t: f64| (t + 0.5 + 1e-9).floor() as i32;
    within(result.off(1, |t| stage(times(t))), CLOSE);
    let first = |t: f64| match (t + 1e-9) % 1.0 < 0.5 {
        true => 8.0,
        false => stage(times(t)),
    };
    within(result.off(0, first), CLOSE);
    let all = jumps(&result);
    assert_eq!(all.len(), 10);
    for n in 0..5 {
        let apart = 8.0 - stage(n);
        let shared = &all[2 * n as usize];
        close(shared.time, f64::from(n) + 0.5);
        close(shared.impulse("S2.i"), 0.75 * apart);
        close(shared.lost(), 0.5 * 0.75 * apart * apart);
        let apart = 8.0 - stage(n + 1);
        let charged = &all[2 * n as usize + 1];
        close(charged.impulse("S1.i"), apart);
        close(charged.lost(), 0.5 * apart * apart);
        assert!(!charged.jumps("C2.u"), "{charged:?}");
    }
}

const PEAK: &str = "@electrical
model M
  input v
  submodel (VoltageSource) U0
  submodel (IdealDiode) D1
  submodel (Capacitor) C1(C = 1)
  submodel Ground
  connect Ground - U0 - D1 - C1 - Ground
  U0.E0 = v
end";

/// A source, a diode, a capacitor, and nothing that discharges it. The diode opens where neither its voltage
/// nor the rate of that tells the way: at the top of the sine. The next wave is twice as high: from sin(t) =
/// 1/2 on the capacitor goes with it.
#[test]
fn peak_detector() {
    let trial = exact(PEAK, 12.0).points(601);
    let trial = trial.input("v=if Time < 6 then sin(Time) else 2*sin(Time)");
    let result = trial.run(&["C1.u", "D1.i"]);
    let voltage = |t: f64| match t {
        t if t < FRAC_PI_2 => t.sin(),
        t if t < TAU + FRAC_PI_6 => 1.0,
        t => 2.0 * t.min(TAU + FRAC_PI_2).sin(),
    };
    within(result.off(0, voltage), CLOSE);
    let follows = |t: f64| t < FRAC_PI_2 || (TAU + FRAC_PI_6..TAU + FRAC_PI_2).contains(&t);
    let current = |t: f64| match follows(t) {
        true if t < PI => t.cos(),
        true => 2.0 * t.cos(),
        false => 0.0,
    };
    within(result.off(1, current), CLOSE);
    close(constant(&result, 0, FRAC_PI_2, TAU + FRAC_PI_6), 1.0);
    close(constant(&result, 0, TAU + FRAC_PI_2, 12.0), 2.0);
    zero(&result, 1, FRAC_PI_2, TAU + FRAC_PI_6);
    nothing_jumps(&result);
}

/// The same on a source that jumps: up, the capacitor goes with it, in no time; down, the diode does not let
/// the charge back. In its old position it would.
#[test]
fn peak_detector_on_steps() {
    let steps = "v=if Time < 1 then 1 elseif Time < 2 then 3 elseif Time < 3 then 0.5 else 4";
    let trial = exact(PEAK, 4.0).input(steps).init("C1.u=1");
    let result = trial.run(&["C1.u", "D1.u"]);
    let voltage = |t: f64| match t {
        t if t < 1.0 => 1.0,
        t if t < 3.0 => 3.0,
        _ => 4.0,
    };
    within(result.off(0, voltage), CLOSE);
    let blocked = |t: f64| if (2.0..3.0).contains(&t) { -2.5 } else { 0.0 };
    within(result.off(1, blocked), CLOSE);
    let all = jumps(&result);
    assert_eq!(all.len(), 2, "{all:?}");
    close(all[0].time, 1.0);
    close(all[0].impulse("D1.i"), 2.0);
    close(all[1].time, 3.0);
    close(all[1].impulse("D1.i"), 1.0);
}

/// The doubler of Greinacher without a load. D2 charges C2 through C1 as long as the source rises, D1 charges
/// C1 while it falls. The n-th crest leaves 2 - 1.5/2^(n-1) on C2, as each brings half of what is missing to 2.
#[test]
fn voltage_doubler() {
    let text = "@electrical
model M
  submodel (VoltageSource) U0
  submodel (Capacitor) C1(C = 1), C2(C = 1)
  submodel (IdealDiode) D1, D2
  submodel Ground
  node m
  connect Ground - U0 - C1 - m - D2 - C2 - Ground
  connect Ground - D1 - m
  U0.E0 = sin(Time)
end";
    let result = exact(text, 20.0).points(1001).run(&["C1.u", "C2.u"]);
    let crest = |n: i32| match n {
        0 => 0.0,
        n => 2.0 - 1.5 * 0.5_f64.powi(n - 1),
    };
    // Of a wave that begins in the trough at -pi/2: first D2 waits until v + 1 is at C2's voltage, then it
    // conducts up to the crest, then D1 waits until v is at C1's voltage.
    let at = |t: f64| {
        let n = ((t + FRAC_PI_2) / TAU).floor() as i32;
        let (rising, v) = ((t + FRAC_PI_2) % TAU < PI, t.sin());
        let (before, after) = (crest(n), crest(n + 1));
        // The first wave has no trough before it.
        let low = if n == 0 { 0.0 } else { -1.0 };
        match rising {
            true if v - low <= before => (low, before),
            true => {
                let more = 0.5 * (v - low - before);
                (low + more, before + more)
            }
            false => (v.min(1.0 - after), after),
        }
    };
    within(result.off(0, |t| at(t).0), CLOSE);
    within(result.off(1, |t| at(t).1), CLOSE);
    happens(&result, FRAC_PI_2);
    // D1 begins at sin(t) = 1/2.
    happens(&result, 5.0 * FRAC_PI_6);
    // D2 begins again at v + 1 = 1/2.
    happens(&result, root(|t| t.sin() + 0.5, 1.5 * PI, TAU));
    nothing_jumps(&result);
}

const CHAIN: &str = "@electrical
model M
  submodel (Capacitor) C1(C = 1, ic u = 10), C2(C = 1), C3(C = 1)
  submodel (IdealSwitch) S
  submodel (IdealDiode) D1
  submodel Ground
  node n1, n2, n3
  connect n1 - C1 - Ground, n2 - C2 - Ground, n3 - C3 - Ground
  connect n1 - S - n2 - D1 - n3
  S.OpenSwitch = Time < 1
end";

/// A switch closes, and a diode behind it has to decide within the same instant: it takes part in the impulse
/// if that goes its way.
#[test]
fn diode_in_an_impulse() {
    let names = ["C1.u", "C2.u", "C3.u"];
    let result = exact(CHAIN, 2.0).init("C3.u=1").run(&names);
    for voltage in result.last() {
        close(*voltage, 11.0 / 3.0);
    }
    let jump = only_jump(&result);
    close(jump.impulse("S.i"), 19.0 / 3.0);
    close(jump.impulse("D1.i"), 8.0 / 3.0);
    close(jump.lost(), 50.5 - 1.5 * (11.0_f64 / 3.0).powi(2));
    // Together they would have 16/3; so the charge would come back through the diode.
    let result = exact(CHAIN, 2.0).init("C3.u=6").run(&names);
    close(result.last()[0], 5.0);
    close(result.last()[1], 5.0);
    close(constant(&result, 2, 0.0, 2.0), 6.0);
    close(only_jump(&result).lost(), 25.0);
}
