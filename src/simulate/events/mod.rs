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
pub(super) use self::judge::{Strategy, Verdict, decide_all, next_values};
pub(super) use self::whens::restart;
use super::point::solve_with_evaluator;
use crate::base::diagnostics::Diagnostic;
use crate::evaluate::Failure;
use crate::expr::{BinaryOp, ExprId};
use crate::flat::Leaf;
use crate::passes::blocks::Solved;
use crate::passes::relations::WatchKind;
use crate::program::machine::{Machine, Stuck};
use crate::program::{Program, Watch};

/// A difference of sides counts as zero up to this, relative to the largest value so far.
const ZERO: f64 = 1e-13;
/// At an event sides count as equal up to so many times that.
const TIE: f64 = 4.0;
/// A relation that was decided as equal, although its sides move, changes only beyond so many times that.
const HELD: f64 = 16.0;

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
    /// The values at the start are being found: they have to agree at that instant. Sides that are equal and about to move are ties.
    pub at_instant: bool,
    /// The largest absolute value of any side so far.
    largest: f64,
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
            at_instant: false,
            largest: 0.0,
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
            decide_all(machine);
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
            let meets = |machine: &Machine<'_>| {
                let off = difference(machine, watch.event_sides).abs();
                self.signs[at] != 0.0 && off <= self.zero(machine, at, watch.event_sides)
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

    /// Whether the truth of a relation no longer fits its sides, by more than the margin.
    pub fn has_changed(&self, machine: &Machine<'_>, at: usize) -> bool {
        let watch = &machine.program.watches[at];
        let difference = difference(machine, watch.sides);
        let held = machine.get(watch.held);
        let passed = watch.kind.is_momentary() && difference * self.signs[at] < 0.0;
        if !passed && watch.kind.decide(difference) == held {
            return false;
        }
        let distance = watch.kind.distance(difference, held);
        let held_margin = if self.held_as_tie[at] { HELD } else { 1.0 };
        let times = 10_f64.powi(self.insensitive[at]) * held_margin;
        distance.abs() > times * self.zero(machine, at, watch.sides)
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

    fn zero(&self, machine: &Machine<'_>, at: usize, sides: (u32, u32)) -> f64 {
        let size = machine.get(sides.0).abs().max(machine.get(sides.1).abs());
        ZERO * self.scales[at].max(self.shared * self.largest) + 4.0 * f64::EPSILON * size
    }

    /// After an event: relations whose sides are equal have no sign.
    pub fn clear_signs_of_ties(&mut self, machine: &Machine<'_>) {
        for (at, watch) in machine.program.watches.iter().enumerate() {
            let difference = difference(machine, watch.sides);
            if difference.is_nan() || difference.abs() <= TIE * self.zero(machine, at, watch.sides)
            {
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
            let zero = self.zero(machine, at, watch.sides);
            if difference.abs() > zero {
                self.signs[at] = difference.signum();
            }
            if difference.abs() > 10_f64.powi(self.insensitive[at] + 1) * zero {
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
