//! Any circuit of resistors, coils, capacitors and sources that step, loops of capacitors and sources and cutsets of coils and sources
//! included, against an independent computation: modified nodal analysis on the circuit's own incidence, E x' + G x = s(t). After
//! each step one implicit Euler step that is nearly nothing long finds the values after the jump (it conserves charge and flux, as
//! E x is what it balances); from there Radau IIA of order 5 goes on.
//!
//! `BGM_CASES=2000` makes so many (from `BGM_FIRST` on), `BGM_SEED=17` only this one, and shows it.

use nalgebra::{DMatrix, DVector};

use crate::programs::compared;
use crate::support::programs::has;
use crate::support::random::Random;
use crate::support::trial::Trial;

const UNTIL: f64 = 2.013_7;
const ROWS: usize = 12;

#[derive(Clone, Copy, Debug)]
enum Part {
    Resistor(f64),
    Capacitor(f64),
    Inductor(f64),
    /// The height of the steps, and whether it is a current.
    Source {
        height: f64,
        wave: Wave,
        current: bool,
    },
}

#[derive(Clone, Copy, Debug)]
enum Wave {
    Step { at: f64 },
    Pulse { at: f64, period: f64, width: f64 },
}

impl Wave {
    fn high(self, time: f64) -> bool {
        match self {
            Wave::Step { at } => time >= at,
            Wave::Pulse { at, period, width } => {
                time >= at && (time - at).rem_euclid(period) < width * period
            }
        }
    }

    fn edges(self) -> Vec<f64> {
        match self {
            Wave::Step { at } => vec![at],
            Wave::Pulse { at, period, width } => (0..100)
                .flat_map(|n| [0.0, width].map(|part| at + (f64::from(n) + part) * period))
                .collect(),
        }
    }
}

struct Circuit {
    nodes: usize,
    /// From the first node to the second; node 0 is ground.
    parts: Vec<(Part, usize, usize)>,
}

/// Sets of nodes that are joined.
struct Joined(Vec<usize>);

impl Joined {
    fn new(count: usize) -> Joined {
        Joined((0..count).collect())
    }

    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.0[a], self.0[b]);
        for set in &mut self.0 {
            if *set == b {
                *set = a;
            }
        }
        a != b
    }
}

impl Circuit {
    fn random(seed: u64) -> Circuit {
        let mut random = Random::of("impulses", seed);
        let nodes = random.within(2, 5);
        let mut parts = Vec::new();
        let mut sources = Joined::new(nodes);
        let mut others = Joined::new(nodes);
        let ends = |random: &mut Random| {
            let a = random.below(nodes);
            (a, (a + random.within(1, nodes - 1)) % nodes)
        };
        let count = random.within(nodes, 2 * nodes + 1);
        while parts.len() < count {
            let (a, b) = ends(&mut random);
            let value = random.number(0.3, 3.0);
            let part = match random.below(9) {
                0 | 1 => Part::Resistor(value),
                2..5 => Part::Capacitor(value),
                5 | 6 => Part::Inductor(value),
                kind => {
                    let at = random.number(0.1, 1.5);
                    let wave = match random.chance(50) {
                        true => Wave::Step { at },
                        false => Wave::Pulse {
                            at,
                            period: random.number(0.4, 0.9),
                            width: random.number(0.2, 0.8),
                        },
                    };
                    let height = random.number(-5.0, 5.0) + 0.125;
                    Part::Source {
                        height,
                        wave,
                        current: kind == 8,
                    }
                }
            };
            // Voltages in a loop are no circuit; currents in a cutset are avoided below.
            if let Part::Source { current: false, .. } = part
                && !sources.join(a, b)
            {
                continue;
            }
            if !matches!(part, Part::Source { current: true, .. }) {
                others.join(a, b);
            }
            parts.push((part, a, b));
        }
        // Whatever is not joined but by currents is joined by a resistor.
        for node in 1..nodes {
            if others.join(0, node) {
                parts.push((Part::Resistor(random.number(0.3, 3.0)), 0, node));
            }
        }
        Circuit { nodes, parts }
    }

    fn text(&self) -> String {
        let mut text = String::from("@electrical\nmodel M\n  submodel Ground\n");
        let node = |at: usize| match at {
            0 => "Ground".to_string(),
            _ => format!("n{at}"),
        };
        for at in 1..self.nodes {
            text += &format!("  node n{at}\n");
        }
        for (at, &(part, a, b)) in self.parts.iter().enumerate() {
            let made = match part {
                Part::Resistor(value) => format!("(Resistor) P{at}(R = {value})"),
                Part::Capacitor(value) => format!("(Capacitor) P{at}(C = {value})"),
                Part::Inductor(value) => format!("(Inductor) P{at}(L = {value})"),
                Part::Source {
                    height,
                    wave,
                    current,
                } => {
                    let kind = if current { "Current" } else { "Voltage" };
                    match wave {
                        Wave::Step { at: t0 } => {
                            format!("(Step{kind}) P{at}(height = {height}, t0 = {t0})")
                        }
                        Wave::Pulse {
                            at: t0,
                            period,
                            width,
                        } => format!(
                            "(Pulse{kind}) P{at}(height = {height}, t0 = {t0}, period = {period}, width = {width})"
                        ),
                    }
                }
            };
            text += &format!(
                "  submodel {made}\n  connect {} - P{at} - {}\n",
                node(a),
                node(b)
            );
        }
        text + "end\n"
    }

    /// What is compared: voltages of capacitors, currents of coils.
    fn names(&self) -> Vec<String> {
        (self.parts.iter().enumerate())
            .filter_map(|(at, (part, ..))| match part {
                Part::Capacitor(_) => Some(format!("P{at}.u")),
                Part::Inductor(_) => Some(format!("P{at}.i")),
                _ => None,
            })
            .collect()
    }
}

/// E x' + G x = s: potentials of the nodes but ground, then currents of coils and voltage sources.
struct Nodal<'c> {
    circuit: &'c Circuit,
    e: DMatrix<f64>,
    g: DMatrix<f64>,
}

impl<'c> Nodal<'c> {
    fn new(circuit: &'c Circuit) -> Nodal<'c> {
        let potentials = circuit.nodes - 1;
        let more = (circuit.parts.iter())
            .filter(|(part, ..)| {
                matches!(
                    part,
                    Part::Inductor(_) | Part::Source { current: false, .. }
                )
            })
            .count();
        let size = potentials + more;
        let (mut e, mut g) = (DMatrix::zeros(size, size), DMatrix::zeros(size, size));
        let mut next = potentials;
        for &(part, a, b) in &circuit.parts {
            let ends = [(a, 1.0), (b, -1.0)];
            let ends = ends.iter().filter(|(node, _)| *node > 0);
            let ends: Vec<(usize, f64)> = ends.map(|&(node, sign)| (node - 1, sign)).collect();
            let between = |matrix: &mut DMatrix<f64>, value: f64| {
                for &(i, left) in &ends {
                    for &(j, right) in &ends {
                        matrix[(i, j)] += left * right * value;
                    }
                }
            };
            match part {
                Part::Resistor(value) => between(&mut g, 1.0 / value),
                Part::Capacitor(value) => between(&mut e, value),
                Part::Source { current: true, .. } => {}
                Part::Inductor(_) | Part::Source { .. } => {
                    for &(i, sign) in &ends {
                        g[(i, next)] += sign;
                        g[(next, i)] += sign;
                    }
                    if let Part::Inductor(value) = part {
                        e[(next, next)] = -value;
                    }
                    next += 1;
                }
            }
        }
        Nodal { circuit, e, g }
    }

    fn sources(&self, time: f64) -> DVector<f64> {
        let mut s = DVector::zeros(self.e.nrows());
        let mut next = self.circuit.nodes - 1;
        for &(part, a, b) in &self.circuit.parts {
            match part {
                Part::Inductor(_) => next += 1,
                Part::Source {
                    height,
                    wave,
                    current,
                } => {
                    let value = if wave.high(time) { height } else { 0.0 };
                    match current {
                        // It goes from a to b through the source.
                        true => {
                            for (node, sign) in [(a, -1.0), (b, 1.0)] {
                                if node > 0 {
                                    s[node - 1] += sign * value;
                                }
                            }
                        }
                        // Vb - Va
                        false => {
                            s[next] = -value;
                            next += 1;
                        }
                    }
                }
                _ => {}
            }
        }
        s
    }

    /// The values after a jump; `None` where the circuit determines nothing.
    fn jump(&self, before: &DVector<f64>, time: f64) -> Option<DVector<f64>> {
        // Rows and columns of E that are not zero are divided by the step, not the others multiplied by nothing.
        let step = 1e-9;
        let matrix = &self.e / step + &self.g;
        let right = &self.e * before / step + self.sources(time);
        matrix.lu().solve(&right)
    }

    /// Radau IIA with three stages: one step, the sources being constant in it.
    #[allow(clippy::needless_range_loop)]
    fn step(&self, before: &DVector<f64>, width: f64, time: f64) -> Option<DVector<f64>> {
        let root = 6.0_f64.sqrt();
        let a = [
            [
                (88.0 - 7.0 * root) / 360.0,
                (296.0 - 169.0 * root) / 1800.0,
                (-2.0 + 3.0 * root) / 225.0,
            ],
            [
                (296.0 + 169.0 * root) / 1800.0,
                (88.0 + 7.0 * root) / 360.0,
                (-2.0 - 3.0 * root) / 225.0,
            ],
            [(16.0 - root) / 36.0, (16.0 + root) / 36.0, 1.0 / 9.0],
        ];
        let size = self.e.nrows();
        // E (X_i - x) = h sum a_ij (s - G X_j)
        let mut matrix = DMatrix::zeros(3 * size, 3 * size);
        let mut right = DVector::zeros(3 * size);
        let s = self.sources(time + 0.5 * width);
        let start = &self.e * before;
        for i in 0..3 {
            for j in 0..3 {
                let mut block = &self.g * (width * a[i][j]);
                if i == j {
                    block += &self.e;
                }
                matrix
                    .view_mut((i * size, j * size), (size, size))
                    .copy_from(&block);
            }
            let sum: f64 = a[i].iter().sum();
            right
                .rows_mut(i * size, size)
                .copy_from(&(&start + &s * (width * sum)));
        }
        let stages = matrix.lu().solve(&right)?;
        Some(stages.rows(2 * size, size).into_owned())
    }

    /// Voltages of capacitors and currents of coils.
    fn values(&self, x: &DVector<f64>) -> Vec<f64> {
        let potential = |node: usize| if node == 0 { 0.0 } else { x[node - 1] };
        let mut next = self.circuit.nodes - 1;
        let mut found = Vec::new();
        for &(part, a, b) in &self.circuit.parts {
            match part {
                Part::Capacitor(_) => found.push(potential(a) - potential(b)),
                Part::Inductor(_) => {
                    found.push(x[next]);
                    next += 1;
                }
                Part::Source { current: false, .. } => next += 1,
                _ => {}
            }
        }
        found
    }

    /// At these times, which are no edges; all is zero at the start.
    fn run(&self, times: &[f64]) -> Option<Vec<Vec<f64>>> {
        let mut edges: Vec<f64> = (self.circuit.parts.iter())
            .filter_map(|(part, ..)| match part {
                Part::Source { wave, .. } => Some(wave.edges()),
                _ => None,
            })
            .flatten()
            .filter(|&at| at < UNTIL)
            .collect();
        edges.sort_by(f64::total_cmp);
        edges.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
        let mut x = DVector::zeros(self.e.nrows());
        let mut now = 0.0;
        let mut rows = Vec::new();
        let mut stops: Vec<(f64, bool)> = (edges.iter().map(|&at| (at, true)))
            .chain(times.iter().map(|&at| (at, false)))
            .collect();
        stops.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (at, edge) in stops {
            let width = at - now;
            let count = (width / 0.01).ceil().max(1.0);
            if width > 0.0 {
                for k in 0..count as usize {
                    let begin = now + width * k as f64 / count;
                    x = self.step(&x, width / count, begin)?;
                }
            }
            now = at;
            match edge {
                // Just after the edge, whatever the last digit of its time.
                true => x = self.jump(&x, at + 1e-11)?,
                false => rows.push(self.values(&x)),
            }
        }
        Some(rows)
    }
}

/// How many jumps it had; why it is wrong.
#[allow(clippy::print_stdout)]
fn tried(seed: u64, show: bool) -> Result<Option<u64>, String> {
    let circuit = Circuit::random(seed);
    let names = circuit.names();
    if names.is_empty() {
        return Ok(None);
    }
    let text = circuit.text();
    if show {
        println!("{text}");
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let trial = Trial::of(&text, UNTIL).points(ROWS).tolerance(1e-10, 1e-12);
    let result = std::panic::catch_unwind(|| trial.run(&names));
    let result = result.map_err(|why| match why.downcast::<String>() {
        Ok(why) => format!("refused: {why}"),
        Err(_) => "panics".to_string(),
    })?;
    if let Some(failure) = &result.failure {
        return Err(format!("{:?}: {failure}", result.code));
    }
    let Some(rows) = Nodal::new(&circuit).run(&result.times) else {
        return Err("it was run, and determines nothing".to_string());
    };
    for ((time, found), truth) in result.times.iter().zip(&result.rows).zip(&rows) {
        for ((name, found), truth) in names.iter().zip(found).zip(truth) {
            if (found - truth).abs() > 1e-6 * (1.0 + truth.abs()) {
                return Err(format!("{name} at {time}: {found}, not {truth}"));
            }
        }
    }
    Ok(Some(result.summary.jump_count))
}

#[test]
#[allow(clippy::print_stdout)]
fn circuits_that_step() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (first, count) = match number("BGM_SEED") {
        Some(seed) => (seed, 1),
        None => (
            number("BGM_FIRST").unwrap_or(0),
            number("BGM_CASES").unwrap_or(60),
        ),
    };
    let (mut done, mut jumped) = (0, 0);
    let mut wrong = Vec::new();
    for seed in first..first + count {
        match tried(seed, number("BGM_SEED").is_some()) {
            Ok(Some(jumps)) => {
                done += 1;
                jumped += u64::from(jumps > 0);
            }
            Ok(None) => {}
            Err(why) => wrong.push(format!("{seed}: {why}")),
        }
    }
    println!(
        "{done} circuits, {jumped} of them jump, {} are wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count < 60 || jumped > count / 10, "{jumped} of {done} jump");
}

/// Programs in C and Python jump as `bgm simulate` does.
#[test]
fn programs_of_circuits_that_step() {
    if !has("cc") {
        return;
    }
    let (mut agree, mut wrong) = (0, Vec::new());
    for seed in 0..12 {
        let circuit = Circuit::random(seed);
        if circuit.names().is_empty() {
            continue;
        }
        let python = has("python3") && seed % 3 == 0;
        match compared(&circuit.text(), &format!("steps-{seed}"), python) {
            ("agrees", _) => agree += 1,
            (outcome, why) => wrong.push(format!("{seed}: {outcome} {why:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(agree > 6, "{agree}");
}
