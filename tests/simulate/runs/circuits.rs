//! Circuits against their closed forms.

use crate::support::trial::{Trial, same_times, within};

/// 2*pi*f at 50 Hz, with the papers' pi of six digits.
const W: f64 = 314.159;

/// x' = -x.
#[test]
fn decay() {
    let text = "model M\n local x\n der(x) = -x\n init(x) = 1\nend";
    let result = Trial::of(text, 5.0).run(&["x", "der(x)"]);
    within(result.off(0, |t| (-t).exp()), 1e-7);
    within(result.off(1, |t| -(-t).exp()), 1e-7);
}

/// A step of u behind R1 onto C1 with R2 in parallel: C e' = (u - e)/R1 - e/R2 has the time constant
/// C R1 R2/(R1 + R2) and ends at u R2/(R1 + R2). The coil sees the source alone: L i' = u.
fn rlc(path: &str, coil: &str) {
    let (u, r1, r2, c, l) = (10.0, 100.0, 20.0, 0.1e-6, 1.5e-3);
    let tau = c * r1 * r2 / (r1 + r2);
    let end = u * r2 / (r1 + r2);
    let y1 = |t: f64| end * (1.0 - (-t / tau).exp());
    // As the file has it: the tolerance is 1e-6.
    let result = Trial::file(path).run(&["y1", "y2", coil]);
    assert_eq!(result.times.len(), 101);
    assert_eq!(result.times[100], 2e-5);
    within(result.off(0, y1), 1e-5);
    within(result.off(1, |t| y1(t) / r2), 1e-6);
    within(result.off(2, |t| u / l * t), 1e-8);
    let exact = Trial::file(path).tolerance(1e-10, 1e-12);
    let result = exact.run(&["y1", "y2", coil]);
    within(result.off(0, y1), 1e-8);
    within(result.off(2, |t| u / l * t), 1e-9);
}

#[test]
fn rlc_as_bond_graph() {
    rlc("examples/rlc.bgm", "L1.f");
}

#[test]
fn rlc_as_circuit() {
    rlc("examples/rlc_circuit.bgm", "L1.i");
}

/// The voltage of the rectifier's capacitor, phase by phase: a start time, and which phase.
struct Rectifier {
    w: f64,
    /// Start, voltage there, whether the diode conducts.
    phases: Vec<(f64, f64, bool)>,
}

impl Rectifier {
    /// With a = (1/Ri + 1/RL)/C and b = 1/(Ri C) the conducting phase is e' = -a e + b sin(w t), the
    /// blocking one e' = -e/(RL C). The diode conducts while sin(w t) > e.
    fn to(until: f64) -> Rectifier {
        let mut all = Rectifier {
            w: W,
            phases: vec![(0.0, 0.0, true)],
        };
        let step = 1e-6;
        let mut time = step;
        while time < until {
            let drive = |t: f64| (all.w * t).sin() - all.at(t);
            let conducts = all.phases[all.phases.len() - 1].2;
            if (drive(time) > 0.0) != conducts {
                let (mut low, mut high) = (time - step, time);
                while high - low > 1e-16 {
                    let middle = 0.5 * (low + high);
                    match (drive(middle) > 0.0) == conducts {
                        true if middle > low => low = middle,
                        false if middle < high => high = middle,
                        _ => break,
                    }
                }
                let voltage = all.at(low);
                all.phases.push((low, voltage, !conducts));
            }
            time += step;
        }
        all
    }

    fn at(&self, time: f64) -> f64 {
        let (ri, rl, c) = (10.0, 50.0, 0.001);
        let behind = self.phases.partition_point(|phase| phase.0 <= time);
        let (start, voltage, conducts) = self.phases[behind.max(1) - 1];
        if !conducts {
            return voltage * (-(time - start) / (rl * c)).exp();
        }
        let (a, b, w) = ((1.0 / ri + 1.0 / rl) / c, 1.0 / (ri * c), self.w);
        let forced = |t: f64| b * (a * (w * t).sin() - w * (w * t).cos()) / (a * a + w * w);
        forced(time) + (voltage - forced(start)) * (-a * (time - start)).exp()
    }
}

/// Phases by the closed forms above, over five periods, switching instants by bisection. pi is that of
/// the paper, 3.14159.
#[test]
fn rectifier() {
    let truth = Rectifier::to(0.1);
    let switched: Vec<f64> = truth.phases[1..].iter().map(|phase| phase.0).collect();
    assert_eq!(switched.len(), 9);
    let exact = Trial::file("examples/rectifier.bgm").tolerance(1e-8, 1e-10);
    let result = exact.run(&["y", "Diode.f", "U0.E0"]);
    assert_eq!(result.times.len(), 1001);
    within(result.off(0, |t| truth.at(t)), 1e-7);
    within(result.off(2, |t| (truth.w * t).sin()), 1e-12);
    let current = |t: f64| (((truth.w * t).sin() - truth.at(t)) / 10.0).max(0.0);
    within(result.off(1, current), 1e-8);
    same_times(&result.event_times(), &switched, 1e-8);
    // As the file has it: the tolerance is 1e-6.
    let result = Trial::file("examples/rectifier.bgm").run(&["y"]);
    within(result.off(0, |t| truth.at(t)), 1e-5);
}

/// While the diode conducts: L i' = sin(w t) - R i from i = 0 at the start of each period, and it stays
/// open from where i would turn negative. The first period of each: i = a (sin(w t) - k cos(w t) + k exp(-R t/L)),
/// a = R/(R^2 + w^2 L^2), k = w L/R.
#[test]
fn inductive_load() {
    let (r, l, w) = (10.0, 0.05, W);
    let k = w * l / r;
    let a = r / (r * r + w * w * l * l);
    let free = |t: f64| a * ((w * t).sin() - k * (w * t).cos() + k * (-r * t / l).exp());
    let period = 2.0 * std::f64::consts::PI / w;
    // Where it comes back to zero.
    let (mut low, mut high) = (0.5 * period, period);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match free(middle) > 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    let current = |t: f64| match t % period < low {
        true => free(t % period),
        false => 0.0,
    };
    let exact = Trial::file("examples/inductive_load.bgm").tolerance(1e-8, 1e-10);
    let result = exact.run(&["y"]);
    within(result.off(0, current), 1e-7);
}

/// A capacitor at the source itself: its current is C u', the derivative of the experiment's input. The one
/// behind the resistor: R C2 y' = u - y with u = 5 sin(2000 t), from y = 0.
#[test]
fn input_that_is_differentiated() {
    let exact = Trial::file("examples/capacitors.bgm").model("OnSource");
    let exact = exact.tolerance(1e-9, 1e-11);
    let result = exact.run(&["i", "y", "C1.i"]);
    let (w, tau) = (2000.0, 1e3 * 2e-6);
    let k = 5.0 / (1.0 + (w * tau) * (w * tau));
    let y = |t: f64| {
        let turn = w * t;
        k * (turn.sin() - w * tau * turn.cos() + w * tau * (-t / tau).exp())
    };
    within(result.off(1, y), 1e-7);
    let slope = |t: f64| 5.0 * w * (w * t).cos();
    within(result.off(2, |t| 1e-6 * slope(t)), 1e-12);
    let all = |t: f64| 1e-6 * slope(t) + (5.0 * (w * t).sin() - y(t)) / 1e3;
    within(result.off(0, all), 1e-10);
}
