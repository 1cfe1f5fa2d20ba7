//! Contacts, ropes, clutches: constraints that come and go, at the level of speeds and of positions. A contact
//! that is written as equations has no port, so nothing is said of the energy it takes.

use crate::look::{CLOSE, close, exact, happens, jumps, nothing_jumps, only_jump, root, zero};
use crate::support::trial::within;

/// A mass of 1 kg above a stop, written at position level: in contact x = 0, else the stop has no force.
fn stop(force: &str, contact: &str) -> String {
    format!(
        "model M
  local x 'm', v 'm/s', F 'N' \"of the stop\", contact
  der(x) = v
  der(v) = F + ({force})
  0 = if contact then x else F
  new(contact) = {contact}
  init(x) = 1
end"
    )
}

/// The two ways to say it: by what matters in each position, and as the diode does.
const CONTACTS: [&str; 2] = ["if contact then F > 0 else x < 0", "x < 0 or F > 0"];

/// The force t - 3 pulls the mass down, x = 1 - 3/2 t^2 + t^3/6. It hits the stop, loses its speed, is pressed
/// to it until t = 3, and is lifted off again, softly: (t - 3)^3/6.
#[test]
fn stop_and_soft_lift() {
    let fall = |t: f64| 1.0 - 1.5 * t * t + t * t * t / 6.0;
    let hit = root(fall, 0.0, 2.0);
    let speed = 0.5 * hit * hit - 3.0 * hit;
    for contact in CONTACTS {
        let names = ["x", "v", "F", "contact"];
        let result = exact(&stop("Time - 3", contact), 5.0).run(&names);
        let after = |t: f64| (t - 3.0).max(0.0);
        let x = |t: f64| match t < hit {
            true => fall(t),
            false => after(t).powi(3) / 6.0,
        };
        let v = |t: f64| match t < hit {
            true => 0.5 * t * t - 3.0 * t,
            false => 0.5 * after(t).powi(2),
        };
        within(result.off(0, x), CLOSE);
        within(result.off(1, v), CLOSE);
        let force = |t: f64| {
            if (hit..3.0).contains(&t) {
                3.0 - t
            } else {
                0.0
            }
        };
        within(result.off(2, force), CLOSE);
        zero(&result, 0, hit, 3.0);
        zero(&result, 1, hit, 3.0);
        happens(&result, 3.0);
        let jump = only_jump(&result);
        close(jump.time, hit);
        close(jump.change("v").0, speed);
        close(jump.change("v").1, 0.0);
        close(jump.impulse("F"), -speed);
    }
}

/// The force is -1, and +1 from 3 to 4. The mass falls for sqrt(2), rests, is thrown up at 3, has x = 1/2 and v
/// = 1 at 4, and comes down again 1 + sqrt(2) later with the speed sqrt(2).
#[test]
fn stop_and_throw() {
    let root2 = 2.0_f64.sqrt();
    for contact in CONTACTS {
        let text = stop("if Time < 3 or Time >= 4 then -1 else 1", contact);
        let result = exact(&text, 10.0).run(&["x", "v", "F"]);
        let again = 5.0 + root2;
        let x = |t: f64| match t {
            t if t < root2 => 1.0 - 0.5 * t * t,
            t if t < 3.0 => 0.0,
            t if t < 4.0 => 0.5 * (t - 3.0) * (t - 3.0),
            t if t < again => 0.5 + (t - 4.0) - 0.5 * (t - 4.0) * (t - 4.0),
            _ => 0.0,
        };
        within(result.off(0, x), CLOSE);
        for (from, to) in [(root2, 3.0), (again, 10.0)] {
            zero(&result, 0, from, to);
            zero(&result, 1, from, to);
        }
        let all = jumps(&result);
        assert_eq!(all.len(), 2, "{all:?}");
        close(all[0].time, root2);
        close(all[1].time, again);
        for jump in &all {
            close(jump.change("v").0, -root2);
            close(jump.impulse("F"), root2);
        }
    }
}

/// Two masses, 1 and 3 kg, and a rope of 1 m between them. The second is pulled away with 1 N, x = t^2/6; at
/// sqrt(6) the rope is taut. It takes no longer an instant: both have 3/4 of the speed. From 3 on the second is
/// held back, and the rope hangs loose again.
#[test]
fn rope() {
    let text = "model M
  parameter l = 1 'm'
  local x1, v1, x2, v2, F 'N' \"in the rope\", taut
  der(x1) = v1
  der(x2) = v2
  1*der(v1) = F
  3*der(v2) = (if Time < 3 then 1 else -1) - F
  0 = if taut then x2 - x1 - l else F
  new(taut) = if taut then F > 0 else x2 - x1 > l
end";
    let result = exact(text, 5.0).run(&["x1", "v1", "x2", "v2", "F", "taut"]);
    let tight = 6.0_f64.sqrt();
    let common = 0.25 * tight;
    let v1 = |t: f64| match t < tight {
        true => 0.0,
        false => common + 0.25 * (t.min(3.0) - tight),
    };
    let v2 = |t: f64| match t {
        t if t < tight => t / 3.0,
        t if t < 3.0 => v1(t),
        t => v1(3.0) - (t - 3.0) / 3.0,
    };
    within(result.off(1, v1), CLOSE);
    within(result.off(3, v2), CLOSE);
    let x1 = |t: f64| match t {
        t if t < tight => 0.0,
        t if t < 3.0 => (t - tight) * (common + 0.125 * (t - tight)),
        t => (3.0 - tight) * (common + 0.125 * (3.0 - tight)) + (t - 3.0) * v1(3.0),
    };
    within(result.off(0, x1), CLOSE);
    let apart = |t: f64| match t {
        t if t < tight => t * t / 6.0,
        t if t < 3.0 => 1.0,
        t => 1.0 - (t - 3.0) * (t - 3.0) / 6.0,
    };
    within(result.worst(|t, row| row[2] - row[0] - apart(t)), CLOSE);
    let force = |t: f64| if (tight..3.0).contains(&t) { 0.25 } else { 0.0 };
    within(result.off(4, force), CLOSE);
    let jump = only_jump(&result);
    close(jump.time, tight);
    close(jump.change("v1").1, common);
    close(jump.change("v2").0, tight / 3.0);
    close(jump.change("v2").1, common);
    close(jump.impulse("F"), common);
}

/// A clutch and behind it a gear, w2 = 2 w. Engaged, the first shaft feels J1 + 4 J2 = 3. With an impulse P at
/// the clutch J1 (w - w1) = -P and J2 (2 w - w2) = P/2.
#[test]
fn geared_clutch() {
    let text = "@bondgraph
model M
  submodel (SE) M1
  submodel (I) J1(I = 1, ic f = 6), J2(I = 0.5)
  submodel (TF) gear(m = 2)
  submodel (Sw) S
  submodel (link) B1
  junction1 shaft1, shaft2
  node n
  connect M1 at shaft1, J1 at shaft1, J2 at shaft2,
          B1 from shaft1 to n, gear from n to shaft2, S at n
  M1.E0 = 1
  S.OpenSwitch = Time >= 1 and Time < 2
end";
    let result = exact(text, 3.0).run(&["J1.f", "J2.f", "S.e", "S.f"]);
    let common = 7.0 / 3.0;
    let w1 = |t: f64| match t {
        t if t < 1.0 => 6.0 + t,
        t if t < 2.0 => common + (t - 1.0) / 3.0,
        t => common + 1.0 / 3.0 + (t - 2.0),
    };
    let w2 = |t: f64| match t {
        t if t < 1.0 => 0.0,
        t => 2.0 * w1(t.min(2.0)),
    };
    let w2 = |t: f64| {
        if t < 2.0 {
            w2(t)
        } else {
            2.0 * (common + 1.0 / 3.0)
        }
    };
    within(result.off(0, w1), CLOSE);
    within(result.off(1, w2), CLOSE);
    let torque = |t: f64| {
        if (1.0..2.0).contains(&t) {
            2.0 / 3.0
        } else {
            0.0
        }
    };
    within(result.off(2, torque), CLOSE);
    zero(&result, 3, 1.0, 2.0);
    let jump = only_jump(&result);
    close(jump.change("J1.f").1, common);
    close(jump.change("J2.f").1, 2.0 * common);
    close(jump.impulse("S.e"), 7.0 - common);
    let energy = 0.5 * common * common + 0.25 * 4.0 * common * common;
    close(jump.lost(), 24.5 - energy);
}

/// A freewheel hub: the diode lets the first shaft turn faster than the second, not slower. The first is
/// braked, meets the second at t = 1 with equal speed, and brakes both; from 3 on it is driven and turns away.
#[test]
fn one_way_clutch() {
    let text = "@bondgraph
model M
  submodel (SE) M1
  submodel (I) J1(I = 1, ic f = 2), J2(I = 3, ic f = 1)
  submodel (D) Hub
  submodel (link) B1, B2
  junction1 shaft1, shaft2
  node n
  connect M1 at shaft1, J1 at shaft1, J2 at shaft2,
          B1 from shaft1 to n, B2 from n to shaft2, Hub at n
  M1.E0 = if Time < 3 then -1 else 1
end";
    // No row is where they meet: it may be on either side of that.
    let result = exact(text, 5.0)
        .points(98)
        .run(&["J1.f", "J2.f", "Hub.e", "Hub.f"]);
    let second = |t: f64| 1.0 - 0.25 * (t.clamp(1.0, 3.0) - 1.0);
    let first = |t: f64| match t {
        t if t < 1.0 => 2.0 - t,
        t => second(t) + (t - 3.0).max(0.0),
    };
    within(result.off(0, first), CLOSE);
    within(result.off(1, second), CLOSE);
    let torque = |t: f64| if (1.0..3.0).contains(&t) { -0.75 } else { 0.0 };
    within(result.off(2, torque), CLOSE);
    zero(&result, 3, 1.0, 3.0);
    happens(&result, 1.0);
    nothing_jumps(&result);
}

/// Two stops, one on each side, and a mass that is pushed to and fro between them by a force that changes its
/// sign every two seconds. From the stop at -1 to that at 1 it takes 2 sqrt(1) s of the force 1: it arrives at
/// once with the next change. So the force is 2: sqrt(2) s.
#[test]
fn between_two_stops() {
    let text = "model M
  local x, v, Left, Right, left, right
  der(x) = v
  der(v) = Left - Right + (if mod(Time, 4) < 2 then 2 else -2)
  0 = if left then x + 1 else Left
  0 = if right then x - 1 else Right
  new(left) = if left then Left > 0 else x < -1
  new(right) = if right then Right > 0 else x > 1
  init(x) = -1
end";
    let result = exact(text, 11.5).run(&["x", "v", "Left", "Right"]);
    let way = 2.0_f64.sqrt();
    let x = |t: f64| {
        let sign = if t % 4.0 < 2.0 { 1.0 } else { -1.0 };
        let since = (t % 2.0).min(way);
        sign * (since * since - 1.0)
    };
    within(result.off(0, x), CLOSE);
    let all = jumps(&result);
    assert_eq!(all.len(), 6, "{all:?}");
    for (at, jump) in all.iter().enumerate() {
        close(jump.time, 2.0 * at as f64 + way);
        let name = if at % 2 == 0 { "Right" } else { "Left" };
        close(jump.impulse(name), 2.0 * way);
    }
}
