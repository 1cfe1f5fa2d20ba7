//! Signs that cancel: the kernel against plain elimination in fractions, and what is said of random
//! circuits against the rank of their matrices.

use std::collections::BTreeSet;

use super::pencil::{finite_eigenvalues, matrix_of, unknowns};
use crate::support::text::flat;
use bgm::base::diagnostics::{Code, Diagnostics};
use bgm::compile::{Aliases, sorted};
use bgm::flat::{EquationKind, Flat, Kind, Leaf, VarId};
use bgm::passes::signs::reference::{
    Combination, findings, floating, reference, report_cancelling,
};
use bgm::structure::IntegerRows;
use bgm::structure::signs::eliminate;
use bgm::structure::sum;
use nalgebra::DMatrix;
use proptest::prelude::*;

/// Rank by fraction-free elimination (Bareiss): exact.
fn rank(rows: &[Vec<i128>]) -> usize {
    let mut rows = rows.to_vec();
    let columns = rows.first().map_or(0, Vec::len);
    let mut rank = 0;
    let mut last = 1;
    for column in 0..columns {
        let Some(pivot) = (rank..rows.len()).find(|&row| rows[row][column] != 0) else {
            continue;
        };
        rows.swap(rank, pivot);
        for row in rank + 1..rows.len() {
            for other in (0..columns).rev().filter(|&other| other > column) {
                rows[row][other] = (rows[rank][column] * rows[row][other]
                    - rows[row][column] * rows[rank][other])
                    / last;
            }
            rows[row][column] = 0;
        }
        last = rows[rank][column];
        rank += 1;
    }
    rank
}

fn dense(rows: &IntegerRows, wanted: &[bool]) -> Vec<Vec<i128>> {
    (0..rows.rows() as u32)
        .map(|row| {
            let mut values = vec![0; rows.columns()];
            for &(column, value) in rows.row(row) {
                if wanted[column as usize] {
                    values[column as usize] = value.into();
                }
            }
            values
        })
        .collect()
}

type Matrix = (Vec<Vec<(u32, i64)>>, Vec<bool>);

/// Mostly signs, at times a two; the last columns may be known.
fn matrix() -> impl Strategy<Value = Matrix> {
    (1usize..10).prop_flat_map(|columns| {
        let value = prop_oneof![9 => Just(1i64), 9 => Just(-1i64), 1 => Just(2i64)];
        let entry = (0..columns as u32, value);
        let row = prop::collection::vec(entry, 0..5);
        (
            prop::collection::vec(row, 1..12),
            prop::collection::vec(prop::bool::weighted(0.8), columns),
        )
    })
}

/// Edges of a graph: rows are nodes, columns branches.
fn network() -> impl Strategy<Value = Matrix> {
    (2u32..9).prop_flat_map(|nodes| {
        prop::collection::vec((0..nodes, 0..nodes), 1..16).prop_map(move |branches| {
            let mut rows = vec![Vec::new(); nodes as usize];
            for (branch, &(a, b)) in branches.iter().enumerate() {
                rows[a as usize].push((branch as u32, 1));
                rows[b as usize].push((branch as u32, -1));
            }
            (rows, vec![true; branches.len()])
        })
    })
}

/// What holds of every elimination; whether it was complete.
fn checked((given, unknown): &Matrix) -> Result<bool, TestCaseError> {
    let mut rows = IntegerRows::new(unknown.len());
    for row in given {
        rows.push_row(row.iter().copied());
    }
    let plain = dense(&rows, unknown);
    let rank = rank(&plain);
    let found = eliminate(&rows, unknown);
    let mut combinations = Vec::new();
    for &row in &found.empty {
        let combination = (found.combination(row, &mut 1000)).expect("small enough");
        let left = sum(&rows, &combination).expect("small numbers");
        prop_assert!(left.iter().all(|&(column, _)| !unknown[column as usize]));
        let mut dense = vec![0; rows.rows()];
        for &(row, times) in &combination {
            dense[row as usize] = times.into();
        }
        combinations.push(dense);
    }
    // They are independent, and as many as there can be.
    prop_assert_eq!(self::rank(&combinations), found.empty.len());
    prop_assert!(found.empty.len() <= rows.rows() - rank);
    if let Some(movements) = found.movements() {
        for (movement, &free) in movements.iter().zip(&found.free) {
            prop_assert!(movement.contains(&(free, 1)));
            for row in &plain {
                let moved: i128 = (movement.iter())
                    .map(|&(column, times)| row[column as usize] * i128::from(times))
                    .sum();
                prop_assert_eq!(moved, 0);
            }
        }
    }
    if found.complete {
        let unknowns = unknown.iter().filter(|&&unknown| unknown).count();
        prop_assert_eq!(found.empty.len(), rows.rows() - rank);
        prop_assert_eq!(found.free.len(), unknowns - rank);
    }
    Ok(found.complete)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn elimination_is_that_of_fractions(matrix in matrix()) {
        checked(&matrix)?;
    }

    /// Pivots of one are always enough where the matrix is that of a network.
    #[test]
    fn networks_are_eliminated_completely(matrix in network()) {
        prop_assert!(checked(&matrix)?);
    }
}

#[test]
fn large_coefficients_end_it_without_harm() {
    // Each step multiplies by 2^20: the fourth would leave 64 bits.
    let mut rows = IntegerRows::new(12);
    for at in 0..10u32 {
        rows.push_row([(at, 1), (at + 1, 1 << 20), (at + 2, 1)]);
        rows.push_row([(at, 1 << 20), (at + 1, 1), (at + 2, 1 << 20)]);
    }
    let found = eliminate(&rows, &[true; 12]);
    assert!(!found.complete);
    assert!(found.free.is_empty());
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    R,
    C,
    L,
    U,
    I,
}

#[derive(Clone, Debug)]
struct Circuit {
    branches: Vec<(Part, u32, u32, f64)>,
    /// Nodes with a ground.
    grounds: BTreeSet<u32>,
}

fn circuit() -> impl Strategy<Value = Circuit> {
    (2u32..7).prop_flat_map(|nodes| {
        let part = prop_oneof![
            4 => Just(Part::R), 2 => Just(Part::C), 2 => Just(Part::L),
            1 => Just(Part::U), 1 => Just(Part::I),
        ];
        let branch = (part, 0..nodes, 1..nodes, 0.5..2.0f64)
            .prop_map(move |(part, from, by, value)| (part, from, (from + by) % nodes, value));
        let grounds = prop::collection::btree_set(0..nodes, 0..2);
        (prop::collection::vec(branch, 1..10), grounds).prop_map(|(branches, grounds)| Circuit {
            grounds: (grounds.into_iter())
                .filter(|node| {
                    branches
                        .iter()
                        .any(|&(_, a, b, _)| a == *node || b == *node)
                })
                .collect(),
            branches,
        })
    })
}

impl Circuit {
    /// The branches stand in the order asked for.
    fn text(&self, order: &[usize]) -> String {
        let mut text = String::from("@electrical\nmodel N\n");
        let mut connections = String::new();
        for &at in order {
            let (part, from, to, value) = self.branches[at];
            let (class, parameter) = match part {
                Part::R => ("Resistor", "R"),
                Part::C => ("Capacitor", "C"),
                Part::L => ("Inductor", "L"),
                Part::U => ("ConstantVoltage", "E"),
                Part::I => ("ConstantCurrent", "I"),
            };
            text.push_str(&format!(
                "  submodel ({class}) B{at}({parameter} = {value})\n"
            ));
            connections.push_str(&format!("  connect B{at} from n{from} to n{to}\n"));
        }
        for node in &self.grounds {
            text.push_str(&format!("  submodel (Ground) G{node}\n"));
            connections.push_str(&format!("  connect G{node} at n{node}\n"));
        }
        let nodes: BTreeSet<u32> = self.branches.iter().flat_map(|b| [b.1, b.2]).collect();
        for node in nodes {
            text.push_str(&format!("  node n{node}\n"));
        }
        text + &connections + "end\n"
    }

    fn flat(&self) -> Flat {
        flat(&self.text(&(0..self.branches.len()).collect::<Vec<_>>()))
    }
}

/// With states known.
fn of_unknowns(flat: &Flat) -> DMatrix<f64> {
    let unknowns = unknowns(flat);
    matrix_of(flat, unknowns.len(), &|leaf| {
        let at = unknowns.iter().position(|&id| id == leaf.variable())?;
        let state = flat.variable(leaf.variable()).kind == Kind::State;
        (state == matches!(leaf, Leaf::Der(..))).then_some((at, 1.0))
    })
}

fn numeric_rank(flat: &Flat) -> usize {
    of_unknowns(flat).rank(1e-9)
}

/// No unknown is left in the sum of the equations.
fn cancels(flat: &Flat, combination: &Combination) -> bool {
    let matrix = of_unknowns(flat);
    (0..matrix.ncols()).all(|column| {
        let terms = combination.equations.iter();
        let sum: f64 =
            (terms.map(|&(id, times)| matrix[(id.index(), column)] * times as f64)).sum();
        sum.abs() < 1e-9
    })
}

/// The model with references, and its constraints; `None` if it has contradictions.
fn referenced(flat: Flat, said: &mut Diagnostics) -> Option<(Flat, Vec<Combination>)> {
    let (flat, references, found) = reference(flat);
    floating(&flat, &references, said);
    report_cancelling(&flat, &found, said);
    (!found.cancel()).then_some((flat, found.constraints))
}

fn states(flat: &Flat) -> usize {
    let of_kind = |id: &VarId| flat.variable(*id).kind == Kind::State;
    flat.variable_ids().filter(of_kind).count()
}

/// The sums of flows, as sets of names.
fn sums(flat: &Flat) -> BTreeSet<Vec<String>> {
    (flat.equations.iter())
        .filter(|equation| equation.kind == EquationKind::Sum)
        .map(|equation| {
            let text = format!(
                "{}+{}",
                flat.expression(equation.left),
                flat.expression(equation.right)
            );
            let mut names: Vec<String> = text.split([' ', '+']).map(String::from).collect();
            names.sort();
            names
        })
        .collect()
}

fn references(flat: &Flat) -> Vec<String> {
    (flat.equations.iter())
        .filter(|equation| equation.kind == EquationKind::Reference)
        .map(|equation| flat.expression(equation.left))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// In a circuit of R, L, C and sources all that makes it singular is a matter of signs: the rank
    /// agrees with it, and the number of finite eigenvalues with the number of states.
    #[test]
    fn circuits_have_the_rank_that_is_found(circuit in circuit()) {
        let model = circuit.flat();
        let found = findings(&model);
        let dependent = found.redundant.len() + found.given.len() + found.constraints.len();
        prop_assert_eq!(dependent, model.equations.len() - numeric_rank(&model), "{:?}", circuit);
        for constraint in &found.constraints {
            prop_assert!(!constraint.rest.is_empty());
        }
        let mut said = Diagnostics::default();
        let states = states(&model);
        let square = model.equation_count() == model.unknown_count();
        let Some((model, constraints)) = referenced(model, &mut said).filter(|_| square) else {
            prop_assert!(said.has_errors() || !square);
            return Ok(());
        };
        prop_assert_eq!(model.equations.len() - numeric_rank(&model), constraints.len());
        for constraint in &constraints {
            prop_assert!(cancels(&model, constraint), "{:?}", circuit);
        }
        let degree = finite_eigenvalues(&model).expect("regular");
        let left = (states - constraints.len()) as f64;
        prop_assert!((degree - left).abs() < 0.1, "{} {} {:?}", degree, left, circuit);
        if constraints.is_empty() {
            // Sound: it can be sorted, as it is and without aliases.
            let sorted = sorted(model, Aliases::Eliminate, &mut said);
            prop_assert!(sorted.is_some(), "{:?}", circuit);
        }
    }

    /// Without inductors and current sources, a circuit without ground lacks nothing but the ground, unless
    /// capacitors and sources form a loop.
    #[test]
    fn circuits_without_ground_get_one(circuit in circuit()) {
        let mut circuit = circuit;
        circuit.grounds.clear();
        circuit.branches.retain(|&(part, ..)| part != Part::L && part != Part::I);
        prop_assume!(!circuit.branches.is_empty());
        let parts = components(&circuit);
        let mut said = Diagnostics::default();
        let model = circuit.flat();
        let before: BTreeSet<Vec<String>> = sums(&model);
        let Some((model, constraints)) = referenced(model, &mut said) else {
            prop_assert!(said.iter().any(|d| d.code == Code::UnknownsCancel), "{:?}", circuit);
            return Ok(());
        };
        prop_assert_eq!(references(&model).len(), parts);
        if constraints.is_empty() {
            prop_assert_eq!(numeric_rank(&model), model.equations.len());
        }
        // Another order of writing changes neither what is set to zero nor what gives way.
        let order: Vec<usize> = (0..circuit.branches.len()).rev().collect();
        let other = referenced(flat(&circuit.text(&order)), &mut said);
        let (other, _) = other.expect("the same circuit");
        let names = |flat: &Flat| references(flat).into_iter().collect::<BTreeSet<_>>();
        prop_assert_eq!(names(&model), names(&other));
        prop_assert_eq!(sums(&model), sums(&other));
        prop_assert!(sums(&model).is_subset(&before));
    }
}

/// How many parts hang together.
fn components(circuit: &Circuit) -> usize {
    let mut label: Vec<u32> = (0..10).collect();
    for _ in 0..10 {
        for &(_, a, b, _) in &circuit.branches {
            let least = label[a as usize].min(label[b as usize]);
            label[a as usize] = least;
            label[b as usize] = least;
        }
    }
    let used = circuit.branches.iter().map(|b| label[b.1 as usize]);
    used.collect::<BTreeSet<_>>().len()
}

/// What is said, and the model if it passes.
fn passed(text: &str) -> (Vec<Code>, Option<Flat>) {
    let mut said = Diagnostics::default();
    let model = sorted(flat(text), Aliases::Keep, &mut said).map(|(flat, _)| flat);
    (
        said.iter().map(|diagnostic| diagnostic.code).collect(),
        model,
    )
}

#[track_caller]
fn grounded(text: &str, wanted: &[&str]) {
    let (codes, model) = passed(text);
    assert!(
        codes.iter().all(|&code| code == Code::NoGround),
        "{codes:?}"
    );
    let model = model.expect("it passes");
    assert_eq!(references(&model), wanted);
    assert_eq!(numeric_rank(&model), model.equations.len());
}

#[test]
fn floating_parts_get_a_reference_each() {
    let two = "@electrical
        model M
          submodel (Resistor) R1, R2, R3, R4
          submodel (ConstantVoltage) U1, U2
          connect U1 - R1 - R2 - U1
          connect U2 - R3 - R4 - U2
        end";
    grounded(two, &["R1.Va", "R3.Va"]);
    let transformer = "@electrical
        model M
          submodel (ConstantVoltage) U
          submodel (Resistor) R1, R2
          submodel (Transformer) T(n = 2)
          submodel Ground
          connect Ground - U - R1 - T.Primary - Ground
          connect T.Secondary - R2 - T.Secondary
        end";
    grounded(transformer, &["R2.Va"]);
    let both_sides = transformer
        .replace("Ground - ", "")
        .replace(" - Ground", " - U")
        .replace("submodel Ground", "");
    grounded(&both_sides, &["R1.Va", "R2.Va"]);
    // A transformer of signs only: the currents of both sides are coupled.
    let one_to_one = both_sides
        .replace(
            "model M",
            "model class (TwoPort) One
          u1 = u2
          i1 + i2 = 0
        end
        model M",
        )
        .replace("(Transformer) T(n = 2)", "(One) T");
    grounded(&one_to_one, &["R1.Va", "R2.Va"]);
}

#[test]
fn differences_inside_products_float_too() {
    // Springs and dampers between flanges, nothing that holds them.
    let chain = "
        model class Spring
          cut A(va/f) B(vb/-f)
          main path P <A - B>
          parameter c = 2
          der(f) = c*(va - vb)
        end
        model class Damper
          cut A(va/f) B(vb/-f)
          main path P <A - B>
          parameter d = 3
          f = d*(va - vb)
        end
        model M
          submodel (Spring) S1
          submodel (Damper) D1, D2
          connect S1 - D1 - D2 - S1
        end";
    grounded(chain, &["D1.va"]);
    // A mass holds its own velocity.
    let mass = chain.replace(
        "model M",
        "model class Mass
          cut A(v/f)
          parameter m = 1
          m*der(v) = f
        end
        model M
          submodel (Mass) K
          connect K at S1:A",
    );
    grounded(&mass, &[]);
}

#[test]
fn parts_inside_parts_float_too() {
    let inside = "@electrical
        model type Pair
          submodel (Resistor) R1, R2
          cut A(va/ia) B(vb/-ib)
          main path P <A - B>
          connect A - R1 - R2 - B
        end
        model M
          submodel (Pair) P[3]
          submodel (ConstantVoltage) U
          connect U - P[1] - P[2] - P[3] - U
        end";
    grounded(inside, &["P[1].va"]);
}

#[test]
fn what_cannot_be_cured_is_an_error() {
    let parallel = |a: &str, b: &str| {
        format!(
            "@electrical
            model M
              submodel {a}
              submodel {b}
              submodel (Resistor) R
              node n, m
              connect A from n to m, B from n to m, R from n to m
            end"
        )
    };
    // Two ammeters side by side: how the current divides is open; and nothing is grounded.
    let (codes, _) = passed(&parallel("(CurrentSensor) A", "(CurrentSensor) B"));
    assert_eq!(codes, [Code::NoGround, Code::UnknownsCancel]);
    let (codes, _) = passed(&parallel("(ConstantVoltage) A", "(ConstantVoltage) B"));
    assert_eq!(codes, [Code::NoGround, Code::UnknownsCancel]);
    // Of equal value they say the same twice, but that is not for want of a ground alone.
    let equal = parallel("(VoltageSource) A", "(VoltageSource) B");
    let (codes, _) = passed(&equal.replace("end", "A.E0 = 1\n B.E0 = 1\n end"));
    assert_eq!(codes, [Code::NoGround, Code::UnknownsCancel]);
    // Equal current sources one after the other: the structure shows that alone.
    let series = "@electrical
        model M
          submodel (CurrentSource) A, B
          submodel (Resistor) R
          submodel Ground
          connect Ground - A - B - R - Ground
          A.I0 = 1
          B.I0 = 1
        end";
    let (codes, model) = passed(series);
    assert!(model.is_none());
    assert_eq!(codes, [Code::TooManyEquations]);
    // The sum of flows at the output of an amplifier is not written: none is redundant.
    let amplifier = "@electrical
        model M
          submodel (OpAmp) V
          submodel (ConstantVoltage) U
          submodel (Resistor) R
          connect U:B at V:Plus, V:Minus at V:Out, R from V:Out to U:A
        end";
    let (codes, model) = passed(amplifier);
    assert!(model.is_none());
    assert_eq!(codes, [Code::MovesFreely]);
}

#[test]
fn constraints_are_exactly_the_loops_and_cutsets() {
    let text = "@electrical
        model M
          submodel (Capacitor) C1, C2, C3
          submodel (Inductor) L1, L2
          submodel (Resistor) R1, R2
          submodel Ground
          node a, b, c, d
          connect C1 from a to b, C2 from b to c, C3 from a to c
          connect Ground - R1 - a, c - R2 - Ground, b - L1 - d, d - L2 - Ground
        end";
    let model = flat(text);
    let found = findings(&model);
    let mut rests: Vec<Vec<String>> = (found.constraints.iter())
        .map(|constraint| {
            let mut names: Vec<String> = (constraint.rest.iter())
                .map(|&(id, _)| model.expression(id))
                .collect();
            names.sort();
            names
        })
        .collect();
    rests.sort();
    assert_eq!(rests, [vec!["C1.u", "C2.u", "C3.u"], vec!["L1.i", "L2.i"]]);
    assert!(found.redundant.is_empty() && found.given.is_empty());
}
