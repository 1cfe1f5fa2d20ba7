//! Stuck brakes on one shaft, as parts: they say the same twice, and take the solution of least norm.

use crate::support::random::Random;
use crate::support::trial::{Trial, within};

/// How a brake is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// At the level of speeds.
    Speed,
    /// The cut has an angle: the speeds are those of different variables.
    Angle,
    /// Two equations with an `if` each.
    Two,
}

fn types(form: Form) -> String {
    let across = if form == Form::Angle { "phi" } else { "w" };
    let speed = match form {
        Form::Angle => "  local w\n  w = der(phi)\n",
        _ => "",
    };
    let law = match form {
        Form::Two => {
            "  local s\n  v = if stuck then 0 else s\n  F = if stuck then s else M*sign(v)"
        }
        _ => "  0 = if stuck then v else F - M*sign(v)",
    };
    format!(
        "model type Inertia
  cut A({across}/T)
{speed}  J*der(w) = T
  parameter J = 1
end
model type Drive
  cut A(./-T)
  T = 3 + Time
end
model type Brake
  cut A({across}/T)
  parameter M = 1, r = 1, on = 0, off = 1
  local stuck, v, F
{speed}  v = r*w
  T = r*F
{law}
  stuck = Time > on and Time < off
end
"
    )
}

struct Brake {
    torque: f64,
    ratio: f64,
    from: f64,
    to: f64,
}

fn check(form: Form, brakes: &[Brake]) {
    let mut text = types(form);
    let list: Vec<String> = (brakes.iter().enumerate())
        .map(|(at, brake)| {
            format!(
                "b{at}(M = {}, r = {}, on = {}, off = {})",
                brake.torque, brake.ratio, brake.from, brake.to
            )
        })
        .collect();
    let connected: Vec<String> = (0..brakes.len()).map(|at| format!("b{at} at n")).collect();
    text += &format!(
        "model M\n  submodel (Inertia) I\n  submodel (Drive) D\n  submodel (Brake) {}\n  init(I.w) = 1\n  node n\n  connect I at n, D at n, {}\nend",
        list.join(", "),
        connected.join(", ")
    );
    let names: Vec<String> = (0..brakes.len()).map(|at| format!("b{at}.F")).collect();
    let mut columns: Vec<&str> = names.iter().map(String::as_str).collect();
    columns.push("I.w");
    let result = Trial::of(&text, 4.0).points(41).run(&columns);
    assert_eq!(result.failure, None, "{form:?}\n{text}");
    for (time, row) in result.times.iter().zip(&result.rows) {
        if brakes
            .iter()
            .any(|brake| (time - brake.from).abs() < 1e-6 || (time - brake.to).abs() < 1e-6)
        {
            continue;
        }
        let is_stuck = |brake: &Brake| *time > brake.from && *time < brake.to;
        let stuck = || brakes.iter().filter(|brake| is_stuck(brake));
        let square: f64 = stuck().map(|brake| brake.ratio * brake.ratio).sum();
        let drive = 3.0 + time;
        for (at, brake) in brakes.iter().enumerate() {
            // The least squares of F with the sum of r*F given: F goes with r.
            let expected = match is_stuck(brake) {
                true => drive * brake.ratio / square,
                // A shaft at rest has no friction.
                false if square > 0.0 => 0.0,
                false => brake.torque,
            };
            let off = (row[at] - expected).abs();
            let bound = 1e-8 * expected.abs().max(1.0);
            assert!(
                off <= bound,
                "{form:?} b{at} at {time}: {} is not {expected}\n{text}",
                row[at]
            );
        }
        if square > 0.0 {
            within(row[brakes.len()].abs(), 1e-9);
        }
    }
}

#[test]
fn two_stuck_brakes() {
    let brake = |torque, ratio, from, to| Brake {
        torque,
        ratio,
        from,
        to,
    };
    for form in [Form::Speed, Form::Angle, Form::Two] {
        check(
            form,
            &[brake(1.0, 1.0, 0.5, 2.0), brake(2.0, 1.0, 0.5, 2.0)],
        );
        check(
            form,
            &[brake(1.0, 1.0, 0.5, 2.0), brake(2.0, 1.0, 1.0, 3.0)],
        );
        check(
            form,
            &[brake(1.0, 0.3, 0.5, 2.0), brake(2.0, 0.5, 0.5, 2.0)],
        );
    }
}

#[test]
fn random_brakes() {
    let cases = std::env::var("BGM_CASES").map_or(12, |cases| cases.parse().expect("a number"));
    for seed in 0..cases {
        let mut random = Random::new(seed);
        let form = *random.pick(&[Form::Speed, Form::Angle, Form::Two]);
        let count = random.within(2, 4);
        let brakes: Vec<Brake> = (0..count)
            .map(|_| {
                let from = random.number(0.1, 1.9);
                Brake {
                    torque: random.number(0.1, 0.35),
                    ratio: *random.pick(&[1.0, 2.0, 0.37, 1.5, 0.01]),
                    from,
                    to: from + random.number(0.3, 2.0),
                }
            })
            .collect();
        check(form, &brakes);
    }
}

/// A brake that holds what something else drives stays impossible.
#[test]
fn no_way_out() {
    let text = "model Held
 local w, T, stuck
 w = 1
 0 = if stuck then w else T
 stuck = Time > 1
end";
    let result = Trial::of(text, 2.0).run(&["w"]);
    assert_eq!(result.code, Some("E0905"));
}
