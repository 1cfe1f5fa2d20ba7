//! An interpreter of as much of DESIRE, SIMNON and ACSL as programs are written in. It shares no code with what writes them.

mod expression;

use std::collections::HashMap;

use expression::value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Desire,
    Simnon,
    Acsl,
}

impl Language {
    pub fn name(self) -> &'static str {
        match self {
            Language::Desire => "desire",
            Language::Simnon => "simnon",
            Language::Acsl => "acsl",
        }
    }

    /// Names as they are compared.
    fn key(self, name: &str) -> String {
        match self {
            Language::Desire => name.to_string(),
            _ => name.to_lowercase(),
        }
    }
}

#[derive(Clone, Debug)]
enum Line {
    Set(String, String),
    Rate(String, String),
}

pub struct Program {
    language: Language,
    pub states: Vec<String>,
    pub discretes: Vec<String>,
    start: HashMap<String, f64>,
    lines: Vec<Line>,
    events: Vec<Line>,
    /// SIMNON: new values, and the states they are for.
    new: Vec<(String, String)>,
    /// ACSL: events are scheduled where these cross zero; upwards only, or both ways.
    crossings: Vec<(bool, String)>,
}

pub struct Run<'p> {
    program: &'p Program,
    values: HashMap<String, f64>,
    rates: HashMap<String, f64>,
}

fn set(line: &str) -> Line {
    let (left, right) = line
        .split_once('=')
        .unwrap_or_else(|| panic!("no assignment: {line}"));
    Line::Set(left.trim().to_string(), right.trim().to_string())
}

impl Program {
    pub fn read(text: &str, language: Language) -> Program {
        let mut program = Program {
            language,
            states: Vec::new(),
            discretes: Vec::new(),
            start: HashMap::new(),
            lines: Vec::new(),
            events: Vec::new(),
            new: Vec::new(),
            crossings: Vec::new(),
        };
        match language {
            Language::Desire => program.desire(text),
            Language::Simnon => program.simnon(text),
            Language::Acsl => program.acsl(text),
        }
        program
    }

    fn give(&mut self, name: &str, text: &str) {
        let none = HashMap::new();
        let value = value(text, self.language, &none);
        let before = self.start.insert(self.language.key(name.trim()), value);
        assert!(before.is_none(), "{name} is given twice");
    }

    fn desire(&mut self, text: &str) {
        let (head, rest) = text.split_once("\nDYNAMIC\n").expect("a dynamic part");
        let (body, _) = rest.split_once("\n---").expect("an end");
        let (body, events) = body.split_once("\nstep\n").unwrap_or((body, ""));
        let mut discrete = false;
        for line in head.lines() {
            if let Some(states) = line.strip_prefix("-- STATE") {
                self.states = states.split_whitespace().map(str::to_string).collect();
            } else if line.starts_with("--") {
                discrete = line.contains("DISCRETE");
            } else if line.contains(" | DT = ") {
                break;
            } else {
                let (name, value) = line.split_once('=').expect("a value");
                self.give(name, value);
                if discrete && !is_remembered(name) && !name.starts_with("u ") {
                    self.discretes.push(name.trim().to_string());
                }
            }
        }
        for line in body.lines().filter(|line| !line.starts_with("--")) {
            self.lines.push(match line.strip_prefix("d/dt ") {
                Some(rest) => match set(rest) {
                    Line::Set(name, value) => Line::Rate(name, value),
                    rate => rate,
                },
                None => set(line),
            });
        }
        self.events = events.lines().map(set).collect();
    }

    fn simnon(&mut self, text: &str) {
        let mut system = 0;
        let mut rates: Vec<String> = Vec::new();
        let mut new = (Vec::new(), Vec::new());
        let mut given: Vec<String> = Vec::new();
        for line in text.lines() {
            // A comment goes to the end of the line.
            let line = line.split('"').next().unwrap_or("").trim();
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let words = || {
                rest.split_whitespace()
                    .map(str::to_string)
                    .collect::<Vec<_>>()
            };
            match (word, system) {
                ("CONTINUOUS" | "DISCRETE" | "CONNECTING", _) => system += 1,
                ("", _) | ("TIME" | "TSAMP" | "END" | "OUTPUT", _) => {}
                ("INPUT", 1) => self.discretes = words(),
                ("STATE", 1) => self.states = words(),
                ("DER", 1) => rates = words(),
                ("STATE", 2) => new.0 = words(),
                ("NEW", 2) => new.1 = words(),
                ("INPUT", _) => {}
                (_, 3) => assert!(line.contains("] = "), "{line}"),
                (name, _) if name.ends_with(':') => {
                    let name = name.trim_end_matches(':');
                    assert!(!name.is_empty(), "{line}");
                    let key = format!("{system}{name}");
                    assert!(!given.contains(&key), "{name} is given twice");
                    given.push(key);
                    let none = HashMap::new();
                    let value = value(rest, self.language, &none);
                    self.start.insert(self.language.key(name), value);
                }
                (_, 1) => self.lines.push(match set(line) {
                    Line::Set(name, value) => match rates.iter().position(|rate| *rate == name) {
                        Some(at) => Line::Rate(self.states[at].clone(), value),
                        None => Line::Set(name, value),
                    },
                    rate => rate,
                }),
                _ => self.events.push(set(line)),
            }
        }
        // A rate can be mentioned by its own name.
        let lines = std::mem::take(&mut self.lines);
        for line in lines {
            if let Line::Rate(state, value) = &line
                && let Some(at) = self.states.iter().position(|one| one == state)
            {
                self.lines.push(Line::Set(rates[at].clone(), value.clone()));
                self.lines
                    .push(Line::Rate(state.clone(), rates[at].clone()));
                continue;
            }
            self.lines.push(line);
        }
        self.new = new.1.into_iter().zip(new.0).collect();
    }

    fn acsl(&mut self, text: &str) {
        let text = text.replace(" ...\n", " ");
        let mut section = "";
        let mut logical: Vec<String> = Vec::new();
        for line in text.lines() {
            if let Some(states) = line.strip_prefix("! STATE ") {
                self.states = states.split_whitespace().map(str::to_string).collect();
            }
            let line = line.split('!').next().unwrap_or("").trim();
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "INITIAL" | "DERIVATIVE" | "DISCRETE" => section = word_of(word),
                "END" => section = "",
                "CONSTANT" => {
                    let (name, value) = rest.split_once('=').expect("a value");
                    self.give(name, value);
                }
                "LOGICAL" => logical = rest.split(", ").map(str::to_string).collect(),
                "SCHEDULE" => {
                    let upwards = rest.strip_prefix("EVENTS .XP. ");
                    let crossing = upwards.or_else(|| rest.strip_prefix("EVENTS .XZ. "));
                    let crossing = crossing.unwrap_or_else(|| panic!("{line}"));
                    assert_eq!(section, "DERIVATIVE", "{line}");
                    self.crossings
                        .push((upwards.is_some(), crossing.to_string()));
                }
                "" | "PROGRAM" | "VARIABLE" | "CINTERVAL" | "DYNAMIC" | "PROCEDURAL"
                | "TERMINAL" => {}
                _ if word.starts_with("TERMT") => {}
                _ => match (section, set(line)) {
                    ("INITIAL", Line::Set(name, value)) => {
                        self.give(&name, &value);
                        if !is_remembered(&name) {
                            self.discretes.push(name);
                        }
                    }
                    ("DERIVATIVE", Line::Set(name, value)) => match value.strip_prefix("INTEG(") {
                        Some(inner) => {
                            let (rate, start) = inner.rsplit_once(", ").expect("a start value");
                            self.give(&name, start.trim_end_matches(')'));
                            self.lines.push(Line::Rate(name, rate.to_string()));
                        }
                        None => self.lines.push(Line::Set(name, value)),
                    },
                    (_, line) => self.events.push(line),
                },
            }
        }
        for name in &self.discretes {
            let number = self.start[&self.language.key(name)];
            assert!(
                number == 0.0 || number == 1.0 || !logical.contains(name),
                "{name}"
            );
        }
    }

    /// Everything that has a name.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.start.keys().cloned().collect();
        for line in self.lines.iter().chain(&self.events) {
            let (Line::Set(name, _) | Line::Rate(name, _)) = line;
            names.push(name.clone());
        }
        names
    }

    pub fn begin(&self, time: f64) -> Run<'_> {
        let mut values = self.start.clone();
        let name = if self.language == Language::Acsl {
            "T"
        } else {
            "t"
        };
        values.insert(self.language.key(name), time);
        Run {
            program: self,
            values,
            rates: HashMap::new(),
        }
    }
}

/// What a program remembers besides its variables: truths, and times of samples.
fn is_remembered(name: &str) -> bool {
    name.starts_with("was") || name.starts_with("tnext")
}

fn word_of(word: &str) -> &'static str {
    match word {
        "INITIAL" => "INITIAL",
        "DERIVATIVE" => "DERIVATIVE",
        _ => "DISCRETE",
    }
}

impl Run<'_> {
    pub fn set(&mut self, name: &str, value: f64) {
        let key = self.program.language.key(name);
        assert!(self.values.contains_key(&key), "{name} has no start value");
        self.values.insert(key, value);
    }

    pub fn get(&self, name: &str) -> f64 {
        self.values[&self.program.language.key(name)]
    }

    pub fn rate(&self, name: &str) -> f64 {
        self.rates[&self.program.language.key(name)]
    }

    pub fn start(&self, name: &str) -> f64 {
        self.program.start[&self.program.language.key(name)]
    }

    fn value(&self, text: &str) -> f64 {
        value(text, self.program.language, &self.values)
    }

    /// Computes everything once, in the order of the program.
    pub fn derive(&mut self) {
        for line in &self.program.lines {
            match line {
                Line::Set(name, text) => {
                    let value = self.value(text);
                    self.values.insert(self.program.language.key(name), value);
                }
                Line::Rate(name, text) => {
                    let value = self.value(text);
                    self.rates.insert(self.program.language.key(name), value);
                }
            }
        }
    }

    fn states(&self) -> Vec<f64> {
        (self.program.states.iter())
            .map(|name| self.get(name))
            .collect()
    }

    fn rates_at(&mut self, time: f64, states: &[f64]) -> Vec<f64> {
        let key = self.program.language.key("T");
        let time_name = if self.program.language == Language::Acsl {
            key
        } else {
            "t".into()
        };
        self.values.insert(time_name, time);
        for (name, &value) in self.program.states.iter().zip(states) {
            self.set(name, value);
        }
        self.derive();
        (self.program.states.iter())
            .map(|name| self.rate(name))
            .collect()
    }

    /// A step of the classic method of Runge and Kutta.
    fn step(&mut self, time: f64, h: f64) {
        let x = self.states();
        let moved =
            |k: &[f64], h: f64| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + h * k).collect() };
        let k1 = self.rates_at(time, &x);
        let k2 = self.rates_at(time + h / 2.0, &moved(&k1, h / 2.0));
        let k3 = self.rates_at(time + h / 2.0, &moved(&k2, h / 2.0));
        let k4 = self.rates_at(time + h, &moved(&k3, h));
        let end: Vec<f64> = (0..x.len())
            .map(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
            .collect();
        self.rates_at(time + h, &end);
    }

    fn sides(&self) -> Vec<f64> {
        (self.program.crossings.iter())
            .map(|(_, text)| self.value(text))
            .collect()
    }

    /// Runs as the system of the language does, in small steps: DESIRE looks after each of them, SIMNON at its sampling
    /// times, ACSL where something crosses zero. What is seen at each time of output is told before and after what happens then.
    pub fn simulate(
        &mut self,
        every: f64,
        rows: usize,
        parts: usize,
        see: &mut dyn FnMut(&Self, usize),
    ) {
        let h = every / parts as f64;
        let simnon = self.program.language == Language::Simnon && !self.program.new.is_empty();
        let begin = self.states();
        self.rates_at(0.0, &begin);
        if simnon {
            self.happen();
            self.derive();
        }
        let mut sides = self.sides();
        see(self, 0);
        for step in 1..rows * parts {
            let (from, to) = ((step - 1) as f64 * h, step as f64 * h);
            self.step(from, h);
            let row = (step % parts == 0).then_some(step / parts);
            let due = match self.program.language {
                Language::Desire => true,
                Language::Simnon => simnon && to >= self.get("ts") - 0.01 * h,
                Language::Acsl => {
                    let now = self.sides();
                    let crossed = |((was, now), (upwards, _)): ((&f64, &f64), &(bool, String))| {
                        let up = *was < 0.0 && *now >= -1e-9;
                        up || !upwards && (*was > 0.0) != (*now > 0.0)
                    };
                    let pairs = sides.iter().zip(&now);
                    let due = pairs.zip(&self.program.crossings).any(crossed);
                    sides = now;
                    due
                }
            };
            if let Some(row) = row.filter(|_| due) {
                see(self, row);
            }
            if due {
                self.happen();
                self.derive();
                sides = self.sides();
            }
            if let Some(row) = row {
                see(self, row);
            }
        }
    }

    /// What happens once.
    pub fn happen(&mut self) {
        for line in &self.program.events {
            if let Line::Set(name, text) = line {
                let value = self.value(text);
                self.values.insert(self.program.language.key(name), value);
            }
        }
        for (new, state) in &self.program.new {
            let value = self.get(new);
            self.set(state, value);
        }
    }
}
