//! Fields are right: every sum through the junction structure, every gain along a causal path and every law of an order of evaluation holds
//! for the values that the solved model has at an arbitrary point; the numbers of the papers are theirs; in random
//! bond graphs as many resistors are in resistance form as E says, and in conductance form as F says.

#![allow(clippy::print_stdout)]

use crate::support::generate::bonds;
use crate::support::random::Random;
use crate::support::text::compile_text;
use bgm::base::diagnostics::Diagnostics;
use bgm::bond::fields::resistive::Step;
use bgm::bond::fields::transfer::Var;
use bgm::bond::fields::{Fields, fields};
use bgm::bond::graph::{ElementKind, Quantity};
use bgm::bond::net::Gives;
use bgm::compile::{Aliases, bond_graph, solved};
use bgm::evaluate::{Point, evaluate, settings};
use bgm::expr::{BinaryOp, ExprId, Node, UnaryOp, Value};
use bgm::flat::{Flat, Leaf, VarId};
use bgm::listing::storage_fields::{gains, path};
use bgm::passes::blocks::Solved;

/// A model at a point, and its fields.
struct Case {
    solved: Solved,
    point: Point,
    fields: Fields,
}

fn case(flat: Flat, random: &mut Random) -> Option<Case> {
    let mut said = Diagnostics::default();
    let graph = bond_graph(flat.clone(), &[], &mut said).expect("nothing is preferred")?;
    let fields = fields(&graph, true);
    let solution = solved(flat, Aliases::Keep, &mut said)?;
    if solution.positions.is_some() {
        return None;
    }
    let solved = solution.solved;
    let states: Vec<String> = (solved.flat.states())
        .map(|leaf| {
            format!(
                "{}={}",
                solved.flat.leaf_name(leaf),
                random.number(0.3, 2.0)
            )
        })
        .collect();
    let text = format!("Time=0.3,{}", states.join(","));
    let settings = settings::read(&solved, &text).ok()?;
    let mut point = settings::point(&solved, &settings);
    evaluate(&solved, &mut point).ok()?;
    Some(Case {
        solved,
        point,
        fields,
    })
}

impl Case {
    fn variable(&self, id: VarId) -> f64 {
        let value = self.point.get(Leaf::Var(id)).or_else(|| {
            let given = self.solved.flat.value(id)?;
            Some(given.value)
        });
        match value {
            Some(Value::Real(value)) => value,
            _ => panic!("{} has no value", self.solved.flat.name(id)),
        }
    }

    fn quantity(&self, quantity: &Quantity) -> Option<f64> {
        let terms = quantity.0.as_ref()?;
        Some(
            (terms.iter())
                .map(|&(negative, id)| self.variable(id) * if negative { -1.0 } else { 1.0 })
                .sum(),
        )
    }

    fn var(&self, var: Var) -> Option<f64> {
        let bond = self.fields.view.graph.bond(var.bond);
        self.quantity(match var.is {
            Gives::Effort => &bond.effort,
            Gives::Flow => &bond.flow,
        })
    }

    /// A coefficient, by a walk that shares no code with the compiler.
    fn expression(&self, id: ExprId) -> f64 {
        let of = |id: ExprId| self.expression(id);
        match self.fields.flat.exprs.node(id) {
            Node::Number(value) => value.0,
            Node::Leaf(Leaf::Var(id)) => self.variable(id),
            Node::Unary(UnaryOp::Minus, a) => -of(a),
            Node::Binary(BinaryOp::Add, a, b) => of(a) + of(b),
            Node::Binary(BinaryOp::Sub, a, b) => of(a) - of(b),
            Node::Binary(BinaryOp::Mul, a, b) => of(a) * of(b),
            Node::Binary(BinaryOp::Div, a, b) => of(a) / of(b),
            Node::Binary(BinaryOp::Pow, a, b) => of(a).powf(of(b)),
            other => panic!("not part of a coefficient: {other:?}"),
        }
    }
}

fn close(a: f64, b: f64, size: f64) -> bool {
    (a - b).abs() <= 1e-7 * size.max(1.0)
}

/// How much was looked at.
#[derive(Debug, Default)]
struct Tally {
    models: usize,
    sums: usize,
    fields: usize,
    paths: usize,
    skew: usize,
}

fn check(name: &str, case: &Case, tally: &mut Tally) {
    tally.models += 1;
    let found = &case.fields;
    for field in &found.r_fields {
        tally.fields += 1;
        if field.numbers.gyrators == 0
            && let Ok(steps) = &field.sequence
        {
            let numbers = field.numbers;
            assert_eq!(field.r.len() as i64, numbers.e(), "{name}: r and E");
            assert_eq!(field.g.len() as i64, numbers.f(), "{name}: g and F");
            assert_eq!(
                field.iteration.len() as i64,
                numbers.e().min(numbers.f()),
                "{name}: iteration"
            );
            assert!(!steps.is_empty());
        }
        for step in field.sequence.iter().flatten() {
            if let Step::Sum { var, sum } = step {
                equals(name, case, *var, sum, tally);
            }
        }
    }
    if let Some(Ok(matrices)) = &found.matrices {
        tally.skew += 1;
        assert!(matrices.skew, "{name}: not skew-symmetric");
        for ((_, entry), row) in (matrices.ports.iter()).zip(matrices.entries.outer_iterator()) {
            let sum: Vec<(Var, ExprId)> = (row.iter())
                .map(|(column, &value)| (matrices.ports[column].1.gives, value))
                .collect();
            equals(name, case, entry.takes, &sum, tally);
        }
    }
    let graph = &found.named.graph;
    for field in &found.storage_fields {
        let Ok(equivalent) = &field.outcome else {
            continue;
        };
        tally.paths += 1;
        let of = |id, effort: bool| {
            let element = graph.node(id).element().expect("a storage");
            let bond = graph.bond(element.ports[0]);
            case.quantity(if effort { &bond.effort } else { &bond.flow })
        };
        let kind = |id| graph.node(id).element().map(|element| element.kind);
        let stored_by_flow = |id| kind(id) == Some(ElementKind::I);
        let (dependent, independent) = (field.dependent, equivalent.into);
        let (Some(takes), Some(gives)) = (
            of(dependent, !stored_by_flow(dependent)),
            of(independent, !stored_by_flow(independent)),
        ) else {
            continue;
        };
        let (primary, secondary) = (
            case.expression(equivalent.primary),
            case.expression(equivalent.secondary),
        );
        assert!(
            close(takes, primary * gives, takes.abs()),
            "{name}: {}: {takes} is not {primary}*{gives}",
            path(found, field)
        );
        // Power is kept along the path.
        assert!(close(primary, -secondary, primary.abs()), "{name}: gains");
        let value = case.expression(equivalent.value);
        assert!(value > 0.0, "{name}: {value}");
    }
}

fn equals(name: &str, case: &Case, var: Var, sum: &[(Var, ExprId)], tally: &mut Tally) {
    let Some(wanted) = case.var(var) else {
        return;
    };
    let (mut total, mut size) = (0.0, wanted.abs());
    for &(part, coefficient) in sum {
        let Some(value) = case.var(part) else {
            return;
        };
        let term = case.expression(coefficient) * value;
        total += term;
        size = f64::max(size, term.abs());
    }
    tally.sums += 1;
    assert!(
        close(wanted, total, size),
        "{name}: {wanted} is not {total}"
    );
}

fn flat(text: &str) -> Option<Flat> {
    compile_text(text).flat
}

#[test]
fn random_bond_graphs() {
    let mut tally = Tally::default();
    for seed in 0..1500 {
        let mut random = Random::new(seed + 5_000);
        let model = match seed % 2 {
            0 => bonds::generate(&mut random, false),
            _ => bonds::dependent(&mut random, false),
        };
        let text = model.text();
        if let Some(case) = flat(&text).and_then(|flat| case(flat, &mut random)) {
            check(&text, &case, &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(
        tally.sums > 3000 && tally.fields > 100 && tally.paths > 100,
        "{tally:?}"
    );
}

/// The lever arm as the thesis names its parts, Figures 10 and 11, at several values.
#[test]
fn the_lever_arm_of_the_thesis() {
    for (m1, m2, a, b) in [(1.0, 2.0, 0.5, 1.0), (3.0, 0.7, 1.9, 0.4)] {
        let text = format!(
            "@bondgraph\nmodel Lever\n  parameter m1 = {m1}, m2 = {m2}, a = {a}, b = {b}\n  submodel (SE) F\n  \
             submodel (I) I1(I = m1), I2(I = m2)\n  submodel (TF) TF(m = b/a)\n  junction1 A, B\n  input u\n  \
             connect F at A, I1 at A, TF from A to B, I2 at B\n  F.E0 = u\nend\n"
        );
        let case =
            case(flat(&text).expect("it is sound"), &mut Random::new(1)).expect("it is solved");
        let field = &case.fields.storage_fields[0];
        assert_eq!(path(&case.fields, field), "I2 1B TF 1A I1");
        assert_eq!(
            gains(&case.fields, field),
            Some(("-TF.m".to_string(), "TF.m".to_string()))
        );
        let equivalent = field.outcome.expect("it is reducible");
        let value = case.expression(equivalent.value);
        assert!(close(value, m1 + (b / a) * (b / a) * m2, value), "{value}");
        let other = case.expression(equivalent.other_value);
        assert!(
            close(other, m2 + m1 / ((b / a) * (b / a)), other),
            "{other}"
        );
    }
}
