//! Nonlinear loops in the order of an R-field: where it needs fewer iteration variables than tearing finds, it is used; the solution
//! satisfies the flat equations and is the one that is found without it.

#![allow(clippy::print_stdout)]

use crate::support::networks::{CIRCUITS, Recipe, TYPES, mesh, network};
use crate::support::random::Random;
use crate::support::text::compile_text;
use bgm::base::diagnostics::Diagnostics;
use bgm::bond::fields::fields;
use bgm::compile::{Aliases, bond_graph, solved, sorted};
use bgm::evaluate::{Point, evaluate};
use bgm::flat::{Flat, Leaf};
use bgm::passes::blocks::{Block, Nonlinear, Solved, solve};

fn flat(text: &str) -> Flat {
    compile_text(text).flat.unwrap_or_else(|| panic!("{text}"))
}

/// The same with some of the linear resistors bent, each so that the form that it has in its field is a formula.
fn bent(random: &mut Random, types: &str, text: &str, linear: &str, laws: [&str; 2]) -> String {
    let model = bond_graph(
        flat(&format!("{types}{text}")),
        &[],
        &mut Diagnostics::default(),
    );
    let model = model.expect("nothing is preferred").expect("it has power");
    let found = fields(&model, false);
    let mut bent = text.to_string();
    for field in &found.r_fields {
        for (list, law) in [(&field.r, laws[0]), (&field.g, laws[1])] {
            for port in list.iter().filter(|_| random.chance(60)) {
                let name = &found.view.graph.node(port.node).name;
                let before = format!("submodel ({linear}) {name}(");
                assert!(bent.contains(&before));
                bent = bent.replace(&before, &format!("submodel ({law}) {name}("));
            }
        }
    }
    format!("{types}{bent}")
}

fn nonlinear(model: &Solved) -> impl Iterator<Item = &Nonlinear> {
    model.blocks.iter().filter_map(|block| match block {
        Block::Nonlinear(one) => Some(one),
        _ => None,
    })
}

/// The largest residual of the flat equations as they were written.
fn residual(written: &Flat, point: &Point) -> f64 {
    (written.equations.iter())
        .map(|equation| {
            let side = |id| {
                point
                    .number(&written.exprs, id)
                    .expect("a side is a number")
            };
            (side(equation.left) - side(equation.right)).abs()
        })
        .fold(0.0, f64::max)
}

fn values(model: &Solved) -> Option<Point> {
    let mut point = Point::new(model);
    evaluate(model, &mut point).ok()?;
    Some(point)
}

#[derive(Debug, Default)]
struct Tally {
    models: usize,
    used: usize,
    /// Iteration variables by tearing alone, and as solved.
    alone: usize,
    taken: usize,
    /// Solved only in the order of the field.
    only: usize,
}

fn check(text: &str, tally: &mut Tally) {
    let written = flat(text);
    let mut said = Diagnostics::default();
    let (reduced, blocks) =
        sorted(written.clone(), Aliases::Eliminate, &mut said).expect("it is sound");
    let without = solve(reduced, &blocks, &mut Vec::new).expect("it is solved");
    let with = solved(written.clone(), Aliases::Eliminate, &mut said)
        .expect("it is solved")
        .solved;
    let count = |model: &Solved| {
        nonlinear(model)
            .map(|one| one.iteration.len())
            .sum::<usize>()
    };
    let used = nonlinear(&with).any(|one| one.by_field);
    assert_eq!(used, count(&with) < count(&without), "{text}");
    tally.models += 1;
    tally.used += usize::from(used);
    tally.alone += count(&without);
    tally.taken += count(&with);
    for one in nonlinear(&with) {
        assert_eq!(one.iteration.len(), one.residuals.len());
        assert_eq!(one.iteration.len() + one.inner.len(), one.unknowns.len());
    }
    let point = values(&with).unwrap_or_else(|| panic!("no solution is found: {text}"));
    assert!(residual(&written, &point) < 1e-9, "{text}");
    // Long chains of inner assignments can end where no equation holds.
    let other = values(&without).filter(|other| residual(&written, other) < 1e-9);
    let Some(other) = other else {
        tally.only += 1;
        return;
    };
    for id in written.variable_ids() {
        let leaf = Leaf::Var(id);
        if let (Some(a), Some(b)) = (other.real(leaf), point.real(leaf)) {
            assert!(
                (a - b).abs() < 1e-6,
                "{}: {a} and {b}\n{text}",
                written.name(id)
            );
        }
    }
}

#[test]
fn meshes() {
    let mut tally = Tally::default();
    for (seed, (width, height)) in [(4, 3), (6, 2), (9, 2), (5, 4), (12, 2), (7, 6), (20, 2)]
        .into_iter()
        .cycle()
        .take(56)
        .enumerate()
    {
        let mut random = Random::new(seed as u64 + 70);
        let text = mesh(&mut random, width, height, "Net");
        check(
            &bent(&mut random, CIRCUITS, &text, "Resistor", ["Er", "Eg"]),
            &mut tally,
        );
    }
    println!("{tally:?}");
    assert!(tally.used * 3 > tally.models, "{tally:?}");
    assert!(
        tally.taken < tally.alone && tally.only * 10 < tally.models,
        "{tally:?}"
    );
}

/// Trees of junctions are torn well without: the order of their fields is hardly ever smaller.
#[test]
fn trees() {
    let mut tally = Tally::default();
    for seed in 0..60 {
        let mut random = Random::new(seed + 300);
        let recipe = Recipe {
            resistors: random.within(5, 30),
            laws: &["R"],
            transformers: 25,
            modulated: false,
            chords: random.below(4),
            decades: 1.0,
        };
        let text = network(&mut random, recipe, "Net");
        check(
            &bent(&mut random, TYPES, &text, "R", ["Rr", "Rg"]),
            &mut tally,
        );
    }
    println!("{tally:?}");
    assert!(tally.taken <= tally.alone && tally.models > 50, "{tally:?}");
}
