//! Bridges of diodes and thyristors on a sine: four switches that change places together.

use std::f64::consts::{FRAC_PI_3, PI, TAU};

use crate::look::{CLOSE, close, constant, exact, example, happens, nothing_jumps, root, zero};
use crate::support::trial::{Result, within};

/// The half wave that a time lies in, and how far it is into it.
fn half_wave(t: f64) -> (i32, f64) {
    let n = (t / PI).floor();
    (n as i32, t - n * PI)
}

/// The source delivers what the load draws, forwards in the even half waves and backwards in the odd ones.
fn source_delivers(result: &Result, at: usize, load: impl Fn(f64) -> f64) {
    let sign = |t: f64| if half_wave(t).0 % 2 == 0 { 1.0 } else { -1.0 };
    within(result.off(at, |t| sign(t) * load(t)), CLOSE);
}

#[test]
fn on_a_resistor() {
    let trial = example("bridge").model("OnR");
    let result = trial.run(&["y", "U0.i", "D1.i", "D4.i", "D2.i", "D3.i"]);
    within(result.off(0, |t| t.sin().abs()), CLOSE);
    source_delivers(&result, 1, |t| t.sin().abs());
    for at in [2, 3] {
        within(result.off(at, |t| t.sin().max(0.0)), CLOSE);
        zero(&result, at, PI, TAU);
    }
    for at in [4, 5] {
        within(result.off(at, |t| (-t.sin()).max(0.0)), CLOSE);
        zero(&result, at, 0.0, PI);
    }
    for half in [1.0, 2.0, 3.0] {
        happens(&result, half * PI);
    }
}

/// R = C = 1: the bridge delivers while C u' + u/R > 0, that is up to 3 pi/4 of each half wave. `next` is where
/// the sine meets the discharge, sin(pi/4) exp(3 pi/4 - t) = -sin(t), in the second half wave and pi later in
/// each: by mpmath findroot(lambda t: sin(pi/4)*exp(3*pi/4 - t) + sin(t), 3.4).
#[test]
fn on_a_capacitor() {
    let (stop, next) = (0.75 * PI, 3.394_610_127_458_901);
    let own = root(|t| (0.25 * PI).sin() * (stop - t).exp() + t.sin(), PI, 3.5);
    within((own - next).abs(), 1e-14);
    let conducts = |t: f64| match half_wave(t) {
        (0, into) => into < stop,
        (_, into) => (next - PI..stop).contains(&into),
    };
    let voltage = |t: f64| {
        if conducts(t) {
            return t.sin().abs();
        }
        let (n, into) = half_wave(t);
        // From the end of the conduction in this half wave, or in the one before.
        let since = match into < stop {
            true => into + PI - stop,
            false => into - stop,
        };
        assert!(n > 0 || into >= stop);
        (0.25 * PI).sin() * (-since).exp()
    };
    let result = example("bridge").run(&["y", "U0.i", "D1.i", "D2.i"]);
    within(result.off(0, voltage), CLOSE);
    let slope = |t: f64| half_wave(t).1.cos();
    let load = |t: f64| match conducts(t) {
        true => voltage(t) + slope(t),
        false => 0.0,
    };
    source_delivers(&result, 1, load);
    zero(&result, 1, stop, next);
    zero(&result, 1, stop + PI, next + PI);
    zero(&result, 2, PI, TAU);
    zero(&result, 3, 0.0, PI);
    for half in [0.0, 1.0, 2.0] {
        happens(&result, stop + half * PI);
        happens(&result, next + half * PI);
    }
    nothing_jumps(&result);
}

/// The same source and bridge on a coil: its current goes on when all four diodes change over. R = L = 1, L i'
/// = |sin(t)| - R i, half wave by half wave.
#[test]
fn on_a_coil() {
    let load = |t: f64| {
        let (n, into) = half_wave(t);
        let mut start = 0.0;
        for _ in 0..n {
            start = 0.5 + (start + 0.5) * (-PI).exp();
        }
        0.5 * (into.sin() - into.cos()) + (start + 0.5) * (-into).exp()
    };
    let mut trial = example("bridge").model("OnL").until(10.0).points(501);
    trial.text += "
model (Bridge) OnL
  submodel (Resistor) R1
  submodel (Inductor) L1(L = 1)
  connect R1 - L1 from plus to minus
  y = R1.u + L1.u
end
";
    let result = trial.run(&["L1.i", "U0.i", "D1.i", "D2.i", "y"]);
    within(result.off(0, load), CLOSE);
    source_delivers(&result, 1, load);
    within(result.worst(|_, row| row[0] - row[2] - row[3]), CLOSE);
    zero(&result, 2, PI, TAU);
    zero(&result, 3, 0.0, PI);
    within(result.off(4, |t| t.sin().abs()), CLOSE);
    nothing_jumps(&result);
}

const ALPHA: f64 = FRAC_PI_3;

#[test]
fn thyristors_on_a_resistor() {
    let output = |t: f64| match half_wave(t).1 < ALPHA {
        true => 0.0,
        false => t.sin().abs(),
    };
    let mut trial = example("thyristor_bridge").model("OnR");
    let result = trial.run(&["y", "U0.i", "T1.i", "T2.i"]);
    within(result.off(0, output), CLOSE);
    source_delivers(&result, 1, output);
    for half in [0.0, 1.0, 2.0] {
        happens(&result, half * PI + ALPHA);
        zero(&result, 0, half * PI, half * PI + ALPHA);
    }
    zero(&result, 2, PI, TAU);
    zero(&result, 3, 0.0, PI);
    // Where the ground is does not matter: here the load hangs in the air while nothing conducts.
    trial.text = (trial.text).replace("Ground at minus", "Ground at b");
    let result = trial.run(&["y", "U0.i"]);
    within(result.off(0, output), CLOSE);
    source_delivers(&result, 1, output);
}

/// Fired early or late, and not at all.
#[test]
fn firing_angles() {
    for alpha in [0.5_f64, 2.0, 3.0] {
        let trial = example("thyristor_bridge").model("OnR");
        let result = trial.set(&format!("alpha={alpha}")).run(&["y"]);
        let output = |t: f64| match half_wave(t).1 < alpha {
            true => 0.0,
            false => t.sin().abs(),
        };
        within(result.off(0, output), CLOSE);
    }
    let trial = example("thyristor_bridge").set("alpha=4");
    let result = trial.run(&["y", "i", "U0.i"]);
    for at in [0, 1, 2] {
        close(constant(&result, at, 0.0, 20.0), 0.0);
    }
}

/// With R = L = 1: nothing up to the first firing. Then i' = sin - i from the firing to the end of the half
/// wave, and i' = -i from there to the next firing, in which the current goes through a thyristor and the diode
/// below it, past the source.
#[test]
fn thyristors_on_a_coil() {
    let free = |into: f64| 0.5 * (into.sin() - into.cos());
    let current = |t: f64| {
        let (n, into) = half_wave(t);
        let fired = |start: f64, into: f64| {
            let fall = start * (-ALPHA).exp();
            free(into) + (fall - free(ALPHA)) * (ALPHA - into).exp()
        };
        let mut start = 0.0;
        for _ in 0..n {
            start = fired(start, PI);
        }
        match into < ALPHA {
            true => start * (-into).exp(),
            false => fired(start, into),
        }
    };
    let output = |t: f64| match half_wave(t).1 < ALPHA {
        true => 0.0,
        false => t.sin().abs(),
    };
    let result = example("thyristor_bridge").run(&["i", "y", "U0.i", "T1.i", "T2.i"]);
    within(result.off(0, current), CLOSE);
    within(result.off(1, output), CLOSE);
    let drawn = |t: f64| match half_wave(t).1 < ALPHA {
        true => 0.0,
        false => current(t),
    };
    source_delivers(&result, 2, drawn);
    zero(&result, 0, 0.0, ALPHA);
    // The first goes on conducting into the second half wave, until the second is fired.
    zero(&result, 4, 0.0, PI + ALPHA);
    zero(&result, 3, PI + ALPHA, TAU + ALPHA);
    within(result.worst(|_, row| row[0] - row[3] - row[4]), CLOSE);
    for half in [0.0, 1.0, 2.0, 3.0] {
        happens(&result, half * PI + ALPHA);
        happens(&result, (half + 1.0) * PI);
    }
    nothing_jumps(&result);
}

/// One thyristor, one coil, one half wave: i = sin(t - pi/3)... up to where it comes back to zero, and not
/// fired again. The gate is a short pulse: the current that it leaves must hold the thyristor by itself,
/// although it begins at zero.
#[test]
fn thyristor_holds_itself() {
    let mut trial = exact("", 12.0).model("M").points(601);
    let library = example("thyristor_bridge").text;
    trial.text = format!(
        "{library}
model M
  submodel (VoltageSource) U0
  submodel (Thyristor) T1
  submodel (Resistor) R1
  submodel (Inductor) L1(L = 1)
  submodel Ground
  connect Ground - U0 - T1 - R1 - L1 - Ground
  U0.E0 = sin(Time)
  T1.fire = Time >= 1 and Time < 1.01
end"
    );
    let free = |t: f64| 0.5 * (t.sin() - t.cos());
    let fired = |t: f64| free(t) - free(1.0) * (1.0 - t).exp();
    let stop = root(fired, 3.0, 5.0);
    let result = trial.run(&["L1.i"]);
    let current = |t: f64| match (1.0..stop).contains(&t) {
        true => fired(t),
        false => 0.0,
    };
    within(result.off(0, current), CLOSE);
    zero(&result, 0, 0.0, 1.0);
    zero(&result, 0, stop, 12.0);
    happens(&result, stop);
}
