//! Linear networks of any index: as many states as the pencil of their flat equations has finite eigenvalues, and runs that agree
//! with its inverse Laplace transform, jumps at steps included.

use bgm::base::diagnostics::Diagnostics;
use bgm::compile::{Aliases, solved};
use bgm::flat::Flat;
use bgm::passes::signs::reference::reference;

use crate::support::campaign::{Family, Verdict, campaign};
use crate::support::generate::linear::{Kinds, Network};
use crate::support::laplace::{Linear, Residue};
use crate::support::random::Random;
use crate::support::text::compile_text;
use crate::support::trial::Trial;

const UNTIL: f64 = 1.913;
/// Rows are compared that are so far from the last instant at which a source steps.
const APART: f64 = 0.004;
/// Values that large tell nothing any more: the network is unstable, and errors grow with it.
const LARGEST: f64 = 1e5;
const OFF: f64 = 2e-5;

fn judged(network: &Network, steps: bool) -> Verdict {
    let text = network.text();
    let compiled = compile_text(&text);
    let Some(written) = compiled.flat.filter(|_| !compiled.diagnostics.has_errors()) else {
        return code(&compiled.diagnostics);
    };
    let referenced = reference(written.clone()).0;
    let degree = Linear::<Residue>::new(&referenced).degree(7);
    let mut said = Diagnostics::default();
    let made = solved(written, Aliases::Eliminate, &mut said);
    let states = match (degree, made) {
        (None, None) => return singular(&said),
        (None, Some(_)) => return Verdict::Wrong("it is singular".into()),
        (Some(_), None) => return code(&said),
        (Some(degree), Some(solution)) => (degree, solution.solved.flat.state_count()),
    };
    if states.0 != states.1 {
        return Verdict::Wrong(format!("{} states, and {} eigenvalues", states.1, states.0));
    }
    run(network, &text, &referenced, steps)
}

fn first(said: &Diagnostics) -> Option<(&'static str, String)> {
    let error = said.iter().find(|one| one.code.text().starts_with('E'))?;
    Some((error.code.text(), error.message.clone()))
}

fn code(said: &Diagnostics) -> Verdict {
    match first(said) {
        Some((code, message)) => Verdict::Refused(code.into(), message),
        None => Verdict::Wrong("no result, and nothing is said".into()),
    }
}

fn singular(said: &Diagnostics) -> Verdict {
    match first(said) {
        Some((code, _)) => Verdict::Singular(code.into()),
        None => Verdict::Wrong("it is singular, and nothing is said".into()),
    }
}

fn run(network: &Network, text: &str, flat: &Flat, steps: bool) -> Verdict {
    let linear = Linear::<f64>::new(flat);
    let names: Vec<String> = (linear.unknowns.iter()).map(|&id| flat.name(id)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let result = Trial::of(text, UNTIL)
        .points(9)
        .tolerance(1e-9, 1e-11)
        .run(&names);
    if let Some(message) = result.failure {
        return Verdict::Refused(result.code.unwrap_or("none").into(), message);
    }
    let sources = network.sources();
    let edges: Vec<f64> = (sources.values().flatten())
        .map(|piece| piece.from)
        .collect();
    // With steps everything is at rest before; with sines what was computed for the start is the start.
    let before = match steps {
        true => vec![0.0; names.len()],
        false => result.rows[0].clone(),
    };
    let apart = |time: f64| edges.iter().all(|edge| (edge - time).abs() >= APART);
    let rows = result.times.iter().zip(&result.rows);
    let rows: Vec<(f64, &Vec<f64>)> = (rows.filter(|(time, _)| **time > 0.0 && apart(**time)))
        .map(|(&time, row)| (time, row))
        .take_while(|(_, row)| row.iter().all(|value| value.abs() < LARGEST))
        .collect();
    if rows.is_empty() {
        return Verdict::Open("unstable");
    }
    let times: Vec<f64> = rows.iter().map(|row| row.0).collect();
    let Some(expected) = linear.run(flat, &times, &before, &sources) else {
        return Verdict::Open("too fast for the contour");
    };
    for ((time, row), expected) in rows.into_iter().zip(&expected) {
        let size = row
            .iter()
            .fold(1.0_f64, |most, value| most.max(value.abs()));
        for ((name, &found), &expected) in names.iter().zip(row).zip(expected) {
            if !((found - expected).abs() <= OFF * size) {
                return Verdict::Wrong(format!(
                    "`{name}` is {found} at Time = {time}, not {expected}"
                ));
            }
        }
    }
    Verdict::Agrees
}

fn tried(family: Family, kinds: Kinds) {
    let network = |seed| Network::generate(&mut Random::new(seed), kinds);
    let steps = kinds.steps > 0;
    campaign(
        family,
        |seed| judged(&network(seed), steps),
        |seed, verdict| {
            let same = |other: &Network| judged(other, steps).is_like(verdict);
            match verdict {
                Verdict::Wrong(_) | Verdict::Refused(..) => network(seed).shrunk(&same).text(),
                _ => network(seed).text(),
            }
        },
    );
}

#[test]
fn circuits_with_repeated_gains() {
    let family = Family {
        name: "circuits with two-ports",
        cases: 60,
        refused: 0.5,
        open: &[],
    };
    let kinds = Kinds {
        two_ports: true,
        bonds: false,
        steps: 0,
    };
    tried(family, kinds);
}

#[test]
fn bond_graphs_with_repeated_gains() {
    let family = Family {
        name: "bond graphs with two-ports",
        cases: 60,
        refused: 0.5,
        open: &[],
    };
    let kinds = Kinds {
        two_ports: true,
        bonds: true,
        steps: 0,
    };
    tried(family, kinds);
}

#[test]
fn networks_with_steps_and_pulses() {
    let family = Family {
        name: "R, L, C with steps and pulses",
        cases: 60,
        refused: 0.5,
        open: &[],
    };
    let kinds = Kinds {
        two_ports: false,
        bonds: false,
        steps: 100,
    };
    tried(family, kinds);
}
