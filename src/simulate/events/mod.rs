//! Events: relations are decided, discrete variables get their next values, `when`s are executed.
//!
//! This module holds the memory of events between steps (scales, signs, counts) and decides which changes are due
//! ([`judge`]). The event iteration of [`super::run`] applies the changes until none is due.

mod accumulation;
mod judge;
mod time_events;
mod whens;

pub use time_events::simultaneous;

use std::collections::VecDeque;

pub(super) use self::accumulation::{LastChange, no_convergence};
pub(super) use self::judge::{Strategy, Verdict, next_values};
pub(super) use self::whens::restart;
use super::point::solve_with_evaluator;
use crate::base::diagnostics::Diagnostic;
use crate::evaluate::Failure;
use crate::expr::{BinaryOp, ExprId};
use crate::flat::Leaf;
use crate::numeric::zero;
use crate::passes::blocks::Solved;
use crate::passes::relations::WatchKind;
use crate::program::machine::{Evaluated, Machine, Stuck};
use crate::program::{Program, Watch};

/// A relation that acted without effect, or that was decided as equal although its sides move, changes only beyond a multiple
/// of this, relative to the largest value so far: such events come from errors of steps, not from rounding.
const IDLE: f64 = 1e-13;
const HELD: f64 = 16.0;
/// Rounding is smaller than this part of the largest value so far.
const POSSIBLE: f64 = 1e-3;

/// Where it comes from how far apart sides may be and count as equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Margin {
    /// From what rounding could do when it was asked last.
    Known,
    /// Also from what it can do here.
    Anew,
}

/// Why an event has no result.
#[derive(Clone, Debug)]
pub enum EventError {
    /// An expression or a loop has no value.
    Failure(Box<Failure>),
    /// The event iteration does not converge, or events accumulate.
    NoConvergence(Box<Diagnostic>),
}

/// What changes without end.
#[derive(Clone, Copy, Debug)]
pub enum Unresolved {
    Relation(ExprId),
    Discrete(Leaf),
    /// A state that `when`s restart.
    Restart(Leaf),
    /// None of these can be named.
    Events,
}

#[derive(Debug)]
pub struct Events {
    /// For each relation, the largest absolute value of its sides so far.
    scales: Vec<f64>,
    /// The scale of a relation is at least this part of `largest`: a side may be zero during a whole mode, and not in others.
    pub shared: f64,
    /// The largest absolute value of any side so far.
    largest: f64,
    /// For each relation, how far apart its sides may be and count as equal: from what rounding could do when it was decided.
    bands: Vec<f64>,
    /// Bounds on the errors of the states.
    states: Vec<f64>,
    /// Relations whose sides were located to be equal at the present event, with what the location has left between them.
    crossed: Vec<(usize, f64)>,
    /// How much later than that the present event was located.
    late: f64,
    /// For each relation, the last sign of the difference of its sides. `==` and `!=` change only where the sign does.
    signs: Vec<f64>,
    /// Relations that were decided as equal although their sides move.
    held_as_tie: Vec<bool>,
    /// For each relation, the number of events in a row that have left it unchanged. Each makes the margin of a change ten
    /// times as wide.
    insensitive: Vec<i32>,
    /// For each `when`, the last truths of its conditions.
    conditions: Vec<Vec<bool>>,
    /// For each sampler, the number of its next sample; `u64::MAX` before it is first asked for.
    samples: Vec<u64>,
    /// For each relation, the times of its last changes: those from false, and all others.
    recent: Vec<[VecDeque<f64>; 2]>,
    /// The time from start to end of the run.
    span: f64,
    rates: Vec<f64>,
}

/// A relation or discrete variable, by index, and the value that it gets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Watch(usize, f64),
    Discrete(usize, f64),
}

impl Events {
    pub fn new(program: &Program, span: f64) -> Self {
        Events {
            scales: vec![0.0; program.watches.len()],
            shared: 0.0,
            largest: 0.0,
            bands: vec![0.0; program.watches.len()],
            states: vec![0.0; program.state_count()],
            crossed: Vec::new(),
            late: 0.0,
            signs: vec![0.0; program.watches.len()],
            held_as_tie: vec![false; program.watches.len()],
            insensitive: vec![0; program.watches.len()],
            conditions: (program.whens.iter())
                .map(|when| vec![false; when.branches.len()])
                .collect(),
            samples: vec![u64::MAX; program.samplers.len()],
            recent: vec![Default::default(); program.watches.len()],
            span,
            rates: vec![0.0; program.state_count()],
        }
    }

    /// Decides all relations for the first time, as they are written, equal sides included.
    pub fn begin(
        &mut self,
        solved: &Solved,
        machine: &mut Machine<'_>,
        (time, states): (f64, &[f64]),
    ) -> Result<(), EventError> {
        // The sides of a relation may depend on truths of other relations. Two passes are enough for most models; the event
        // iteration that follows does the rest.
        for _ in 0..2 {
            evaluate(solved, machine, (time, states))?;
            self.update_largest(machine);
            self.decide_all(machine);
        }
        evaluate(solved, machine, (time, states))?;
        self.store_conditions(machine);
        Ok(())
    }

    /// Stores the truths of the conditions of `when`s, so that those that hold now do not act.
    pub fn store_conditions(&mut self, machine: &Machine<'_>) {
        for (when, last) in machine.program.whens.iter().zip(&mut self.conditions) {
            for ((condition, _), last) in when.branches.iter().zip(last) {
                *last = machine.get(*condition) != 0.0;
            }
        }
    }

    /// Adapts the memory to the program of another mode. The first `common` relations are the same in all modes.
    pub fn set_program(&mut self, program: &Program, common: usize) {
        let count = program.watches.len();
        self.scales.truncate(common);
        self.scales.resize(count, 0.0);
        self.bands.truncate(common);
        self.bands.resize(count, 0.0);
        self.crossed.retain(|&(at, _)| at < common);
        self.states.clear();
        self.states.resize(program.state_count(), 0.0);
        self.signs.truncate(common);
        self.signs.resize(count, 0.0);
        self.held_as_tie.truncate(common);
        self.held_as_tie.resize(count, false);
        self.insensitive.truncate(common);
        self.insensitive.resize(count, 0);
        self.recent.truncate(common);
        self.recent.resize(count, Default::default());
        self.rates.resize(program.state_count(), 0.0);
    }

    /// Relations `==` and `!=` that are equal at this time only: their truths are set for equal sides. `crossed` are the
    /// relations whose sides were located to be equal.
    pub fn momentary(&self, machine: &mut Machine<'_>, crossed: &[usize]) -> Vec<usize> {
        let mut momentary: Vec<usize> = Vec::new();
        for (at, watch) in machine.program.watches.iter().enumerate() {
            // A time event may meet the moment too.
            let meets = |machine: &mut Machine<'_>| {
                let off = difference(machine, watch.event_sides);
                self.signs[at] != 0.0 && self.is_tie(machine, off, watch.event_sides)
            };
            if let WatchKind::Relation(op) = watch.kind
                && watch.kind.is_momentary()
                && (crossed.contains(&at) || meets(machine))
            {
                machine.set(watch.held, f64::from(u8::from(op == BinaryOp::Equal)));
                momentary.push(at);
            }
        }
        momentary
    }

    /// Whether the truth of a relation no longer fits its sides, by more than rounding can make of them. The machine must have
    /// evaluated the relations.
    pub fn has_changed(&mut self, machine: &mut Machine<'_>, at: usize, margin: Margin) -> bool {
        let watch = &machine.program.watches[at];
        let difference = difference(machine, watch.sides);
        let held = machine.get(watch.held);
        let distance = watch.kind.distance(difference, held);
        if distance.is_nan() || distance.abs() <= self.margin(machine, at) {
            return false;
        }
        let passed = watch.kind.is_momentary() && difference * self.signs[at] < 0.0;
        if !passed && watch.kind.decide(difference) == held {
            return false;
        }
        // What it was computed from may have grown since it was decided.
        if margin == Margin::Anew
            && self.may_be_rounding(machine, distance, watch.sides)
            && machine
                .find_bounds(Evaluated::Watches, &self.states)
                .is_ok()
            && machine.may_be_equal(distance, watch.sides)
        {
            let doubt = machine.doubt(Evaluated::Watches, watch.sides);
            self.bands[at] = self.bands[at].max(zero::band(doubt.value));
        }
        distance.abs() > self.margin(machine, at)
    }

    /// How far apart the sides of a relation may be and count as equal, between events.
    fn margin(&self, machine: &Machine<'_>, at: usize) -> f64 {
        let sides = machine.program.watches[at].sides;
        let band = self.bands[at] + zero::band_of_sides(machine.get(sides.0), machine.get(sides.1));
        let held = if self.held_as_tie[at] { HELD } else { 1.0 };
        // Times that are known in advance are stepped to exactly, and their last digits are not reliable.
        let timed = machine.program.watches[at].timed;
        match self.insensitive[at] > 0 || self.held_as_tie[at] || timed {
            true => band.max(10_f64.powi(self.insensitive[at]) * held * self.idle(at)),
            false => band,
        }
    }

    /// Where a difference is large beside everything that occurs, nothing has to be asked.
    fn may_be_rounding(&self, machine: &Machine<'_>, difference: f64, sides: (u32, u32)) -> bool {
        let size = machine.get(sides.0).abs().max(machine.get(sides.1).abs());
        difference.abs() <= POSSIBLE * self.largest.max(size)
    }

    /// Whether rounding alone can make a difference of sides at an event.
    fn is_tie(&self, machine: &mut Machine<'_>, difference: f64, sides: (u32, u32)) -> bool {
        self.may_be_rounding(machine, difference, sides)
            && machine.find_bounds(Evaluated::Event, &self.states).is_ok()
            && zero::is_met(difference, machine.doubt(Evaluated::Event, sides).value)
    }

    /// The states at the ends of the last step: what they have been rounded to.
    pub fn update_states(&mut self, before: &[f64], after: &[f64]) {
        self.states.clear();
        let sizes = before.iter().zip(after);
        (self.states).extend(sizes.map(|(a, b)| zero::rounding(a.abs().max(b.abs()))));
    }

    /// An event begins at which the sides of these relations were located to be equal. The machine must have evaluated it.
    pub fn begin_event(&mut self, machine: &mut Machine<'_>, crossed: &[usize]) {
        self.crossed.clear();
        self.late = 0.0;
        if crossed.is_empty() {
            return;
        }
        let moves = self.evaluate_slopes(machine);
        for &at in crossed {
            let watch = &machine.program.watches[at];
            let difference = difference(machine, watch.event_sides);
            let off = watch.kind.nearest(difference).abs();
            self.crossed.push((at, off));
            let late = 2.0 * off / slope(machine, watch.event_sides).abs();
            if moves && late.is_finite() {
                self.late = self.late.max(late);
            }
        }
    }

    /// What the location of the present event has left between the sides of a relation.
    fn located(&self, at: usize) -> f64 {
        let found = self.crossed.iter().find(|(crossed, _)| *crossed == at);
        found.map_or(0.0, |(_, off)| *off)
    }

    /// The truths of some relations.
    pub fn truths(machine: &Machine<'_>, crossed: &[usize]) -> Vec<f64> {
        let held = |&at: &usize| machine.get(machine.program.watches[at].held);
        crossed.iter().map(held).collect()
    }

    /// In models with switches, makes relations that an event has left unchanged insensitive: they change the next time at a
    /// wider margin. Otherwise a diode whose voltage only touches zero would cause events without end.
    pub fn desensitise(&mut self, machine: &Machine<'_>, crossed: &[usize], before: &[f64]) {
        /// The margin stays below the usual error of a step.
        const MOST: i32 = 6;
        if self.shared == 0.0 {
            return;
        }
        for (&at, &before) in crossed.iter().zip(before) {
            if let (Some(insensitive), Some(watch)) = (
                self.insensitive.get_mut(at),
                machine.program.watches.get(at),
            ) {
                *insensitive = match machine.get(watch.held) == before {
                    true => (*insensitive + 1).min(MOST),
                    false => 0,
                };
            }
        }
    }

    /// Updates the largest side from the values at an event.
    pub fn update_largest(&mut self, machine: &Machine<'_>) {
        for watch in machine.program.watches.iter().filter(|watch| !watch.timed) {
            for side in [watch.event_sides.0, watch.event_sides.1] {
                let size = machine.get(side).abs();
                if size.is_finite() {
                    self.note_size(size);
                }
            }
        }
    }

    /// Takes the size of a value into account from which sides may be computed.
    pub fn note_size(&mut self, size: f64) {
        self.largest = self.largest.max(size);
    }

    /// The largest absolute value of any side so far.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// The distance of a relation from a change.
    pub fn distance(&self, machine: &Machine<'_>, at: usize) -> f64 {
        let watch = &machine.program.watches[at];
        let difference = difference(machine, watch.sides);
        watch.kind.distance(difference, machine.get(watch.held))
    }

    fn idle(&self, at: usize) -> f64 {
        IDLE * self.scales[at].max(self.shared * self.largest)
    }

    /// After an event: relations whose sides are equal have no sign.
    pub fn clear_signs_of_ties(&mut self, machine: &Machine<'_>) {
        for (at, watch) in machine.program.watches.iter().enumerate() {
            let difference = difference(machine, watch.sides);
            if difference.is_nan() || difference.abs() <= self.margin(machine, at) {
                self.signs[at] = 0.0;
            }
        }
    }

    /// Updates scales and signs at a point of the solution.
    pub fn update_scales(&mut self, machine: &Machine<'_>) {
        for (at, watch) in machine.program.watches.iter().enumerate() {
            for side in [watch.sides.0, watch.sides.1] {
                let size = machine.get(side).abs();
                if size.is_finite() {
                    self.scales[at] = self.scales[at].max(size);
                    if !watch.timed {
                        self.note_size(size);
                    }
                }
            }
            let difference = difference(machine, watch.sides);
            let size = machine
                .get(watch.sides.0)
                .abs()
                .max(machine.get(watch.sides.1).abs());
            let idle = self.idle(at) + 4.0 * f64::EPSILON * size;
            if difference.abs() > idle {
                self.signs[at] = difference.signum();
            }
            if difference.abs() > 10_f64.powi(self.insensitive[at] + 1) * idle {
                self.insensitive[at] = 0;
            }
        }
    }
}

/// Evaluates the event by the machine; where a loop does not converge from its last solution, by the plain evaluator first.
pub(super) fn evaluate(
    solved: &Solved,
    machine: &mut Machine<'_>,
    (time, states): (f64, &[f64]),
) -> Result<(), EventError> {
    if machine.evaluate_event(time, states).is_ok() {
        machine.keep();
        return Ok(());
    }
    let failed = |failure| EventError::Failure(Box::new(failure));
    solve_with_evaluator(solved, machine, time).map_err(failed)?;
    let again: Result<(), Stuck> = machine.evaluate_event(time, states);
    again.map_err(|stuck| {
        let block = &solved.blocks[stuck.block];
        EventError::Failure(Box::new(Failure::of_block(&solved.flat, block, time)))
    })
}

fn difference(machine: &Machine<'_>, sides: (u32, u32)) -> f64 {
    machine.get(sides.0) - machine.get(sides.1)
}

fn slope(machine: &Machine<'_>, sides: (u32, u32)) -> f64 {
    machine.slope(sides.0) - machine.slope(sides.1)
}

/// All values that can change at an event, as a key for a set.
pub(super) fn key(machine: &Machine<'_>, states: &[f64]) -> Vec<u64> {
    let program = machine.program;
    let held = program.watches.iter().map(|watch: &Watch| watch.held);
    let values = program.discretes.iter().map(|discrete| discrete.value);
    (held.chain(values))
        .map(|register| machine.get(register).to_bits())
        .chain(states.iter().map(|state| state.to_bits()))
        .collect()
}
