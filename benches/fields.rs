//! Newton's method on networks of nonlinear resistors in three ways: what all resistors take together, the same field by field, and
//! min(E, F) of them field by field, as Hood, Rosenberg, Withers and Zhou 1987 propose.
//!
//! `cargo bench --bench fields` prints the table that docs/performance.md keeps. Sums and laws are those of `bgm fields`; start, tolerance and
//! dense LU decomposition are the same for all three, and so must be the solution.

#[path = "common/clock.rs"]
mod clock;
#[allow(dead_code)]
mod common;
#[allow(dead_code)]
#[path = "../tests/support/networks.rs"]
mod networks;
#[path = "../tests/support/random.rs"]
#[allow(dead_code)]
mod random;
#[allow(dead_code)]
#[path = "../tests/support/sequence.rs"]
mod sequence;

use std::io::{self, Write};

use bgm::base::diagnostics::Diagnostics;
use bgm::bond::fields::{Fields, fields, robust};
use bgm::compile::{Options, bond_graph, load_flat};
use bgm::flat::{Flat, VarId};
use bgm::syntax::load::{Input, NoFiles};
use clock::Clock;
use common::quick;
use networks::{Recipe, TYPES, network};
use random::Random;
use sequence::{Known, Sequence};

const START: f64 = 0.0;
const TOLERANCE: f64 = 1e-10;
const MOST: usize = 100;

/// A network all of whose resistors are in one field that can be evaluated in order; chords may spoil that, and are given up then.
fn network_of(random: &mut Random, resistors: usize, name: &str) -> String {
    for attempt in 0..100 {
        let recipe = Recipe {
            resistors,
            laws: &["R"],
            transformers: 20,
            modulated: false,
            chords: random.below(resistors / 5 + 1) >> (attempt / 4),
            decades: 1.0,
        };
        let own = network(random, recipe, "Net");
        let found = fields_of(&format!("{TYPES}{own}"), false);
        if let [field] = &found.r_fields[..]
            && field.resistors.len() == resistors
            && field.sequence.is_ok()
        {
            return own.replacen("model Net", &format!("model {name}"), 1);
        }
    }
    panic!("no network of {resistors} resistors");
}

/// Networks of 5 to 10 resistors, each a type with a source of its own; or one network.
fn text(random: &mut Random, resistors: usize, single: bool) -> String {
    if single {
        return format!("{TYPES}{}", network_of(random, resistors, "Net"));
    }
    let mut types = String::from(TYPES);
    let mut model = String::from("model Net\n");
    let (mut left, mut at) = (resistors, 0);
    while left > 0 {
        at += 1;
        let count = match left {
            0..10 => left,
            _ => random.within(5, 10).min(left - 5),
        };
        types.push_str(&network_of(random, count, &format!("type Part{at}")));
        model.push_str(&format!("  submodel (Part{at}) p{at}\n"));
        left -= count;
    }
    format!("{types}{model}end\n")
}

fn flat(text: &str) -> Flat {
    let input = Input::Standard(text.as_bytes().to_vec());
    let compiled = load_flat(&input, &Options::default(), &NoFiles);
    compiled.flat.unwrap_or_else(|| panic!("{text}"))
}

fn fields_of(text: &str, best: bool) -> Fields {
    let model = bond_graph(flat(text), &[], &mut Diagnostics::default());
    let model = model.expect("nothing is preferred").expect("it has power");
    let model = if best { robust(model) } else { model };
    fields(&model, false)
}

/// Bends all resistors of fields, each so that it is a formula in the form that it has.
fn bent(text: &str) -> String {
    let found = fields_of(text, true);
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for field in &found.r_fields {
        for (list, law) in [(&field.r, "Rr"), (&field.g, "Rg")] {
            for port in list {
                let path = &found.view.graph.node(port.node).name;
                let (part, name) = path.rsplit_once('.').unwrap_or(("", path));
                let heading = match part.strip_prefix('p') {
                    Some(number) => format!("model type Part{number}"),
                    None => "model Net".to_string(),
                };
                let from = lines.iter().position(|line| *line == heading);
                let from = from.expect("the part is there");
                let declared = format!("  submodel (R) {name}(");
                let line = lines[from..]
                    .iter_mut()
                    .find(|line| line.starts_with(&declared));
                let line = line.expect("the resistor is there");
                *line = line.replace("(R) ", &format!("({law}) "));
            }
        }
    }
    lines.join("\n") + "\n"
}

fn sequences(found: &Fields) -> Vec<Sequence> {
    let known = Known {
        fields: found,
        variable: &|id: VarId| match found.flat.value(id) {
            Some(given) => given.value.real().expect("a parameter is a number"),
            // All sources have the same effort.
            None => {
                assert!(
                    found.flat.name(id).ends_with("U0.e"),
                    "{}",
                    found.flat.name(id)
                );
                2.0
            }
        },
        time: 0.0,
    };
    (found.r_fields.iter())
        .map(|field| Sequence::new(&known, field).expect("the field has a sequence"))
        .collect()
}

/// What the resistors take, and how many steps it took.
type Found = (Vec<f64>, usize);
type Way<'w> = &'w dyn Fn() -> Found;

/// Seconds, steps of Newton's method in the field that needs most, and the solution.
fn measure(way: Way<'_>) -> (f64, usize, Vec<f64>) {
    let (solution, steps) = way();
    let mut repeats = 1;
    loop {
        let clock = Clock::start();
        for _ in 0..repeats {
            std::hint::black_box(way());
        }
        let seconds = clock.seconds();
        if seconds > 0.2 || quick() {
            return (seconds / f64::from(repeats), steps, solution);
        }
        repeats *= 4;
    }
}

fn row(resistors: usize, single: bool) -> String {
    let mut random = Random::new(resistors as u64);
    let found = fields_of(&bent(&text(&mut random, resistors, single)), false);
    let all = sequences(&found);
    assert!(all.iter().all(Sequence::is_explicit));
    let inside: usize = all.iter().map(|one| one.lines.len()).sum();
    let guessed: usize = all.iter().map(|one| one.guessed.len()).sum();
    let newton = |part: &dyn Fn(&Sequence) -> Option<Found>| {
        let mut solution = Vec::new();
        let mut most = 0;
        for one in &all {
            let (takes, steps) = part(one).expect("Newton's method converges");
            solution.extend(takes);
            most = most.max(steps);
        }
        (solution, most)
    };
    let together = || {
        let found = Sequence::newton_on_all(&all, START, TOLERANCE, MOST);
        found.expect("Newton's method converges")
    };
    let by_field = || {
        newton(&|one| Sequence::newton_on_all(std::slice::from_ref(one), START, TOLERANCE, MOST))
    };
    let least = || newton(&|one| one.newton(START, TOLERANCE, MOST));
    let ways: [Way<'_>; 3] = [&together, &by_field, &least];
    let measured = ways.map(measure);
    for (_, _, other) in &measured[1..] {
        let first = &measured[0].2;
        assert_eq!(first.len(), other.len());
        for (a, b) in first.iter().zip(other) {
            assert!((a - b).abs() < 1e-7, "{a} and {b}");
        }
    }
    let mut text = format!("{resistors:>9} {:>7} {inside:>7} {guessed:>8}", all.len());
    let first = measured[0].0;
    for (at, (seconds, steps, _)) in measured.iter().enumerate() {
        text.push_str(&format!(" {:>11.4} ms {steps:>2}", seconds * 1e3));
        if at > 0 {
            text.push_str(&format!(" {:>6.1} %", 100.0 * (1.0 - seconds / first)));
        }
    }
    text
}

fn main() -> io::Result<()> {
    let mut out = io::stdout();
    let heading = "resistors  fields  inside  guesses       together, steps     by fields, steps, saved    min(E, F), steps, saved";
    let sizes: &[usize] = if quick() { &[10] } else { &[10, 100, 1000] };
    for single in [false, true] {
        let what = if single {
            "one field"
        } else {
            "fields of 5 to 10 resistors"
        };
        writeln!(out, "{what}\n{heading}")?;
        for &size in sizes {
            writeln!(out, "{}", row(size, single))?;
        }
    }
    Ok(())
}
