//! Events: relations are decided, discrete variables get their next values, `when`s act.
//!
//! Before: a point in time, the states there, and what was kept until now. After [`Events::settle`]:
//! every relation has the truth that its sides give it, every `new(x)` equals x, and what `when`s had to do
//! is done. A relation whose sides are equal is decided by which way they move; where they do not move
//! either, as it is written; where that goes round in a circle, it keeps its truth, and where that does
//! too, both sides count as equal.

mod crowd;
mod known;
mod whens;

pub use known::at_once;

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use self::crowd::restless;
use self::known::nearly;
use super::machine::{Machine, Stuck};
use super::point::rescue;
use super::program::{Program, Watch, WatchKind};
use super::selection::Selections;
use crate::evaluate::Failure;
use crate::expr::{BinaryOp, ExprId};
use crate::flat::Leaf;
use crate::solve::Solved;

/// Beside the largest value so far, what counts as zero.
const ZERO: f64 = 1e-13;
/// At an event sides are equal that differ by so many times what tells a change,
const TIE: f64 = 4.0;
/// and where they rest there, a change is told by so many times that.
const REST: f64 = 16.0;
const MOST_ROUNDS: usize = 2_000;

/// Why an event could not be settled.
#[derive(Clone, Debug)]
pub enum Unsettled {
    /// Something cannot be computed.
    Failure(Box<Failure>),
    /// This expression is true when it is false, and false when it is true; or changes without end.
    Restless { what: What, time: f64, crowd: bool },
}

/// What changes without end.
#[derive(Clone, Copy, Debug)]
pub enum What {
    Relation(ExprId),
    Discrete(Leaf),
}

/// What an event has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// A state goes on from another value.
    pub restarted: bool,
    pub changed: bool,
}

#[derive(Debug)]
pub struct Events<'s> {
    solved: &'s Solved,
    /// The largest value of the sides of each relation.
    scales: Vec<f64>,
    /// On which side each relation was last: what is equal at one moment only has to pass it.
    signs: Vec<f64>,
    /// Relations that were settled as equal, whichever way they move.
    rests: Vec<bool>,
    /// Of all conditions of `when`s, as they were last.
    conditions: Vec<Vec<bool>>,
    /// How often each sampler has come.
    samples: Vec<u64>,
    /// When each relation has changed last: from false, and from anything else.
    recent: Vec<[VecDeque<f64>; 2]>,
    /// How long the whole run is.
    span: f64,
    rates: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Watch(usize, f64),
    Discrete(usize, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Together,
    /// One after the other, the first first: this ends where changing all at once goes round.
    Single,
    /// And a tie that does not move keeps its truth.
    Keeping,
    /// And a tie is one, however it moves: `sign(0)` is 0 where it pushes back from both sides.
    Resting,
}

impl<'s> Events<'s> {
    pub fn new(solved: &'s Solved, program: &Program, span: f64) -> Self {
        Events {
            solved,
            scales: vec![0.0; program.watches.len()],
            signs: vec![0.0; program.watches.len()],
            rests: vec![false; program.watches.len()],
            conditions: (program.whens.iter())
                .map(|when| vec![false; when.branches.len()])
                .collect(),
            // Counted when they are first asked for.
            samples: vec![u64::MAX; program.samplers.len()],
            recent: vec![Default::default(); program.watches.len()],
            span,
            rates: vec![0.0; program.state_count()],
        }
    }

    /// Relations for the first time, as they are written, the sides being equal or not.
    pub fn begin(
        &mut self,
        machine: &mut Machine<'_>,
        time: f64,
        states: &[f64],
    ) -> Result<(), Unsettled> {
        let program = machine.program;
        // Truths are needed to compute the sides of others: twice is enough for most, the rest is settled.
        for _ in 0..2 {
            self.evaluate(machine, time, states)?;
            for watch in &program.watches {
                let difference = difference(machine, watch.event_sides);
                let held = watch.kind.decide(difference);
                machine.set(watch.held, if held.is_nan() { 0.0 } else { held });
            }
        }
        self.evaluate(machine, time, states)?;
        for (when, last) in program.whens.iter().zip(&mut self.conditions) {
            for ((condition, _), last) in when.branches.iter().zip(last) {
                *last = machine.get(*condition) != 0.0;
            }
        }
        Ok(())
    }

    fn evaluate(
        &self,
        machine: &mut Machine<'_>,
        time: f64,
        states: &[f64],
    ) -> Result<(), Unsettled> {
        if machine.evaluate_event(time, states).is_ok() {
            machine.keep();
            return Ok(());
        }
        // From far away: the thorough way.
        let failed = |failure| Unsettled::Failure(Box::new(failure));
        rescue(self.solved, machine, time).map_err(failed)?;
        let again: Result<(), Stuck> = machine.evaluate_event(time, states);
        again.map_err(|stuck| {
            let block = &self.solved.blocks[stuck.block];
            Unsettled::Failure(Box::new(Failure::of_block(&self.solved.flat, block, time)))
        })
    }

    /// Whether a relation is not what it was, clearly.
    pub fn has_changed(&self, machine: &Machine<'_>, at: usize) -> bool {
        let watch = &machine.program.watches[at];
        let difference = difference(machine, watch.sides);
        let held = machine.get(watch.held);
        let distance = watch.kind.distance(difference, held);
        let times = if self.rests[at] { REST } else { 1.0 };
        if distance.is_nan() || distance.abs() <= times * self.zero(machine, at, watch.sides) {
            return false;
        }
        let passed = watch.kind.is_momentary() && difference * self.signs[at] < 0.0;
        passed || watch.kind.decide(difference) != held
    }

    /// How far a relation is from changing.
    pub fn distance(&self, machine: &Machine<'_>, at: usize) -> f64 {
        let watch = &machine.program.watches[at];
        let difference = difference(machine, watch.sides);
        watch.kind.distance(difference, machine.get(watch.held))
    }

    fn zero(&self, machine: &Machine<'_>, at: usize, sides: (u32, u32)) -> f64 {
        let size = machine.get(sides.0).abs().max(machine.get(sides.1).abs());
        ZERO * self.scales[at] + 4.0 * f64::EPSILON * size
    }

    /// What is equal after an event is on no side.
    pub fn forget_sides(&mut self, machine: &Machine<'_>) {
        for (at, watch) in machine.program.watches.iter().enumerate() {
            let difference = difference(machine, watch.sides);
            if difference.is_nan() || difference.abs() <= TIE * self.zero(machine, at, watch.sides)
            {
                self.signs[at] = 0.0;
            }
        }
    }

    /// Remembers how large the sides of relations are, at a point of the solution.
    pub fn remember(&mut self, machine: &Machine<'_>) {
        for (at, watch) in machine.program.watches.iter().enumerate() {
            for side in [watch.sides.0, watch.sides.1] {
                let size = machine.get(side).abs();
                if size.is_finite() {
                    self.scales[at] = self.scales[at].max(size);
                }
            }
            let difference = difference(machine, watch.sides);
            if difference.abs() > self.zero(machine, at, watch.sides) {
                self.signs[at] = difference.signum();
            }
        }
    }

    /// Settles an event at a time. `crossed` are relations whose sides were found to be equal here.
    pub fn settle(
        &mut self,
        machine: &mut Machine<'_>,
        selections: &Selections<'_>,
        (time, states): (f64, &mut [f64]),
        crossed: &[usize],
    ) -> Result<Done, Unsettled> {
        let program = machine.program;
        let mut done = Done::default();
        self.evaluate(machine, time, states)?;
        for &(kept, of) in &program.pres {
            let value = machine.get(of);
            machine.set(kept, value);
        }
        let sampled = self.sample(machine, time);
        let mut moments: Vec<usize> = Vec::new();
        for (at, watch) in program.watches.iter().enumerate() {
            // Met here, whether it was looked for or the time was known.
            let meets = |events: &Self| {
                let off = difference(machine, watch.event_sides).abs();
                events.signs[at] != 0.0 && off <= events.zero(machine, at, watch.event_sides)
            };
            if let WatchKind::Relation(op) = watch.kind
                && watch.kind.is_momentary()
                && (crossed.contains(&at) || meets(self))
            {
                // Equal for this moment.
                machine.set(watch.held, f64::from(u8::from(op == BinaryOp::Equal)));
                moments.push(at);
            }
        }
        self.rounds(machine, selections, time, states, &moments, &mut done)?;
        if sampled || !moments.is_empty() {
            for sampler in &program.samplers {
                machine.set(sampler.held, 0.0);
            }
            self.rounds(machine, selections, time, states, &[], &mut done)?;
        }
        // Until the next event, what was before is what is.
        for &(kept, of) in &program.pres {
            let value = machine.get(of);
            machine.set(kept, value);
        }
        Ok(done)
    }

    fn rounds(
        &mut self,
        machine: &mut Machine<'_>,
        selections: &Selections<'_>,
        time: f64,
        states: &mut [f64],
        moments: &[usize],
        done: &mut Done,
    ) -> Result<(), Unsettled> {
        let mut way = Way::Together;
        let mut seen: FxHashSet<Vec<u64>> = FxHashSet::default();
        for _ in 0..MOST_ROUNDS {
            self.evaluate(machine, time, states)?;
            let mut changes = self.changes(machine, way, moments);
            let mut set = Vec::new();
            let acted = self.act(machine, selections, (time, states), &mut set)?;
            done.restarted |= acted;
            if changes.is_empty() && set.is_empty() && !acted {
                return Ok(());
            }
            done.changed = true;
            if way != Way::Together {
                changes.truncate(1);
            }
            // What a `when` does is done, one change at a time or not.
            changes.extend(set);
            let last = changes.last().copied();
            for change in changes {
                match change {
                    Change::Watch(at, held) => {
                        machine.set(machine.program.watches[at].held, held);
                    }
                    Change::Discrete(at, value) => {
                        machine.set(machine.program.discretes[at].value, value);
                    }
                }
            }
            if !seen.insert(key(machine, states)) {
                seen.clear();
                way = match way {
                    Way::Together => Way::Single,
                    Way::Single => Way::Keeping,
                    Way::Keeping => Way::Resting,
                    Way::Resting => return Err(restless(machine, last, time, false)),
                };
            }
        }
        self.evaluate(machine, time, states)?;
        let last = self.changes(machine, way, moments).last().copied();
        Err(restless(machine, last, time, false))
    }

    /// What is not as it should be.
    fn changes(&mut self, machine: &mut Machine<'_>, way: Way, moments: &[usize]) -> Vec<Change> {
        let program = machine.program;
        let mut changes = Vec::new();
        let mut moving = None;
        for (at, watch) in program.watches.iter().enumerate() {
            if moments.contains(&at) {
                continue;
            }
            let difference = difference(machine, watch.event_sides);
            if difference.is_nan() {
                continue;
            }
            let held = machine.get(watch.held);
            // More than what a change is told by: where it was found it is a tie.
            let mut zero = TIE * self.zero(machine, at, watch.event_sides);
            let mut slope_here = |events: &mut Self, machine: &mut Machine<'_>| {
                let known = *moving.get_or_insert_with(|| events.move_on(machine));
                match known {
                    true => slope(machine, watch.event_sides),
                    false => 0.0,
                }
            };
            if watch.timed {
                // Of a time that was computed in advance the last digits are not known.
                let time = machine.get(Program::TIME);
                zero += 2.0 * nearly(time) * slope_here(self, machine).abs();
            }
            let tie = watch.kind.nearest(difference).abs() <= zero;
            let decided = match tie {
                false => watch.kind.decide(difference),
                true => {
                    let slope = slope_here(self, machine);
                    // What moves less than this in the whole run stands still.
                    let moves = slope.abs() * self.span > zero.max(f64::MIN_POSITIVE);
                    match (moves, way) {
                        (_, Way::Resting) => watch.kind.decide_at(difference, 0.0),
                        (false, Way::Keeping) => held,
                        (false, _) => watch.kind.decide_at(difference, 0.0),
                        (true, _) => watch.kind.decide_at(difference, slope),
                    }
                }
            };
            self.rests[at] = tie && way == Way::Resting;
            if decided != held {
                changes.push(Change::Watch(at, decided));
            }
        }
        for (at, discrete) in program.discretes.iter().enumerate() {
            if let Some(next) = discrete.next {
                let value = machine.get(next);
                if value != machine.get(discrete.value) && !value.is_nan() {
                    changes.push(Change::Discrete(at, value));
                }
            }
        }
        changes
    }

    /// Derivatives along the solution from here.
    fn move_on(&mut self, machine: &mut Machine<'_>) -> bool {
        machine.event_rates(&mut self.rates);
        if self.rates.iter().any(|rate| !rate.is_finite()) {
            return false;
        }
        let rates = std::mem::take(&mut self.rates);
        let known = machine.along_time(&rates).is_ok();
        self.rates = rates;
        known
    }
}

fn difference(machine: &Machine<'_>, sides: (u32, u32)) -> f64 {
    machine.get(sides.0) - machine.get(sides.1)
}

fn slope(machine: &Machine<'_>, sides: (u32, u32)) -> f64 {
    machine.slope(sides.0) - machine.slope(sides.1)
}

/// All that can change at an event, as a key.
fn key(machine: &Machine<'_>, states: &[f64]) -> Vec<u64> {
    let program = machine.program;
    let held = program.watches.iter().map(|watch: &Watch| watch.held);
    let values = program.discretes.iter().map(|discrete| discrete.value);
    (held.chain(values))
        .map(|register| machine.get(register).to_bits())
        .chain(states.iter().map(|state| state.to_bits()))
        .collect()
}
