//! Solved models against closed forms and published results.

use crate::support::text::{all_diagnostics, compile_text};
use bgm::compile::{Aliases, solved};
use bgm::evaluate::{Point, evaluate, settings};
use bgm::flat::Leaf;
use bgm::passes::blocks::{Block, Linear, Method, Solved};

fn model(text: &str) -> Solved {
    let mut compiled = compile_text(text);
    let said = all_diagnostics(&compiled);
    let flat = (compiled.flat.take()).unwrap_or_else(|| panic!("{said}"));
    let model =
        solved(flat, Aliases::Eliminate, &mut compiled.diagnostics).map(|solution| solution.solved);
    model.unwrap_or_else(|| panic!("{}", all_diagnostics(&compiled)))
}

fn example(name: &str) -> Solved {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join(name)).expect("the file is there");
    model(&text)
}

fn values(model: &Solved, given: &str) -> Point {
    let settings = settings::read(model, given).expect("what is given can be given");
    let mut point = settings::point(model, &settings);
    evaluate(model, &mut point).expect("the point has values");
    point
}

fn value(model: &Solved, point: &Point, name: &str) -> f64 {
    let id = (model.flat.variable_ids()).find(|&id| model.flat.name(id) == name);
    let id = id.unwrap_or_else(|| panic!("no {name}"));
    point.real(Leaf::Var(id)).expect("a number")
}

fn assert_near(found: f64, wanted: f64) {
    let error = (found - wanted).abs() / wanted.abs().max(1e-300);
    assert!(error < 1e-12, "{found} instead of {wanted}");
}

/// Cellier 1990: sorted with elimination 6 equations remain.
#[test]
fn rlc_has_six_equations() {
    let model = example("examples/rlc.bgm");
    assert_eq!(model.blocks.len(), 6);
    let all_plain = (model.blocks.iter()).all(|block| matches!(block, Block::Assignment(_)));
    assert!(all_plain);
    assert!(
        model
            .assignments()
            .all(|assignment| assignment.guard.is_none())
    );
}

/// Cellier, Otter, Elmqvist 1995: with s = B1.e - C.e and Q104 = Q102*Ri.R - Q101 the solution is
/// f = Q102*s/Q104, Ri.e = Q102*Ri.R*s/Q104, Diode.e = -Q101*s/Q104, and Q104 is not zero in
/// either position.
#[test]
fn rectifier_in_both_positions() {
    let model = example("examples/rectifier.bgm");
    let loops: Vec<&Linear> = (model.blocks.iter())
        .filter_map(|block| match block {
            Block::Linear(linear) => Some(linear),
            _ => None,
        })
        .collect();
    let [
        Linear {
            unknowns, method, ..
        },
    ] = loops[..]
    else {
        panic!("one loop");
    };
    assert_eq!(unknowns.len(), 3);
    assert!(matches!(method, Method::Formulas(_)));
    // The determinant was examined in both positions: nothing to check at run time.
    assert!(
        model
            .assignments()
            .all(|assignment| assignment.guard.is_none())
    );
    for open in [true, false] {
        let given = format!("C.e=0.2,Time=0.004,Diode.OpenSwitch={open}");
        let point = values(&model, &given);
        // The model's own pi.
        let pi = value(&model, &point, "pi");
        let s = (2.0 * pi * 50.0 * 0.004).sin() - 0.2;
        let (q101, q102) = if open { (1.0, 0.0) } else { (0.0, 1.0) };
        let q104 = q102 * 10.0 - q101;
        assert_eq!(value(&model, &point, "Q104"), q104);
        assert_near(
            value(&model, &point, "Diode.f") + 1.0,
            q102 * s / q104 + 1.0,
        );
        assert_near(
            value(&model, &point, "Ri.e") + 1.0,
            q102 * 10.0 * s / q104 + 1.0,
        );
        // Exactly zero when closed: the diode's own condition looks at its sign.
        match open {
            true => assert_near(value(&model, &point, "Diode.e"), s),
            false => assert_eq!(value(&model, &point, "Diode.e"), 0.0),
        }
    }
}

/// Delta to star: the voltage across the bridge of five resistors.
#[test]
fn wheatstone_bridge() {
    let model = example("examples/wheatstone.bgm");
    for (r1, r2, r3, r4, r5) in [(100.0, 200.0, 150.0, 310.0, 1e3), (1.0, 2.0, 3.0, 4.0, 5.0)] {
        let given = format!("R1.R={r1},R2.R={r2},R3.R={r3},R4.R={r4},R5.R={r5}");
        let point = values(&model, &given);
        // The divider on each side, and the resistance seen by the bridge.
        let open = 10.0 * (r2 / (r1 + r2) - r4 / (r3 + r4));
        let inner = r1 * r2 / (r1 + r2) + r3 * r4 / (r3 + r4);
        assert_near(value(&model, &point, "y"), open * r5 / (r5 + inner));
    }
}

/// A ladder of 10 Ohm along and 20 Ohm across looks like 20 Ohm: r = 10 + 20*r/(20 + r).
#[test]
fn ladder_of_ten_thousand_resistors() {
    let model = example("tests/solving/resistor_ladder.bgm");
    let point = values(&model, "Time=0");
    assert_near(value(&model, &point, "i"), 1.0 / 20.0);
    // From node to node the voltage halves; 38 stages on, tearing would have lost every digit.
    assert_near(value(&model, &point, "G[1].u"), 0.5);
    assert_near(value(&model, &point, "G[39].u"), 0.5f64.powi(39));
}

/// The diode's current solves u = R*i + v(i).
#[test]
fn exponential_diode() {
    let model = example("examples/diode.bgm");
    for (e, r) in [(5.0, 1e3), (0.1, 1e3), (300.0, 10.0), (-20.0, 50.0)] {
        let point = values(&model, &format!("U0.E={e},R1.R={r}"));
        let (v, i) = (value(&model, &point, "D1.u"), value(&model, &point, "i"));
        assert!((e - r * i - v).abs() < 1e-12 * (1.0 + f64::abs(e)));
        if v < 40.0 * 0.026 {
            let law = 1e-9 * ((v / 0.026).exp() - 1.0) + 1e-9 * v;
            assert!((i - law).abs() < 1e-11 * (1e-9 + law.abs()), "{i} {law}");
        }
    }
}

/// Continuity at the nodes, and the pressures around a mesh.
#[test]
fn water_network() {
    let model = example("examples/pipes.bgm");
    for demand in [0.0, 0.02, -0.01, 0.5] {
        let point = values(&model, &format!("demand={demand}"));
        let q = |name: &str| value(&model, &point, name);
        let drop = |k: f64, q: f64| k * q * q.abs();
        let (q1, q2, q3, q4) = (q("p1.q"), q("p2.q"), q("p3.q"), q("p4.q"));
        assert!((q2 + q3 - demand).abs() < 1e-14);
        assert!((q1 - q3 - q4).abs() < 1e-14);
        assert!((drop(2e8, q1) + drop(1e8, q3) - drop(5e8, q2)).abs() < 1e-6 * 3e5);
        assert!((drop(2e8, q1) + drop(4e8, q4) - 5e4).abs() < 1e-6 * 3e5);
    }
}

/// Between 4 V (0.40 A) and 8 V (0.55 A) the lamp's table is a straight line.
#[test]
fn lamp_with_a_table() {
    let model = example("examples/lamp.bgm");
    let point = values(&model, "u=6");
    let (v0, i0, g) = (4.0, 0.40, 0.15 / 4.0);
    let y = (6.0 - 4.5 * (i0 - g * v0)) / (1.0 + 4.5 * g);
    assert_near(value(&model, &point, "y"), y);
    // Above the last point the table holds its value.
    let point = values(&model, "u=40");
    assert_near(value(&model, &point, "y"), 40.0 - 4.5 * 0.66);
}

/// Equations (1) and (2) of the 1995 paper, and the guard where each does not hold.
#[test]
fn a_switch_alone() {
    let text = |source: &str, signal: &str| {
        format!(
            "@bondgraph
            model M
              submodel ({source}) S
              submodel (Sw2) W
              input u, o
              connect S at W
              S.{signal} = u
              W.OpenSw = o
            end"
        )
    };
    let flow = model(&text("SE", "E0"));
    let point = values(&flow, "u=3,o=0.25");
    assert_near(value(&flow, &point, "W.f"), (0.25 - 1.0) / 0.25 * 3.0);
    let effort = model(&text("SF", "F0"));
    let point = values(&effort, "u=3,o=0.25");
    assert_near(value(&effort, &point, "W.e"), 0.25 / (0.25 - 1.0) * 3.0);
    for (model, given, divisor) in [(&flow, "u=3,o=0", "`o`"), (&effort, "u=3,o=1", "`1 - o`")] {
        let settings = settings::read(model, given).expect("inputs");
        let failure = evaluate(model, &mut settings::point(model, &settings)).expect_err("a zero");
        assert!(failure.message.contains(divisor), "{failure}");
    }
}

fn fails(text: &str, given: &str) -> String {
    let model = model(text);
    let settings = settings::read(&model, given).expect("what is given can be given");
    let failure = evaluate(&model, &mut settings::point(&model, &settings));
    failure.expect_err("there is no solution").message
}

/// What is returned solves the equations, or nothing is returned.
#[test]
fn no_solution_is_made_up() {
    let one = |equations: &str| format!("model M\n input u\n local x, y\n {equations}\nend");
    for (equations, given) in [
        ("x**3 + y**3 = u\n x + y = 1", "u=-4"),
        ("sqrt(x*x + 1) - x = u\n y = x", "u=-4"),
        ("abs(x) + x - exp(x) = u\n y = x", "u=0.5"),
        ("y = abs(x) - x\n exp(y) + u*x + 2*u = 0", "u=2"),
    ] {
        let said = fails(&one(equations), given);
        assert!(said.starts_with("no solution"), "{equations}: {said}");
    }
    // A diode in reverse, however its law is written; and the same with a cube.
    let diode = "model M
        input u
        local v, i
        exp(v/0.026) = 1 + i/1E-9
        1000*i + v = u
      end";
    let diode = model(diode);
    let point = values(&diode, "u=-5");
    assert_near(value(&diode, &point, "v"), -5.0 + 1e-6);
    let cube = model(&one("x + exp(y) = u\n y - x**3 = 1"));
    let point = values(&cube, "u=-5");
    assert_near(value(&cube, &point, "y"), -124.0);
}

/// An unknown that cancels is gone from coefficients and right sides.
#[test]
fn unknowns_that_cancel() {
    let m = model("model M\n input u, v\n local x, y\n (x - x + 2)*y = u\n x + y = v\nend");
    let point = values(&m, "u=3,v=1");
    assert_near(value(&m, &point, "y"), 1.5);
    assert_near(value(&m, &point, "x"), -0.5);
    let m = model("model M\n input u\n local x\n u*(x - x) + x*u - u = 0\nend");
    assert_near(value(&m, &values(&m, "u=3"), "x"), 1.0);
    let m = model("model M\n input u\n local x, y\n y = sin(u*(x - x)) + u\n x + y = 6\nend");
    assert_near(value(&m, &values(&m, "u=2"), "x"), 4.0);
}

/// A parameter that is zero leaves out what it multiplies, but nothing inside a function.
#[test]
fn zero_parameters() {
    let text = "model M
        input u
        parameter p = 0
        local x, y
        y = u/(1 + p*x)
        x - y = 1
      end";
    let m = model(text);
    assert_near(value(&m, &values(&m, "u=3"), "x"), 4.0);
    // (x - 1)*(1 + 2*x) = 3
    let root = (1.0 + 33f64.sqrt()) / 4.0;
    assert_near(value(&m, &values(&m, "u=3,p=2"), "x"), root);
    let text = "model M
        parameter p = 0
        input u, v
        local x, y, z
        p*x*y + z = u
        x + y = v
        x - y = z
      end";
    let m = model(text);
    assert_near(value(&m, &values(&m, "u=1,v=2"), "x"), 1.5);
}

/// Of variables that equal each other one survives, and keeps the start values of all.
#[test]
fn starts_survive_elimination() {
    let text = "model M
        output y
        local x
        x**2 = 4
        init(x) = -3
        y = x
      end";
    let m = model(text);
    assert_near(value(&m, &values(&m, "Time=0"), "y"), -2.0);
    let m = model("model M\n output y\n local x\n der(x) = -x\n y = -x\n init(y) = 5\nend");
    assert_near(value(&m, &values(&m, "Time=0"), "x"), -5.0);
}

/// Divisors made of parameters are looked at again where parameters are given.
#[test]
fn other_values_of_parameters() {
    let text = "model M\n parameter p = 2\n input v\n local x\n x/p = v\nend";
    assert!(fails(text, "p=0,v=1").contains("the divisor `p` is zero"));
    let text = "model M\n parameter p = 2\n local x, y\n x = 2*y\n y = x - p*x + 1\nend";
    assert!(fails(text, "p=0.5").contains("is zero"));
}
