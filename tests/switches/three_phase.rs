//! Six diodes on three phases: the highest phase and the lowest one conduct, and every pi/3 one of them changes over.

use std::f64::consts::{FRAC_PI_3, FRAC_PI_6, TAU};

use crate::look::{CLOSE, exact, happens, nothing_jumps};
use crate::support::trial::{Trial, within};

fn bridge(load: &str) -> String {
    format!(
        "@electrical
model M
  constant pi = 3.141592653589793
  submodel (VoltageSource) U[3]
  submodel (IdealDiode) D[6]
  submodel Ground
  node phase[3], plus, minus
  output y
  local v
{load}
  for k in 1 to 3 do
    connect Ground - U[k] - phase[k] - D[k] - plus
    connect minus - D[k + 3] - phase[k]
    U[k].E0 = sin(Time - 2*pi/3*(k - 1))
  endfor
  v = U[1].Vb
end"
    )
}

fn phase(k: usize, t: f64) -> f64 {
    (t - TAU / 3.0 * k as f64).sin()
}

fn phases(t: f64) -> [f64; 3] {
    [0, 1, 2].map(|k| phase(k, t))
}

/// The highest phase less the lowest one.
fn output(t: f64) -> f64 {
    let all = phases(t);
    let (low, high) = (all.into_iter()).fold((f64::INFINITY, f64::NEG_INFINITY), |found, v| {
        (v.min(found.0), v.max(found.1))
    });
    high - low
}

/// Whether a phase is the highest one; if turned round, the lowest one.
fn leads(k: usize, t: f64, sign: f64) -> bool {
    phases(t).iter().all(|v| sign * v <= sign * phase(k, t))
}

fn run_with(load: &str, current: impl Fn(f64) -> f64) {
    let names = [
        "y", "load", "D[1].i", "D[2].i", "D[3].i", "D[4].i", "D[5].i", "D[6].i",
    ];
    let result = exact(&bridge(load), 10.0).points(997).run(&names);
    within(result.off(0, output), CLOSE);
    within(result.off(1, &current), CLOSE);
    for k in 0..3 {
        let share = |t: f64, sign: f64| if leads(k, t, sign) { current(t) } else { 0.0 };
        within(result.off(2 + k, |t| share(t, 1.0)), CLOSE);
        within(result.off(5 + k, |t| share(t, -1.0)), CLOSE);
    }
    for change in 0..9 {
        happens(&result, FRAC_PI_6 + f64::from(change) * FRAC_PI_3);
    }
    nothing_jumps(&result);
}

#[test]
fn on_a_resistor() {
    let load = "  submodel (Resistor) R1(R = 2)
  local load
  connect R1 from plus to minus
  y = R1.u
  load = R1.i";
    run_with(load, |t| 0.5 * output(t));
}

/// R = L = 1. Around each crest at k pi/3 the output is sqrt(3) cos(s), s from -pi/6 to pi/6: i = sqrt(3)/2
/// (cos(s) + sin(s)) and an exponential. The run begins on a crest.
#[test]
fn on_a_coil() {
    let load = "  submodel (Resistor) R1
  submodel (Inductor) L1(L = 1)
  local load
  connect R1 - L1 from plus to minus
  y = R1.u + L1.u
  load = L1.i";
    let free = |s: f64| 0.5 * 3.0_f64.sqrt() * (s.cos() + s.sin());
    let current = |t: f64| {
        let n = ((t + FRAC_PI_6) / FRAC_PI_3).floor();
        let s = t - n * FRAC_PI_3;
        let (mut from, mut start) = (0.0, 0.0);
        let within =
            |from: f64, start: f64, s: f64| free(s) + (start - free(from)) * (from - s).exp();
        for _ in 0..n as usize {
            start = within(from, start, FRAC_PI_6);
            from = -FRAC_PI_6;
        }
        within(from, start, s)
    };
    run_with(load, current);
}

/// The load in the air and nothing connected to it but the bridge: with the star in the air, too, and the
/// ground at the load, it is the same.
#[test]
fn star_in_the_air() {
    let load = "  submodel (Resistor) R1(R = 2)
  connect R1 from plus to minus
  y = R1.u";
    let text = bridge(load)
        .replace("node phase", "node star, phase")
        .replace("connect Ground - U[k]", "connect star - U[k]")
        .replace("  v = U[1].Vb", "  v = U[1].Vb\n  connect Ground at minus");
    let trial: Trial = exact(&text, 5.0);
    let result = trial.run(&["y"]);
    within(result.off(0, output), CLOSE);
}
