//! Single models, each with a value that is zero but for rounding, or not determined but for rounding.

use crate::support::trial::{Trial, within};

/// A capacitor without charge, three diodes, nothing drives: everything stays zero.
#[test]
fn diodes_at_rest() {
    let text = "@electrical
model M
  submodel (Diode) D1, D2, D3
  submodel (Resistor) R1(R = 1.0E3), R2(R = 2.0E3)
  submodel (Capacitor) C1(C = 1.0E-6)
  submodel Ground
  node a, b, g
  connect Ground at g, C1 from a to g, R1 from a to b, D1 from b to g, D2 from g to b, R2 from b to g,
    D3 from a to b
end";
    let result = Trial::of(text, 0.05).run(&["C1.u", "D1.u", "D3.i"]);
    for at in 0..3 {
        within(result.off(at, |_| 0.0), 1e-15);
    }
}

/// q*abs(q) = p has a double root at p = 0, where Newton's method halves the distance in each step.
#[test]
fn multiple_roots() {
    let text = "model M
  parameter k = 2, p = 0
  local q, r, x
  k*q*abs(q) = r
  r + p = x
  der(x) = -x
  init(x) = 0
end";
    let at_rest = Trial::of(text, 1.0).run(&["q"]);
    within(at_rest.off(0, |_| 0.0), 1e-9);
    // From a flow that stops.
    let decays = text.replace("init(x) = 0", "init(x) = 1");
    let result = Trial::of(&decays, 30.0).run(&["q"]);
    // An error of 1e-10 in p is one of 7e-6 in the end.
    within(result.off(0, |t| ((-t).exp() / 2.0).sqrt()), 1e-5);
}

/// The height is below zero by less than what other heights are rounded by, and rests: below is below, at the start and
/// later, at every event of something else.
#[test]
fn one_truth_at_events_and_between_them() {
    for (height, below) in [(-1e-13, 1.0), (1e-13, 2.0), (-1e-300, 1.0), (0.0, 2.0)] {
        let text = format!(
            "model M
  local h, v, y, z
  der(h) = v
  der(v) = 0
  y = if h < 0 then 1 else 2
  z = if sin(10*Time) > 0 then 1 else 0
  init(h) = {height:e}
end"
        );
        let result = Trial::of(&text, 3.0).run(&["y"]);
        within(result.off(0, |_| below), 0.0);
    }
}

/// A difference that is zero by itself, of sides that grow: rounding is no event, however large they become.
#[test]
fn growing_rounding_is_no_event() {
    let text = "model M
  local a, b, c, y
  der(a) = 0.1*exp(5*Time)
  der(b) = 0.2*exp(5*Time)
  c = 1.1*a + 0.7*b - 0.1*a - (a + b)*0.7 + 0.7*a
  y = if c > a then 1 else 2
  init(a) = 0.02
  init(b) = 0.04
end";
    let result = Trial::of(text, 4.0).run(&["y"]);
    assert!(result.events.is_empty(), "{:?}", result.event_times());
    within(result.off(0, |_| 2.0), 0.0);
}
