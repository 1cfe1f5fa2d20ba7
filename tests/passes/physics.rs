//! The flat equations mean what the circuit means: models are solved in the frequency domain and
//! compared with closed forms, and with the same circuit written another way.

use crate::support::frequency::solve_at;
use crate::support::text::flat;
use bgm::passes::aliases::eliminate;
use nalgebra::Complex;
use proptest::prelude::*;

type C = Complex<f64>;

fn close(a: C, b: C) -> bool {
    (a - b).norm() <= 1e-9 * (a.norm() + b.norm()) + 1e-12
}

fn frequencies() -> Vec<C> {
    vec![
        C::new(0.7, 0.0),
        C::new(1e4, 3e4),
        C::new(-2e4, 1e5),
        C::new(0.0, 7e5),
    ]
}

/// C1 with R2, behind R1: y1 = u*Z/(R1 + Z), Z = R2 // 1/(s*C), y2 = y1/R2 (1990 paper).
fn rlc_closed_form(s: C, u: f64) -> (C, C) {
    let (r1, r2, c) = (100.0, 20.0, 0.1e-6);
    let z = C::new(1.0, 0.0) / (C::new(1.0 / r2, 0.0) + s * c);
    let y1 = z * u / (z + r1);
    (y1, y1 / r2)
}

#[test]
fn rlc_as_bond_graph_and_as_circuit_have_the_same_physics() {
    let bond_graph = flat(include_str!("../../examples/rlc.bgm"));
    let circuit = flat(include_str!("../../examples/rlc_circuit.bgm"));
    let with_junction1 = flat(RLC_WITH_JUNCTION1);
    for s in frequencies() {
        let (y1, y2) = rlc_closed_form(s, 10.0);
        for model in [&bond_graph, &circuit, &with_junction1] {
            let solution = solve_at(model, s, &[("u", 10.0)]);
            assert!(
                close(solution["y1"], y1),
                "y1 at {s}: {} {y1}",
                solution["y1"]
            );
            assert!(
                close(solution["y2"], y2),
                "y2 at {s}: {} {y2}",
                solution["y2"]
            );
        }
        // The coil carries u/(s*L) in all of them.
        let coil = C::new(10.0, 0.0) / (s * 1.5e-3);
        assert!(close(
            solve_at(&bond_graph, s, &[("u", 10.0)])["L1.f"],
            coil
        ));
        assert!(close(solve_at(&circuit, s, &[("u", 10.0)])["L1.i"], coil));
    }
}

const RLC_WITH_JUNCTION1: &str = "
@bondgraph
model RLC
  submodel (SE) U0
  submodel (R) R1(R = 100.0), R2(R = 20.0)
  submodel (I) L1(I = 1.5E-3)
  submodel (C) C1(C = 0.1E-6)
  submodel (link) K1, K2
  node v1, v2
  junction1 ir1
  input u
  output y1, y2
  connect U0 at v1, L1 at v1, K1 from v1 to ir1, R1 at ir1, K2 from ir1 to v2, R2 at v2, C1 at v2
  U0.E0 = u
  y1 = C1.e
  y2 = R2.f
end
";

/// A network of two-terminal parts.
#[derive(Clone, Debug)]
enum Net {
    R(f64),
    L(f64),
    C(f64),
    Series(Vec<Net>),
    Parallel(Vec<Net>),
    Reversed(Box<Net>),
    /// In a type of its own, with its own cuts.
    Wrapped(Box<Net>),
}

fn net() -> impl Strategy<Value = Net> {
    let part = prop_oneof![
        (0.5..50.0).prop_map(Net::R),
        (0.5..50.0).prop_map(Net::L),
        (0.5..50.0).prop_map(Net::C),
    ];
    part.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Net::Series),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Net::Parallel),
            inner.clone().prop_map(|net| Net::Reversed(Box::new(net))),
            inner.prop_map(|net| Net::Wrapped(Box::new(net))),
        ]
    })
}

impl Net {
    fn impedance(&self, s: C) -> C {
        match self {
            Net::R(r) => C::new(*r, 0.0),
            Net::L(l) => s * *l,
            Net::C(c) => C::new(1.0, 0.0) / (s * *c),
            Net::Series(nets) => nets.iter().map(|net| net.impedance(s)).sum(),
            Net::Parallel(nets) => {
                let one = C::new(1.0, 0.0);
                one / nets.iter().map(|net| one / net.impedance(s)).sum::<C>()
            }
            Net::Reversed(net) | Net::Wrapped(net) => net.impedance(s),
        }
    }

    /// The chain, with the declarations it needs; wrapped parts become types.
    fn write(&self, submodels: &mut String, types: &mut String, count: &mut usize) -> String {
        let mut name = |letter: &str| {
            *count += 1;
            format!("{letter}{count}")
        };
        match self {
            Net::R(r) => {
                let name = name("R");
                submodels.push_str(&format!("  submodel (Resistor) {name}(R = {r})\n"));
                name
            }
            Net::L(l) => {
                let name = name("L");
                submodels.push_str(&format!("  submodel (Inductor) {name}(L = {l})\n"));
                name
            }
            Net::C(c) => {
                let name = name("C");
                submodels.push_str(&format!("  submodel (Capacitor) {name}(C = {c})\n"));
                name
            }
            Net::Series(nets) => {
                let parts: Vec<String> = nets
                    .iter()
                    .map(|net| net.write(submodels, types, count))
                    .collect();
                format!("({})", parts.join(" - "))
            }
            Net::Parallel(nets) => {
                let parts: Vec<String> = nets
                    .iter()
                    .map(|net| net.write(submodels, types, count))
                    .collect();
                format!("({})", parts.join(" // "))
            }
            Net::Reversed(net) => format!("reversed {}", net.write(submodels, types, count)),
            Net::Wrapped(net) => {
                let name = name("W");
                let mut inside = String::new();
                let chain = net.write(&mut inside, types, count);
                types.push_str(&format!(
                    "model type T{name}\n{inside}  cut A(a/i), B(b/-j)\n  main path P <A - B>\n  \
                     connect {chain} from A to B\nend\n"
                ));
                submodels.push_str(&format!("  submodel (T{name}) {name}\n"));
                name
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn networks_have_their_impedance(net in net(), re in 0.3..2.0, im in 0.2..2.0) {
        let (mut submodels, mut types, mut count) = (String::new(), String::new(), 0);
        let chain = net.write(&mut submodels, &mut types, &mut count);
        let text = format!(
            "@electrical\n{types}model N\n{submodels}  submodel (VoltageSource) U\n  \
             submodel Ground\n  input u\n  connect Ground - U - {chain} - Ground\n  U.E0 = u\nend\n"
        );
        let s = C::new(re, im);
        let model = flat(&text);
        let solution = solve_at(&model, s, &[("u", 1.0)]);
        // Eliminating aliases changes no value of what is left.
        for (name, value) in solve_at(&eliminate(model), s, &[("u", 1.0)]) {
            let difference = (value - solution[&name]).norm();
            prop_assert!(difference <= 1e-6*(1.0 + value.norm()), "{}: {}", name, difference);
        }
        // Poles and zeros of the network are not what is tested.
        let wanted = net.impedance(s);
        prop_assume!(wanted.norm() > 1e-6 && wanted.norm() < 1e6);
        let found = C::new(1.0, 0.0) / solution["U.i"];
        prop_assert!((found - wanted).norm() < 1e-6 * wanted.norm(), "{found} {wanted}\n{text}");
    }

    /// An array with a `for` is the same as its elements written out.
    #[test]
    fn arrays_are_what_is_written_out(values in prop::collection::vec(0.5..50.0f64, 1..8)) {
        let n = values.len();
        let list: Vec<String> = values.iter().map(f64::to_string).collect();
        let array = format!(
            "@electrical\nmodel N\n  parameter n = {n}, r[n] = [{}]\n  submodel (Resistor) R0\n  \
             submodel (Conductor) G[n]\n  submodel (VoltageSource) U\n  submodel Ground\n  input u\n  \
             node k[n + 1]\n  local s[n]\n  connect Ground - U - k[1], k[n + 1] - R0 - Ground\n  \
             for i in 1 to n do\n    connect G[i] from k[i] to k[i + 1]\n    s[i] = r[i]*G[i].i\n  \
             endfor\n  U.E0 = u\nend\n",
            list.join(", ")
        );
        let mut plain = String::from("@electrical\nmodel N\n  submodel (Resistor) R0\n");
        let mut chain = String::from("Ground - U");
        for i in 1..=n {
            plain.push_str(&format!("  submodel (Conductor) G{i}\n"));
            chain.push_str(&format!(" - G{i}"));
        }
        plain.push_str("  submodel (VoltageSource) U\n  submodel Ground\n  input u\n");
        plain.push_str(&format!("  connect {chain} - R0 - Ground\n  U.E0 = u\nend\n"));
        let s = C::new(1.0, 1.0);
        let one = solve_at(&flat(&array), s, &[("u", 1.0)]);
        let other = solve_at(&flat(&plain), s, &[("u", 1.0)]);
        prop_assert!(close(one["U.i"], other["U.i"]));
        for (i, value) in values.iter().enumerate() {
            let i = i + 1;
            let (inside, outside) = (one[&format!("G[{i}].i")], other[&format!("G{i}.i")]);
            let scaled = one[&format!("s[{i}]")];
            prop_assert!(close(inside, outside));
            prop_assert!(close(scaled, inside * *value));
        }
    }
}
