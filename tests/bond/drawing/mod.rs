//! Pictures of bond graphs: nothing overlaps, whatever the graph.

mod check;
mod sketches;

use crate::support::files;
use std::path::Path;
use std::process::Command;

use bgm::base::diagnostics::Diagnostics;
use bgm::bond::sketch::sketch;
use bgm::bond::sketch::{Shape, Sketch};
use bgm::bond::view::{Choice, view};
use bgm::compile::bond_graph;
use bgm::picture::bond::{dot, layout, svg};
use check::{crossings, sound, well_formed};

fn by_hand() -> Vec<Sketch> {
    vec![
        sketches::filter(),
        sketches::motor(),
        sketches::bridge(),
        sketches::star(4),
        sketches::star(40),
        sketches::two_parts(),
        sketches::boxes(),
        sketches::controlled(),
        Sketch::default(),
    ]
}

#[test]
fn nothing_overlaps_by_hand() {
    for sketch in by_hand() {
        sound(&sketch).unwrap_or_else(|e| panic!("{}: {e}", sketch.title));
    }
}

#[test]
fn nothing_overlaps_at_random() {
    let (mut crossed, mut bonds) = (0, 0);
    for seed in 0..1000 {
        let sketch = sketches::random(seed);
        sound(&sketch).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let (here, there) = crossings(&layout(&sketch));
        assert_eq!(there, 0, "seed {seed}: a bond lies on another");
        crossed += here;
        bonds += sketch.bonds.len();
    }
    assert!(crossed * 10 < bonds, "{crossed} crossings of {bonds} bonds");
}

/// The models of the examples, the papers and the manual: as they are shown, as written, and with submodels closed.
#[test]
fn nothing_overlaps_in_the_examples() {
    let mut pictures = 0;
    for file in files::all() {
        for flat in files::models(&file) {
            let title = format!("{}: {}", file.display(), flat.model());
            let graph = bond_graph(flat, &[], &mut Diagnostics::default());
            let Some(model) = graph.expect("nothing is preferred") else {
                continue;
            };
            let expanded = Choice {
                expanded: true,
                ..Choice::default()
            };
            let closed = Choice {
                depth: Some(1),
                ..Choice::default()
            };
            for choice in [Choice::default(), expanded, closed] {
                let shown = view(&model.flat, &model.graph, choice);
                let sketch = sketch(&model, &shown);
                if let Err(why) = sound(&sketch) {
                    panic!("{title} {choice:?}: {why}");
                }
                pictures += 1;
            }
        }
    }
    assert!(pictures > 150, "only {pictures} pictures");
}

#[test]
fn large_ones_too() {
    let all = [
        sketches::ladder(500),
        sketches::tree(1000, 1),
        sketches::grid(23),
    ];
    for sketch in all {
        sound(&sketch).unwrap_or_else(|e| panic!("{}: {e}", sketch.title));
    }
}

/// What can be drawn without crossings often is; lines never lie on one another there.
#[test]
fn simple_graphs_have_no_crossings() {
    let mut all = by_hand();
    all.extend([sketches::ladder(30), sketches::grid(8)]);
    all.extend((0..30).map(|seed| sketches::tree(80, seed)));
    for sketch in all {
        assert_eq!(crossings(&layout(&sketch)), (0, 0), "{}", sketch.title);
    }
}

#[test]
fn svg_is_xml() {
    for sketch in by_hand() {
        well_formed(&svg(&sketch)).unwrap_or_else(|e| panic!("{}: {e}", sketch.title));
    }
    for seed in 0..200 {
        let text = svg(&sketches::random(seed));
        well_formed(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
}

#[test]
fn the_same_sketch_is_the_same_picture() {
    for seed in 0..20 {
        let sketch = sketches::random(seed);
        assert_eq!(svg(&sketch), svg(&sketch.clone()));
        assert_eq!(dot(&sketch), dot(&sketch.clone()));
    }
}

/// Chains are horizontal lines whatever way their powers are counted and whatever hangs on them.
#[test]
fn chains_are_straight() {
    for seed in 0..100 {
        let mut dice = sketches::Dice::new(seed);
        let mut s = sketches::new("chain");
        let count = 2 + dice.below(12);
        let chain: Vec<usize> = (0..count)
            .map(|at| sketches::junction(&mut s, ["0", "1"][at % 2], ""))
            .collect();
        for pair in chain.windows(2) {
            let (from, to) = if dice.below(2) == 0 {
                (pair[0], pair[1])
            } else {
                (pair[1], pair[0])
            };
            sketches::bond(&mut s, from, to, dice.below(2) == 0);
        }
        for _ in 0..dice.below(3 * count) {
            let kind = ["Se", "R", "C", "I"][dice.below(4)];
            let name = dice.text(20);
            let one = sketches::element(&mut s, kind, &name, "");
            let host = chain[dice.below(count)];
            sketches::bond(&mut s, host, one, true);
        }
        let drawn = layout(&s);
        for wire in &drawn.wires {
            let bond = &s.bonds[wire.bond];
            let inner = [bond.from, bond.to]
                .iter()
                .all(|n| s.nodes[*n].shape == Shape::Junction);
            if inner {
                assert_eq!(wire.points.len(), 2, "seed {seed}: a bent chain");
                assert_eq!(wire.points[0].y, wire.points[1].y, "seed {seed}");
            }
        }
    }
}

/// A branch does not bend the chain that it leaves.
#[test]
fn a_branch_leaves_the_chain_straight() {
    let mut s = sketches::new("");
    let chain: Vec<usize> = (0..6)
        .map(|at| sketches::junction(&mut s, ["0", "1"][at % 2], ""))
        .collect();
    for pair in chain.windows(2) {
        sketches::bond(&mut s, pair[0], pair[1], true);
    }
    let branch = sketches::junction(&mut s, "1", "branch");
    sketches::bond(&mut s, chain[2], branch, true);
    let drawn = layout(&s);
    let line: Vec<f64> = drawn
        .wires
        .iter()
        .filter(|wire| wire.bond < 5)
        .flat_map(|wire| wire.points.iter().map(|p| p.y))
        .collect();
    assert!(line.windows(2).all(|y| y[0] == y[1]), "{line:?}");
}

#[test]
fn dot_says_what_is_seen() {
    let text = dot(&sketches::boxes());
    assert!(text.contains("arrowhead=teelvee"), "{text}");
    assert!(text.contains("color=\"#222222:#222222\""), "{text}");
    let mut odd = sketches::new("a \"title\"");
    sketches::element(&mut odd, "R", "a\"b\\c", "");
    let text = dot(&odd);
    assert!(text.contains("R : a\\\"b\\\\c"), "{text}");
    let text = dot(&sketches::controlled());
    assert!(text.contains("style=dashed, penwidth=0.6"), "{text}");
}

#[test]
fn a_legend_names_what_occurs() {
    let text = svg(&sketches::bridge());
    for words in [
        "algebraic loop 1",
        "algebraic loop 2",
        "depends on a switch",
    ] {
        assert!(text.contains(words), "no {words}");
    }
    assert!(!text.contains("derivative causality"));
    let text = svg(&sketches::motor());
    assert!(text.contains("derivative causality"));
    assert!(!text.contains("algebraic loop"));
}

/// Bonds and signals that name nodes that are not there are left out.
#[test]
fn what_is_not_there_is_not_drawn() {
    let mut s = sketches::filter();
    sketches::bond(&mut s, 0, 99, true);
    sketches::signal(&mut s, Some(99), 0, "x");
    sketches::signal(&mut s, Some(0), 99, "y");
    sound(&s).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(layout(&s).wires.len(), 7);
}

/// The picture in the README is what the command makes.
#[test]
fn the_picture_of_the_readme_is_as_it_is_now() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
        .current_dir(root)
        .args(["draw", "examples/dc_motor.bgm"])
        .output()
        .expect("bgm runs");
    assert!(output.status.success());
    let kept = std::fs::read_to_string(root.join("docs/dc_motor.svg")).expect("it is kept");
    assert!(
        output.stdout == kept.replace("\r\n", "\n").into_bytes(),
        "run `bgm draw examples/dc_motor.bgm -o docs/dc_motor.svg` and look at it"
    );
}
