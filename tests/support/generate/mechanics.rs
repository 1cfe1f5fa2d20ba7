//! Random drives: trees of shafts with inertias, gears and differentials, with springs, dampers and
//! sources between them. Inertias on one tree of gears depend on each other, and on a source there.
//!
//! Written with velocities (the dependence is found by differentiating once) or with angles (twice).
//! Every one of them has a solution: gears and differentials form no loop, a tree of them has one
//! source of motion at most, and the first shaft has an inertia or a source.

use super::model::Model;
use super::signals;
use crate::support::random::Random;

struct Builder<'r> {
    model: Model,
    random: &'r mut Random,
    /// With angles, else with velocities.
    angles: bool,
    bent: bool,
    /// Shafts, each with its set of shafts that gears join.
    shafts: Vec<(usize, usize)>,
    /// Whether the motion of a set is given, or follows from others.
    driven: Vec<bool>,
    ground: Option<usize>,
}

pub fn generate(random: &mut Random, _: bool) -> Model {
    let (angles, bent) = (random.chance(40), random.chance(30));
    let mut builder = Builder {
        model: Model::default(),
        random,
        angles,
        bent,
        shafts: Vec::new(),
        driven: Vec::new(),
        ground: None,
    };
    let first = builder.shaft(None);
    match builder.random.chance(80) {
        true => builder.inertia(first.0),
        false => builder.motion(first),
    }
    for _ in 0..builder.random.within(1, 6) {
        builder.grow();
    }
    for _ in 0..builder.random.below(3) {
        builder.tie();
    }
    builder.model
}

impl Builder<'_> {
    /// A new shaft, in a set of its own or in that of another.
    fn shaft(&mut self, set: Option<usize>) -> (usize, usize) {
        let point = self.model.point(false);
        let set = set.unwrap_or_else(|| {
            self.driven.push(false);
            self.driven.len() - 1
        });
        self.shafts.push((point, set));
        (point, set)
    }

    /// The name of a type for velocities or for angles.
    fn named(&self, velocities: &'static str, angles: &'static str) -> &'static str {
        if self.angles { angles } else { velocities }
    }

    fn value(&mut self, name: &str) -> Vec<String> {
        vec![format!("{name} = {}", self.random.number(0.4, 2.5))]
    }

    fn inertia(&mut self, point: usize) {
        let kinds = match (self.angles, self.bent) {
            (true, _) => ["AngleInertia", "SecondInertia"],
            (false, true) => ["Inertia", "BentInertia"],
            (false, false) => ["Inertia", "Inertia"],
        };
        let class = *self.random.pick(&kinds);
        let settings = self.value("J");
        self.model.add(class, settings, &[point]);
    }

    fn signal(&mut self, class: &'static str, terminal: &str, point: usize) {
        let part = self.model.add(class, Vec::new(), &[point]);
        let signal = signals::real(&mut self.model, self.random);
        let name = self.model.parts[part].name.clone();
        let equation = format!("{name}.{terminal} = {signal}");
        self.model.parts[part].equations.push(equation);
    }

    fn motion(&mut self, (point, set): (usize, usize)) {
        self.driven[set] = true;
        match self.random.chance(20) {
            true => {
                self.model.add("Fixed", Vec::new(), &[point]);
            }
            false => self.signal("Motion", "W0", point),
        }
    }

    /// What turns two shafts against each other.
    fn between(&mut self, a: usize, b: usize) {
        let (spring, damper) = match self.bent && self.random.chance(50) {
            true => (
                self.named("BentSpring", "BentAngleSpring"),
                self.named("BentDamper", "BentAngleDamper"),
            ),
            false => (
                self.named("Spring", "AngleSpring"),
                self.named("Damper", "AngleDamper"),
            ),
        };
        let kind = self.random.below(3);
        if kind < 2 {
            let settings = self.value("c");
            self.model.add(spring, settings, &[a, b]);
        }
        if kind > 0 {
            let settings = self.value("d");
            self.model.add(damper, settings, &[a, b]);
        }
    }

    fn grow(&mut self) {
        let (from, set) = *self.random.pick(&self.shafts);
        match self.random.below(10) {
            0..5 => {
                let to = self.shaft(Some(set));
                self.gear(from, to.0);
                self.load(to);
            }
            5 | 6 => {
                let (side, carrier) = (self.shaft(None), self.shaft(None));
                let part = self.random.number(0.3, 0.7);
                let at = self
                    .model
                    .add("Differential", vec![format!("p = {part}")], &[]);
                self.model.parts[at].cuts = vec![("A", from), ("B", side.0), ("C", carrier.0)];
                self.driven[carrier.1] = true;
                self.inertia(carrier.0);
                self.load(side);
            }
            _ => {
                let to = self.shaft(None);
                self.between(from, to.0);
                self.load(to);
            }
        }
    }

    fn gear(&mut self, a: usize, b: usize) {
        let (a, b) = if self.random.chance(50) {
            (a, b)
        } else {
            (b, a)
        };
        if self.bent && self.random.chance(40) {
            if self.angles {
                self.model.add("Cam", Vec::new(), &[a, b]);
                return;
            }
            let part = self.model.add("VariableGear", Vec::new(), &[a, b]);
            let name = self.model.parts[part].name.clone();
            let equation = format!("{name}.n = 1.5 + 0.4*sin(Time)");
            self.model.parts[part].equations.push(equation);
            return;
        }
        let settings = self.value("n");
        self.model.add("Gear", settings, &[a, b]);
    }

    fn load(&mut self, shaft: (usize, usize)) {
        if self.random.chance(65) {
            self.inertia(shaft.0);
        }
        if self.random.chance(15) {
            self.signal("Torque", "T0", shaft.0);
        }
        if !self.driven[shaft.1] && self.random.chance(12) {
            self.motion(shaft);
        }
    }

    /// A loop, or a support.
    fn tie(&mut self) {
        let a = self.random.pick(&self.shafts).0;
        let b = match self.random.chance(50) {
            true => self.random.pick(&self.shafts).0,
            false => self.support(),
        };
        if a != b {
            self.between(a, b);
        }
    }

    fn support(&mut self) -> usize {
        if let Some(point) = self.ground {
            return point;
        }
        let point = self.model.point(false);
        self.model.add("Fixed", Vec::new(), &[point]);
        self.ground = Some(point);
        point
    }
}
