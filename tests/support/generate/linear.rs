//! Random linear networks: circuits and bond graphs of storages, resistors, sources that step, pulse and swing, and two-ports whose
//! gains come again: the same parameter, its negative, sums and products of two. Connected, and otherwise anything:
//! many have constraints that nothing but equal coefficients shows, and some are singular.

use std::fmt::Write;

use crate::support::laplace::{Piece, Sources, Wave};
use crate::support::random::Random;

#[derive(Clone, Debug)]
struct Part {
    class: &'static str,
    name: String,
    settings: String,
    /// Connections: what of the part, and to which node or junction.
    pins: Vec<(&'static str, usize)>,
    /// For sources: the variable that is its value, and the equation that says so.
    source: Option<(String, String, Vec<Piece>)>,
}

#[derive(Clone, Debug)]
pub struct Network {
    parts: Vec<Part>,
    nodes: usize,
    bonds: bool,
    /// Values of the parameters that gains are made of.
    gains: [f64; 2],
}

/// What a network is made of.
#[derive(Clone, Copy, Debug)]
pub struct Kinds {
    pub two_ports: bool,
    pub bonds: bool,
    /// In percent of the sources.
    pub steps: usize,
}

/// Waves begin and step at hundredths of a second.
fn instant(random: &mut Random) -> f64 {
    random.within(5, 80) as f64 / 100.0
}

/// A number that no other one happens to be.
fn value(random: &mut Random) -> f64 {
    (random.real(0.5, 2.0) * 1e9).round() / 1e9
}

impl Network {
    pub fn generate(random: &mut Random, kinds: Kinds) -> Network {
        let mut network = Network {
            parts: Vec::new(),
            nodes: random.within(2, 5),
            bonds: kinds.bonds,
            gains: [value(random), value(random)],
        };
        // A tree, so that all nodes hang together.
        for node in 1..network.nodes {
            let other = random.below(node);
            network.branch(random, kinds, [node, other]);
        }
        for _ in 0..random.within(1, 2 + network.nodes) {
            let (a, b) = (random.below(network.nodes), random.below(network.nodes));
            if a != b {
                network.branch(random, kinds, [a, b]);
            }
        }
        if kinds.two_ports {
            for _ in 0..random.within(1, 3) {
                network.two_port(random);
            }
        }
        network
    }

    fn add(&mut self, class: &'static str, settings: String, pins: Vec<(&'static str, usize)>) {
        let name = format!("B{}", self.parts.len());
        self.parts.push(Part {
            class,
            name,
            settings,
            pins,
            source: None,
        });
    }

    /// The name of the variable that is the value of the last part, and what it is.
    fn drive(&mut self, random: &mut Random, variable: &str, steps: usize) {
        let part = self.parts.last_mut().expect("there is one");
        let name = format!("{}.{variable}", part.name);
        let height = value(random);
        let (text, pieces) = match random.chance(steps) {
            false => {
                let w = value(random) * 2.0;
                let wave = Wave::Sine(height, w);
                (
                    format!("{height}*sin({w}*Time)"),
                    vec![Piece { from: 0.0, wave }],
                )
            }
            true => {
                let from = instant(random);
                let step = |from, height| Piece {
                    from,
                    wave: Wave::Step(height),
                };
                let until = from + instant(random);
                match random.below(4) {
                    0 => (
                        format!("if Time < {from} then 0 else {height}"),
                        vec![step(from, height)],
                    ),
                    1 => (
                        format!("if Time >= {from} and Time < {until} then {height} else 0"),
                        vec![step(from, height), step(until, -height)],
                    ),
                    2 => {
                        // Rectangular pulses from zero on, the first at once low.
                        let period = 2.0 * from;
                        let edges = (1..).map(|n| f64::from(n) * from);
                        let sign = |n: usize| if n.is_multiple_of(2) { height } else { -height };
                        let pieces = (edges.take_while(|&at| at < 4.0).enumerate())
                            .map(|(n, at)| step(at, sign(n)));
                        (
                            format!("if mod(Time, {period}) < {from} then 0 else {height}"),
                            pieces.collect(),
                        )
                    }
                    _ => (
                        format!("if Time < {from} then 0 else {height}*(Time - {from})"),
                        vec![Piece {
                            from,
                            wave: Wave::Ramp(height),
                        }],
                    ),
                }
            }
        };
        part.source = Some((name.clone(), format!("{name} = {text}"), pieces));
    }

    fn branch(&mut self, random: &mut Random, kinds: Kinds, [a, b]: [usize; 2]) {
        let number = value(random);
        match kinds.bonds {
            false => {
                let pins = vec![("A", a), ("B", b)];
                match random.below(20) {
                    0..6 => self.add("Resistor", format!("R = {number}"), pins),
                    6..11 => self.add("Capacitor", format!("C = {number}"), pins),
                    11..15 => self.add("Inductor", format!("L = {number}"), pins),
                    15..18 => {
                        self.add("VoltageSource", String::new(), pins);
                        self.drive(random, "E0", kinds.steps);
                    }
                    _ => {
                        self.add("CurrentSource", String::new(), pins);
                        self.drive(random, "I0", kinds.steps);
                    }
                }
            }
            true => {
                // Junctions are of one kind where their numbers are even, of the other where they are odd; what hangs at one of them.
                if a % 2 != b % 2 {
                    self.add("link", String::new(), vec![("A", a), ("B", b)]);
                }
                let pins = vec![("", a)];
                match random.below(20) {
                    0..6 => self.add("R", format!("R = {number}"), pins),
                    6..11 => self.add("C", format!("C = {number}"), pins),
                    11..16 => self.add("I", format!("I = {number}"), pins),
                    16..18 => {
                        self.add("SE", String::new(), pins);
                        self.drive(random, "E0", kinds.steps);
                    }
                    _ => {
                        self.add("SF", String::new(), pins);
                        self.drive(random, "F0", kinds.steps);
                    }
                }
            }
        }
    }

    fn gain(&self, random: &mut Random) -> String {
        let text = match random.below(9) {
            0..3 => "k1",
            3 => "k2",
            4 => "-k1",
            5 => "k1 + k2",
            6 => "k1*k2",
            7 => "2*k1",
            _ => return value(random).to_string(),
        };
        text.into()
    }

    fn two_port(&mut self, random: &mut Random) {
        let gain = self.gain(random);
        let node = |random: &mut Random| random.below(self.nodes);
        let (a, c) = (node(random), node(random));
        if self.bonds {
            let class = *random.pick(&["TF", "GY", "GY"]);
            let name = if class == "TF" { "m" } else { "r" };
            self.add(class, format!("{name} = {gain}"), vec![("A", a), ("B", c)]);
            return;
        }
        let other = |random: &mut Random, than: usize| {
            let at = random.below(self.nodes - 1);
            at + usize::from(at >= than)
        };
        let (b, mut d) = (other(random, a), other(random, c));
        let mut c = c;
        // Both ports on the same nodes, or one node in common.
        match random.below(4) {
            0 => (c, d) = (a, b),
            1 if a != d => c = a,
            _ => {}
        }
        let (class, name) = *random.pick(&[
            ("Gyrator", "r"),
            ("Gyrator", "r"),
            ("Transformer", "n"),
            ("VCVS", "k"),
            ("VCCS", "g"),
            ("CCVS", "r"),
            ("CCCS", "k"),
        ]);
        let pins = vec![("A1", a), ("B1", b), ("A2", c), ("B2", d)];
        self.add(class, format!("{name} = {gain}"), pins);
    }

    pub fn text(&self) -> String {
        let mut text = match self.bonds {
            true => String::from("@bondgraph\nmodel M\n"),
            false => String::from("@electrical\nmodel M\n  submodel (Ground) G\n"),
        };
        let [k1, k2] = self.gains;
        let _ = writeln!(text, "  parameter k1 = {k1}, k2 = {k2}");
        let used = |node: usize| {
            let mut pins = self.parts.iter().flat_map(|part| &part.pins);
            pins.any(|&(_, at)| at == node)
        };
        for node in (0..self.nodes).filter(|&node| used(node)) {
            let word = if self.bonds && node % 2 == 1 {
                "junction1"
            } else {
                "node"
            };
            let _ = writeln!(text, "  {word} n{node}");
        }
        if !self.bonds && used(0) {
            text += "  connect G at n0\n";
        }
        for part in &self.parts {
            let settings = match part.settings.is_empty() {
                true => String::new(),
                false => format!("({})", part.settings),
            };
            let (class, name) = (part.class, &part.name);
            let _ = writeln!(text, "  submodel ({class}) {name}{settings}");
            for &(pin, node) in &part.pins {
                let colon = if pin.is_empty() { "" } else { ":" };
                let _ = writeln!(text, "  connect {name}{colon}{pin} at n{node}");
            }
        }
        for (_, equation, _) in self.parts.iter().filter_map(|part| part.source.as_ref()) {
            let _ = writeln!(text, "  {equation}");
        }
        text + "end\n"
    }

    pub fn sources(&self) -> Sources {
        let sources = self.parts.iter().filter_map(|part| part.source.as_ref());
        sources
            .map(|(name, _, pieces)| (name.clone(), pieces.clone()))
            .collect()
    }

    /// The smallest network that still fails.
    pub fn shrunk(mut self, fails: &dyn Fn(&Network) -> bool) -> Network {
        'again: loop {
            for at in 0..self.parts.len() {
                let mut less = self.clone();
                less.parts.remove(at);
                if fails(&less) {
                    self = less;
                    continue 'again;
                }
            }
            return self;
        }
    }
}
