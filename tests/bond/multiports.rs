//! Resistors with several ports: what `bgm fields` prints of them holds for the values that the solved model has, in an order
//! in which it can be computed; and there is one field for each loop of the sorted equations. The printed text is read by a small
//! evaluator of its own, and the blocks are those of the sorter: neither knows of fields.

#![allow(clippy::print_stdout)]

use std::collections::{BTreeMap, BTreeSet};

use crate::support::random::Random;
use crate::support::text::{all_diagnostics, compile_text};
use bgm::base::diagnostics::Diagnostics;
use bgm::bond::fields::fields;
use bgm::compile::{Aliases, bond_graph, solved, sorted};
use bgm::evaluate::{Point, evaluate};
use bgm::flat::{Flat, Leaf};
use bgm::listing::fields_json;
use serde_json::Value as Json;

/// Values by name.
type Values = BTreeMap<String, f64>;

/// Reads and evaluates `-(M.a1 - M.b1) + 2*U.e`.
struct Reader<'t> {
    left: &'t str,
    values: &'t Values,
}

impl Reader<'_> {
    fn of(text: &str, values: &Values) -> f64 {
        let mut reader = Reader { left: text, values };
        let value = reader.sum();
        assert_eq!(reader.left.trim(), "", "not read: {text}");
        value
    }

    fn take(&mut self, sign: &str) -> bool {
        match self.left.trim_start().strip_prefix(sign) {
            Some(rest) => {
                self.left = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> f64 {
        let negative = self.take("-");
        let mut value = self.product();
        if negative {
            value = -value;
        }
        loop {
            if self.take("+") {
                value += self.product();
            } else if self.take("-") {
                value -= self.product();
            } else {
                return value;
            }
        }
    }

    fn product(&mut self) -> f64 {
        let mut value = self.power();
        loop {
            if self.left.trim_start().starts_with("**") {
                return value;
            } else if self.take("*") {
                value *= self.power();
            } else if self.take("/") {
                value /= self.power();
            } else {
                return value;
            }
        }
    }

    fn power(&mut self) -> f64 {
        let base = self.factor();
        match self.take("**") {
            true => base.powf(self.factor()),
            false => base,
        }
    }

    fn factor(&mut self) -> f64 {
        if self.take("(") {
            let value = self.sum();
            assert!(self.take(")"), "no `)`: {}", self.left);
            return value;
        }
        let text = self.left.trim_start();
        let end = text.find(|letter: char| !(letter.is_alphanumeric() || "._[]".contains(letter)));
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        self.left = rest;
        match self.values.get(word) {
            Some(value) => *value,
            None => word
                .parse()
                .unwrap_or_else(|_| panic!("what is `{word}`? {text}")),
        }
    }
}

/// Whether a text stands in another as a whole, not as a part of a name.
fn stands_in(what: &str, text: &str) -> bool {
    let part = |letter: Option<char>| {
        letter.is_some_and(|one| one.is_alphanumeric() || one == '.' || one == '_')
    };
    text.match_indices(what).any(|(at, _)| {
        !part(text[..at].chars().next_back()) && !part(text[at + what.len()..].chars().next())
    })
}

/// How the ports act on each other.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Coupling {
    None,
    OneWay,
    All,
}

/// A model with one resistor M of several ports, each of them in a circuit of its own; wishes for its causality.
fn model(random: &mut Random) -> (String, Vec<String>) {
    let count = 2 + random.below(2);
    let coupling = [Coupling::None, Coupling::OneWay, Coupling::All][random.below(3)];
    let (pins, named, bent) = (
        random.below(2) == 0,
        random.below(2) == 0,
        random.below(3) == 0,
    );
    let inner = coupling == Coupling::All && random.below(3) == 0;
    let turned = random.below(3) == 0;
    let (mut cuts, mut laws, mut locals) = (Vec::new(), Vec::new(), Vec::new());
    let flow = |at: usize| {
        if pins {
            format!("i{at}")
        } else {
            format!("f{at}")
        }
    };
    for at in 1..=count {
        let effort = match (pins, named) {
            (false, _) => format!("e{at}"),
            (true, false) => format!("a{at} - b{at}"),
            (true, true) => {
                locals.push(format!("u{at}"));
                laws.push(format!("u{at} = a{at} - b{at}"));
                format!("u{at}")
            }
        };
        cuts.push(match pins {
            true => format!("A{at}(a{at}/i{at}), B{at}(b{at}/-i{at})"),
            false => format!("A{at}(e{at}/f{at})"),
        });
        let mut right = format!("{}*{}", random.number(4.0, 8.0), flow(at));
        for other in 1..=count {
            let couples = match coupling {
                Coupling::None => false,
                Coupling::OneWay => other < at,
                Coupling::All => other != at,
            };
            if couples {
                right.push_str(&format!(" + {}*{}", random.number(0.2, 1.5), flow(other)));
            }
        }
        if bent {
            right.push_str(&format!(" + 0.1*{}**3", flow(at)));
        }
        if inner {
            right.push_str(" + s");
        }
        laws.push(match turned {
            true => format!("{right} = {effort}"),
            false => format!("{effort} = {right}"),
        });
    }
    if inner {
        locals.push("s".to_string());
        let flows: Vec<String> = (1..=count).map(flow).collect();
        laws.insert(0, format!("s = 0.3*({})", flows.join(" + ")));
    }
    let mut text = format!("model type Many\n  cut {}\n", cuts.join(", "));
    if !locals.is_empty() {
        text.push_str(&format!("  local {}\n", locals.join(", ")));
    }
    for law in laws {
        text.push_str(&format!("  {law}\n"));
    }
    let library = if pins { "electrical" } else { "bondgraph" };
    text.push_str(&format!(
        "end\n@{library}\nmodel Top\n  submodel (Many) M\n"
    ));
    if pins {
        text.push_str("  submodel Ground\n");
    }
    let mut equations = String::new();
    for at in 1..=count {
        let (value, r) = (random.number(1.0, 5.0), random.number(1.0, 5.0));
        match pins {
            true => text.push_str(&format!(
                "  submodel (ConstantVoltage) U{at}(E = {value})\n  submodel (Resistor) R{at}(R = {r})\n  node x{at}\n"
            )),
            false => {
                let junction = if random.below(2) == 0 { "node" } else { "junction1" };
                let (kind, source) = if junction == "node" { ("SF", "F0") } else { ("SE", "E0") };
                text.push_str(&format!(
                    "  submodel ({kind}) U{at}\n  submodel (R) R{at}(R = {r})\n  {junction} x{at}\n"
                ));
                equations.push_str(&format!("  U{at}.{source} = {value}\n"));
            }
        }
    }
    for at in 1..=count {
        text.push_str(&match pins {
            true => format!(
                "  connect Ground - U{at} - R{at} - x{at}, x{at} at M:A{at}, Ground at M:B{at}\n"
            ),
            false => format!("  connect U{at} at x{at}, R{at} at x{at}, M:A{at} at x{at}\n"),
        });
    }
    text.push_str(&equations);
    text.push_str("end\n");
    let mut wishes = Vec::new();
    for name in ["M", "R1", "R2", "R3"].into_iter().take(count + 1) {
        match random.below(5) {
            0 => wishes.push(format!("{name}=conductance")),
            1 => wishes.push(format!("{name}=resistance")),
            _ => {}
        }
    }
    (text, wishes)
}

fn values(flat: Flat) -> Option<Values> {
    let mut said = Diagnostics::default();
    let solved = solved(flat, Aliases::Keep, &mut said)?;
    let solved = solved.solved;
    let mut point = Point::new(&solved);
    evaluate(&solved, &mut point).ok()?;
    let flat = &solved.flat;
    let value = |id| {
        let given = || flat.value(id)?.value.real();
        Some((flat.name(id), point.real(Leaf::Var(id)).or_else(given)?))
    };
    Some(flat.variable_ids().filter_map(value).collect())
}

/// For each variable the loop of the sorted equations in which it is solved, from 1 on; and how many loops there are.
fn loops(flat: &Flat) -> (BTreeMap<String, usize>, usize) {
    let mut said = Diagnostics::default();
    let (flat, sorted) = sorted(flat.clone(), Aliases::Keep, &mut said).expect("it is sound");
    let of = (sorted.loops().enumerate())
        .flat_map(|(number, block)| block.iter().map(move |&row| (number + 1, row)))
        .map(|(number, row)| (flat.leaf_name(sorted.unknowns[row as usize]), number))
        .collect();
    (of, sorted.loops().count())
}

fn texts(json: &Json) -> Vec<String> {
    let list = json.as_array().expect("a list").iter();
    list.map(|one| one.as_str().expect("a text").to_string())
        .collect()
}

#[derive(Debug, Default)]
struct Tally {
    models: usize,
    lines: usize,
    together: usize,
    several_fields: usize,
}

fn check(text: &str, wishes: &[String], tally: &mut Tally) {
    let compiled = compile_text(text);
    let Some(flat) = compiled.flat.clone() else {
        panic!("{text}{}", all_diagnostics(&compiled));
    };
    let values = values(flat.clone()).expect("it has a solution");
    let (loop_of, count) = loops(&flat);
    let mut said = Diagnostics::default();
    let graph = bond_graph(flat, wishes, &mut said).expect("the wishes can be read");
    let mut out = Vec::new();
    fields_json::write(&fields(&graph.expect("it has ports"), false), &mut out).expect("memory");
    let json: Json = serde_json::from_slice(&out).expect("json");
    let list = json["r_fields"].as_array().expect("a list");
    let context = format!("{text}{wishes:?}\n{}", String::from_utf8_lossy(&out));
    assert_eq!(list.len(), count, "fields and loops: {context}");
    tally.models += 1;
    tally.several_fields += usize::from(count > 1);
    let mut numbers = BTreeSet::new();
    for field in list {
        let number = field["sorted"]["loop"]
            .as_u64()
            .map(|number| number as usize);
        let number = number.unwrap_or_else(|| panic!("in no loop: {context}"));
        assert!(numbers.insert(number), "two fields in one loop: {context}");
        let sequence = texts(&field["sequence"]);
        assert!(!sequence.is_empty(), "{context}");
        let lines: Vec<(&str, &str, bool)> = (sequence.iter())
            .map(|line| {
                let (line, together) = match line.split_once("  { together") {
                    Some((line, _)) => (line, true),
                    None => (line.as_str(), false),
                };
                // A cubic law has no formula the other way round.
                if let Some(left) = line.strip_suffix(" by iteration") {
                    assert!(text.contains("**3"), "{line}: {context}");
                    return (left, left, true);
                }
                let (left, right) = line
                    .split_once(" = ")
                    .unwrap_or_else(|| panic!("{line}: {context}"));
                (left, right, together)
            })
            .collect();
        let mut known: BTreeSet<String> = texts(&field["iteration"]).into_iter().collect();
        for &(left, right, together) in &lines {
            let (a, b) = (Reader::of(left, &values), Reader::of(right, &values));
            assert!(
                (a - b).abs() < 1e-7 * (1.0 + a.abs()),
                "{left} = {right}: {a} is not {b}\n{context}"
            );
            tally.lines += 1;
            tally.together += usize::from(together);
            if let Some(found) = loop_of.get(left) {
                assert_eq!(*found, number, "{left} is in another loop: {context}");
            }
            for (other, ..) in &lines {
                let used = stands_in(other, right);
                assert!(
                    !used || together || known.contains(*other),
                    "{other} is used before: {left} = {right}\n{context}"
                );
            }
            known.insert(left.to_string());
        }
    }
}

#[test]
fn laws_hold_in_their_order_and_each_loop_is_a_field() {
    let mut tally = Tally::default();
    for seed in 0..600 {
        let mut random = Random::new(seed + 21_000);
        let (text, wishes) = model(&mut random);
        check(&text, &wishes, &mut tally);
    }
    println!("{tally:?}");
    assert!(
        tally.lines > 3000 && tally.several_fields > 100 && tally.together > 20,
        "{tally:?}"
    );
}
