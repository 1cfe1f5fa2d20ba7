//! Circuits with exponential diodes, of 2 to 40 nodes: parts at rest, floating nodes between diodes that block, capacitors.
//!
//! The judge is nodal analysis: the currents into the nodes, all of them monotone in the voltages, solved by Newton's
//! method that goes downhill in the co-content; in time by Alexander's method of order 3 (1977, stiffly accurate), with two
//! step sizes that have to agree. Where ngspice is installed it is asked, too.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Command;

use nalgebra::{DMatrix, DVector};

use crate::support::campaign::{Family, Verdict, campaign};
use crate::support::generate::diodes::{Circuit, IS, Kind, UNTIL, VT, voltage};
use crate::support::random::Random;
use crate::support::trial::Trial;

const POINTS: usize = 21;

impl Circuit {
    /// The currents out of the nodes but the ground, and their derivatives by the voltages.
    fn currents(&self, v: &DVector<f64>, time: f64) -> (DVector<f64>, DMatrix<f64>) {
        let n = self.nodes - 1;
        let (mut currents, mut slopes) = (DVector::zeros(n), DMatrix::zeros(n, n));
        let of = |node: usize| if node == 0 { 0.0 } else { v[node - 1] };
        for &(kind, [a, b]) in &self.parts {
            let (i, g) = kind.law(of(a) - of(b), time);
            stamp(&mut slopes, [a, b], g);
            if a > 0 {
                currents[a - 1] += i;
            }
            if b > 0 {
                currents[b - 1] -= i;
            }
        }
        (currents, slopes)
    }

    fn capacities(&self) -> DMatrix<f64> {
        let mut matrix = DMatrix::zeros(self.nodes - 1, self.nodes - 1);
        for &(kind, ends) in &self.parts {
            if let Kind::Capacitor(c) = kind {
                stamp(&mut matrix, ends, c);
            }
        }
        matrix
    }

    /// Voltages with `c*(v - before) + by*currents = given`: the least of a convex function.
    fn solved(
        &self,
        start: &DVector<f64>,
        (c, before): (&DMatrix<f64>, &DVector<f64>),
        by: f64,
        given: &DVector<f64>,
        time: f64,
    ) -> Option<DVector<f64>> {
        let rest = |v: &DVector<f64>| {
            let (currents, slopes) = self.currents(v, time);
            (c * (v - before) + currents * by - given, c + slopes * by)
        };
        let mut v = start.clone();
        let (mut residual, mut matrix) = rest(&v);
        let mut last = f64::INFINITY;
        for _ in 0..600 {
            let step = matrix.clone().lu().solve(&-&residual)?;
            let size = step.amax();
            // What blocks leads so little that rounding moves it far: then steps do not get shorter any more.
            if size < 1e-11 * (1.0 + v.amax()) || size < 1e-6 && size > 0.3 * last {
                return Some(v);
            }
            last = size;
            // Downhill, until the slope along the step is not positive: the function is convex.
            let mut length = (1.0_f64).min(2.0 / size);
            loop {
                let next = &v + &step * length;
                let (after, slopes) = rest(&next);
                let fine = after.iter().all(|x| x.is_finite());
                let slope = after.dot(&step);
                if fine && slope <= 1e-3 * residual.dot(&step).abs() || length < 1e-12 {
                    (v, residual, matrix) = (next, after, slopes);
                    break;
                }
                length /= 2.0;
            }
            if length < 1e-12 {
                return Some(v);
            }
        }
        None
    }

    /// The voltages at the points of a run, by so many steps from one to the next.
    fn run(&self, steps: usize) -> Option<Vec<DVector<f64>>> {
        let n = self.nodes - 1;
        let c = self.capacities();
        let zero = DVector::zeros(n);
        let mut all = Vec::new();
        if c.amax() == 0.0 {
            let mut v = zero.clone();
            for at in 0..POINTS {
                let time = UNTIL * at as f64 / (POINTS - 1) as f64;
                v = self.solved(&v, (&c, &zero), 1.0, &zero, time)?;
                all.push(v.clone());
            }
            return Some(all);
        }
        // Alexander's coefficients.
        let g = 0.435_866_521_508_459;
        let b1 = -1.5 * g * g + 4.0 * g - 0.25;
        let b2 = 1.5 * g * g - 5.0 * g + 1.25;
        let stages = [
            (g, vec![]),
            ((1.0 + g) / 2.0, vec![(1.0 - g) / 2.0]),
            (1.0, vec![b1, b2]),
        ];
        let h = UNTIL / ((POINTS - 1) * steps) as f64;
        // Charges are what they were: none.
        let mut v = zero.clone();
        all.push(v.clone());
        for at in 0..(POINTS - 1) * steps {
            let before = v.clone();
            let mut rates: Vec<DVector<f64>> = Vec::new();
            for (part, row) in &stages {
                let time = (at as f64 + part) * h;
                let mut given = zero.clone();
                for (factor, rate) in row.iter().zip(&rates) {
                    given += rate * (h * factor);
                }
                v = self.solved(&v, (&c, &before), h * g, &given, time)?;
                rates.push(-self.currents(&v, time).0);
            }
            if (at + 1) % steps == 0 {
                all.push(v.clone());
            }
        }
        Some(all)
    }

    /// What ngspice says of the last point; `None` where it comes to no end.
    fn spice(&self, seed: u64) -> Option<Vec<f64>> {
        let mut deck = String::from("* a circuit\n");
        for (at, &(kind, [a, b])) in self.parts.iter().enumerate() {
            let _ = match kind {
                Kind::Resistor(r) => writeln!(deck, "R{at} {a} {b} {r}"),
                Kind::Capacitor(c) => writeln!(deck, "C{at} {a} {b} {c:e} ic=0"),
                Kind::Diode(leak) => {
                    writeln!(deck, "D{at} {a} {b} dio\nRp{at} {a} {b} {:e}", 1.0 / leak)
                }
                Kind::Source(height, f, phase, r) => writeln!(
                    deck,
                    "V{at} m{at} {a} dc {} sin(0 {height} {f} 0 0 {})\nRs{at} m{at} {b} {r}",
                    kind.wave(0.0),
                    phase.to_degrees()
                ),
                Kind::Current(height, f) => {
                    writeln!(deck, "I{at} {a} {b} dc 0 sin(0 {height:e} {f})")
                }
            };
        }
        let nodes: Vec<String> = (1..self.nodes).map(|node| format!("v({node})")).collect();
        let step = UNTIL / 20_000.0;
        let _ = write!(
            deck,
            ".model dio d(is={IS:e} n={:.12} )\n.options temp=27 tnom=27 gmin=1e-15 reltol=1e-6 abstol=1e-13 vntol=1e-8 chgtol=1e-18 trtol=1 itl4=200\n.control\ntran {step:e} {UNTIL} 0 {step:e} uic\nwrdata FILE {}\nquit\n.endc\n.end\n",
            VT / (1.380_649e-23 * 300.15 / 1.602_176_634e-19),
            nodes.join(" ")
        );
        let folder = crate::support::programs::folder(&format!("spice-{seed}"));
        let (file, data) = (folder.join("c.cir"), folder.join("c.data"));
        std::fs::write(&file, deck.replace("FILE", data.to_str()?)).ok()?;
        let output = Command::new("timeout")
            .args(["60", "ngspice", "-b"])
            .arg(&file)
            .output();
        output.ok()?;
        let text = std::fs::read_to_string(data).ok()?;
        let _ = std::fs::remove_dir_all(folder);
        let last = text.lines().rfind(|line| !line.trim().is_empty())?;
        let numbers: Vec<f64> = last
            .split_whitespace()
            .map_while(|one| one.parse().ok())
            .collect();
        if (numbers.first()? - UNTIL).abs() > 1e-9 {
            return None;
        }
        // A column of times before each of the values.
        Some(numbers.iter().skip(1).step_by(2).copied().collect())
    }
}

fn stamp(matrix: &mut DMatrix<f64>, [a, b]: [usize; 2], g: f64) {
    for (row, column, sign) in [(a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)] {
        if row > 0 && column > 0 {
            matrix[(row - 1, column - 1)] += sign * g;
        }
    }
}

fn judged(circuit: &Circuit, spice: Option<u64>) -> Verdict {
    if !circuit.is_determined() {
        return Verdict::Open("a node is held by capacitors and sources only");
    }
    let names: Vec<String> = (1..circuit.nodes)
        .map(|node| voltage(circuit, node))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let trial = Trial::of(&circuit.text(), UNTIL).points(POINTS);
    let result = trial.tolerance(1e-7, 1e-9).run(&names);
    if let Some(message) = result.failure {
        return Verdict::Refused(result.code.unwrap_or("none").into(), message);
    }
    let (rough, fine) = match circuit.capacities().amax() == 0.0 {
        true => (None, circuit.run(1)),
        false => (circuit.run(60), circuit.run(120)),
    };
    let Some(fine) = fine else {
        return Verdict::Open("the judge finds no solution");
    };
    let first = if rough.is_some() { 1 } else { 0 };
    let mut off = 1e-4;
    if let Some(rough) = rough {
        let apart = (rough.iter().zip(&fine)).map(|(one, other)| (one - other).amax());
        let apart = apart.fold(0.0, f64::max);
        if apart > 1e-2 {
            return Verdict::Open("the judge is not sure");
        }
        off += apart;
    }
    for at in first..POINTS {
        let size = 1.0 + fine[at].amax();
        for (column, name) in names.iter().enumerate() {
            let (found, expected) = (result.rows[at][column], fine[at][column]);
            if !((found - expected).abs() <= off * size) {
                let time = result.times[at];
                return Verdict::Wrong(format!(
                    "`{name}` is {found} at Time = {time}, not {expected}"
                ));
            }
        }
    }
    if let Some(expected) = spice.and_then(|seed| circuit.spice(seed)) {
        let size = 1.0 + fine[POINTS - 1].amax();
        for (column, name) in names.iter().enumerate() {
            let (found, expected) = (result.rows[POINTS - 1][column], expected[column]);
            if !((found - expected).abs() <= 3e-3 * size) {
                return Verdict::Wrong(format!(
                    "`{name}` is {found} at the end; ngspice: {expected}"
                ));
            }
        }
    }
    Verdict::Agrees
}

fn tried(family: Family, storages: bool, spice: bool) {
    let circuit = |seed| Circuit::generate(&mut Random::new(seed), storages);
    let judge = |seed| judged(&circuit(seed), spice.then_some(seed));
    campaign(family, judge, |seed, verdict| {
        let same = |other: &Circuit| {
            let tried = std::panic::AssertUnwindSafe(|| judged(other, spice.then_some(seed)));
            std::panic::catch_unwind(tried).is_ok_and(|other| other.is_like(verdict))
        };
        match verdict {
            Verdict::Wrong(_) | Verdict::Refused(..) => circuit(seed).shrunk(&same).text(),
            _ => circuit(seed).text(),
        }
    });
}

#[test]
fn diodes_and_resistors() {
    let family = Family {
        name: "exponential diodes",
        // The judge is slow where nothing holds a node but what leaks.
        cases: 1,
        refused: 20.0,
        open: &[],
    };
    tried(family, false, false);
}

#[test]
fn diodes_and_capacitors() {
    let family = Family {
        name: "exponential diodes and capacitors",
        cases: 2,
        refused: 20.0,
        open: &[],
    };
    tried(family, true, false);
}

#[test]
fn diodes_against_ngspice() {
    let there = Command::new("ngspice").arg("--version").output().is_ok();
    if !there {
        let _ = writeln!(std::io::stderr(), "note: skipped, there is no `ngspice`");
        return;
    }
    let family = Family {
        name: "exponential diodes, ngspice",
        cases: 2,
        refused: 30.0,
        open: &[],
    };
    tried(family, true, true);
}
