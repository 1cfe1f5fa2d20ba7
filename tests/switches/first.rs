//! The circuits that the work began with: one switch or diode beside one or two storages.

use std::f64::consts::TAU;

use bgm::simulate::integrate::Method;

use crate::look::{CLOSE, root};
use crate::look::{
    changes, close, constant, exact, example, jumps, nothing_jumps, only_jump, zero,
};
use crate::support::trial::{Trial, same_times, within};

/// R = L = 1 and sin(t): L i' = sin(t) - R i from i = 0.
fn wave(t: f64) -> f64 {
    0.5 * (t.sin() - t.cos() + (-t).exp())
}

// Roots of the wave's derivative and of the wave, and the peak, by mpmath with 30 digits:
// findroot(lambda t: cos(t) + sin(t) - exp(-t), 2.2), findroot(wave, 3.94).
const PEAK_AT: f64 = 2.284_102_297_393_826;
const PEAK: f64 = 0.756_202_792_401_364;
const STOP: f64 = 3.940_733_135_692_915;

fn rectified(t: f64) -> f64 {
    match t % TAU < STOP {
        true => wave(t % TAU),
        false => 0.0,
    }
}

/// Every wave begins from zero at its 2 pi, so each is like the first.
#[test]
fn inductive_wave() {
    let result = example("inductive_wave").run(&["y", "Diode.e", "Diode.OpenSwitch"]);
    within(result.off(0, rectified), CLOSE);
    let voltage = |t: f64| match t % TAU < STOP {
        true => 0.0,
        false => t.sin(),
    };
    within(result.off(1, voltage), CLOSE);
    zero(&result, 0, STOP, TAU);
    zero(&result, 0, STOP + TAU, 2.0 * TAU);
    let expected = [STOP, TAU, STOP + TAU, 2.0 * TAU];
    same_times(&changes(&result, 2), &expected, CLOSE);
    nothing_jumps(&result);
    let peak = example("inductive_wave").until(PEAK_AT).points(2);
    close(peak.run(&["y"]).last()[0], PEAK);
}

/// The paper's circuit, with nodes and bonds and its own numbers, from the plain diode.
#[test]
fn inductive_load_of_the_paper() {
    let mut trial = example("inductive_load");
    trial.text = trial.text.replace("submodel (CD)", "submodel (D)");
    let (r, l, w) = (10.0, 0.05, 314.159);
    let k = w * l / r;
    let a = r / (r * r + w * w * l * l);
    let free = |t: f64| a * ((w * t).sin() - k * (w * t).cos() + k * (-r * t / l).exp());
    let period = TAU / w;
    let stop = root(free, 0.5 * period, period);
    let current = |t: f64| match t % period < stop {
        true => free(t % period),
        false => 0.0,
    };
    let result = trial.run(&["y", "Diode.OpenSwitch"]);
    within(result.off(0, current), CLOSE);
    zero(&result, 0, stop, period);
    let mut expected = Vec::new();
    for wave in 0..5 {
        let start = f64::from(wave) * period;
        expected.extend([start, start + stop]);
    }
    expected.remove(0);
    // The next wave would begin where the run ends, but for the digits of pi.
    let mut found = changes(&result, 1);
    found.retain(|&time| time < 0.0999);
    same_times(&found, &expected, CLOSE);
}

/// The charge of both stays: 1*10 + 3*2 = 4*4.
#[test]
fn switched_capacitors() {
    let result = example("switched_capacitors").run(&["u1", "u2", "C1.displacement"]);
    let at = |first: f64| move |t: f64| if t < 1.0 { first } else { 4.0 };
    within(result.off(0, at(10.0)), CLOSE);
    within(result.off(1, at(2.0)), CLOSE);
    within(result.off(2, at(10.0)), CLOSE);
    constant(&result, 0, 1.0, 2.0);
    let jump = only_jump(&result);
    close(jump.time, 1.0);
    for (name, before) in [("C1.u", 10.0), ("C2.u", 2.0)] {
        close(jump.change(name).0, before);
        close(jump.change(name).1, 4.0);
    }
    close(jump.lost(), 24.0);
    close(jump.impulse("S.i"), 6.0);
    // Whatever the values, and however unequal.
    let trial = example("switched_capacitors");
    let trial = trial.set("C1.C=1e-3").set("C2.C=1e-9").init("C1.u=-2");
    let result = trial.run(&["u1", "u2"]);
    let after = (-2e-3 + 2e-9) / (1e-3 + 1e-9);
    close(result.last()[0], after);
    close(result.last()[1], after);
    let lost = 0.5 * 1e-12 / (1e-3 + 1e-9) * 16.0;
    within((only_jump(&result).lost() - lost).abs(), CLOSE * lost);
}

/// While the clutch is open, J w' = M for each shaft. It engages at 12 and -1/3: (12 - 1)/4 = 2.75.
#[test]
fn clutch() {
    let result = example("clutch").run(&["w1", "w2", "torque", "S.f"]);
    let w1 = |t: f64| match t {
        t if t < 1.0 => 10.0 + 2.0 * t,
        t if t < 3.0 => 2.75 + 0.25 * (t - 1.0),
        t => 3.25 + 2.0 * (t - 3.0),
    };
    let w2 = |t: f64| match t {
        t if t < 1.0 => -t / 3.0,
        t if t < 3.0 => 2.75 + 0.25 * (t - 1.0),
        t => 3.25 - (t - 3.0) / 3.0,
    };
    within(result.off(0, w1), CLOSE);
    within(result.off(1, w2), CLOSE);
    // J2 w2' = torque - 1.
    let torque = |t: f64| if (1.0..3.0).contains(&t) { 1.75 } else { 0.0 };
    within(result.off(2, torque), CLOSE);
    within(result.off(3, |t| w1(t) - w2(t)), CLOSE);
    zero(&result, 3, 1.0, 3.0);
    let jump = only_jump(&result);
    close(jump.time, 1.0);
    close(jump.change("J1.f").0, 12.0);
    close(jump.change("J2.f").0, -1.0 / 3.0);
    close(jump.change("J1.f").1, 2.75);
    close(jump.change("J2.f").1, 2.75);
    close(jump.impulse("S.e"), 12.0 - 2.75);
    let slip = 12.0 + 1.0 / 3.0;
    close(jump.lost(), 0.5 * 0.75 * slip * slip);
}

/// i = 2 (1 - exp(-t)) up to t = 1; from there on it falls in the diode, or is cut off.
fn rise(t: f64) -> f64 {
    2.0 * (1.0 - (-t).exp())
}

#[test]
fn freewheel() {
    let result = example("freewheel").run(&["i", "S.i", "D1.i", "D1.u", "S.u"]);
    let current = |t: f64| match t < 1.0 {
        true => rise(t),
        false => rise(1.0) * (1.0 - t).exp(),
    };
    within(result.off(0, current), CLOSE);
    zero(&result, 1, 1.0, 5.0);
    zero(&result, 2, 0.0, 1.0);
    within(result.worst(|_, row| row[0] - row[1] - row[2]), CLOSE);
    // The whole voltage of the source is at the diode before, at the switch afterwards.
    let blocked = |t: f64| if t < 1.0 { -2.0 } else { 0.0 };
    within(result.off(3, blocked), CLOSE);
    within(result.off(4, |t| 2.0 + blocked(t)), CLOSE);
    nothing_jumps(&result);
}

#[test]
fn interrupted_coil() {
    let result = example("interrupted_coil").run(&["i", "u", "L1.u", "L1.momentum"]);
    let current = |t: f64| match t {
        t if t < 1.0 => rise(t),
        t if t < 2.0 => 0.0,
        t => rise(t - 2.0),
    };
    within(result.off(0, current), CLOSE);
    within(result.off(3, current), CLOSE);
    zero(&result, 0, 1.0, 2.0);
    zero(&result, 2, 1.0, 2.0);
    let voltage = |t: f64| if (1.0..2.0).contains(&t) { 2.0 } else { 0.0 };
    within(result.off(1, voltage), CLOSE);
    let jump = only_jump(&result);
    close(jump.time, 1.0);
    close(jump.change("L1.i").0, rise(1.0));
    // The source and the resistor have no impulse: what the coil has, the switch has with the other sign.
    close(jump.impulse("S.u"), rise(1.0));
    close(jump.lost(), 0.5 * rise(1.0) * rise(1.0));
}

/// No method of integration knows of positions: all give the same.
#[test]
fn by_every_method() {
    for method in Method::ALL {
        let loose = |name: &str| example(name).tolerance(1e-7, 1e-9).method(method);
        let result = loose("inductive_wave").run(&["y"]);
        within(result.off(0, rectified), 1e-4);
        zero(&result, 0, STOP + 1e-4, TAU);
        let result = loose("freewheel").run(&["i"]);
        let end = rise(1.0) * f64::exp(-4.0);
        within((result.last()[0] - end).abs(), 1e-5);
        let result = loose("clutch").run(&["w1", "w2"]);
        within((result.last()[0] - 7.25).abs(), 1e-6);
        within((result.last()[1] - (3.25 - 2.0 / 3.0)).abs(), 1e-6);
        let result = loose("interrupted_coil").run(&["i"]);
        within((result.last()[0] - rise(2.0)).abs(), 1e-5);
        assert_eq!(jumps(&result).len(), 1);
    }
}

/// Two circuits that have nothing to do with each other, the second twice as fast: the position of one is no matter
/// of the other. With R = 1, L = 1/2 and sin(2 t) the current is that of the first at 2 t.
#[test]
fn circuits_side_by_side() {
    let text = "@bondgraph
model type Half
  parameter w = 1
  submodel (SE) U0
  submodel (R) Ri
  submodel (I) L(I = 1/w)
  submodel (D) Diode
  junction1 j
  connect U0 at j, Ri at j, L at j, Diode at j
  U0.E0 = sin(w*Time)
end
model M
  submodel (Half) slow, fast(w = 2)
  submodel (C) C1(ic e = 1), C2
  submodel (Sw) S
  junction1 j
  submodel (link) B1, B2
  node n1, n2
  connect C1 at n1, C2 at n2, B1 from n1 to j, B2 from j to n2, S at j
  S.OpenSwitch = Time < 5
end";
    let names = ["slow.L.f", "fast.L.f", "C1.e", "C2.e"];
    let result = exact(text, 8.0).points(801).run(&names);
    within(result.off(0, rectified), CLOSE);
    within(result.off(1, |t| rectified(2.0 * t)), CLOSE);
    let first = |t: f64| if t < 5.0 { 1.0 } else { 0.5 };
    within(result.off(2, first), CLOSE);
    within(result.off(3, |t| 1.0 - first(t)), CLOSE);
    let jump = only_jump(&result);
    assert!(
        !jump.jumps("slow.L.f") && !jump.jumps("fast.L.f"),
        "{jump:?}"
    );
    close(jump.lost(), 0.25);
}

/// Rows have nothing to do with steps, in either position.
#[test]
fn rows_change_nothing() {
    let few = Trial::file("examples/inductive_wave.bgm").points(14);
    let many = Trial::file("examples/inductive_wave.bgm").points(1301);
    let (few, many) = (few.run(&["y"]), many.run(&["y"]));
    for (at, row) in few.rows.iter().enumerate() {
        within((row[0] - many.rows[100 * at][0]).abs(), 1e-12);
    }
}
