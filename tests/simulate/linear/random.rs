//! Random linear networks of any index, with inputs that have to be differentiated: the poles are the finite eigenvalues of the
//! pencil of the flat equations, zeros and gain make the transfer function, and responses solve the flat equations at random complex
//! frequencies. A, B, C and D are those of the register machine.

use bgm::analyse::Place;
use bgm::analyse::matrices::matrices;
use bgm::analyse::poles::full;
use bgm::analyse::response::Response;
use bgm::analyse::zeros::zeros;
use bgm::base::diagnostics::Diagnostics;
use bgm::compile::{Aliases, solved};
use bgm::numeric::eigen::eigenvalues;
use bgm::passes::signs::reference::reference;
use bgm::program::build;
use bgm::program::machine::{Extent, Machine};
use nalgebra::Complex;

use super::linearised;
use crate::support::campaign::{Family, Verdict, campaign};
use crate::support::generate::linear::{Kinds, Network};
use crate::support::laplace::{Linear, Residue};
use crate::support::random::Random;
use crate::support::text::compile_text;

/// Relative to the largest of all unknowns, or of the products that are compared.
const OFF: f64 = 1e-9;

fn faer(s: Complex<f64>) -> faer::c64 {
    faer::c64::new(s.re, s.im)
}

fn plain(s: faer::c64) -> Complex<f64> {
    Complex::new(s.re, s.im)
}

fn judged(seed: u64, kinds: Kinds) -> Verdict {
    let mut random = Random::new(seed);
    let network = Network::generate(&mut random, kinds);
    let compiled = compile_text(&network.text());
    let Some(written) = compiled.flat.filter(|_| !compiled.diagnostics.has_errors()) else {
        return Verdict::Open("not compiled");
    };
    let referenced = reference(written.clone()).0;
    let Some(degree) = Linear::<Residue>::new(&referenced).degree(7) else {
        return Verdict::Open("singular");
    };
    let sources = network.sources();
    let Some(source) = sources.keys().next() else {
        return Verdict::Open("no source");
    };
    let judge = Linear::<f64>::new(&referenced);
    let unknowns: Vec<String> = judge
        .unknowns
        .iter()
        .map(|&id| referenced.name(id))
        .collect();
    let wanted = random.below(unknowns.len());
    let output = unknowns[wanted].clone();
    if sources.contains_key(&output) {
        return Verdict::Open("the output is a source");
    }
    let analysed = match linearised(written.clone(), Place::Start, &[source], &[&output]) {
        Ok(analysed) => analysed,
        Err(why) => return Verdict::Refused("none".into(), why),
    };
    let linear = &analysed.linear;
    let Ok(matrices) = matrices(linear) else {
        return Verdict::Wrong("no matrices".into());
    };
    let Some(poles) = eigenvalues(&full(&matrices)) else {
        return Verdict::Wrong("no eigenvalues".into());
    };
    if poles.len() != degree {
        return Verdict::Wrong(format!("{} poles, and {degree} eigenvalues", poles.len()));
    }
    let Some(of) = zeros(&matrices, 0, 0) else {
        return Verdict::Wrong("no zeros".into());
    };
    let mut ratios: Vec<Complex<f64>> = Vec::new();
    let mut responses = [
        Response::of_matrices(&matrices, 0, 0),
        Response::of_equations(linear, 0, 0),
    ];
    for _ in 0..4 {
        let s = Complex::new(random.real(-3.0, 3.0), random.real(-3.0, 3.0));
        let product = |roots: &[faer::c64]| -> Complex<f64> {
            roots.iter().map(|&root| s - plain(root)).product()
        };
        ratios.push(judge.determinant_at(s) / product(&poles));
        let Some(exact) = judge.response(&referenced, source, s) else {
            return Verdict::Open("singular at a frequency");
        };
        let size = exact.iter().map(|value| value.norm()).fold(0.0, f64::max);
        let exact = exact[wanted];
        for response in &mut responses {
            let Some(found) = response.at(faer(s)) else {
                return Verdict::Wrong(format!("no response at {s}"));
            };
            if !((plain(found) - exact).norm() <= OFF * size) {
                return Verdict::Wrong(format!(
                    "from {source} to {output} at {s}: {found}, not {exact}"
                ));
            }
        }
        let found = product(&of.zeros) / product(&poles) * of.gain;
        if !((found - exact).norm() <= OFF * size.max(exact.norm())) {
            return Verdict::Wrong(format!(
                "zeros {of:?} and poles {poles:?} make {found} at {s}, not {exact}"
            ));
        }
    }
    let first = ratios[0];
    if ratios
        .iter()
        .any(|ratio| !((ratio - first).norm() <= OFF * first.norm()))
    {
        return Verdict::Wrong(format!("{poles:?} are not the eigenvalues: {ratios:?}"));
    }
    machine(written, &analysed, &matrices).unwrap_or(Verdict::Agrees)
}

/// The rates of the register machine have the derivatives A, where both have the same states.
fn machine(
    written: bgm::flat::Flat,
    analysed: &bgm::analyse::Analysed,
    matrices: &bgm::analyse::matrices::Matrices,
) -> Option<Verdict> {
    let mut said = Diagnostics::default();
    let solved = solved(written, Aliases::Eliminate, &mut said)?.solved;
    let program = build(&solved, &[]);
    let linear = &analysed.linear;
    let names: Vec<String> = program
        .states
        .iter()
        .map(|&leaf| solved.flat.leaf_name(leaf))
        .collect();
    if !program.slots.is_empty() || names != linear.names(&linear.states) {
        return None;
    }
    let mut machine = Machine::new(&program);
    let states = vec![0.0; program.state_count()];
    machine.evaluate(0.0, &states, Extent::Rates).ok()?;
    let mut entries = vec![0.0; machine.pattern().nnz()];
    machine.jacobian(&mut entries).ok()?;
    let largest = entries
        .iter()
        .fold(1.0_f64, |most, value| most.max(value.abs()));
    let pattern = machine.pattern().clone();
    for (&value, (_, (row, column))) in entries.iter().zip(pattern.iter()) {
        let found = matrices.a.get(row, column);
        if !((found - value).abs() <= OFF * largest) {
            return Some(Verdict::Wrong(format!(
                "A[{row}, {column}] is {found}, not {value}"
            )));
        }
    }
    let missing = matrices.a.entries().find(|&(row, column, value)| {
        pattern.nnz_index(row, column).is_none() && value.abs() > OFF * largest
    });
    missing.map(|entry| Verdict::Wrong(format!("the rates have no {entry:?}")))
}

fn tried(family: Family, kinds: Kinds) {
    let text = |seed: u64| Network::generate(&mut Random::new(seed), kinds).text();
    campaign(family, |seed| judged(seed, kinds), |seed, _| text(seed));
}

#[test]
fn circuits() {
    let family = Family {
        name: "linear analysis of circuits",
        cases: 20,
        refused: 1.0,
        open: &[],
    };
    tried(
        family,
        Kinds {
            two_ports: true,
            bonds: false,
            steps: 0,
        },
    );
}

#[test]
fn bond_graphs() {
    let family = Family {
        name: "linear analysis of bond graphs",
        cases: 20,
        refused: 1.0,
        open: &[],
    };
    tried(
        family,
        Kinds {
            two_ports: true,
            bonds: true,
            steps: 0,
        },
    );
}
