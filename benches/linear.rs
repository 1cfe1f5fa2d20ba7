//! Linear analysis of a ladder of resistors and capacitors, fed by a voltage, the last stage open.
//!
//! `cargo bench --bench linear` prints the table. *Model*: from text to the linearised equations at the start; the ladder is lowered twice, as
//! it runs and with its input free. *A*: the derivatives of the equations, and the matrices. *Bode*: 200 frequencies. *Poles*: the six
//! next to zero, which are compared with their closed form.

#![allow(clippy::print_stdout)]

#[allow(dead_code)]
mod common;

use std::time::Instant;

use bgm::analyse::bode::{Span, bode};
use bgm::analyse::matrices::matrices;
use bgm::analyse::poles::{Wanted, poles};
use bgm::analyse::{Linearised, Place, Wishes, analyse};
use bgm::base::clock::Clock;
use bgm::base::diagnostics::Diagnostics;
use bgm::compile::{NoObserver, Options, load_flat};
use bgm::experiment::Experiment;
use bgm::flat::VarId;
use bgm::syntax::load::{Input, NoFiles};
use common::{asked, measure_apart, quick};
use faer::c64;

const SIZES: [usize; 3] = [100, 1_000, 10_000];
const POINTS: usize = 200;

fn ladder(stages: usize) -> String {
    format!(
        "@electrical\nmodel class Stage\n  cut A(Va/Ia), B(Vb/-Ib)\n  parameter R = 1, C = 1\n  local i\n  Va - Vb = R*Ia\n  i = Ia - Ib\n  C*der(Vb) = i\nend\n\
         model Ladder\n  submodel (Stage) s[{stages}]\n  submodel (VoltageSource) U0\n  submodel (Ground) G\n  input u\n  output y\n  node a, b\n\
         connect G at a\n  connect U0:A at a\n  connect U0:B at b\n  connect s[1]:A at b\n\
         for k in 1 to {} do\n    connect s[k]:B at s[k + 1]:A\n  endfor\n  U0.E0 = u\n  y = s[{stages}].Vb\nend\n",
        stages - 1
    )
}

/// u' = A u with x_k' = x_{k-1} - 2 x_k + x_{k+1}, the last stage open.
fn pole(stages: usize, k: usize) -> f64 {
    let angle = std::f64::consts::PI * (2 * k + 1) as f64 / (2 * (2 * stages + 1)) as f64;
    -4.0 * angle.sin().powi(2)
}

fn one(stages: usize) {
    let begun = Instant::now();
    let input = Input::Standard(ladder(stages).into_bytes());
    let loaded = load_flat(&input, &Options::default(), &NoFiles);
    let flat = loaded.flat.expect("the ladder compiles");
    let wishes = Wishes {
        place: Place::Start,
        modes: false,
        inputs: None,
        outputs: None,
        clock: Clock::default(),
    };
    let mut notes = Vec::new();
    let said = (&mut Diagnostics::default(), &mut notes);
    let found = analyse(flat, &Experiment::default(), &wishes, &mut NoObserver, said);
    let analysed = found
        .expect("the ladder is linear")
        .pop()
        .expect("one point");
    let model = begun.elapsed().as_secs_f64();
    let linear = &analysed.linear;
    let (solved, point) = (linear.solved.clone(), linear.point.clone());
    let inputs: Vec<VarId> = linear.inputs.iter().map(|leaf| leaf.variable()).collect();
    let outputs = linear.outputs.clone();
    let begun = Instant::now();
    let linear = Linearised::new(solved, point, (&inputs, &outputs)).expect("it has slopes");
    let matrices = matrices(&linear).expect("it is regular");
    let a = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let span = Span {
        range: Some((1e-9, 1.0)),
        points: Some(POINTS),
    };
    let response = bode(&linear, &matrices, (0, 0), span).expect("it has a response");
    let bode = begun.elapsed().as_secs_f64();
    assert_eq!(response.frequency.len(), POINTS);
    let begun = Instant::now();
    let wanted = Wanted::Near(c64::new(0.0, 0.0), 6);
    let found = poles(&linear, &matrices, wanted).expect("it has poles");
    let seconds = begun.elapsed().as_secs_f64();
    for (k, found) in found.iter().enumerate() {
        let exact = pole(stages, k);
        let off = (found.value - exact).norm() / exact.abs();
        assert!(off < 1e-6, "pole {k}: {}, not {exact}", found.value);
    }
    println!("{stages:>10} {model:>10.3} {a:>10.4} {bode:>10.3} {seconds:>10.3}");
}

fn main() {
    if let Some((_, size)) = asked() {
        return one(size);
    }
    println!("    states    model/s        A/s     Bode/s    poles/s");
    for size in SIZES
        .into_iter()
        .take(if quick() { 1 } else { SIZES.len() })
    {
        print!("{}", measure_apart("ladder", size));
    }
}
