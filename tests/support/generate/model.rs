//! A generated model: parts at points, which can be written in any order and made smaller.

use super::types;
use crate::support::random::Random;

/// One submodel, or none (only declarations and equations).
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub name: String,
    /// The type; empty for a part that is no submodel.
    pub class: &'static str,
    /// `R = 2`
    pub settings: Vec<String>,
    /// Which cut (`""` for the main one) is at which point.
    pub cuts: Vec<(&'static str, usize)>,
    /// Two points are joined by `from .. to ..`.
    pub path: bool,
    /// `input u3`, `local x`
    pub declarations: Vec<String>,
    pub equations: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    /// What is included; empty for nothing.
    pub library: &'static str,
    /// Whether a point is a `junction1`.
    pub points: Vec<bool>,
    pub parts: Vec<Part>,
    /// Numbers given to names.
    pub names: usize,
}

impl Model {
    pub fn of(library: &'static str) -> Self {
        Model {
            library,
            ..Model::default()
        }
    }

    pub fn point(&mut self, junction1: bool) -> usize {
        self.points.push(junction1);
        self.points.len() - 1
    }

    pub fn fresh(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    /// A part at one point, or from one to another.
    pub fn add(&mut self, class: &'static str, settings: Vec<String>, at: &[usize]) -> usize {
        let name = self.fresh("X");
        self.parts.push(Part {
            name,
            class,
            settings,
            cuts: at.iter().map(|&point| ("", point)).collect(),
            path: at.len() == 2,
            ..Part::default()
        });
        self.parts.len() - 1
    }

    pub fn statement(&mut self, declaration: String, equation: String) {
        self.parts.push(Part {
            declarations: Vec::from_iter((!declaration.is_empty()).then_some(declaration)),
            equations: Vec::from_iter((!equation.is_empty()).then_some(equation)),
            ..Part::default()
        });
    }

    pub fn text(&self) -> String {
        self.write(&mut None)
    }

    /// Declarations, equations and connections in another order.
    pub fn shuffled(&self, random: &mut Random) -> String {
        self.write(&mut Some(random))
    }

    fn write(&self, random: &mut Option<&mut Random>) -> String {
        let mut statements = Vec::new();
        let mut used = vec![false; self.points.len()];
        for part in &self.parts {
            if !part.class.is_empty() {
                let settings = match part.settings.is_empty() {
                    true => String::new(),
                    false => format!("({})", part.settings.join(", ")),
                };
                let (class, name) = (part.class, &part.name);
                statements.push(format!("submodel ({class}) {name}{settings}"));
            }
            statements.extend(part.declarations.iter().cloned());
            for &(_, point) in &part.cuts {
                used[point] = true;
            }
        }
        for (point, &junction1) in self.points.iter().enumerate() {
            if used[point] {
                let word = if junction1 { "junction1" } else { "node" };
                statements.push(format!("{word} p{point}"));
            }
        }
        for part in &self.parts {
            statements.extend(part.connections());
        }
        for part in &self.parts {
            statements.extend(part.equations.iter().cloned());
        }
        let mut own: Vec<&str> = types::OWN
            .iter()
            .filter(|(name, _)| self.parts.iter().any(|part| part.class == *name))
            .map(|(_, text)| *text)
            .collect();
        if let Some(random) = random {
            random.shuffle(&mut statements);
            random.shuffle(&mut own);
        }
        let library = match self.library {
            "" => String::new(),
            name => format!("@{name}\n"),
        };
        format!(
            "{library}{}model M\n  {}\nend\n",
            own.concat(),
            statements.join("\n  ")
        )
    }

    /// The smallest model that still fails: parts are left out, points joined, values made plain,
    /// while that helps.
    pub fn shrunk(mut self, fails: impl Fn(&Model) -> bool) -> Model {
        let mut tries = 2000;
        loop {
            let mut smaller = None;
            for candidate in self.smaller() {
                tries -= 1;
                if fails(&candidate) {
                    smaller = Some(candidate);
                    break;
                }
                if tries == 0 {
                    return self;
                }
            }
            match smaller {
                Some(model) => self = model,
                None => return self,
            }
        }
    }

    fn smaller(&self) -> Vec<Model> {
        let mut found = Vec::new();
        let count = self.parts.len();
        // Halves, quarters, ... and single parts.
        let mut run = count / 2;
        while run > 0 {
            for first in (0..count).step_by(run) {
                let mut model = self.clone();
                model.parts.drain(first..(first + run).min(count));
                found.push(model);
            }
            run /= 2;
        }
        // A part becomes a wire.
        for at in 0..count {
            if let [(_, a), (_, b)] = self.parts[at].cuts[..]
                && a != b
                && self.points[a] == self.points[b]
            {
                let mut model = self.clone();
                model.parts.remove(at);
                for (_, point) in model.parts.iter_mut().flat_map(|part| &mut part.cuts) {
                    if *point == b {
                        *point = a;
                    }
                }
                found.push(model);
            }
        }
        // What was computed is given.
        for at in 0..count {
            if let [declaration] = &self.parts[at].declarations[..]
                && let Some(name) = declaration.strip_prefix("local ")
            {
                let mut model = self.clone();
                model.parts[at].declarations = vec![format!("input {name}")];
                model.parts[at].equations.clear();
                found.push(model);
            }
        }
        for at in 0..count {
            for setting in 0..self.parts[at].settings.len() {
                let mut model = self.clone();
                model.parts[at].settings.remove(setting);
                found.push(model);
            }
        }
        found
    }
}

impl Part {
    fn connections(&self) -> Vec<String> {
        if self.path {
            let [(_, a), (_, b)] = self.cuts[..] else {
                return Vec::new();
            };
            return vec![format!("connect {} from p{a} to p{b}", self.name)];
        }
        (self.cuts.iter())
            .map(|(cut, point)| match *cut {
                "" => format!("connect {} at p{point}", self.name),
                cut => format!("connect {}:{cut} at p{point}", self.name),
            })
            .collect()
    }
}
