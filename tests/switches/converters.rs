//! Converters: a switch driven by a clock, and a diode that takes over.

use bgm::simulate::integrate::Method;

use crate::look::{CLOSE, changes, close, exact, example, nothing_jumps, root, zero};
use crate::support::trial::{Result, Trial, same_times, within};

/// x' = a x + b.
#[derive(Clone, Copy, Debug)]
struct Law {
    a: [[f64; 2]; 2],
    b: [f64; 2],
}

impl Law {
    /// From x, after a time: the power series, which is short for the short phases here.
    fn after(&self, x: [f64; 2], time: f64) -> [f64; 2] {
        let times = |x: [f64; 2]| self.a.map(|row| row[0] * x[0] + row[1] * x[1]);
        let slope = times(x);
        let mut term = [0, 1].map(|at| (slope[at] + self.b[at]) * time);
        let mut sum = x;
        for order in 2..40 {
            sum = [0, 1].map(|at| sum[at] + term[at]);
            term = times(term).map(|part| part * time / f64::from(order));
        }
        sum
    }
}

/// A trajectory by its phases: from when on, from where, by which law.
#[derive(Debug, Default)]
struct Phases(Vec<(f64, [f64; 2], Law)>);

impl Phases {
    fn at(&self, time: f64) -> [f64; 2] {
        let behind = self.0.partition_point(|phase| phase.0 <= time + 1e-12);
        let (start, from, law) = self.0[behind - 1];
        law.after(from, time - start)
    }

    fn check(&self, result: &Result) {
        for at in [0, 1] {
            within(result.off(at, |t| self.at(t)[at]), CLOSE);
        }
    }
}

/// Coil and capacitor of a buck converter, (i, y): L i' = E - y or -y, C y' = i - y/R; where the current comes
/// to zero before the next pulse it stays there, and the capacitor has the load alone. Also the times at which
/// it comes to zero.
fn buck(e: f64, r: f64, l: f64, c: f64, mut x: [f64; 2], periods: usize) -> (Phases, Vec<f64>) {
    let (period, width) = (0.25, 0.4 * 0.25);
    let a = [[0.0, -1.0 / l], [1.0 / c, -1.0 / (r * c)]];
    let on = Law { a, b: [e / l, 0.0] };
    let off = Law { a, b: [0.0; 2] };
    let idle = Law {
        a: [[0.0; 2], [0.0, -1.0 / (r * c)]],
        b: [0.0; 2],
    };
    let (mut phases, mut stops) = (Phases::default(), Vec::new());
    for n in 0..periods {
        let start = period * n as f64;
        phases.0.push((start, x, on));
        x = on.after(x, width);
        phases.0.push((start + width, x, off));
        let rest = period - width;
        let next = off.after(x, rest);
        if next[0] >= 0.0 {
            x = next;
            continue;
        }
        let stop = root(|time| off.after(x, time)[0], 0.0, rest);
        x = [0.0, off.after(x, stop)[1]];
        phases.0.push((start + width + stop, x, idle));
        stops.push(start + width + stop);
        x = idle.after(x, rest - stop);
    }
    (phases, stops)
}

/// In each period L (i(T) - i(0)) is the integral of the pulses less that of y. Where it repeats itself, the
/// mean of y is duty*E; what the start leaves decays as t exp(-t).
#[test]
fn buck_in_continuous_conduction() {
    let (truth, stops) = buck(10.0, 0.5, 1.0, 1.0, [0.0; 2], 120);
    assert!(stops.is_empty());
    let trial = example("buck").method(Method::Tsit45);
    let result = trial.until(30.0).points(1201).run(&["i", "y", "area"]);
    truth.check(&result);
    let area = result.column(2);
    close((area[1200] - area[1190]) / 0.25, 4.0);
    // From 25 periods to 120.
    let lack = truth.at(30.0)[0] - truth.at(6.25)[0];
    close(area[1200] - area[250], 4.0 * 23.75 - lack);
    nothing_jumps(&result);
}

#[test]
fn buck_by_default() {
    let (truth, _) = buck(10.0, 0.5, 1.0, 1.0, [0.0; 2], 40);
    let result = example("buck").until(2.5).run(&["i", "y", "S.i", "D1.i"]);
    truth.check(&result);
    within(result.worst(|_, row| row[0] - row[2] - row[3]), CLOSE);
    zero(&result, 2, 0.1, 0.25);
    zero(&result, 3, 0.25, 0.35);
}

#[test]
fn buck_in_discontinuous_conduction() {
    let (truth, stops) = buck(10.0, 50.0, 0.5, 0.1, [0.0, 7.0], 20);
    assert_eq!(stops.len(), 20);
    let trial = example("buck").experiment("discontinuous");
    let result = trial.run(&["i", "y", "D1.OpenSwitch", "L1.u"]);
    truth.check(&result);
    for (n, &stop) in stops.iter().enumerate() {
        let next = 0.25 * (n + 1) as f64;
        zero(&result, 0, stop, next);
        zero(&result, 3, stop, next);
    }
    // The diode closes when the switch opens.
    let mut expected = Vec::new();
    for (n, &stop) in stops.iter().enumerate() {
        expected.extend([0.25 * n as f64 + 0.1, stop]);
    }
    same_times(&changes(&result, 2), &expected, CLOSE);
    nothing_jumps(&result);
}

/// Up to 2 A in a quarter of the period, down to zero in half of it.
#[test]
fn charger() {
    let result = example("buck").model("Charger").run(&["i", "charge"]);
    let current = |t: f64| match (t + 1e-12) % 1.0 {
        t if t < 0.25 => 8.0 * t,
        t if t < 0.75 => 2.0 - 4.0 * (t - 0.25),
        _ => 0.0,
    };
    within(result.off(0, current), CLOSE);
    for period in [0.0, 1.0, 2.0, 3.0, 4.0] {
        zero(&result, 0, period + 0.75, period + 1.0);
    }
    close(result.last()[1], 5.0 * 0.75);
    nothing_jumps(&result);
}

/// While the switch is closed the coil takes up current from the source and the capacitor has the load alone: L
/// i' = E, C y' = -y/R. While it is open, L i' = E - y, C y' = i - y/R. When the switch closes, the diode must
/// open: if it stayed closed the capacitor would be shorted.
#[test]
fn boost() {
    let text = "@electrical
model M
  submodel (ConstantVoltage) U0(E = 5)
  submodel (Inductor) L1(L = 1, ic i = 5)
  submodel (IdealSwitch) S
  submodel (IdealDiode) D1
  submodel (Capacitor) C1(C = 1, ic u = 10)
  submodel (Resistor) R1(R = 4)
  submodel Ground
  node x
  connect Ground - U0 - L1 - x - D1 - (C1 // R1) - Ground
  connect x - S - Ground
  S.OpenSwitch = mod(Time, 0.25) >= 0.125
end";
    let decay = -0.25;
    let on = Law {
        a: [[0.0; 2], [0.0, decay]],
        b: [5.0, 0.0],
    };
    let off = Law {
        a: [[0.0, -1.0], [1.0, decay]],
        b: [5.0, 0.0],
    };
    let mut truth = Phases::default();
    let mut x = [5.0, 10.0];
    for half in 0..40 {
        let law = if half % 2 == 0 { on } else { off };
        truth.0.push((0.125 * f64::from(half), x, law));
        x = law.after(x, 0.125);
        assert!(x[0] > 0.0);
    }
    let result = exact(text, 4.9)
        .points(491)
        .run(&["L1.i", "C1.u", "D1.i", "S.i"]);
    truth.check(&result);
    within(result.worst(|_, row| row[0] - row[2] - row[3]), CLOSE);
    zero(&result, 2, 0.0, 0.125);
    zero(&result, 3, 0.125, 0.25);
    nothing_jumps(&result);
}

/// The switch is not driven by a clock but by the current: off at 1 A, on at 0.5 A. E = 2, R = L = 1: from 0 to
/// 1 it takes ln(2), from 1 to 0.5 in the diode ln(2), and back to 1 ln(1.5).
#[test]
fn current_between_two_limits() {
    let text = "@electrical
model M
  submodel (ConstantVoltage) U0(E = 2)
  submodel (IdealSwitch) S
  submodel (IdealDiode) D1
  submodel (Inductor) L1(L = 1)
  submodel (Resistor) R1
  submodel Ground
  node x
  local off
  connect Ground - U0 - S - x - L1 - R1 - Ground
  connect Ground - D1 - x
  S.OpenSwitch = off
  new(off) = if off then not L1.i < 0.5 else L1.i > 1
end";
    let (fall, rise) = (2.0_f64.ln(), 1.5_f64.ln());
    let mut expected = vec![fall];
    while expected[expected.len() - 1] < 5.0 {
        let last = expected[expected.len() - 1];
        expected.extend([last + fall, last + fall + rise]);
    }
    expected.retain(|&time| time < 5.0);
    let result = exact(text, 5.0).run(&["L1.i", "off", "D1.i", "S.i"]);
    same_times(&changes(&result, 1), &expected, CLOSE);
    let current = |t: f64| {
        let behind = expected.partition_point(|&time| time <= t);
        let since = t - if behind == 0 {
            0.0
        } else {
            expected[behind - 1]
        };
        match (behind, behind % 2) {
            (0, _) => 2.0 * (1.0 - (-since).exp()),
            (_, 1) => (-since).exp(),
            _ => 2.0 - 1.5 * (-since).exp(),
        }
    };
    within(result.off(0, current), CLOSE);
    within(result.worst(|_, row| row[0] - row[2] - row[3]), CLOSE);
    nothing_jumps(&result);
}

/// Two `when`s act at once, and one of them closes the switch while the diode is still closed: that mode is impossible, so the diode has
/// to open. What the `when`s have set stays set.
#[test]
fn switch_that_a_when_closes() {
    const TEXT: &str = "@electrical
model M
  submodel (ConstantVoltage) U0(E = 10)
  submodel (IdealSwitch) S
  submodel (IdealDiode) D1
  submodel (Inductor) L1(L = 1, ic i = 1)
  submodel (Resistor) R1(R = 1)
  submodel Ground
  local open, k
  node x
  connect Ground - U0 - S - x - L1 - R1 - Ground
  connect Ground - D1 - x
  S.OpenSwitch = open
  init(open) = true
  init(k) = 0
  when Time >= 1 then
    new(open) = false
  endwhen
  when Time >= 1 then
    new(k) = 1
  endwhen
end
";
    let result = Trial::of(TEXT, 2.0).run(&["L1.i", "k"]);
    let left = (-1.0f64).exp();
    let truth = |time: f64| match time < 1.0 {
        true => (-time).exp(),
        false => 10.0 + (left - 10.0) * (1.0 - time).exp(),
    };
    within(result.off(0, truth), 1e-6);
    assert_eq!(result.last()[1], 1.0);
}
