//! From text to the flat model: time and memory against size.
//!
//! `cargo bench --bench flatten` prints the table that docs/performance.md keeps.

mod common;

use std::io::{self, Write};
use std::time::Instant;

use bgm::base::intern::Interner;
use bgm::base::source::FileId;
use bgm::compile::{Options, load_flat};
use bgm::syntax::load::{Input, NoFiles};
use bgm::syntax::parse;
use common::{Shunt, asked, measure_apart, peak_bytes, quick, written_out};

/// A ladder of RC stages, three levels deep: a stage has a resistor and a capacitor, a row ten
/// stages, the model an array of rows.
fn hierarchical(rows: usize) -> String {
    format!(
        "@electrical

model type Stage
  submodel (Resistor) R1(R = 10)
  submodel (Capacitor) C1(C = 1E-6)
  cut In(v1/i1) Out(v2/-i2) Ref(v0/i0)
  main path P <In - Out>
  connect R1 from In to Out
  connect C1 from Out to Ref
end

model type Row
  submodel (Stage) s[10]
  cut In(v1/i1) Out(v2/-i2) Ref(v0/i0)
  main path P <In - Out>
  connect s[1]:In at In
  for k in 1 to 9 do
    connect s[k]:Out at s[k + 1]:In
  endfor
  connect s[10]:Out at Out
  for k in 1 to 10 do
    connect s[k]:Ref at Ref
  endfor
end

model Ladder
  submodel (Row) r[{rows}]
  submodel (SineVoltage) U0
  submodel (Ground) G
  connect G - U0 - r[1]:In
  for k in 1 to {last} do
    connect r[k]:Out at r[k + 1]:In
  endfor
  for k in 1 to {rows} do
    connect r[k]:Ref at G
  endfor
  connect r[{rows}]:Out at G
end
",
        last = rows - 1
    )
}

/// Reading alone: lexer, layout and parser.
fn measure_reading(size: usize) {
    let text = written_out(size, Shunt::Capacitor);
    let mut names = Interner::default();
    let start = Instant::now();
    let (tree, diagnostics) = parse(FileId(0), &text, &mut names);
    let seconds = start.elapsed().as_secs_f64();
    assert!(diagnostics.is_empty() && tree.items.len() == 2);
    let megabytes = text.len() as f64 / 1e6;
    let speed = megabytes / seconds;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "reading {megabytes:.1} MB: {seconds:.3} s, {speed:.1} MB/s"
    )
    .expect("standard output is there");
}

fn measure(kind: &str, size: usize) {
    if kind == "reading" {
        return measure_reading(size);
    }
    let text = match kind {
        "hierarchical" => hierarchical(size),
        _ => written_out(size, Shunt::Capacitor),
    };
    let bytes = text.len();
    // What the process needs before it has done anything does not count.
    let before = peak_bytes();
    let input = Input::Standard(text.into_bytes());
    let start = Instant::now();
    let compiled = load_flat(&input, &Options::default(), &NoFiles);
    let seconds = start.elapsed().as_secs_f64();
    let memory = peak_bytes()
        .zip(before)
        .map(|(after, before)| after - before);
    let Some(flat) = compiled.flat else {
        let codes: Vec<&str> = compiled.diagnostics.iter().map(|d| d.code.text()).collect();
        panic!("the benchmark model does not compile: {codes:?}");
    };
    let equations = flat.equation_count();
    assert_eq!(equations, flat.unknown_count());
    let memory = memory.map_or(String::new(), |memory| {
        format!("{:>8.0}", memory as f64 / equations as f64)
    });
    let speed = bytes as f64 / 1e6 / seconds;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{kind:<14}{equations:>10}{:>10.3} s{:>10.2} us{memory:>10} B{speed:>12.1} MB/s",
        seconds,
        seconds * 1e6 / equations as f64,
    )
    .expect("standard output is there");
}

fn main() {
    if let Some((kind, size)) = asked() {
        return measure(&kind, size);
    }
    let sizes: &[(&str, usize)] = match quick() {
        true => &[("hierarchical", 10)],
        false => &[
            ("hierarchical", 67),
            ("hierarchical", 667),
            ("hierarchical", 6_667),
            ("written out", 1_000),
            ("written out", 10_000),
            ("written out", 100_000),
            ("reading", 100_000),
        ],
    };
    let mut out = io::stdout().lock();
    let heading = "model          equations      time   per equation    memory      source";
    writeln!(out, "{heading}").expect("standard output is there");
    for (kind, size) in sizes {
        write!(out, "{}", measure_apart(kind, *size)).expect("standard output is there");
    }
}
