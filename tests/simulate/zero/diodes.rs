//! Circuits of exponential diodes and resistors with parts in which nothing flows: whole circuits at rest, islands that hang
//! on one node, bridges without a source. The judge minimises the co-content, which is convex in the potentials of the
//! nodes (Millar 1951): Newton's method that only goes down has one end.

use nalgebra::{DMatrix, DVector};

use super::seeds;
use crate::support::random::Random;
use crate::support::trial::Trial;

const IS: f64 = 1e-9;
const VT: f64 = 0.026;
const GP: f64 = 1e-9;
const XMAX: f64 = 40.0;

#[derive(Clone, Copy, Debug)]
enum Part {
    Diode,
    Resistor(f64),
    /// From ground to a node that is held at this potential.
    Source(f64),
    /// From a node to ground, charged to this voltage.
    Capacitor(f64),
}

#[derive(Debug)]
struct Circuit {
    nodes: usize,
    /// With its two nodes; node 0 is the ground.
    parts: Vec<(Part, usize, usize)>,
}

impl Circuit {
    fn random(random: &mut Random, most: usize) -> Circuit {
        let mut nodes = random.within(2, most);
        let mut parts = Vec::new();
        let plain = |random: &mut Random| match random.chance(55) {
            true => Part::Diode,
            false => Part::Resistor(10f64.powf(random.real(0.0, 5.0))),
        };
        for node in 1..=nodes {
            let other = match random.chance(60) {
                true => random.below(node),
                false => node - 1,
            };
            let (a, b) = match random.chance(50) {
                true => (other, node),
                false => (node, other),
            };
            parts.push((plain(random), a, b));
        }
        for _ in 0..random.within(0, nodes) {
            let a = random.within(0, nodes);
            let b = (a + random.within(1, nodes)) % (nodes + 1);
            parts.push((plain(random), a, b));
        }
        // Sources drive one half of the nodes.
        let half = (nodes / 2).max(1);
        let inner = nodes;
        for _ in 0..*random.pick(&[0, 0, 1, 1, 2]) {
            nodes += 1;
            let voltage = *random.pick(&[5.0, -5.0, 0.5, 12.0, 0.0, 3.3, 1e-3]);
            let node = random.within(1, half);
            let resistance = 10f64.powf(random.real(0.0, 4.0));
            parts.push((Part::Source(voltage), 0, nodes));
            parts.push((Part::Resistor(resistance), nodes, node));
        }
        if random.chance(50) {
            let node = random.within(1, inner);
            let voltage = *random.pick(&[0.0, 0.0, 0.0, 1.0, -2.0]);
            parts.push((Part::Capacitor(voltage), node, 0));
        }
        Circuit { nodes, parts }
    }

    fn text(&self) -> String {
        let mut text = String::from("@electrical\nmodel M\n");
        let mut connect = String::from("  connect Ground at n0");
        for (at, &(part, a, b)) in self.parts.iter().enumerate() {
            let kind = match part {
                Part::Diode => format!("(Diode) P{at}"),
                Part::Resistor(r) => format!("(Resistor) P{at}(R = {r:e})"),
                Part::Source(e) => format!("(ConstantVoltage) P{at}(E = {e:e})"),
                Part::Capacitor(u) => format!("(Capacitor) P{at}(C = 1.0E-6, ic u = {u})"),
            };
            text.push_str(&format!("  submodel {kind}\n"));
            connect.push_str(&format!(",\n    P{at} from n{a} to n{b}"));
        }
        let nodes: Vec<String> = (0..=self.nodes).map(|at| format!("n{at}")).collect();
        format!(
            "{text}  submodel Ground\n  node {}\n{connect}\nend\n",
            nodes.join(", ")
        )
    }

    /// The potentials of all nodes.
    fn potentials(&self) -> Vec<f64> {
        let mut known = vec![None; self.nodes + 1];
        known[0] = Some(0.0);
        for &(part, a, b) in &self.parts {
            match part {
                Part::Source(e) => known[b] = Some(e),
                Part::Capacitor(u) => known[a] = Some(u),
                _ => {}
            }
        }
        let free: Vec<usize> = (0..=self.nodes).filter(|&at| known[at].is_none()).collect();
        let mut place = vec![None; self.nodes + 1];
        for (at, &node) in free.iter().enumerate() {
            place[node] = Some(at);
        }
        let mut v: Vec<f64> = known.iter().map(|value| value.unwrap_or(0.0)).collect();
        for _ in 0..5_000 {
            let mut slopes = DMatrix::zeros(free.len(), free.len());
            let mut currents = DVector::zeros(free.len());
            for &(part, a, b) in &self.parts {
                let Some((current, slope)) = law(part, v[a] - v[b]) else {
                    continue;
                };
                for (node, sign) in [(a, 1.0), (b, -1.0)] {
                    let Some(row) = place[node] else { continue };
                    currents[row] += sign * current;
                    for (other, by) in [(a, 1.0), (b, -1.0)] {
                        if let Some(column) = place[other] {
                            slopes[(row, column)] += sign * by * slope;
                        }
                    }
                }
            }
            let step: DVector<f64> = -slopes.cholesky().expect("convex").solve(&currents);
            let longest = step.iter().fold(0.0, |most: f64, one| most.max(one.abs()));
            let size = v.iter().fold(1.0, |most: f64, one| most.max(one.abs()));
            if longest <= 1e-14 * size {
                break;
            }
            let moved = |part: f64| {
                let mut moved = v.clone();
                for (&node, step) in free.iter().zip(&step) {
                    moved[node] += part * step;
                }
                moved
            };
            let down: f64 = currents.dot(&step);
            let begun = self.content(&v);
            let mut part = 1.0;
            while longest * part > 1e-9 && self.content(&moved(part)) > begun + 1e-4 * part * down {
                part /= 2.0;
            }
            v = moved(part);
        }
        v
    }

    fn content(&self, v: &[f64]) -> f64 {
        let of = |&(part, a, b): &(Part, usize, usize)| {
            let u: f64 = v[a] - v[b];
            match part {
                Part::Resistor(r) => u * u / r / 2.0,
                Part::Diode => {
                    let x = u / VT;
                    let (near, far) = (x.min(XMAX), (x - XMAX).max(0.0));
                    let line = XMAX.exp() * (far + far * far / 2.0);
                    IS * VT * (near.exp() - 1.0 - x + line) + GP * u * u / 2.0
                }
                _ => 0.0,
            }
        };
        self.parts.iter().map(of).sum()
    }
}

/// Current and its slope.
fn law(part: Part, u: f64) -> Option<(f64, f64)> {
    match part {
        Part::Resistor(r) => Some((u / r, 1.0 / r)),
        Part::Diode => {
            let x = u / VT;
            Some(match x < XMAX {
                true => (IS * x.exp_m1() + GP * u, IS / VT * x.exp() + GP),
                false => {
                    let line = XMAX.exp() * (1.0 + x - XMAX) - 1.0;
                    (IS * line + GP * u, IS / VT * XMAX.exp() + GP)
                }
            })
        }
        _ => None,
    }
}

fn all(seeds: std::ops::Range<u64>, most: usize) {
    let mut wrong = Vec::new();
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let circuit = Circuit::random(&mut Random::new(seed), most);
        let names: Vec<String> = (0..circuit.parts.len())
            .map(|at| format!("P{at}.u"))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let trial = Trial::of(&circuit.text(), 1e-9)
            .points(2)
            .tolerance(1e-6, 1e-6);
        let result = trial.run(&names);
        if let Some(failure) = result.failure {
            wrong.push(format!("{seed}: {failure}"));
            continue;
        }
        let v = circuit.potentials();
        let size = v.iter().fold(1.0, |most: f64, one| most.max(one.abs()));
        for (&(_, a, b), found) in circuit.parts.iter().zip(&result.rows[0]) {
            let off = (found - (v[a] - v[b])).abs();
            if off > 1e-7 * size {
                wrong.push(format!("{seed}: {found} is not {}", v[a] - v[b]));
                break;
            }
        }
    }
    let failed = wrong.len();
    assert!(
        wrong.is_empty(),
        "{failed} of {count} circuits of up to {most} nodes: {wrong:#?}"
    );
}

#[test]
fn small_circuits() {
    all(seeds(60), 8);
}

#[test]
fn large_circuits() {
    all(seeds(15), 40);
}
