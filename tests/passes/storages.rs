//! Many storages with one state against closed forms; sources that suit the storages they hold, and
//! sources that contradict each other.

use crate::support::text::{all_diagnostics, compile_text};
use bgm::compile::{Aliases, solved};
use bgm::evaluate::{evaluate, settings};
use bgm::flat::Leaf;
use bgm::passes::blocks::Solved;

fn compile(text: &str) -> Result<Solved, String> {
    let mut compiled = compile_text(text);
    let said = all_diagnostics(&compiled);
    let flat = compiled.flat.take().ok_or(said)?;
    let model =
        solved(flat, Aliases::Eliminate, &mut compiled.diagnostics).map(|solution| solution.solved);
    model.ok_or_else(|| all_diagnostics(&compiled))
}

fn model(text: &str) -> Solved {
    compile(text).unwrap_or_else(|said| panic!("{said}"))
}

/// The values of variables and derivatives (`der(x)`) at a point.
fn values(model: &Solved, given: &str, names: &[&str]) -> Vec<f64> {
    let settings = settings::read(model, given).expect("what is given can be given");
    let mut point = settings::point(model, &settings);
    evaluate(model, &mut point).expect("the point has values");
    let leaf = |name: &&str| {
        let of = name.strip_prefix("der(").and_then(|x| x.strip_suffix(')'));
        let id = (model.flat.variable_ids())
            .find(|&id| model.flat.name(id) == of.unwrap_or(name))
            .unwrap_or_else(|| panic!("no {name}"));
        Leaf::at_order(id, u8::from(of.is_some()))
    };
    (names.iter())
        .map(|name| point.real(leaf(name)).expect("a number"))
        .collect()
}

fn assert_near(found: f64, wanted: f64) {
    let error = (found - wanted).abs() / wanted.abs();
    assert!(error < 1e-11, "{found} instead of {wanted}");
}

const DRIVE: &str = "model type Inertia
  cut A(w/t)
  parameter J = 2
  J*der(w) = t
end
model type Gear
  cut A(w1/t1) B(w2/-t2)
  main path P <A - B>
  parameter n = 1
  w1 = n*w2
  t2 = n*t1
end
model type Motor
  cut A(w/-t)
  terminal u
  t = u
end
";

/// The inertia that the motor feels is the sum of J/n**(2*k). The ratios multiply up to 1E41, or
/// 1E-45.
#[test]
fn a_thousand_geared_inertias() {
    const COUNT: usize = 1000;
    for ratio in [1.1, 0.9, -1.1] {
        let text = format!(
            "{DRIVE}model Chain
  input u
  submodel (Motor) M
  submodel (Inertia) A, J[{COUNT}]
  submodel (Gear) G[{COUNT}](n = {ratio})
  M.u = u
  connect M at A, G[1] from A to J[1]:A
  for k in 2 to {COUNT} do
    connect G[k] from J[k - 1]:A to J[k]:A
  endfor
end"
        );
        let model = model(&text);
        let reduction = model.flat.reduction.as_ref().expect("it was reduced");
        assert_eq!(reduction.index, 2);
        assert_eq!(model.flat.states().count(), 1);
        let square = ratio * ratio;
        let felt: f64 = (0..=COUNT).map(|k| 2.0 / f64::powi(square, k as i32)).sum();
        let names = ["der(A.w)", "der(J[500].w)", "der(J[1000].w)", "J[1000].w"];
        let found = values(&model, "u=3,A.w=5", &names);
        assert_near(found[0], 3.0 / felt);
        assert_near(found[1], 3.0 / felt / f64::powi(ratio, 500));
        assert_near(found[2], 3.0 / felt / f64::powi(ratio, 1000));
        assert_near(found[3], 5.0 / f64::powi(ratio, 1000));
    }
}

#[test]
fn a_thousand_inertias_on_a_shaft() {
    let text = format!(
        "{DRIVE}model Shaft
  input u
  submodel (Motor) M
  submodel (Inertia) J[1000]
  node n
  M.u = u
  connect M at n
  for k in 1 to 1000 do
    connect J[k] at n
  endfor
end"
    );
    let model = model(&text);
    assert_eq!(model.flat.states().count(), 1);
    let found = values(&model, "u=3", &["der(J[1].w)", "J[700].t"]);
    assert_near(found[0], 3.0 / 2000.0);
    assert_near(found[1], 3.0 / 1000.0);
}

/// Capacitors side by side: constraints between neighbours, however their pins were connected.
#[test]
fn a_thousand_capacitors_side_by_side() {
    let pins = "  for k in 1 to 1000 do\n    connect C[k]:A at a\n  endfor
  for k in 1 to 1000 do\n    connect C[1001 - k]:B at b\n  endfor\n";
    let both = "  for k in 1 to 1000 do\n    connect C[k] from a to b\n  endfor\n";
    for (connections, ground) in [
        (both, "G at b"),
        (both, "G at a"),
        (pins, "G at b"),
        (both, "U:A at b"),
    ] {
        let part = if ground.starts_with('G') {
            "  submodel (Ground) G\n"
        } else {
            ""
        };
        let text = format!(
            "@electrical
model Parallel
  submodel (ConstantVoltage) U(E = 8)
  submodel (Resistor) R(R = 4)
  submodel (Capacitor) C[1000](C = 1E-3)
{part}  node a, b
{connections}  connect U from b to R:A, R:B at a
  connect {ground}
end"
        );
        let model = model(&text);
        assert_eq!(model.flat.states().count(), 1, "{text}");
        let found = values(&model, "C[1].u=3", &["der(C[1].u)", "C[500].i"]);
        assert_near(found[0], (8.0 - 3.0) / 4.0);
        assert_near(found[1], (8.0 - 3.0) / 4000.0);
    }
}

/// A source on a storage takes its state; that is no conflict.
#[test]
fn sources_may_hold_storages() {
    for (parts, states) in [
        ("node n\n connect U at n, C1 at n, R1 at n", 0),
        ("node n\n connect U at n, C1 at n, F at n, I1 at n", 1),
        ("junction1 j\n connect F at j, I1 at j, C1 at j", 1),
        ("junction1 j\n connect F at j, I1 at j, U at j", 0),
        (
            "junction1 a, b\n connect F at a, I1 at a, T from a to b, I2 at b",
            0,
        ),
        (
            "node a, b\n connect U at a, C1 at a, T from a to b, C2 at b, R1 at b",
            0,
        ),
        (
            "node a\n junction1 b\n connect U at a, G from a to b, I1 at b, R1 at b",
            0,
        ),
    ] {
        let mut text = format!("@bondgraph\nmodel M\n input u, v\n {parts}\n");
        for (name, of) in [
            ("U", "(SE) U\n U.E0 = u"),
            ("F", "(SF) F\n F.F0 = v"),
            ("C1", "(C) C1"),
            ("C2", "(C) C2"),
            ("I1", "(I) I1"),
            ("I2", "(I) I2"),
            ("R1", "(R) R1"),
            ("T", "(TF) T(m = 2)"),
            ("G", "(GY) G(r = 2)"),
        ] {
            let used = parts
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| word == name);
            text += &if used {
                format!(" submodel {of}\n")
            } else {
                String::new()
            };
        }
        let model = model(&(text + "end"));
        assert_eq!(model.flat.states().count(), states, "{parts}");
    }
}

/// Whatever stands around them, sources that contradict each other are named.
#[test]
fn sources_that_contradict_each_other_are_named() {
    let around = [
        "",
        ", C1 at a",
        ", I1 at a",
        ", R1 at a",
        ", C1 at a, I1 at a, R1 at a",
    ];
    for (parts, names) in [
        (
            "node a\n submodel (SE) U1, U2\n U1.E0 = u\n U2.E0 = v\n connect U1 at a, U2 at a",
            ["U1", "U2"],
        ),
        (
            "junction1 a\n submodel (SF) F1, F2\n F1.F0 = u\n F2.F0 = v\n connect F1 at a, F2 at a",
            ["F1", "F2"],
        ),
        (
            "junction1 a, b\n submodel (SF) F1, F2\n F1.F0 = u\n F2.F0 = v\n submodel (TF) T(m = 2)\n \
             connect F1 at a, T from a to b, F2 at b",
            ["F1", "F2"],
        ),
        (
            "node a, b\n submodel (SE) U1, U2\n U1.E0 = u\n U2.E0 = v\n submodel (TF) T(m = 2)\n \
             connect U1 at a, T from a to b, U2 at b",
            ["U1", "U2"],
        ),
        (
            "node a\n junction1 b\n submodel (SE) U1\n submodel (SF) F2\n U1.E0 = u\n F2.F0 = v\n \
             submodel (GY) G\n connect U1 at a, G from a to b, F2 at b",
            ["U1", "F2"],
        ),
    ] {
        for more in around {
            let mut text = format!("@bondgraph\nmodel M\n input u, v\n {parts}{more}\n");
            for (name, of) in [("C1", "C"), ("I1", "I"), ("R1", "R")] {
                if more.contains(name) {
                    text += &format!(" submodel ({of}) {name}\n");
                }
            }
            let said = compile(&(text + "end")).expect_err("no causality suits both");
            assert!(
                said.contains("non-causal system: "),
                "{parts}{more}\n{said}"
            );
            for name in names {
                let line = said
                    .lines()
                    .find(|line| line.contains("non-causal"))
                    .unwrap_or("");
                assert!(line.contains(&format!("`{name}`")), "{parts}{more}\n{said}");
            }
        }
    }
}
