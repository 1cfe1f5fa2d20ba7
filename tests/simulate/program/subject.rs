//! A solved model with its program, and points of it at which the plain evaluator knows all values.

use bgm::base::diagnostics::Diagnostics;
use bgm::compile::{Aliases, NoObserver, program, solved};
use bgm::evaluate::{Point, evaluate};
use bgm::expr::{ExprId, Value};
use bgm::flat::{Flat, Kind, Leaf, Type};
use bgm::passes::blocks::Solved;
use bgm::passes::relations::WatchKind;
use bgm::program::machine::Machine;
use bgm::program::{Program, Watch};

use crate::support::generate::bonds::WARM;
use crate::support::random::Random;

/// How many came out how.
#[derive(Debug, Default)]
pub struct Tally {
    pub models: usize,
    pub refused: usize,
    pub points: usize,
    /// The plain evaluator finds no solution.
    pub none: usize,
    /// The machine finds none, and the plain evaluator does.
    pub stuck: usize,
    pub values: usize,
    pub entries: usize,
    pub nonzero: usize,
    /// Derivatives beside a kink, where differences say nothing.
    pub bent: usize,
    pub along: usize,
    pub choices: usize,
}

impl Tally {
    pub fn end(&self, name: &str) {
        println!("{name}: {self:?}");
        assert!(self.none * 100 <= self.points, "{name}: {self:?}");
        assert!(self.stuck * 100 <= self.points, "{name}: {self:?}");
        assert!(
            self.bent * 20 <= self.entries + self.along,
            "{name}: {self:?}"
        );
        assert!(self.refused * 3 < self.models, "{name}: {self:?}");
    }
}

#[derive(Debug)]
pub struct Subject {
    pub solved: Solved,
    /// By column.
    pub leaves: Vec<Leaf>,
    pub program: Program,
}

/// A point of a model.
#[derive(Debug)]
pub struct Setting<'s> {
    pub solved: &'s Solved,
    pub program: &'s Program,
    pub leaves: &'s [Leaf],
    pub point: Point,
    pub states: Vec<f64>,
    /// By selection.
    pub choice: Vec<Vec<usize>>,
}

pub fn number(value: Value) -> f64 {
    match value {
        Value::Real(value) => value,
        Value::Bool(truth) => f64::from(u8::from(truth)),
    }
}

impl Subject {
    pub fn of(flat: Flat) -> Option<Subject> {
        let mut solved = solved(flat, Aliases::Eliminate, &mut Diagnostics::default())?.solved;
        let mut leaves = Vec::new();
        for id in solved.flat.variable_ids() {
            let orders = 0..=solved.flat.variable(id).order;
            leaves.extend(orders.map(|order| Leaf::at_order(id, order)));
        }
        let columns: Vec<ExprId> = (leaves.iter())
            .map(|&leaf| solved.flat.exprs.leaf(leaf))
            .collect();
        let program = program(&solved, &columns, None, &mut NoObserver);
        Some(Subject {
            solved,
            leaves,
            program,
        })
    }

    /// A random point, if the plain evaluator finds values there.
    pub fn setting(&mut self, seed: u64, tally: &mut Tally) -> Option<Setting<'_>> {
        let flat = &self.solved.flat;
        let mut point = Point::new(&self.solved);
        point.time = Random::new(seed).real(0.0, 1.0);
        let choice = choice(flat, seed);
        let chosen: Vec<Leaf> = (flat.selections().iter().zip(&choice))
            .flat_map(|(selection, at)| at.iter().map(|&at| selection.candidates[at]))
            .collect();
        for id in flat.variable_ids() {
            let variable = flat.variable(id);
            let name = flat.name(id);
            let positive = seed % 2 == 1 || name.starts_with(WARM);
            let mut random = Random::of(&name, seed);
            let mut any = || match variable.ty {
                Type::Boolean => Value::Bool(random.chance(50)),
                Type::Real => {
                    let size = random.real(0.3, 2.0);
                    let minus = !positive && random.chance(50);
                    Value::Real(if minus { -size } else { size })
                }
            };
            match variable.kind {
                Kind::Parameter | Kind::Constant => {}
                Kind::Discrete => point.set(
                    Leaf::Var(id),
                    match any() {
                        Value::Real(value) => Value::Real(f64::from(value > 1.0)),
                        truth => truth,
                    },
                ),
                kind => {
                    for order in 0..=variable.order {
                        let (leaf, value) = (Leaf::at_order(id, order), any());
                        if kind == Kind::Input || flat.is_state(leaf) || chosen.contains(&leaf) {
                            point.set(leaf, value);
                        }
                    }
                }
            }
        }
        tally.points += 1;
        if let Err(failure) = evaluate(&self.solved, &mut point) {
            tally.none += 1;
            if std::env::var("BGM_SHOW").is_ok() {
                println!("{} {seed}: {failure}", flat.model());
            }
            return None;
        }
        // Inputs are given before what depends on parameters alone is computed.
        for &(leaf, register) in &self.program.given {
            let kind = self.solved.flat.variable(leaf.variable()).kind;
            let known = point.get(leaf);
            let free = matches!(kind, Kind::Parameter | Kind::Constant | Kind::Input);
            let name = self.solved.flat.leaf_name(leaf);
            assert!(free || known.is_none(), "{name} is computed, not given");
            if let (Kind::Input, Some(value)) = (kind, known) {
                self.program.registers[register as usize] = number(value);
            }
        }
        let mut states: Vec<f64> = (self.program.states.iter())
            .map(|&leaf| point.real(leaf).expect("a state"))
            .collect();
        states.extend(chosen.iter().map(|&leaf| point.real(leaf).expect("one")));
        Some(Setting {
            solved: &self.solved,
            program: &self.program,
            leaves: &self.leaves,
            point,
            states,
            choice,
        })
    }
}

/// States among the candidates: those of the model, or others.
fn choice(flat: &Flat, seed: u64) -> Vec<Vec<usize>> {
    let of = flat.selections().iter().map(|selection| {
        let axis: &[char] = match seed % 3 {
            0 => &crate::support::generate::planar::FIRST_AXIS,
            1 => &crate::support::generate::planar::SECOND_AXIS,
            _ => {
                let place = |leaf: &Leaf| selection.candidates.iter().position(|c| c == leaf);
                return selection.choice.iter().filter_map(place).collect();
            }
        };
        let mut places: Vec<usize> = (0..selection.candidates.len()).collect();
        places.sort_by_key(|&at| {
            let name = flat.name(selection.candidates[at].variable());
            let name = name.trim_end_matches(|end: char| end.is_ascii_digit());
            !name.ends_with(axis)
        });
        places.truncate(selection.states as usize);
        places
    });
    of.collect()
}

impl Setting<'_> {
    /// A machine with all that is known: the truths of relations as the plain evaluator decides them, and
    /// unknowns of loops `off` their values.
    pub fn machine(&self, off: f64) -> Machine<'_> {
        let mut machine = Machine::new(self.program);
        for (at, choice) in self.choice.iter().enumerate() {
            machine.choose(at, choice);
        }
        for &(leaf, register) in &self.program.fixed {
            let kind = self.solved.flat.variable(leaf.variable()).kind;
            let known = matches!(kind, Kind::Parameter | Kind::Constant | Kind::Input);
            let Some(value) = self.point.get(leaf).filter(|_| !known) else {
                continue;
            };
            let value = number(value);
            let unknown = matches!(leaf, Leaf::Var(_) | Leaf::Der(..)) && kind != Kind::Discrete;
            let off = if unknown { off } else { 0.0 };
            machine.set(register, value + off * (value.abs() + 0.1));
        }
        for watch in &self.program.watches {
            machine.set(watch.held, self.held(watch));
        }
        machine
    }

    /// What is kept of a relation. One that has no value stands where it is not needed.
    pub fn held(&self, watch: &Watch) -> f64 {
        let exprs = &self.solved.flat.exprs;
        let left = self.point.number(exprs, watch.left);
        let right = match watch.right {
            Some(right) => self.point.number(exprs, right),
            None => Some(0.0),
        };
        match (left, right) {
            (Some(x), Some(y)) if watch.kind == WatchKind::Floor && watch.right.is_some() => {
                (x / y).floor()
            }
            (Some(x), Some(y)) => watch.kind.decide(x - y),
            _ => 0.0,
        }
    }
}
