//! Sketches to draw: by hand, and at random.

use bgm::bond::sketch::{Bond, Mark, Node, Shape, Signal, Sketch, Stroke};

pub fn new(title: &str) -> Sketch {
    Sketch {
        title: title.to_string(),
        ..Sketch::default()
    }
}

pub fn node(sketch: &mut Sketch, shape: Shape, kind: &str, name: &str, values: &[&str]) -> usize {
    sketch.nodes.push(Node {
        shape,
        kind: kind.to_string(),
        name: name.to_string(),
        values: values.iter().map(|v| v.to_string()).collect(),
        mark: Mark::Plain,
    });
    sketch.nodes.len() - 1
}

pub fn junction(sketch: &mut Sketch, kind: &str, name: &str) -> usize {
    node(sketch, Shape::Junction, kind, name, &[])
}

pub fn element(sketch: &mut Sketch, kind: &str, name: &str, value: &str) -> usize {
    let values: &[&str] = if value.is_empty() { &[] } else { &[value] };
    node(sketch, Shape::Element, kind, name, values)
}

/// The next bond by number; its stroke at `to` if `at_to`.
pub fn bond(sketch: &mut Sketch, from: usize, to: usize, at_to: bool) -> usize {
    let label = (sketch.bonds.len() + 1).to_string();
    sketch.bonds.push(Bond {
        from,
        to,
        label,
        double: false,
        stroke: Some(if at_to { Stroke::To } else { Stroke::From }),
        mark: Mark::Plain,
    });
    sketch.bonds.len() - 1
}

pub fn signal(sketch: &mut Sketch, from: Option<usize>, to: usize, label: &str) {
    sketch.signals.push(Signal {
        from,
        to,
        label: label.to_string(),
    });
}

/// Three junctions and seven bonds.
pub fn filter() -> Sketch {
    let mut s = new("RLC filter");
    let j = ["1", "0", "1"].map(|kind| junction(&mut s, kind, ""));
    let source = element(&mut s, "Se", "U0", "U = 10 V");
    let r = element(&mut s, "R", "R1", "R = 100 Ohm");
    let l = element(&mut s, "I", "L1", "I = 1 mH");
    let c = element(&mut s, "C", "C1", "C = 1 uF");
    let load = element(&mut s, "R", "Rload", "R = 1 kOhm");
    bond(&mut s, source, j[0], true);
    bond(&mut s, j[0], r, false);
    bond(&mut s, j[0], j[1], true);
    bond(&mut s, j[1], c, false);
    bond(&mut s, j[1], j[2], true);
    bond(&mut s, j[2], l, true);
    bond(&mut s, j[2], load, false);
    s
}

/// A chain of five junctions, a gyrator and a transformer, and up to five one-ports at each junction.
pub fn motor() -> Sketch {
    let mut s = new("DC motor with gear and load");
    let j: Vec<usize> = [
        ("1", "i"),
        ("1", "omega1"),
        ("0", "shaft"),
        ("1", "omega2"),
        ("0", "belt"),
    ]
    .iter()
    .map(|(kind, name)| junction(&mut s, kind, name))
    .collect();
    let gy = element(&mut s, "GY", "motor", "k = 0.1");
    let tf = element(&mut s, "TF", "gear", "n = 20");
    let source = element(&mut s, "Se", "battery", "U = 12 V");
    bond(&mut s, source, j[0], true);
    bond(&mut s, j[0], gy, true);
    bond(&mut s, gy, j[1], false);
    bond(&mut s, j[1], j[2], true);
    bond(&mut s, j[2], tf, true);
    bond(&mut s, tf, j[3], true);
    bond(&mut s, j[3], j[4], false);
    for (at, kinds) in ["IR", "IRR", "C", "IRSeCR", "RC"].iter().enumerate() {
        let mut rest = *kinds;
        while !rest.is_empty() {
            let kind = ["Se", "I", "R", "C"].iter().find(|k| rest.starts_with(**k));
            let kind = kind.expect("a kind");
            rest = &rest[kind.len()..];
            let name = format!("{kind}{}", s.nodes.len());
            let one = element(&mut s, kind, &name, &format!("{kind} = 0.5"));
            bond(&mut s, j[at], one, *kind == "I");
        }
    }
    let late = s.nodes.len() - 2;
    s.nodes[late].mark = Mark::Derivative;
    let last = s.bonds.len() - 2;
    s.bonds[last].mark = Mark::Derivative;
    s
}

/// Wheatstone's bridge: a ring of junctions, and one across it.
pub fn bridge() -> Sketch {
    let mut s = new("Bridge");
    let nodes = ["a", "b", "c"].map(|name| junction(&mut s, "0", name));
    let source = element(&mut s, "Se", "U", "U = 5 V");
    let feed = junction(&mut s, "1", "");
    bond(&mut s, source, feed, true);
    bond(&mut s, feed, nodes[0], true);
    for (from, to, name) in [(0, 1, "R1"), (0, 2, "R2"), (1, 2, "R5")] {
        let arm = junction(&mut s, "1", "");
        let r = element(&mut s, "R", name, "R = 1 kOhm");
        bond(&mut s, nodes[from], arm, false);
        bond(&mut s, arm, nodes[to], false);
        bond(&mut s, arm, r, true);
    }
    for (from, name) in [(1, "R3"), (2, "R4")] {
        let r = element(&mut s, "R", name, "R = 1 kOhm");
        bond(&mut s, nodes[from], r, false);
    }
    for at in [2, 3, 6, 8] {
        s.bonds[at].mark = Mark::Loop(0);
    }
    for at in [5, 9] {
        s.bonds[at].mark = Mark::Loop(1);
    }
    s.bonds[11].mark = Mark::Switched;
    s
}

/// One junction with many one-ports.
pub fn star(count: usize) -> Sketch {
    let mut s = new("Star");
    let j = junction(&mut s, "0", "node");
    for at in 0..count {
        let kind = ["R", "C", "I", "Se", "Sw"][at % 5];
        let one = element(&mut s, kind, &format!("{kind}{at}"), "1 unit");
        bond(&mut s, j, one, at % 2 == 0);
    }
    s
}

pub fn two_parts() -> Sketch {
    let mut s = filter();
    let offset = s.nodes.len();
    let other = bridge();
    s.nodes.extend(other.nodes);
    s.bonds.extend(other.bonds.into_iter().map(|b| Bond {
        from: b.from + offset,
        to: b.to + offset,
        ..b
    }));
    element(&mut s, "R", "alone", "R = 1 Ohm");
    junction(&mut s, "1", "lonely");
    s
}

pub fn boxes() -> Sketch {
    let mut s = new("Submodels");
    let names = [
        ("drive", "Motor"),
        ("gear", "Gearbox<2>"),
        ("car", "Vehicle"),
        ("road", "Contact & grip"),
    ];
    let all = names.map(|(name, kind)| node(&mut s, Shape::Box, kind, name, &[]));
    let j = junction(&mut s, "1", "v");
    for (from, to, label) in [(0, 1, "1, 2"), (1, 2, "3..7")] {
        let at = bond(&mut s, all[from], all[to], true);
        s.bonds[at].double = true;
        s.bonds[at].label = label.to_string();
        s.bonds[at].stroke = None;
    }
    let last = s.bonds.len();
    s.bonds.push(Bond {
        label: "8".to_string(),
        ..s.bonds[last - 1].clone()
    });
    bond(&mut s, all[2], j, true);
    bond(&mut s, j, all[3], true);
    let mass = element(&mut s, "I", "m", "m = 1200 kg");
    bond(&mut s, j, mass, true);
    let supply = element(&mut s, "Se", "battery", "48 V");
    bond(&mut s, supply, all[0], true);
    s
}

pub fn controlled() -> Sketch {
    let mut s = filter();
    s.title = "Controlled".to_string();
    s.nodes[3].kind = "MSe".to_string();
    // On one junction, across junctions, from outside.
    signal(&mut s, Some(6), 3, "measured");
    signal(&mut s, Some(5), 7, "");
    signal(&mut s, None, 3, "reference");
    signal(&mut s, Some(1), 2, "e");
    let late = s.nodes.len() - 1;
    s.nodes[late].mark = Mark::Switched;
    s.bonds[6].mark = Mark::Switched;
    s
}

/// A random number generator that is the same everywhere (Marsaglia's xorshift).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 20) % most.max(1) as u64) as usize
    }

    pub fn text(&mut self, most: usize) -> String {
        const LETTERS: [char; 24] = [
            'a', 'b', 'W', 'i', 'M', '1', '7', '.', '[', ']', '_', ' ', '<', '>', '&', '"', '\'',
            'ä', 'ß', 'Ω', '電', '\\', 'x', 'Q',
        ];
        let length = 1 + self.below(most);
        (0..length)
            .map(|_| LETTERS[self.below(LETTERS.len())])
            .collect()
    }

    fn mark(&mut self) -> Mark {
        match self.below(12) {
            0 => Mark::Derivative,
            1 => Mark::Loop(self.below(20) as u32),
            2 => Mark::Switched,
            _ => Mark::Plain,
        }
    }

    fn bond(&mut self, s: &mut Sketch, from: usize, to: usize) {
        let (from, to) = if self.below(3) == 0 {
            (to, from)
        } else {
            (from, to)
        };
        let at = bond(s, from, to, self.below(2) == 0);
        s.bonds[at].mark = self.mark();
        s.bonds[at].double = self.below(8) == 0;
        match self.below(10) {
            0 => s.bonds[at].stroke = None,
            1 => s.bonds[at].label = self.text(12),
            2 => s.bonds[at].label.clear(),
            _ => {}
        }
    }
}

/// A chain with a one-port at each junction.
pub fn ladder(count: usize) -> Sketch {
    let mut s = new("Ladder");
    let mut last = None;
    for at in 0..count {
        let j = junction(&mut s, ["0", "1"][at % 2], "");
        let one = element(&mut s, ["C", "R"][at % 2], &format!("c[{at}]"), "1 unit");
        bond(&mut s, j, one, true);
        if let Some(last) = last {
            bond(&mut s, last, j, false);
        }
        last = Some(j);
    }
    s
}

pub fn tree(count: usize, seed: u64) -> Sketch {
    let mut dice = Dice::new(seed);
    let mut s = new("Tree");
    junction(&mut s, "0", "");
    for at in 1..=count {
        let on = dice.below(at);
        let one = match at % 3 {
            0 => element(&mut s, "R", &format!("R{at}"), "1 Ohm"),
            _ => junction(&mut s, "1", ""),
        };
        bond(&mut s, on, one, true);
    }
    s
}

pub fn grid(wide: usize) -> Sketch {
    let mut s = new("Grid");
    for at in 0..wide * wide {
        junction(&mut s, ["0", "1"][(at / wide + at % wide) % 2], "");
        if at % wide > 0 {
            bond(&mut s, at - 1, at, true);
        }
        if at >= wide {
            bond(&mut s, at - wide, at, true);
        }
    }
    s
}

/// Shapes of backbones: a tree, a mesh, a ladder, a grid; then what hangs on them.
pub fn random(seed: u64) -> Sketch {
    let mut dice = Dice::new(seed);
    let mut s = new(&dice.text(25));
    let most = [3, 8, 20, 60][dice.below(4)];
    let count = 1 + dice.below(most);
    for at in 0..count {
        let kind = ["0", "1"][at % 2];
        let name = if dice.below(2) == 0 {
            dice.text(25)
        } else {
            String::new()
        };
        match dice.below(6) {
            0 => {
                let kind = dice.text(10);
                node(&mut s, Shape::Box, &kind, &name, &[]);
            }
            1 => {
                let value = dice.text(15);
                element(
                    &mut s,
                    ["TF", "GY", "RS", "C"][dice.below(4)],
                    &name,
                    &value,
                );
            }
            _ => {
                junction(&mut s, kind, &name);
            }
        }
    }
    let shape = dice.below(5);
    let wide = (count as f64).sqrt().ceil() as usize;
    for at in 1..count {
        match shape {
            0 => {
                let to = dice.below(at);
                dice.bond(&mut s, to, at);
            }
            1 => {
                for _ in 0..1 + dice.below(2) {
                    let to = dice.below(count);
                    dice.bond(&mut s, at, to);
                }
            }
            2 => dice.bond(&mut s, at - 1, at),
            3 => {
                if at % wide != 0 {
                    dice.bond(&mut s, at - 1, at);
                }
                if at >= wide {
                    dice.bond(&mut s, at - wide, at);
                }
            }
            // Parts that are not connected, and parallel bonds.
            _ => {
                if dice.below(3) > 0 {
                    dice.bond(&mut s, at - 1, at);
                }
                if dice.below(4) == 0 {
                    dice.bond(&mut s, at - 1, at);
                }
            }
        }
    }
    let ports = dice.below(2 * count + 2);
    for _ in 0..ports {
        let to = dice.below(s.nodes.len());
        let (kind, name) = (
            ["Se", "Sf", "R", "C", "I", "Sw"][dice.below(6)],
            dice.text(25),
        );
        let values: Vec<String> = (0..dice.below(3)).map(|_| dice.text(18)).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let one = node(&mut s, Shape::Element, kind, &name, &values);
        s.nodes[one].mark = dice.mark();
        if dice.below(12) > 0 {
            dice.bond(&mut s, to, one);
        }
    }
    s.bonds.truncate(200);
    if dice.below(2) == 0 {
        for _ in 0..dice.below(6) {
            let from = dice.below(s.nodes.len());
            let to = dice.below(s.nodes.len());
            let from = (dice.below(3) > 0).then_some(from);
            let label = if dice.below(2) == 0 {
                dice.text(10)
            } else {
                String::new()
            };
            signal(&mut s, from, to, &label);
        }
    }
    s
}
