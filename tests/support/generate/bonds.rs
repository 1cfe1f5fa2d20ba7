//! Random bond graphs: trees of 0- and 1-junctions with a few loops, in both ways of writing them.
//!
//! A tame graph is causal in every position of its switches: what hangs at a bond sets the effort
//! (`E`), sets the flow (`F`), or does either (`R`), and perhaps one or the other depending on
//! switches. A 0-junction takes one that sets the effort at most, a 1-junction one that sets the
//! flow. Wild graphs are anything. Where storages may depend on each other, they do either, and there
//! are no ideal switches: the index would depend on their positions.

use super::model::Model;
use super::signals;
use crate::support::random::Random;

/// What begins with this has a temperature: below zero, a resistance would be negative.
pub const WARM: &str = "Warm";

/// Sets of causalities, as bits.
const E: u8 = 1;
const F: u8 = 2;
const R: u8 = 4;

struct Builder<'r> {
    model: Model,
    random: &'r mut Random,
    /// With `junction1` and `link`; else nodes only, and `bond`s between them.
    links: bool,
    bent: bool,
    wild: bool,
    /// Storages may depend on each other.
    dependent: bool,
    /// Junctions, with whether each is a 1-junction.
    junctions: Vec<(usize, bool)>,
}

pub fn generate(random: &mut Random, wild: bool) -> Model {
    build(random, wild, false)
}

pub fn dependent(random: &mut Random, _: bool) -> Model {
    build(random, false, true)
}

fn build(random: &mut Random, wild: bool, dependent: bool) -> Model {
    let links = random.chance(50);
    let bent = random.chance(40);
    let mut builder = Builder {
        model: Model::of("bondgraph"),
        random,
        links,
        bent,
        wild,
        dependent,
        junctions: Vec::new(),
    };
    let (root, sets) = builder.junction(false, 0, 0);
    // Nothing sets the effort of the last junction in some position.
    if sets & F != 0 {
        builder.resistor(root);
    }
    if builder.random.chance(50) {
        builder.chord();
    }
    builder.model
}

/// What a junction does to the bond above it, given what hangs below; `None` if two want the same.
fn joined(one: bool, children: &[u8]) -> Option<u8> {
    // The dual of a 0-junction: effort and flow change places.
    let dual = |set: u8| if one { exchanged(set) } else { set };
    let mut all = F;
    for &child in children {
        let child = dual(child);
        let mut next = 0;
        for above in [E, F, R].into_iter().filter(|kind| all & kind != 0) {
            for below in [E, F, R].into_iter().filter(|kind| child & kind != 0) {
                next |= match (above, below) {
                    (E, E) => return None,
                    (E, _) | (_, E) => E,
                    (R, _) | (_, R) => R,
                    _ => F,
                };
            }
        }
        all = next;
    }
    Some(dual(all))
}

fn exchanged(set: u8) -> u8 {
    (set & R) | ((set & E) << 1) | ((set & F) >> 1)
}

impl Builder<'_> {
    fn point(&mut self, one: bool) -> usize {
        let point = self.model.point(one && self.links);
        self.junctions.push((point, one));
        point
    }

    /// `above` is how many things hang at the junction already: the bond to its parent.
    fn junction(&mut self, one: bool, depth: usize, above: usize) -> (usize, u8) {
        let point = self.point(one);
        let mut children: Vec<u8> = Vec::new();
        let wanted = self.random.within(2 - above.min(1), 4);
        for _ in 0..wanted * 3 {
            if children.len() >= wanted {
                break;
            }
            let before = (self.model.parts.len(), self.junctions.len());
            let child = match depth < 4 && self.random.chance(45) {
                true => self.branch(point, one, depth),
                false => self.element(point, one),
            };
            children.push(child);
            let fits = joined(one, &children).is_some();
            let stays = fits || self.wild && self.random.chance(50);
            if !stays {
                children.pop();
                self.model.parts.truncate(before.0);
                self.junctions.truncate(before.1);
            }
        }
        (point, joined(one, &children).unwrap_or(R))
    }

    /// Another junction, behind a bond, a transformer or a gyrator.
    fn branch(&mut self, point: usize, one: bool, depth: usize) -> u8 {
        let gyrator = self.random.chance(20);
        let transformer = !gyrator && self.random.chance(20);
        let below = match gyrator || transformer {
            true if self.links => self.random.chance(50),
            true => one,
            false => !one,
        };
        let (child, set) = self.junction(below, depth + 1, 1);
        let ends = match self.random.chance(50) {
            true => [point, child],
            false => [child, point],
        };
        let value = self.random.number(0.4, 2.5);
        if gyrator {
            self.model.add("GY", vec![format!("r = {value}")], &ends);
            return exchanged(set);
        }
        if transformer {
            if self.random.chance(30) {
                let part = self.model.add("mTF", Vec::new(), &ends);
                let name = self.model.parts[part].name.clone();
                let equation = format!("{name}.m = {value} + 0.2*sin(Time)");
                self.model.parts[part].equations.push(equation);
            } else {
                self.model.add("TF", vec![format!("m = {value}")], &ends);
            }
            return set;
        }
        let class = if self.links { "link" } else { "bond" };
        self.model.add(class, Vec::new(), &ends);
        set
    }

    fn element(&mut self, junction: usize, one: bool) -> u8 {
        // Without `junction1`, elements hang at 0-junctions only.
        let point = match one && !self.links {
            true => {
                let point = self.model.point(false);
                self.model.add("bond", Vec::new(), &[junction, point]);
                point
            }
            false => junction,
        };
        let value = self.random.number(0.4, 2.5);
        match self.random.below(14) {
            0 | 1 => {
                self.source("SE", "E0", point);
                E
            }
            2 => {
                self.source("SF", "F0", point);
                F
            }
            3..9 if self.dependent => {
                let (class, parameter) = match (self.random.chance(50), self.bent) {
                    (true, true) => (*self.random.pick(&["C", "Cvar", "Cq", "Ctanh"]), "C"),
                    (true, false) => ("C", "C"),
                    (false, true) => (*self.random.pick(&["I", "Ip"]), "I"),
                    (false, false) => ("I", "I"),
                };
                let setting = format!("{parameter} = {value}");
                self.model.add(class, vec![setting], &[point]);
                R
            }
            3 | 4 => {
                let class = if self.bent && self.random.chance(30) {
                    "Cvar"
                } else {
                    "C"
                };
                self.model
                    .add(class, vec![format!("C = {value}")], &[point]);
                E
            }
            5 | 6 => {
                self.model.add("I", vec![format!("I = {value}")], &[point]);
                F
            }
            7 => {
                let class = *self.random.pick(&["Sw", "GSw"]);
                let part = self.model.add(class, Vec::new(), &[point]);
                self.position(part);
                E | F
            }
            8 => {
                let class = *self.random.pick(&["D", "D", "D2"]);
                self.model.add(class, Vec::new(), &[point]);
                E | F
            }
            9 => {
                let settings = vec!["GOpen = 0.1".into(), format!("RClosed = {value}")];
                let part = self.model.add("GSw", settings, &[point]);
                self.position(part);
                R
            }
            10 if self.bent => {
                // Heat goes into a capacitance of its own.
                let heat = self.model.point(false);
                let class = *self.random.pick(&["RS", "mRS"]);
                self.model.add(class, Vec::new(), &[point, heat]);
                let class = *self.random.pick(&["C", "mC"]);
                let part = self.model.add(class, Vec::new(), &[heat]);
                self.model.parts[part].name = self.model.fresh(WARM);
                R
            }
            _ => {
                self.resistor(point);
                R
            }
        }
    }

    fn resistor(&mut self, point: usize) {
        let value = self.random.number(0.4, 2.5);
        let class = match self.bent && self.random.chance(50) {
            true => *self.random.pick(&[
                "Rquad", "Rcube", "Rroot", "Rexp", "Rtable", "Rif", "Ratan", "Rsinh",
            ]),
            false => "R",
        };
        self.model
            .add(class, vec![format!("R = {value}")], &[point]);
    }

    fn source(&mut self, class: &'static str, terminal: &str, point: usize) {
        let part = self.model.add(class, Vec::new(), &[point]);
        let signal = signals::real(&mut self.model, self.random);
        let name = self.model.parts[part].name.clone();
        self.model.parts[part]
            .equations
            .push(format!("{name}.{terminal} = {signal}"));
    }

    fn position(&mut self, part: usize) {
        let signal = signals::boolean(&mut self.model, self.random);
        let name = self.model.parts[part].name.clone();
        self.model.parts[part]
            .equations
            .push(format!("{name}.OpenSwitch = {signal}"));
    }

    /// A loop: two junctions of one kind joined by a gyrator, or through a resistance.
    fn chord(&mut self) {
        let one = self.random.chance(30);
        let ends: Vec<usize> = (self.junctions.iter())
            .filter(|junction| junction.1 == one)
            .map(|junction| junction.0)
            .collect();
        if ends.len() < 2 {
            return;
        }
        let a = self.random.below(ends.len() - 1);
        let b = self.random.within(a + 1, ends.len() - 1);
        let (a, b) = (ends[a], ends[b]);
        let value = self.random.number(0.4, 2.5);
        if self.random.chance(50) {
            self.model.add("GY", vec![format!("r = {value}")], &[a, b]);
            return;
        }
        let class = if self.links { "link" } else { "bond" };
        let middle = self.point(!one);
        self.model.add(class, Vec::new(), &[a, middle]);
        self.model.add(class, Vec::new(), &[middle, b]);
        let end = match !one && !self.links {
            true => {
                let end = self.model.point(false);
                self.model.add("bond", Vec::new(), &[middle, end]);
                end
            }
            false => middle,
        };
        self.resistor(end);
    }
}
