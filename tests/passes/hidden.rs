//! Constraints that signs hide in loops: random circuits have as many states as their pencils have finite
//! eigenvalues, and models that are singular are told so.

use crate::support::laplace::{Linear, Residue};
use crate::support::text::flat;
use bgm::base::diagnostics::{Code, Diagnostics};
use bgm::compile::{Aliases, solved, sorted};
use bgm::flat::Flat;
use bgm::passes::signs::reference::reference;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Part {
    R,
    C,
    L,
    U,
    I,
    /// With four pins.
    Transformer,
    Gyrator,
}

/// Like a transformer and a gyrator, but what they say of currents and voltages has numbers of its own.
const INDEPENDENT: &str = "
model class (TwoPort) Ratio
  parameter n = 1, m = 1
  u1 = n*u2
  i2 = m*i1
end
model class (TwoPort) Crossed
  parameter n = 1, m = 1
  u1 = n*i2
  u2 = m*i1
end
";

#[derive(Clone, Debug)]
struct Circuit {
    /// What it is, where its pins are, its value.
    parts: Vec<(Part, [u32; 4], f64)>,
}

/// All nodes are connected with each other; node 0 is the ground.
fn circuit() -> impl Strategy<Value = Circuit> {
    (3u32..7).prop_flat_map(|nodes| {
        let part = prop_oneof![
            2 => Just(Part::R), 4 => Just(Part::C), 4 => Just(Part::L), 1 => Just(Part::U),
            1 => Just(Part::I), 3 => Just(Part::Transformer), 3 => Just(Part::Gyrator),
        ];
        let pins = [0..nodes, 0..nodes, 0..nodes, 0..nodes];
        let part = (part, pins, 0.5..2.0f64).prop_map(move |(part, mut pins, value)| {
            // Nothing is connected to itself.
            for port in [0, 2] {
                if pins[port] == pins[port + 1] {
                    pins[port + 1] = (pins[port] + 1) % nodes;
                }
            }
            (part, pins, value)
        });
        prop::collection::vec(part, 3..10).prop_map(|parts| Circuit { parts })
    })
}

impl Circuit {
    fn text(&self, independent: bool) -> String {
        let mut text = format!("@electrical\n{INDEPENDENT}model N\n  submodel (Ground) G\n");
        let mut connections = String::from("  connect G at n0\n");
        for (at, (part, [a, b, c, d], value)) in self.parts.iter().enumerate() {
            let (class, parameter) = match part {
                Part::R => ("Resistor", "R"),
                Part::C => ("Capacitor", "C"),
                Part::L => ("Inductor", "L"),
                Part::U => ("ConstantVoltage", "E"),
                Part::I => ("ConstantCurrent", "I"),
                Part::Transformer if independent => ("Ratio", "n"),
                Part::Gyrator if independent => ("Crossed", "n"),
                Part::Transformer => ("Transformer", "n"),
                Part::Gyrator => ("Gyrator", "r"),
            };
            let more = match part {
                Part::Transformer | Part::Gyrator if independent => {
                    format!(", m = -{}", value * (1.0 + (at as f64 + 1.0).sin() / 2.0))
                }
                _ => String::new(),
            };
            text += &format!("  submodel ({class}) B{at}({parameter} = {value}{more})\n");
            connections += &match part {
                Part::Transformer | Part::Gyrator => format!(
                    "  connect B{at}:A1 at n{a}, B{at}:B1 at n{b}, B{at}:A2 at n{c}, B{at}:B2 at n{d}\n"
                ),
                _ => format!("  connect B{at} from n{a} to n{b}\n"),
            };
        }
        text += "  node n0, n1, n2, n3, n4, n5, n6\n";
        text + &connections + "end\n"
    }
}

/// With references, as their number of states is that of the model with them.
fn referenced(text: &str) -> Flat {
    reference(flat(text)).0
}

/// A regular pencil is a model that can be solved, and it has that many states; a model that can be solved is a
/// regular pencil.
fn checked(text: &str) -> Result<(), TestCaseError> {
    let model = referenced(text);
    let degree = Linear::<Residue>::new(&model).degree(1);
    let mut said = Diagnostics::default();
    let result = sorted(model, Aliases::Keep, &mut said);
    let codes: Vec<Code> = said.iter().map(|diagnostic| diagnostic.code).collect();
    match (degree, result) {
        (Some(degree), Some((model, _))) => {
            prop_assert_eq!(degree, model.state_count(), "{}", text);
        }
        (Some(degree), None) => prop_assert!(false, "{degree} {codes:?}\n{text}"),
        (None, Some(_)) => prop_assert!(false, "it is singular\n{text}"),
        (None, None) => prop_assert!(said.has_errors()),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn states_are_finite_eigenvalues(circuit in circuit()) {
        checked(&circuit.text(true))?;
        // That a parameter stands in two equations of a part counts.
        checked(&circuit.text(false))?;
    }
}

/// The codes of what is said, and how many states there are.
fn outcome(text: &str) -> (Vec<Code>, Option<usize>) {
    let mut said = Diagnostics::default();
    let states = solved(flat(text), Aliases::Eliminate, &mut said)
        .map(|solution| solution.solved.flat.state_count());
    (said.iter().map(|said| said.code).collect(), states)
}

#[test]
fn sums_of_derivatives_are_found() {
    // Differentiated once, the second equation and the two around it leave u1 = der(u2).
    let text = "
        model M
          local u1, u2, x, y, z
          parameter k = 0.5
          u1 = der(x) - y
          u2 = x - z
          y = der(z)
          u2 = sin(Time)
          k*u1 + tanh(x) = 0
        end";
    assert_eq!(outcome(text), (vec![], Some(0)));
    // Without the last equation's say in x, one state is left, and u1 is free to be anything else.
    let text = text.replace("k*u1 + tanh(x) = 0", "k*der(x) + x = 0");
    assert_eq!(outcome(&text), (vec![], Some(1)));
}

#[test]
fn loops_of_many_rows_are_looked_at() {
    // A chain of equal voltages, tied to the ground by resistors at both ends only: n of its capacitors are one.
    let stages = 300;
    let mut text = String::from(
        "@electrical
         model M
           submodel (Ground) G
           submodel (Resistor) R1, R2
           submodel (Transformer) T
           submodel (VoltageSource) V
           node a, b, p
           connect G - V - p, T:A1 at p, T:B1 at G, T:A2 at a, T:B2 at b, a - R1 - G, b - R2 - G
           V.E0 = sin(Time)\n",
    );
    for at in 0..stages {
        text += &format!("submodel (Capacitor) C{at}\n connect C{at} from a to b\n");
    }
    assert_eq!(outcome(&(text + "end\n")), (vec![], Some(0)));
}

#[test]
fn equal_coefficients_cancel() {
    // u = r*i1, u = -r*i2 and c = i1 + i2 leave r*c = 0: nothing is left of the state.
    let text = "
        model M
          local u, i1, i2, c
          parameter r = 3, g = r
          u = r*i1
          u = -g*i2
          c = i1 + i2
          der(c) = u - c
        end";
    assert_eq!(outcome(text), (vec![], Some(0)));
    // Two parameters that happen to be equal are two.
    let text = text.replace("g = r", "g = 4");
    assert_eq!(outcome(&text), (vec![], Some(1)));
    // (a + b)*i is a*i + b*i: x is held by what is given.
    let text = "
        model M
          local i, j, x, y
          parameter a = 2, b = 5
          (a + b)*i - j = x
          a*i + b*i - j = y
          der(x) = j
          y = sin(Time)
        end";
    assert_eq!(outcome(text), (vec![], Some(0)));
    // The same twice, with coefficients.
    let text = "
        model M
          local i, j, x
          parameter a = 2, b = 5
          (a + b)*i - j = sin(Time)
          a*i + b*i - j = cos(Time)
          der(x) = j - x
        end";
    assert_eq!(outcome(text), (vec![Code::UnknownsCancel], None));
}

#[test]
fn what_is_determined_twice_is_named() {
    let text = "
        model M
          local a, b, c, i, u
          parameter n = 2, m = 3
          c = a - b
          u = a - b
          n*u = sin(Time)
          m*c = cos(Time)
          b = 3*i
        end";
    assert_eq!(outcome(text), (vec![Code::UnknownsCancel], None));
}
