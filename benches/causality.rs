//! The bond graph of a model, its causality and its picture: time against size.
//!
//! `cargo bench --bench causality` prints the tables that docs/performance.md keeps.

#[path = "common/clock.rs"]
mod clock;
#[allow(dead_code)]
mod common;

use std::io::{self, Write};

use bgm::base::diagnostics::Diagnostics;
use bgm::bond::sketch::sketch;
use bgm::bond::view::{Choice, view};
use bgm::compile::{Options, bond_graph, load_flat};
use bgm::picture::bond::svg;
use bgm::syntax::load::{Input, NoFiles};
use clock::Clock;
use common::{asked, measure_apart, peak_bytes, quick};

/// Stages of a bond graph in a row, each of a type: a 1-junction with R and I, a node with C and R. Six bonds a stage.
fn ladder(stages: usize) -> String {
    format!(
        "@bondgraph

model type Stage
  submodel (R) Ra, Rb
  submodel (I) L
  submodel (C) C
  submodel (link) a, b
  cut In(e1/f1) Out(e2/-f2)
  main path P <In - Out>
  junction1 j
  connect a from In to j, Ra at j, L at j
  connect b from j to Out, C at Out, Rb at Out
end

model Ladder
  submodel (SE) U
  submodel (Stage) s[{stages}]
  submodel (R) Load
  connect U at s[1]:In, Load at s[{stages}]:Out
  for k in 1 to {last} do
    connect s[k]:Out at s[k + 1]:In
  endfor
  U.E0 = sin(Time)
end
",
        last = stages - 1
    )
}

/// Resistors with two pins between the nodes of a square, fed at one corner: all of them are one loop.
fn grid(side: usize) -> String {
    let mut text = String::from("@electrical\n\nmodel Grid\n");
    text.push_str("  submodel (ConstantVoltage) U0\n  submodel (Ground) G\n");
    for row in 0..side {
        for column in 0..side {
            text.push_str(&format!("  node n{row}_{column}\n"));
        }
    }
    text.push_str(&format!(
        "  connect G - U0 - n0_0, G at n{0}_{0}\n",
        side - 1
    ));
    for row in 0..side {
        for column in 0..side {
            for (letter, down, right) in [("d", 1, 0), ("r", 0, 1)] {
                let (below, beside) = (row + down, column + right);
                if below < side && beside < side {
                    let name = format!("{letter}{row}_{column}");
                    text.push_str(&format!(
                        "  submodel (Resistor) {name}\n  connect {name} from n{row}_{column} to n{below}_{beside}\n"
                    ));
                }
            }
        }
    }
    text.push_str("end\n");
    text
}

/// Prints what was found: bonds as shown, loops, seconds for the text, for graph and causality, for the picture, and bytes of memory and of the picture.
fn measure(kind: &str, size: usize) {
    let text = match kind {
        "ladder" => ladder(size),
        _ => grid(size),
    };
    let before = peak_bytes();
    let input = Input::Standard(text.into_bytes());
    let clock = Clock::start();
    let mut compiled = load_flat(&input, &Options::default(), &NoFiles);
    let flat = compiled.flat.take().expect("the model compiles");
    let reading = clock.seconds();
    let clock = Clock::start();
    let model = bond_graph(flat, &[], &mut Diagnostics::default());
    let model = model.expect("no wishes").expect("a model with power ports");
    let analysing = clock.seconds();
    let memory = peak_bytes()
        .zip(before)
        .map_or(0, |(after, before)| after - before);
    let clock = Clock::start();
    let view = view(&model.flat, &model.graph, Choice::default());
    let bonds = view.graph.bonds.len();
    let picture = match bonds <= 3_000 {
        true => svg(&sketch(&model, &view)),
        false => String::new(),
    };
    let drawing = clock.seconds();
    let loops = model.causality.loops.len();
    writeln!(
        io::stdout().lock(),
        "{bonds} {loops} {reading} {analysing} {drawing} {memory} {}",
        picture.len()
    )
    .expect("standard output is there");
}

fn main() {
    if let Some((kind, size)) = asked() {
        return measure(&kind, size);
    }
    // Stages of the ladder, nodes along a side of the grid.
    let runs: &[(&str, usize)] = match quick() {
        true => &[("ladder", 5), ("grid", 4)],
        false => &[
            ("ladder", 167),
            ("ladder", 1_667),
            ("ladder", 6_667),
            ("grid", 14),
            ("grid", 42),
        ],
    };
    let mut out = io::stdout().lock();
    let mut say = |text: &str| writeln!(out, "{text}").expect("standard output is there");
    say(
        "model       bonds     reading   graph and causality   per bond   exponent    memory   picture",
    );
    let mut last: Option<(&str, f64, f64)> = None;
    for &(kind, size) in runs {
        let printed = measure_apart(kind, size);
        let numbers: Vec<f64> = (printed.split_whitespace())
            .map(|word| word.parse().expect("a number"))
            .collect();
        let [bonds, loops, reading, analysing, drawing, memory, picture] = numbers[..] else {
            panic!("{printed}");
        };
        assert_eq!(loops, f64::from(kind == "grid"), "loops of {kind} {size}");
        let exponent = match last {
            Some((before, fewer, less)) if before == kind => {
                format!("{:.2}", (analysing / less).ln() / (bonds / fewer).ln())
            }
            _ => String::new(),
        };
        let drawn = match picture > 0.0 {
            true => format!("{drawing:>8.3} s"),
            false => String::new(),
        };
        let line = format!(
            "{kind:<8}{bonds:>9}{reading:>10.3} s{analysing:>20.3} s{:>8.1} us{exponent:>11}{:>7.0} MB{drawn}",
            analysing * 1e6 / bonds,
            memory / 1e6,
        );
        say(line.trim_end());
        last = Some((kind, bonds, analysing));
    }
}
