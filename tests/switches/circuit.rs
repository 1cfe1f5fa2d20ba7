//! Random circuits of resistors, storages, sources, ideal switches and diodes: connected, and otherwise anything.

use std::fmt::Write;

use crate::residuals::{At, Record};
use crate::support::random::Random;

const LEAK: &str = "GOpen = 1e-7, RClosed = 1e-7";

#[derive(Clone, Debug)]
pub struct Part {
    class: &'static str,
    name: String,
    value: f64,
    /// Settings beside the value.
    more: String,
    ends: [usize; 2],
    drive: Option<Drive>,
}

/// What a source or a switch is told from outside.
#[derive(Clone, Copy, Debug)]
pub enum Drive {
    /// Amplitude and angular frequency.
    Sine(f64, f64),
    /// The same with an angle at the start.
    Phased(f64, f64, f64),
    /// Instant and height.
    Step(f64, f64),
    /// Period, width, height.
    Pulse(f64, f64, f64),
    Before(f64),
    From(f64),
    /// Within the first part of each period.
    Within(f64, f64),
    SineAbove(f64, f64),
}

impl Drive {
    fn text(self) -> String {
        match self {
            Drive::Sine(height, w) => format!("{height}*sin({w}*Time)"),
            Drive::Phased(height, w, angle) => format!("{height}*sin({w}*Time + {angle})"),
            Drive::Step(at, height) => format!("if Time < {at} then 0 else {height}"),
            Drive::Pulse(period, width, height) => {
                format!("if mod(Time, {period}) < {width} then 0 else {height}")
            }
            Drive::Before(at) => format!("Time < {at}"),
            Drive::From(at) => format!("Time >= {at}"),
            Drive::Within(period, width) => format!("mod(Time, {period}) < {width}"),
            Drive::SineAbove(w, level) => format!("sin({w}*Time) > {level}"),
        }
    }

    /// Its value just after an instant; truths are one and zero.
    pub fn value(self, time: f64) -> f64 {
        let phase = |period: f64| (time + 1e-12).rem_euclid(period);
        let truth = |truth: bool| f64::from(u8::from(truth));
        match self {
            Drive::Sine(height, w) => height * (w * time).sin(),
            Drive::Phased(height, w, angle) => height * (w * time + angle).sin(),
            Drive::Step(at, height) => height * truth(time + 1e-12 >= at),
            Drive::Pulse(period, width, height) => height * truth(phase(period) >= width),
            Drive::Before(at) => truth(time + 1e-12 < at),
            Drive::From(at) => truth(time + 1e-12 >= at),
            Drive::Within(period, width) => truth(phase(period) < width),
            Drive::SineAbove(w, level) => truth((w * time).sin() > level),
        }
    }
}

/// A part as others see it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'p> {
    pub class: &'p str,
    pub value: f64,
    /// Of a storage.
    pub start: f64,
    pub ends: [usize; 2],
    pub drive: Option<Drive>,
}

#[derive(Clone, Debug, Default)]
pub struct Circuit {
    pub parts: Vec<Part>,
    nodes: usize,
    /// Sources step and pulse, too.
    edges: bool,
}

impl Circuit {
    pub fn generate(random: &mut Random) -> Circuit {
        Circuit::with_edges(random, false)
    }

    /// The same with sources that step and pulse as well.
    pub fn with_edges(random: &mut Random, edges: bool) -> Circuit {
        let mut circuit = Circuit {
            nodes: random.within(3, 6),
            edges,
            ..Circuit::default()
        };
        let core = circuit.nodes;
        for node in 1..core {
            let other = random.below(node);
            circuit.branch(random, [node, other]);
        }
        for _ in 0..random.within(1, core) {
            let (a, b) = (random.below(core), random.below(core));
            if a != b {
                circuit.branch(random, [a, b]);
            }
        }
        circuit
    }

    /// A voltage multiplier of 2 to 8 stages, each a diode and a capacitor, with or without a load and a resistor at its source.
    pub fn multiplier(random: &mut Random) -> Circuit {
        let stages = random.within(2, 8);
        let mut circuit = Circuit {
            nodes: stages + 2,
            ..Circuit::default()
        };
        let alike = random.chance(50).then(|| random.number(0.5, 2.0));
        let angle = *random.pick(&[0.0, 0.0, 0.7, std::f64::consts::FRAC_PI_2, 3.0]);
        let drive = Drive::Phased(random.number(1.0, 10.0), random.number(2.0, 9.0), angle);
        let mut source = 1;
        if random.chance(40) {
            circuit.nodes += 1;
            source = circuit.nodes - 1;
            let resistance = random.number(0.05, 1.0);
            circuit.add("Resistor", resistance, [source, 1]);
        }
        circuit.add("VoltageSource", 0.0, [source, 0]).drive = Some(drive);
        // The node of each stage; the source and the ground are the first two.
        let node = |stage: usize| match stage {
            0 => 0,
            stage => stage + 1,
        };
        for stage in 1..=stages {
            circuit.add("IdealDiode", 0.0, [node(stage - 1), node(stage)]);
            let capacity = alike.unwrap_or_else(|| random.number(0.5, 2.0));
            let back = match stage {
                1 => 1,
                stage => node(stage - 2),
            };
            let capacitor = circuit.add("Capacitor", capacity, [back, node(stage)]);
            capacitor.more = ", ic u = 0".into();
        }
        if random.chance(60) {
            let end = usize::from(!stages.is_multiple_of(2));
            circuit.add("Resistor", random.number(2.0, 50.0), [node(stages), end]);
        }
        circuit
    }

    fn add(&mut self, class: &'static str, value: f64, ends: [usize; 2]) -> &mut Part {
        let letter = class.chars().rfind(|c| c.is_uppercase()).unwrap_or('X');
        let name = format!("{letter}{}", self.parts.len() + 1);
        self.parts.push(Part {
            class,
            name,
            value,
            more: String::new(),
            ends,
            drive: None,
        });
        self.parts.last_mut().expect("one was added")
    }

    fn branch(&mut self, random: &mut Random, ends: [usize; 2]) {
        let ends = match random.chance(50) {
            true => ends,
            false => [ends[1], ends[0]],
        };
        let value = random.number(0.5, 2.0);
        match random.below(100) {
            0..25 => drop(self.add("Resistor", value, ends)),
            25..40 => {
                let start = random.number(-2.0, 2.0);
                let part = self.add("Capacitor", value, ends);
                part.more = format!(", ic u = {start}");
            }
            40..55 => {
                let start = match random.chance(25) {
                    true => random.number(-2.0, 2.0),
                    false => 0.0,
                };
                let part = self.add("Inductor", value, ends);
                part.more = format!(", ic i = {start}");
            }
            55..70 => {
                let mut from = ends[0];
                if random.chance(70) {
                    self.nodes += 1;
                    let middle = self.nodes - 1;
                    self.add("Resistor", value, [from, middle]);
                    from = middle;
                }
                let ends = [from, ends[1]];
                match random.chance(50) {
                    true => drop(self.add("ConstantVoltage", value, ends)),
                    false => {
                        let mut wave = Drive::Sine(value, random.number(1.0, 6.0));
                        if self.edges {
                            let at = random.number(0.2, 2.0);
                            match random.below(3) {
                                0 => wave = Drive::Step(at, value),
                                1 => wave = Drive::Pulse(at, random.number(0.3, 0.7) * at, value),
                                _ => {}
                            }
                        }
                        self.add("VoltageSource", value, ends).drive = Some(wave);
                    }
                }
            }
            70..73 => {
                self.add("ConstantCurrent", value, ends);
                if random.chance(60) {
                    self.add("Resistor", value, ends);
                }
            }
            73..87 => drop(self.add("IdealDiode", 0.0, ends)),
            _ => {
                let at = random.number(0.2, 2.5);
                let signal = match random.below(4) {
                    0 => Drive::Before(at),
                    1 => Drive::From(at),
                    2 => Drive::Within(at, (at * 50.0).round() / 100.0),
                    _ => Drive::SineAbove(random.number(1.0, 5.0), 0.3),
                };
                self.add("IdealSwitch", 0.0, ends).drive = Some(signal);
            }
        }
    }

    pub fn text(&self, leaky: bool) -> String {
        let mut text = String::from("@electrical\n");
        if leaky {
            text += "model class (Switch) LeakyDiode
  new(OpenSwitch) = if OpenSwitch then not u > 0 else not i > 0
end
";
        }
        text += "model M\n  submodel Ground\n";
        let used = |node: usize| self.parts.iter().any(|part| part.ends.contains(&node));
        for node in (0..self.nodes).filter(|&node| used(node)) {
            writeln!(text, "  node n{node}").expect("a string takes all");
        }
        for part in &self.parts {
            let (class, settings) = match (part.class, leaky) {
                ("IdealDiode", true) => ("LeakyDiode", LEAK.into()),
                ("IdealSwitch", true) => ("Switch", LEAK.into()),
                (class @ ("IdealDiode" | "IdealSwitch" | "VoltageSource"), _) => {
                    (class, String::new())
                }
                (class, _) => {
                    let name = &class[..1];
                    let parameter = match class {
                        "Inductor" => "L",
                        "ConstantVoltage" => "E",
                        "ConstantCurrent" => "I",
                        _ => name,
                    };
                    (class, format!("{parameter} = {}{}", part.value, part.more))
                }
            };
            let settings = match settings.is_empty() {
                true => settings,
                false => format!("({settings})"),
            };
            let (name, [a, b]) = (&part.name, part.ends);
            writeln!(
                text,
                "  submodel ({class}) {name}{settings}\n  connect {name} from n{a} to n{b}"
            )
            .expect("a string takes all");
        }
        if used(0) {
            text += "  connect Ground at n0\n";
        }
        for part in &self.parts {
            let Some(drive) = part.drive else { continue };
            let terminal = if part.class == "VoltageSource" {
                "E0"
            } else {
                "OpenSwitch"
            };
            let (name, drive) = (&part.name, drive.text());
            writeln!(text, "  {name}.{terminal} = {drive}").expect("a string takes all");
        }
        text + "end\n"
    }

    pub fn seen(&self) -> impl Iterator<Item = Seen<'_>> {
        self.parts.iter().map(|part| Seen {
            class: part.class,
            value: part.value,
            start: (part.more.rsplit("= ").next())
                .and_then(|text| text.parse().ok())
                .unwrap_or(0.0),
            ends: part.ends,
            drive: part.drive,
        })
    }

    pub fn nodes(&self) -> usize {
        self.nodes
    }

    fn is(&self, classes: &[&str]) -> impl Iterator<Item = &Part> {
        let classes: Vec<String> = classes.iter().map(|one| (*one).to_string()).collect();
        (self.parts.iter()).filter(move |part| classes.iter().any(|class| class == part.class))
    }

    pub fn storages(&self) -> impl Iterator<Item = (&Part, String)> {
        self.is(&["Capacitor", "Inductor"]).map(|part| {
            let variable = if part.class == "Inductor" { "i" } else { "u" };
            (part, format!("{}.{variable}", part.name))
        })
    }

    /// The smallest circuit that still fails.
    pub fn shrunk(mut self, fails: &dyn Fn(&Circuit) -> bool) -> Circuit {
        'again: loop {
            for at in 0..self.parts.len() {
                let mut less = self.clone();
                let part = less.parts.remove(at);
                let mut joined = less.clone();
                for end in joined.parts.iter_mut().flat_map(|part| &mut part.ends) {
                    if *end == part.ends[0].max(part.ends[1]) {
                        *end = part.ends[0].min(part.ends[1]);
                    }
                }
                joined.parts.retain(|part| part.ends[0] != part.ends[1]);
                for smaller in [less, joined] {
                    if fails(&smaller) {
                        self = smaller;
                        continue 'again;
                    }
                }
            }
            return self;
        }
    }

    /// Charge and flux are conserved in every jump: what a part of the circuit that is tied together by sources and
    /// switches has in its capacitors, and what a loop of coils has.
    pub fn conserves(&self, record: &Record) -> Result<(), String> {
        for jump in &record.summary.jumps {
            let time = jump.time;
            let mut rows = record.rows.iter().rev();
            let after = rows.find(|row| row.0 != At::Before && row.1 <= time + 1e-9);
            let row = &after.expect("there is a row after it").2;
            (self.conserves_at(record, &jump.changes, row))
                .map_err(|why| format!("at Time = {time}: {why}"))?;
        }
        Ok(())
    }

    fn conserves_at(
        &self,
        record: &Record,
        changes: &[(String, f64, f64)],
        row: &[f64],
    ) -> Result<(), String> {
        // What a storage has more, and how much that is beside what it had.
        let gain = |part: &Part, variable: &str| {
            let name = format!("{}.{variable}", part.name);
            let change = changes.iter().find(|change| change.0 == name);
            change.map_or((0.0, 0.0), |(_, old, new)| {
                (part.value * (new - old), old.abs() + new.abs())
            })
        };
        let closed = |part: &&Part| {
            let at = record.column(&format!("{}.OpenSwitch", part.name));
            row[at.expect("it is in the equations")] == 0.0
        };
        // Charge goes through sources of voltage, switches that are closed, and diodes, which may be open again.
        let mut groups: Vec<usize> = (0..self.nodes).collect();
        for part in self.is(&["ConstantVoltage", "VoltageSource", "IdealDiode"]) {
            join(&mut groups, part.ends);
        }
        for part in self.is(&["IdealSwitch"]).filter(closed) {
            join(&mut groups, part.ends);
        }
        let mut charge = vec![(0.0, 1.0); self.nodes];
        for part in self.is(&["Capacitor"]) {
            let (gain, size) = gain(part, "u");
            for (end, sign) in part.ends.into_iter().zip([1.0, -1.0]) {
                let group = &mut charge[groups[end]];
                *group = (group.0 + sign * gain, group.1 + size);
            }
        }
        if let Some(at) = charge
            .iter()
            .position(|(sum, size)| sum.abs() > 1e-6 * size)
        {
            return Err(format!("charge around n{at}: {:e}", charge[at].0));
        }
        // What has no impulse of voltage holds nodes together; then coils in a loop.
        let mut groups: Vec<usize> = (0..self.nodes).collect();
        let stiff = ["ConstantVoltage", "VoltageSource", "Resistor", "Capacitor"];
        for part in self.is(&stiff) {
            join(&mut groups, part.ends);
        }
        for part in self.is(&["IdealSwitch"]).filter(closed) {
            join(&mut groups, part.ends);
        }
        // Impulses of potentials, from coil to coil.
        let mut potential: Vec<Option<f64>> = vec![None; self.nodes];
        for start in 0..self.nodes {
            if groups[start] != start || potential[start].is_some() {
                continue;
            }
            potential[start] = Some(0.0);
            let mut work = vec![start];
            while let Some(node) = work.pop() {
                for part in self.is(&["Inductor"]) {
                    let (flux, size) = gain(part, "i");
                    let [a, b] = part.ends.map(|end| groups[end]);
                    for (from, to, flux) in [(a, b, -flux), (b, a, flux)] {
                        if from != node {
                            continue;
                        }
                        let there = potential[node].unwrap_or(0.0) + flux;
                        match potential[to] {
                            Some(known) if (known - there).abs() > 1e-6 * (1.0 + size) => {
                                let off = known - there;
                                return Err(format!("flux around {}: {off:e}", part.name));
                            }
                            Some(_) => {}
                            None => {
                                potential[to] = Some(there);
                                work.push(to);
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn join(groups: &mut [usize], ends: [usize; 2]) {
    let (a, b) = (groups[ends[0]], groups[ends[1]]);
    for group in groups.iter_mut().filter(|group| **group == a.max(b)) {
        *group = a.min(b);
    }
}
