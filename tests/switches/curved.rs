//! Switches beside parts that are not linear.

use crate::look::{CLOSE, close, exact, jumps, nothing_jumps, only_jump, root, zero};
use crate::support::trial::within;

/// A resistor with u = i |i|, L = 1: i' = 1 - i^2, i = tanh(t). From t = 1 on it falls in the diode by i' = -i^2.
#[test]
fn freewheel_on_a_curved_resistor() {
    let text = "@electrical
model class (TwoTerminal) Curved
  u = i*abs(i)
end
model M
  submodel (ConstantVoltage) U0(E = 1)
  submodel (IdealSwitch) S
  submodel (IdealDiode) D1
  submodel (Inductor) L1(L = 1)
  submodel (Curved) R1
  submodel Ground
  node x
  connect Ground - U0 - S - x - L1 - R1 - Ground
  connect Ground - D1 - x
  S.OpenSwitch = Time >= 1
end";
    let result = exact(text, 4.0).run(&["L1.i", "D1.i"]);
    let top = 1.0_f64.tanh();
    let current = |t: f64| match t < 1.0 {
        true => t.tanh(),
        false => top / (1.0 + top * (t - 1.0)),
    };
    within(result.off(0, current), CLOSE);
    within(
        result.worst(|t, row| if t < 1.0 { row[1] } else { row[1] - row[0] }),
        CLOSE,
    );
    nothing_jumps(&result);
}

/// The same without the diode, closed again at t = 2: while nothing flows the slope of the resistor is zero.
#[test]
fn curved_resistor_without_current() {
    let text = "@electrical
model class (TwoTerminal) Curved
  u = i*abs(i)
end
model M
  submodel (ConstantVoltage) U0(E = 1)
  submodel (IdealSwitch) S
  submodel (Inductor) L1(L = 1)
  submodel (Curved) R1
  submodel Ground
  connect Ground - U0 - S - L1 - R1 - Ground
  S.OpenSwitch = Time >= 1 and Time < 2
end";
    let result = exact(text, 4.0).run(&["L1.i"]);
    let current = |t: f64| match t {
        t if t < 1.0 => t.tanh(),
        t if t < 2.0 => 0.0,
        t => (t - 2.0).tanh(),
    };
    within(result.off(0, current), CLOSE);
    zero(&result, 0, 1.0, 2.0);
    close(only_jump(&result).impulse("S.u"), 1.0_f64.tanh());
}

/// Two capacitors with the charge q = u + u^3, with 2 V and none: the charge of 10 As is shared, u + u^3 = 5
/// each. With a plain one of 4 F, u + u^3 + 4 u = 10.
#[test]
fn curved_capacitors() {
    let text = |second: &str| {
        format!(
            "@electrical
model class (TwoTerminal) Curved
  local q
  q = u + u**3
  der(q) = i
end
model M
  submodel (Curved) C1(ic q = 10, ic u = 2)
  submodel {second}
  submodel (IdealSwitch) S
  submodel Ground
  connect Ground - reversed C1 - S - C2 - Ground
  S.OpenSwitch = Time < 1
end"
        )
    };
    let result = exact(&text("(Curved) C2"), 2.0).run(&["C1.u", "C2.u", "C1.q", "C2.q"]);
    let shared = root(|u| u + u * u * u - 5.0, 1.0, 2.0);
    let voltage = |before: f64| move |t: f64| if t < 1.0 { before } else { shared };
    within(result.off(0, voltage(2.0)), CLOSE);
    within(result.off(1, voltage(0.0)), CLOSE);
    within(result.worst(|_, row| row[2] + row[3] - 10.0), CLOSE);
    close(only_jump(&result).impulse("S.i"), 5.0);
    let result = exact(&text("(Capacitor) C2(C = 4)"), 2.0).run(&["C1.u", "C2.u"]);
    let shared = root(|u| 5.0 * u + u * u * u - 10.0, 1.0, 2.0);
    close(result.last()[0], shared);
    close(result.last()[1], shared);
}

/// Two heat capacities in terms of temperature and entropy flow, gamma/T der(T) = f: what stays is the entropy,
/// the sum of gamma ln(T), so that both go to the weighted geometric mean. If that cannot be done, the message
/// names what jumps.
#[test]
fn heat_capacities() {
    let text = "@bondgraph
model M
  submodel (mC) C1(gamma = 1, ic e = 400), C2(gamma = 3, ic e = 300)
  submodel (Sw) S
  submodel (link) B1, B2
  junction1 j
  node n1, n2
  connect C1 at n1, C2 at n2, B1 from n1 to j, B2 from j to n2, S at j
  S.OpenSwitch = Time < 1
end";
    let result = exact(text, 2.0).run(&["C1.e", "C2.e"]);
    if let Some(message) = &result.failure {
        assert!(
            message.contains("C1") || message.contains("C2"),
            "{message}"
        );
        return;
    }
    let shared = (0.25 * (400.0_f64.ln() + 3.0 * 300.0_f64.ln())).exp();
    close(result.last()[0], shared);
    close(result.last()[1], shared);
    assert_eq!(jumps(&result).len(), 1);
}
