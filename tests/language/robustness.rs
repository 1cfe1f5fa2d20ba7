//! Damaged models: whatever is deleted, doubled, exchanged or put in, the compiler answers, soon,
//! and its messages can be shown.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::text::{all_diagnostics, check_text};
use bgm::base::source::Sources;
use bgm::expr::print::Style;
use bgm::flat::Flat;
use bgm::listing::{self, equations::equations};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// One damage: what is done where. Numbers are taken modulo the number of pieces.
#[derive(Clone, Debug)]
enum Damage {
    Delete(usize),
    Double(usize),
    Exchange(usize, usize),
    Insert(usize, usize),
    DeleteLine(usize),
    DoubleLine(usize),
    ExchangeLines(usize, usize),
    Cut(usize),
}

/// Words that matter to the parser and to what follows it.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "model", "type", "class", "end", "cut", "main", "path", "node", "junction1", "submodel",
    "connect", "at", "from", "to", "par", "loop", "reversed", "if", "then", "elseif", "else", "when",
    "elsewhen", "endwhen", "for", "in", "do", "endfor", "and", "not", "true", "experiment", "der(",
    "new(", "init(", "pre(", "Time", "parameter", "local", "terminal", "input", "output", "(", ")",
    "[", "]", ",", ":", ".", "=", "-", "*", "/", "//", "**", "<", ">", "==", ";", "{", "}", "#", "##",
    "'", "\"", "@", "@electrical", "@bondgraph", "0", "-1", "1e999", "1.5", "x", "R1", "[2]", "[0]",
    "(ic e = 1)", "\n", "->", "$", "é", "state", "cmodel", "ctblock", "ctend",
];

/// Every model of the examples, the tests and the library.
fn models() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    let mut folders: Vec<_> = ["examples", "tests", "stdlib"]
        .iter()
        .map(|folder| root.join(folder))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder can be listed") {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "bgm") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .collect()
}

/// Words, numbers, blanks and single signs.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut kind_before = None;
    for letter in text.chars() {
        let kind = match letter {
            _ if letter.is_alphanumeric() => Some(0),
            ' ' => Some(1),
            _ => None,
        };
        match pieces.last_mut() {
            Some(last) if kind.is_some() && kind == kind_before => last.push(letter),
            _ => pieces.push(letter.to_string()),
        }
        kind_before = kind;
    }
    pieces
}

fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_string).collect()
}

fn damaged(text: &str, damage: &Damage) -> String {
    let mut parts = match damage {
        Damage::DeleteLine(_) | Damage::DoubleLine(_) | Damage::ExchangeLines(..) => lines(text),
        _ => pieces(text),
    };
    if parts.is_empty() {
        return String::new();
    }
    let count = parts.len();
    match *damage {
        Damage::Delete(at) | Damage::DeleteLine(at) => {
            parts.remove(at % count);
        }
        Damage::Double(at) | Damage::DoubleLine(at) => {
            let part = parts[at % count].clone();
            parts.insert(at % count, part);
        }
        Damage::Exchange(a, b) | Damage::ExchangeLines(a, b) => parts.swap(a % count, b % count),
        Damage::Insert(at, word) => {
            parts.insert(at % count, format!(" {} ", WORDS[word % WORDS.len()]));
        }
        Damage::Cut(at) => parts.truncate(at % count),
    }
    parts.concat()
}

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let at = || any::<usize>();
    let one = prop_oneof![
        at().prop_map(Damage::Delete),
        at().prop_map(Damage::Double),
        (at(), at()).prop_map(|(a, b)| Damage::Exchange(a, b)),
        (at(), at()).prop_map(|(a, b)| Damage::Insert(a, b)),
        at().prop_map(Damage::DeleteLine),
        at().prop_map(Damage::DoubleLine),
        (at(), at()).prop_map(|(a, b)| Damage::ExchangeLines(a, b)),
        at().prop_map(Damage::Cut),
    ];
    prop::collection::vec(one, 1..4)
}

/// All listings of what still is a model.
fn list(flat: &Flat, sources: &Sources) {
    equations(flat, Style::Plain);
    equations(flat, Style::Classic);
    listing::json::write(flat, sources, &mut Vec::new()).expect("memory can be written to");
}

/// How many damaged models are tried; `BGM_DAMAGED=100000` tries more.
fn cases() -> u32 {
    let wanted = std::env::var("BGM_DAMAGED").ok();
    wanted
        .and_then(|number| number.parse().ok())
        .unwrap_or(5000)
}

#[test]
fn damaged_models_are_answered() {
    let models = models();
    let config = Config {
        cases: cases(),
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let input = (0..models.len(), damages());
    let result = runner.run(&input, |(model, damages)| {
        let text = damages
            .iter()
            .fold(models[model].clone(), |text, damage| damaged(&text, damage));
        let start = Instant::now();
        let compiled = check_text(&text);
        let said = all_diagnostics(&compiled);
        let json = bgm::base::diagnostics::json::report(&compiled.sources, &compiled.diagnostics);
        if let Some(flat) = &compiled.flat {
            list(flat, &compiled.sources);
        }
        let took = start.elapsed();
        prop_assert!(took < Duration::from_secs(60), "{took:?}:\n{text}");
        prop_assert!(
            compiled.flat.is_some() || !said.is_empty(),
            "no model, and nothing is said:\n{text}"
        );
        prop_assert!(json.contains("\"version\""), "{json}");
        prop_assert!(
            text.contains("``") || !said.replace("```", "").contains("``"),
            "an empty name:\n{said}\n{text}"
        );
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
