//! Events: relations are decided, discrete variables get their next values, `when`s act.
//!
//! Before: a point in time, the states there, and what was kept until now. After [`Events::settle`]:
//! every relation has the truth that its sides give it, every `new(x)` equals x, and what `when`s had to do
//! is done. A relation whose sides are equal is decided by which way they move; where they do not move
//! either, as it is written; where that goes round in a circle, it keeps its truth.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::machine::{Machine, Stuck};
use super::point::rescue;
use super::program::{Program, Watch, WatchKind, WhenAction};
use super::selection::Selections;
use crate::evaluate::Failure;
use crate::expr::{BinaryOp, ExprId};
use crate::flat::Leaf;
use crate::solve::Solved;

/// Beside the largest value so far, what counts as zero.
const ZERO: f64 = 1e-13;
/// So many events without end in no time are too many.
const CROWD: usize = 100;
/// Of the time of the whole run.
const NO_TIME: f64 = 1e-9;
/// Or so many, each sooner than the last, with this left between the last two: a ball that comes to rest.
const SOONER: usize = 20;
const SHRINKS: f64 = 0.98;
const NEARLY_NO_TIME: f64 = 1e-6;
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
    /// Of all conditions of `when`s, as they were last.
    conditions: Vec<Vec<bool>>,
    /// How often each sampler has come.
    samples: Vec<u64>,
    recent: VecDeque<f64>,
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
    /// And a tie keeps its truth.
    Keeping,
}

impl<'s> Events<'s> {
    pub fn new(solved: &'s Solved, program: &Program, span: f64) -> Self {
        Events {
            solved,
            scales: vec![0.0; program.watches.len()],
            conditions: (program.whens.iter())
                .map(|when| vec![false; when.branches.len()])
                .collect(),
            // Counted when they are first asked for.
            samples: vec![u64::MAX; program.samplers.len()],
            recent: VecDeque::new(),
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

    /// The next time that is known in advance, after this one. What was evaluated last must be the event.
    pub fn next_known(&mut self, machine: &mut Machine<'_>, time: f64) -> f64 {
        let program = machine.program;
        let mut next = f64::INFINITY;
        for (at, sampler) in program.samplers.iter().enumerate() {
            let (start, period) = (machine.get(sampler.start), machine.get(sampler.period));
            let mut count = match self.samples[at] {
                u64::MAX if period > 0.0 => ((time - start) / period).floor().max(0.0) as u64,
                u64::MAX => 0,
                count => count,
            };
            while sample_time(start, period, count) <= time {
                if !(period > 0.0) {
                    break;
                }
                count += 1;
            }
            self.samples[at] = count;
            let at = sample_time(start, period, count);
            if at > time {
                next = next.min(at);
            }
        }
        let timed = (program.watches.iter()).any(|watch| watch.timed);
        let tables = program.tables.iter().any(|table| table.timed.is_some());
        if !timed && !tables {
            return next;
        }
        machine.event_rates(&mut self.rates);
        let rates = std::mem::take(&mut self.rates);
        let known = machine.along_time(&rates).is_ok();
        self.rates = rates;
        if !known {
            return next;
        }
        // Nearer than this it is now.
        let now = 8.0 * f64::EPSILON * time.abs();
        for watch in program.watches.iter().filter(|watch| watch.timed) {
            let difference = difference(machine, watch.event_sides);
            let slope = slope(machine, watch.event_sides);
            let ahead = watch.kind.ahead(difference, machine.get(watch.held), slope);
            if ahead > now && ahead.is_finite() {
                next = next.min(time + ahead);
            }
        }
        for (table, argument, slope) in machine.timed_tables() {
            for &x in &machine.table(table).xs {
                let ahead = (x - argument) / slope;
                if ahead > now && ahead.is_finite() {
                    next = next.min(time + ahead);
                }
            }
        }
        next
    }

    /// Whether a relation is not what it was, clearly.
    pub fn has_changed(&self, machine: &Machine<'_>, at: usize) -> bool {
        let watch = &machine.program.watches[at];
        let difference = difference(machine, watch.sides);
        let held = machine.get(watch.held);
        let distance = watch.kind.distance(difference, held);
        distance.abs() > self.zero(machine, at, watch.sides)
            && watch.kind.decide(difference) != held
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

    /// Remembers how large the sides of relations are, at a point of the solution.
    pub fn remember(&mut self, machine: &Machine<'_>) {
        for (scale, watch) in self.scales.iter_mut().zip(&machine.program.watches) {
            for side in [watch.sides.0, watch.sides.1] {
                let size = machine.get(side).abs();
                if size.is_finite() {
                    *scale = scale.max(size);
                }
            }
        }
    }

    /// Settles an event at a time. `crossed` are relations whose sides were found to be equal here;
    /// `sampling` says whether samplers come now.
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
        let mut sampled = false;
        for (at, sampler) in program.samplers.iter().enumerate() {
            let (start, period) = (machine.get(sampler.start), machine.get(sampler.period));
            let count = match self.samples[at] {
                u64::MAX if period > 0.0 => ((time - start) / period).round().max(0.0) as u64,
                u64::MAX => 0,
                count => count,
            };
            if sample_time(start, period, count) == time {
                machine.set(sampler.held, 1.0);
                sampled = true;
            }
        }
        let mut moments: Vec<usize> = Vec::new();
        for &at in crossed {
            let watch = &program.watches[at];
            if let WatchKind::Relation(op @ (BinaryOp::Equal | BinaryOp::NotEqual)) = watch.kind {
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
            let acted = self.act(machine, selections, states, &mut changes)?;
            done.restarted |= acted;
            if changes.is_empty() && !acted {
                return Ok(());
            }
            done.changed = true;
            if way != Way::Together {
                changes.truncate(1);
            }
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
                    Way::Keeping => return Err(restless(machine, last, time, false)),
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
            let zero = self.zero(machine, at, watch.event_sides);
            let tie = watch.kind.nearest(difference).abs() <= zero;
            let decided = match tie {
                false => watch.kind.decide(difference),
                true => {
                    let known = *moving.get_or_insert_with(|| self.move_on(machine));
                    let slope = match known {
                        true => slope(machine, watch.event_sides),
                        false => 0.0,
                    };
                    // What moves less than this in the whole run stands still.
                    let still = !(slope.abs() * self.span > zero.max(f64::MIN_POSITIVE));
                    match (still, way) {
                        (true, Way::Keeping) => held,
                        (true, _) => watch.kind.decide_at(difference, 0.0),
                        (false, _) => watch.kind.decide_at(difference, slope),
                    }
                }
            };
            if decided != held {
                changes.push(Change::Watch(at, decided));
            }
        }
        for (at, discrete) in program.discretes.iter().enumerate() {
            if let Some(next) = discrete.next {
                let value = machine.get(next);
                if value != machine.get(discrete.value) {
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

    /// Does what `when`s have to do whose conditions have just become true; true if a state was restarted.
    fn act(
        &mut self,
        machine: &mut Machine<'_>,
        selections: &Selections<'_>,
        states: &mut [f64],
        changes: &mut Vec<Change>,
    ) -> Result<bool, Unsettled> {
        let program = machine.program;
        let mut restarts: Vec<(Leaf, f64)> = Vec::new();
        for (when, last) in program.whens.iter().zip(&mut self.conditions) {
            let mut earlier = false;
            for ((condition, actions), last) in when.branches.iter().zip(last) {
                let now = machine.get(*condition) != 0.0;
                let acts = now && !*last && !earlier;
                *last = now;
                earlier |= now;
                if !acts {
                    continue;
                }
                for action in actions {
                    match *action {
                        WhenAction::New {
                            variable, value, ..
                        } => {
                            let mut all = program.discretes.iter();
                            let at = all.position(|discrete| discrete.leaf == variable);
                            if let Some(at) = at {
                                let value = machine.get(value);
                                // What a `when` does is done, one change at a time or not.
                                changes.retain(|change| {
                                    !matches!(change, Change::Discrete(other, _) if *other == at)
                                });
                                if value != machine.get(program.discretes[at].value) {
                                    changes.insert(0, Change::Discrete(at, value));
                                }
                            }
                        }
                        WhenAction::Restart { state, value, .. } => {
                            restarts.push((state, machine.get(value)));
                        }
                    }
                }
            }
        }
        for &(state, value) in &restarts {
            restart(self.solved, machine, selections, states, state, value);
        }
        Ok(!restarts.is_empty())
    }

    /// Counts an event that was not known in advance; too many in no time are an error.
    pub fn count(
        &mut self,
        machine: &Machine<'_>,
        time: f64,
        crossed: &[usize],
    ) -> Result<(), Unsettled> {
        self.recent.push_back(time);
        if self.recent.len() > CROWD + 1 {
            self.recent.pop_front();
        }
        let unlike = 1e3 * f64::EPSILON * time.abs();
        let crowd =
            self.recent.len() > CROWD && time - self.recent[0] < (NO_TIME * self.span).max(unlike);
        match crowd || self.comes_to_rest() {
            true => {
                let change = crossed.first().map(|&at| Change::Watch(at, 0.0));
                Err(restless(machine, change, time, true))
            }
            false => Ok(()),
        }
    }

    /// Whether the last events came ever sooner: endlessly many in a finite time.
    fn comes_to_rest(&self) -> bool {
        let count = self.recent.len();
        if count < SOONER + 2 {
            return false;
        }
        let between = |at: usize| self.recent[at] - self.recent[at - 1];
        between(count - 1) < NEARLY_NO_TIME * self.span
            && (count - SOONER..count).all(|at| between(at) < SHRINKS * between(at - 1))
    }
}

fn sample_time(start: f64, period: f64, count: u64) -> f64 {
    start + count as f64 * period
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

fn restless(machine: &Machine<'_>, last: Option<Change>, time: f64, crowd: bool) -> Unsettled {
    let program = machine.program;
    let what = match last {
        Some(Change::Watch(at, _)) => What::Relation(program.watches[at].node),
        Some(Change::Discrete(at, _)) => What::Discrete(program.discretes[at].leaf),
        // Conditions of `when`s that restart states over and over are made of relations.
        None => match program.watches.first() {
            Some(watch) => What::Relation(watch.node),
            None => What::Discrete(program.discretes[0].leaf),
        },
    };
    Unsettled::Restless { what, time, crowd }
}

/// A state goes on from a value.
fn restart(
    solved: &Solved,
    machine: &mut Machine<'_>,
    selections: &Selections<'_>,
    states: &mut [f64],
    state: Leaf,
    value: f64,
) {
    let program = machine.program;
    if let Some(at) = program.states.iter().position(|&other| other == state) {
        states[at] = value;
        return;
    }
    let chosen = |machine: &Machine<'_>| {
        (program.slots.iter().enumerate()).find_map(|(selection, slots)| {
            let mut choice = machine.choice(selection).iter();
            let at = choice.position(|&candidate| slots.candidates[candidate].leaf == state);
            at.map(|at| slots.first + at)
        })
    };
    if chosen(machine).is_none() {
        selections.insist(&solved.flat, machine, state);
        machine.states(states);
    }
    if let Some(at) = chosen(machine) {
        states[at] = value;
    }
}
