//! The causality of bond graphs agrees with the sorted equations, on the models of the examples and the papers and on thousands of
//! generated ones: the rules of junctions and elements hold; where the sorter computes the effort of a bond at one end and its flow at
//! the other, by equations that are in no loop, the stroke is there; as many storages have derivative causality as states were
//! dropped; there is no causality where the model is not balanced, and only where it has no solution. The order of declarations changes nothing.

#![allow(clippy::print_stdout)]

use std::collections::{BTreeMap, BTreeSet};

use crate::support::cases;
use crate::support::files;
use crate::support::generate::model::Model;
use crate::support::generate::{bonds, circuits, mechanics};
use crate::support::random::Random;
use crate::support::text::compile_text;
use bgm::base::diagnostics::{Code, Diagnostics};
use bgm::bond::BondGraph;
use bgm::bond::causality::Verdict;
use bgm::bond::fields::fields;
use bgm::bond::graph::{ElementKind, NodeKind, Pattern};
use bgm::bond::net::Gives;
use bgm::bond::strokes::read;
use bgm::bond::view::{Choice, view};
use bgm::compile::{Aliases, bond_graph, solved};
use bgm::evaluate::{evaluate, settings};
use bgm::flat::{Flat, InstanceId};
use bgm::listing::causality_json;
use bgm::passes::order::Row;

fn analysed(flat: Flat) -> Option<BondGraph> {
    bond_graph(flat, &[], &mut Diagnostics::default()).expect("no preferences are given")
}

/// What is compared in one model: strokes that both know, and whether it had any.
#[derive(Default, Debug)]
struct Tally {
    models: usize,
    bonds: usize,
    compared: usize,
    degenerate: usize,
    loops: usize,
    non_causal: usize,
    unsorted: usize,
    unsolved: usize,
    counted: usize,
    fields: usize,
    /// Models with switches are not looked at.
    without_switches: bool,
}

fn check(name: &str, flat: Flat, tally: &mut Tally) {
    let states: usize = flat.states().count();
    // What only values make singular (an odd circle of gyrators has a determinant of zero whatever their moduli are) is
    // beyond the sorter, and solving refuses it.
    let solvable = is_solvable(flat.clone());
    let Some(model) = analysed(flat) else {
        return;
    };
    let (graph, found) = (&model.graph, &model.causality);
    let is_switch = |kind: ElementKind| kind == ElementKind::Sw;
    let has_switches = graph.elements().any(|(_, element)| is_switch(element.kind));
    if has_switches && tally.without_switches {
        return;
    }
    tally.models += 1;
    tally.bonds += graph.bonds.len();
    let verdict = found.verdict();
    let non_causal = verdict.contains(&Verdict::NonCausal);
    tally.non_causal += usize::from(non_causal);
    tally.degenerate += usize::from(verdict.contains(&Verdict::Degenerate));
    tally.loops += usize::from(verdict.contains(&Verdict::Loops));
    let Some((reduced, sorted)) = &model.sorted else {
        tally.unsorted += 1;
        assert!(non_causal, "{name}: not sorted, but {verdict:?}");
        return;
    };
    if !solvable {
        tally.unsolved += 1;
        return;
    }
    assert!(
        !non_causal,
        "{name}: sorted, but non-causal: {:?}",
        found.contradiction
    );
    rules(name, &model);
    // What hangs in the air may be settled by signs, and then there is no loop.
    if !tally.without_switches {
        same_loops(name, &model, tally);
    }
    for (at, reading) in read(graph, reduced, sorted).into_iter().enumerate() {
        let bond = &graph.bonds[at];
        let text = || {
            format!(
                "{} -> {}",
                graph.node(bond.from).name,
                graph.node(bond.to).name
            )
        };
        if let (Some(stroke), Some(gives)) = (reading.stroke(), found.bonds[at].gives)
            && found.bonds[at].in_loop.is_none()
        {
            tally.compared += 1;
            let own = usize::from(gives == Gives::Effort);
            assert_eq!(own, stroke, "{name}: {}", text());
        }
    }
    // Where each port of a storage has one state: not where cuts carry positions.
    let one_each = (graph.elements()).all(|(_, element)| match &element.pattern {
        Pattern::Each(allowed) => {
            let storing = allowed.iter().filter(|one| one.integral.is_some()).count();
            element.kind.is_source() || storing == element.states.len()
        }
        Pattern::One(_) => element.states.is_empty(),
    });
    if reduced.selections().is_empty() && !has_switches && one_each {
        tally.counted += 1;
        let dropped = states - reduced.state_count();
        let derivative = found.storages - found.order;
        assert_eq!(
            derivative, dropped,
            "{name}: {dropped} states dropped, {derivative} storages with derivative causality"
        );
    }
}

/// The resistors of an implicit R-field are solved in one loop of the sorted equations.
fn same_loops(name: &str, model: &BondGraph, tally: &mut Tally) {
    let Some((reduced, sorted)) = &model.sorted else {
        return;
    };
    let mut of_instance: BTreeMap<InstanceId, BTreeSet<usize>> = BTreeMap::new();
    for (at, block) in sorted.blocks.iter().enumerate() {
        for &row in block {
            if let Row::Equation(id) = &sorted.rows[row as usize] {
                let origin = reduced.equations[id.index()].origin;
                let own = of_instance.entry(origin).or_default();
                if block.len() > 1 {
                    own.insert(at);
                }
            }
        }
    }
    let found = fields(model, false);
    for field in &found.r_fields {
        if field.sequence.is_err() {
            continue;
        }
        let of = |id| of_instance.get(&found.view.graph.node(id).owner).cloned();
        let mut common: Option<BTreeSet<usize>> = None;
        for &id in &field.resistors {
            let blocks = of(id).unwrap_or_default();
            common = Some(match common {
                None => blocks,
                Some(known) => known.intersection(&blocks).copied().collect(),
            });
        }
        tally.fields += 1;
        let names: Vec<&str> = (field.resistors.iter())
            .map(|&id| found.view.graph.node(id).name.as_str())
            .collect();
        assert!(
            common.is_some_and(|common| !common.is_empty()),
            "{name}: {names:?} are in no loop together"
        );
    }
}

/// Whether the model has a solution at an arbitrary point.
fn is_solvable(flat: Flat) -> bool {
    let Some(model) = solved(flat, Aliases::Eliminate, &mut Diagnostics::default()) else {
        return false;
    };
    if model.positions.is_some() {
        return true;
    }
    let model = model.solved;
    let settings = settings::read(&model, "Time=0.3").expect("the time is known");
    let mut point = settings::point(&model, &settings);
    match evaluate(&model, &mut point) {
        Ok(()) => true,
        Err(failure) => failure.diagnostic().code != Code::SingularLoop,
    }
}

/// Junctions have one stroke of their kind, elements one of their forms.
fn rules(name: &str, model: &BondGraph) {
    let (graph, found) = (&model.graph, &model.causality);
    let bonds_of = graph.bonds_of();
    for id in graph.node_ids() {
        let gives: Option<Vec<Gives>> = (bonds_of[id.index()].iter())
            .map(|&bond| found.gives(graph, id, bond))
            .collect();
        let Some(gives) = gives else {
            continue;
        };
        let node = graph.node(id);
        match &node.kind {
            NodeKind::Junction(kind) => {
                let count = gives
                    .iter()
                    .filter(|&&one| one == kind.gives_once())
                    .count();
                assert_eq!(count, 1, "{name}: junction {}", node.name);
            }
            NodeKind::Element(element) => match &element.pattern {
                Pattern::One(marks) => {
                    let given = element
                        .ports
                        .iter()
                        .map(|&bond| found.gives(graph, id, bond));
                    let count = given
                        .zip(marks)
                        .filter(|(one, mark)| *one == Some(**mark))
                        .count();
                    assert_eq!(count, 1, "{name}: element {}", node.name);
                }
                Pattern::Each(allowed) => {
                    for (&bond, allowed) in element.ports.iter().zip(allowed) {
                        let given = found.gives(graph, id, bond);
                        let fits = match given {
                            Some(Gives::Effort) => allowed.effort,
                            Some(Gives::Flow) => allowed.flow,
                            None => true,
                        };
                        assert!(fits, "{name}: element {}", node.name);
                    }
                }
            },
            NodeKind::Box(_) => {}
        }
    }
}

fn family(name: &str, generate: fn(&mut Random, bool) -> Model, wild: bool, cases: u64) -> Tally {
    let mut tally = Tally {
        // Signs decide in circuits that hang in the air, and the sorter knows them for one position only.
        without_switches: name == "wild circuits",
        ..Tally::default()
    };
    for seed in 0..cases {
        let model = generate(&mut Random::new(seed + 77_000), wild);
        let compiled = compile_text(&model.text());
        // Cuts that carry positions instead of velocities have no power, and nothing tells so.
        if ["Angle", "Second", "Cam"]
            .iter()
            .any(|word| model.text().contains(word))
        {
            continue;
        }
        if let Some(flat) = compiled.flat {
            check(
                &format!("{name} {seed}\n{}", model.text()),
                flat,
                &mut tally,
            );
        }
    }
    println!("{name}: {tally:?}");
    tally
}

#[test]
fn bond_graphs() {
    let tame = family("tame", bonds::generate, false, cases(1500));
    assert!(tame.compared * 3 > tame.bonds, "{tame:?}");
    let wild = family("wild", bonds::generate, true, cases(1500));
    assert!(wild.non_causal > 10, "{wild:?}");
    let dependent = family("dependent", bonds::dependent, false, cases(1500));
    assert!(dependent.degenerate > 100, "{dependent:?}");
}

#[test]
fn circuits_and_mechanics() {
    family("circuits", circuits::generate, false, cases(800));
    family("wild circuits", circuits::generate, true, cases(800));
    family("mechanics", mechanics::generate, false, cases(400));
}

/// What `bgm causality --format json` says.
fn json(flat: Flat) -> serde_json::Value {
    let model = analysed(flat).expect("there are power ports");
    let shown = view(&model.flat, &model.graph, Choice::default());
    let mut text = Vec::new();
    causality_json::write(&model, &shown, &mut text).expect("memory can be written to");
    serde_json::from_slice(&text).expect("what is written is json")
}

/// Names and numbers of bonds, strokes, kinds: nothing of it depends on the order in which a model is written.
#[test]
fn the_order_of_declarations_does_not_matter() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        for generate in [bonds::generate, bonds::dependent, circuits::generate] {
            let model = generate(&mut random, false);
            let other = model.shuffled(&mut random);
            let flat_of = |text: &str| {
                compile_text(text)
                    .flat
                    .expect("it was generated to be sound")
            };
            let (mut one, mut two) = (json(flat_of(&model.text())), json(flat_of(&other)));
            for value in [&mut one, &mut two] {
                // Sums are as written.
                for bond in value["bonds"].as_array_mut().expect("a list of bonds") {
                    bond["flow"].take();
                    bond["effort"].take();
                }
            }
            assert_eq!(one, two, "{}", model.text());
        }
    }
}

#[test]
fn models_of_the_examples_and_papers() {
    let mut tally = Tally::default();
    for file in files::all() {
        for flat in files::models(&file) {
            check(
                &format!("{}: {}", file.display(), flat.model()),
                flat,
                &mut tally,
            );
        }
    }
    println!("files: {tally:?}");
    assert!(tally.compared > 500 && tally.degenerate > 5, "{tally:?}");
}

/// A bond graph in which junctions meet at random: a mesh, with everything anywhere.
fn mesh(random: &mut Random) -> String {
    let count = random.within(2, 7);
    let mut text = String::from("@bondgraph\nmodel M\n");
    let mut connections = String::new();
    let mut settings = String::new();
    let ones: Vec<bool> = (0..count).map(|_| random.chance(50)).collect();
    for (at, one) in ones.iter().enumerate() {
        text.push_str(&format!(
            "  {} j{at}\n",
            if *one { "junction1" } else { "node" }
        ));
    }
    let mut names = 0;
    let mut fresh = || {
        names += 1;
        names
    };
    for at in 1..count + random.below(3) {
        let (a, b) = match at < count {
            true => (random.below(at), at),
            false => (random.below(count), random.below(count)),
        };
        if a == b {
            continue;
        }
        let n = fresh();
        let class = match random.below(if ones[a] != ones[b] { 4 } else { 2 }) {
            0 => format!("(TF) T{n}(m = {})", random.number(0.5, 2.0)),
            1 => format!("(GY) T{n}(r = {})", random.number(0.5, 2.0)),
            _ => format!("(link) T{n}"),
        };
        text.push_str(&format!("  submodel {class}\n"));
        connections.push_str(&format!("  connect T{n} from j{a} to j{b}\n"));
    }
    for at in 0..count {
        for _ in 0..random.within(1, 3) {
            let n = fresh();
            let class = ["R", "C", "I", "SE", "SF", "R"][random.below(6)];
            text.push_str(&format!("  submodel ({class}) E{n}\n"));
            connections.push_str(&format!("  connect E{n} at j{at}\n"));
            match class {
                "SE" => settings.push_str(&format!("  E{n}.E0 = sin(Time)\n")),
                "SF" => settings.push_str(&format!("  E{n}.F0 = sin(Time)\n")),
                _ => {}
            }
        }
    }
    format!("{text}{connections}{settings}end\n")
}

#[test]
fn meshes() {
    let mut tally = Tally::default();
    for seed in 0..cases(4000) {
        let text = mesh(&mut Random::new(seed));
        if let Some(flat) = compile_text(&text).flat {
            check(&format!("mesh {seed}\n{text}"), flat, &mut tally);
        }
    }
    println!("meshes: {tally:?}");
    assert!(
        tally.degenerate > 500 && tally.non_causal > 500,
        "{tally:?}"
    );
}
