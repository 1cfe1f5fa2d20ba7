//! Random circuits with exponential diodes, of 2 to 40 nodes: resistors, capacitors, sources with a resistance, parts that are at rest,
//! floating nodes between diodes that block.

use std::fmt::Write as _;

use crate::support::random::Random;

pub const UNTIL: f64 = 0.02;
pub const IS: f64 = 1e-9;
pub const VT: f64 = 0.026;
/// Beyond so many Vt the library's diode is a straight line.
const STRAIGHT: f64 = 40.0;

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Resistor(f64),
    Capacitor(f64),
    Diode(f64),
    /// A source of voltage with a resistor: amplitude, frequency (0: constant), phase in quarters, resistance.
    Source(f64, f64, f64, f64),
    /// Amplitude and frequency.
    Current(f64, f64),
}

#[derive(Clone, Debug)]
pub struct Circuit {
    pub parts: Vec<(Kind, [usize; 2])>,
    pub nodes: usize,
}

impl Kind {
    /// The current from the first node to the second, and its derivative by the voltage.
    pub fn law(self, u: f64, time: f64) -> (f64, f64) {
        match self {
            Kind::Resistor(r) => (u / r, 1.0 / r),
            Kind::Capacitor(_) => (0.0, 0.0),
            Kind::Diode(leak) => {
                let x = u / VT;
                let (value, slope) = match x < STRAIGHT {
                    true => (x.exp_m1(), x.exp()),
                    false => {
                        let most = STRAIGHT.exp();
                        (most * (1.0 + x - STRAIGHT) - 1.0, most)
                    }
                };
                (IS * value + leak * u, IS * slope / VT + leak)
            }
            Kind::Source(..) => {
                let Kind::Source(.., r) = self else {
                    unreachable!()
                };
                // Vb - Va = E0 beside the resistor.
                ((u + self.wave(time)) / r, 1.0 / r)
            }
            Kind::Current(..) => (self.wave(time), 0.0),
        }
    }

    pub fn wave(self, time: f64) -> f64 {
        let angle = |f: f64, phase: f64| std::f64::consts::TAU * f * time + phase;
        match self {
            Kind::Source(height, f, phase, _) => height * angle(f, phase).sin(),
            Kind::Current(height, f) => height * angle(f, 0.0).sin(),
            _ => 0.0,
        }
    }
}

impl Circuit {
    pub fn generate(random: &mut Random, storages: bool) -> Circuit {
        let nodes = match random.chance(60) {
            true => random.within(2, 8),
            false => random.within(9, 40),
        };
        let mut parts = Vec::new();
        // A tree of anything, then as much again.
        for node in 1..nodes {
            let other = random.below(node);
            parts.push((Circuit::kind(random, storages), [node, other]));
        }
        for _ in 0..random.within(1, nodes) {
            let (a, b) = (random.below(nodes), random.below(nodes));
            if a != b {
                parts.push((Circuit::kind(random, storages), [a, b]));
            }
        }
        for (_, ends) in &mut parts {
            if random.chance(50) {
                ends.swap(0, 1);
            }
        }
        let mut circuit = Circuit { parts, nodes };
        // Each node but the ground needs a way on which its voltage is determined.
        for node in 1..nodes {
            let held = |(kind, ends): &(Kind, [usize; 2])| {
                ends.contains(&node) && !matches!(kind, Kind::Capacitor(_) | Kind::Current(..))
            };
            if !circuit.parts.iter().any(held) {
                circuit.parts.push((Kind::Resistor(1e3), [node, 0]));
            }
        }
        circuit
    }

    fn kind(random: &mut Random, storages: bool) -> Kind {
        let resistance = 10f64.powf(random.real(1.0, 4.0)).round();
        match random.below(if storages { 20 } else { 16 }) {
            0..6 => Kind::Resistor(resistance),
            6..13 => Kind::Diode(*random.pick(&[1e-9, 1e-9, 1e-6])),
            13 | 14 => {
                let phase = *random.pick(&[0.0, 0.0, 1.0, 2.5]);
                let height = random.number(0.5, 12.0);
                Kind::Source(height, random.number(30.0, 200.0), phase, resistance)
            }
            15 => Kind::Current(random.number(0.1, 2.0) * 1e-3, random.number(30.0, 200.0)),
            _ => Kind::Capacitor(random.number(0.1, 10.0) * 1e-6),
        }
    }

    /// Whether every node hangs on the ground by what determines its voltage.
    pub fn is_determined(&self) -> bool {
        let mut reached = vec![false; self.nodes];
        reached[0] = true;
        for _ in 0..self.nodes {
            for (kind, [a, b]) in &self.parts {
                if !matches!(kind, Kind::Capacitor(_) | Kind::Current(..)) {
                    let any = reached[*a] || reached[*b];
                    (reached[*a], reached[*b]) = (any, any);
                }
            }
        }
        reached.into_iter().all(|node| node)
    }

    pub fn text(&self) -> String {
        let mut text = String::from("@electrical\nmodel M\n  submodel Ground\n");
        for node in 0..self.nodes {
            let _ = writeln!(text, "  node n{node}");
        }
        text += "  connect Ground at n0\n";
        for (at, &(kind, [a, b])) in self.parts.iter().enumerate() {
            let _ = match kind {
                Kind::Resistor(r) => writeln!(text, "  submodel (Resistor) P{at}(R = {r})"),
                Kind::Capacitor(c) => writeln!(text, "  submodel (Capacitor) P{at}(C = {c:e})"),
                Kind::Diode(leak) => writeln!(text, "  submodel (Diode) P{at}(Gp = {leak:e})"),
                Kind::Source(height, f, phase, r) => writeln!(
                    text,
                    "  submodel (VoltageSource) P{at}\n  submodel (Resistor) S{at}(R = {r})\n  node m{at}\n  P{at}.E0 = {height}*sin({}*Time + {phase})",
                    std::f64::consts::TAU * f
                ),
                Kind::Current(height, f) => writeln!(
                    text,
                    "  submodel (CurrentSource) P{at}\n  P{at}.I0 = {height:e}*sin({}*Time)",
                    std::f64::consts::TAU * f
                ),
            };
            let _ = match kind {
                Kind::Source(..) => {
                    writeln!(text, "  connect n{a} - P{at} - m{at} - S{at} - n{b}")
                }
                _ => writeln!(text, "  connect P{at} from n{a} to n{b}"),
            };
        }
        text + "end\n"
    }

    pub fn shrunk(mut self, fails: &dyn Fn(&Circuit) -> bool) -> Circuit {
        'again: loop {
            for at in 0..self.parts.len() {
                let mut less = self.clone();
                let (_, ends) = less.parts.remove(at);
                let mut joined = less.clone();
                for end in joined.parts.iter_mut().flat_map(|(_, ends)| ends) {
                    if *end == ends[0].max(ends[1]) {
                        *end = ends[0].min(ends[1]);
                    }
                }
                joined.parts.retain(|(_, ends)| ends[0] != ends[1]);
                for mut smaller in [less, joined] {
                    smaller.renumber();
                    if smaller.is_determined() && !smaller.parts.is_empty() && fails(&smaller) {
                        self = smaller;
                        continue 'again;
                    }
                }
            }
            return self;
        }
    }

    /// Nodes without parts are left out.
    fn renumber(&mut self) {
        let mut numbers = vec![0; self.nodes];
        let mut next = 1;
        for node in 1..self.nodes {
            if self.parts.iter().any(|(_, ends)| ends.contains(&node)) {
                numbers[node] = next;
                next += 1;
            }
        }
        for end in self.parts.iter_mut().flat_map(|(_, ends)| ends) {
            *end = numbers[*end];
        }
        self.nodes = next;
    }
}

/// The voltage of a node, as a variable of the text: that of a part that ends there.
pub fn voltage(circuit: &Circuit, node: usize) -> String {
    let found = circuit
        .parts
        .iter()
        .enumerate()
        .find_map(|(at, (kind, ends))| {
            let cut = match (ends[0] == node, kind) {
                (true, _) => "Va",
                (false, Kind::Source(..)) => return (ends[1] == node).then(|| format!("S{at}.Vb")),
                (false, _) => "Vb",
            };
            ends.contains(&node).then(|| format!("P{at}.{cut}"))
        });
    found.expect("each node has a part")
}
