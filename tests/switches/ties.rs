//! Relations whose sides are equal at the start or after an event, and stay so.

use crate::support::trial::{Trial, within};

/// A bridge whose capacitors have exactly the voltage of its source, at the peak of that: 282.8427 V each.
#[test]
fn bridge_at_its_tie() {
    const TEXT: &str = "@electrical
model M
  submodel (SineVoltage) U0(amplitude = 565.6854249492381, frequency = 50, phase = 1.5707963267948966)
  submodel (IdealDiode) D1, D2, D3, D4
  submodel (Capacitor) C1(C = 1E-3, ic u = 282.842712474619), C2(C = 1E-3, ic u = 282.842712474619)
  submodel (Resistor) R1(R = 100)
  submodel Ground
  node a, b, plus, minus, m
  connect U0 from b to a, D1 from a to plus, D2 from b to plus, D3 from minus to a, D4 from minus to b,
          C1 from plus to m, C2 from m to minus, R1 from plus to minus, Ground at minus
end
";
    let (amplitude, w, rc) = (
        565.685_424_949_238_1,
        100.0 * std::f64::consts::PI,
        100.0 * 5e-4,
    );
    // The source has the load until what the capacitors give is more.
    let left: f64 = (1.0 / (w * rc)).atan() / w;
    let truth = |time: f64| match time < left {
        true => amplitude * (w * time).cos(),
        false => amplitude * (w * left).cos() * (-(time - left) / rc).exp(),
    };
    let result = Trial::of(TEXT, 8e-3).run(&["R1.u"]);
    within(result.off(0, truth), 1e-4);
    // The same values, but for their last digits: on both sides of the tie.
    for near in ["282.8427", "282.84271247463"] {
        let text = TEXT.replace("282.842712474619", near);
        let result = Trial::of(&text, 8e-3).run(&["R1.u"]);
        within(result.off(0, truth), 2e-3);
    }
}

/// Nothing drives it, and a pulse that ends.
#[test]
fn ideal_diode_at_rest() {
    let circuit = |source: &str| {
        format!(
            "@electrical
model M
  submodel (VoltageSource) U0
  submodel (IdealDiode) D1
  submodel (Resistor) R1(R = 1), R2(R = 1)
  submodel (Capacitor) C1(C = 1, ic u = 0)
  submodel Ground
  connect Ground - U0 - D1 - R1 - (C1 // R2) - Ground
  U0.E0 = {source}
end
"
        )
    };
    let rest = Trial::of(&circuit("0"), 3.0).run(&["C1.u", "D1.i"]);
    within(rest.worst(|_, row| row[0].abs() + row[1].abs()), 0.0);
    assert_eq!(rest.event_times(), Vec::<f64>::new());
    // While it conducts u' = 1 - 2*u; then u' = -u.
    let result = Trial::of(&circuit("if Time < 1 then 1 else 0"), 3.0).run(&["C1.u"]);
    let peak = 0.5 * (1.0 - (-2.0f64).exp());
    let truth = |time: f64| match time < 1.0 {
        true => 0.5 * (1.0 - (-2.0 * time).exp()),
        false => peak * (-(time - 1.0)).exp(),
    };
    within(result.off(0, truth), 1e-6);
}

/// A tie within rounding that does not move stays what it is, however the event is compared later.
#[test]
fn height_that_is_rounding() {
    for start in ["-1e-13", "0", "1e-13"] {
        let text = format!(
            "model M
  local h, v, n, s
  der(h) = v
  der(v) = 0
  der(s) = if Time < 1 then 1 else -1
  der(n) = if h < 0 then 1 else 2
  init(h) = {start}
  init(v) = 0
  init(n) = 0
  init(s) = 0
end
"
        );
        let result = Trial::of(&text, 2.0).run(&["n"]);
        let rate = result.last()[0] / 2.0;
        assert!(
            (rate - 1.0).abs() < 1e-9 || (rate - 2.0).abs() < 1e-9,
            "{rate}"
        );
        within(result.off(0, |time| rate * time), 1e-6);
        assert_eq!(result.summary.events, 1);
    }
}
