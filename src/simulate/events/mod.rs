//! Events: relations are decided, discrete variables get their next values, `when`s act.
//!
//! Before: a point in time, the states there, and what was kept until now. After the rounds of [`super::run`]:
//! every relation has the truth that its sides give it, every `new(x)` equals x, and what `when`s had to do
//! is done. A relation whose sides are equal is decided by which way they move; where they do not move
//! either, as it is written; where that goes round in a circle, it keeps its truth, and where that does
//! too, both sides count as equal.

mod crowd;
mod known;
mod whens;

pub use known::at_once;

use std::collections::VecDeque;

pub(super) use self::crowd::{Last, restless};
use self::known::nearly;
pub(super) use self::whens::restart;
use super::point::rescue;
use crate::base::diagnostics::Diagnostic;
use crate::evaluate::Failure;
use crate::expr::{BinaryOp, ExprId};
use crate::flat::Leaf;
use crate::passes::blocks::Solved;
use crate::passes::relations::WatchKind;
use crate::program::machine::{Machine, Stuck};
use crate::program::{Program, Watch};

/// Beside the largest value so far, what counts as zero.
const ZERO: f64 = 1e-13;
/// At an event sides are equal that differ by so many times what tells a change,
const TIE: f64 = 4.0;
/// and where they rest there, a change is told by so many times that.
const REST: f64 = 16.0;

/// Why an event could not be settled.
#[derive(Clone, Debug)]
pub enum Unsettled {
    /// Something cannot be computed.
    Failure(Box<Failure>),
    /// Something is true when it is false, and false when it is true; or changes without end.
    Restless(Box<Diagnostic>),
}

/// What changes without end.
#[derive(Clone, Copy, Debug)]
pub enum What {
    Relation(ExprId),
    Discrete(Leaf),
    /// A state that `when`s restart.
    Restart(Leaf),
    /// Something else.
    Events,
}

#[derive(Debug)]
pub struct Events {
    /// The largest value of the sides of each relation,
    scales: Vec<f64>,
    /// and this part of the largest of all: in one position a side may be zero all the time that is not in another.
    pub shared: f64,
    largest: f64,
    /// On which side each relation was last: what is equal at one moment only has to pass it.
    signs: Vec<f64>,
    /// Relations that were settled as equal, whichever way they move.
    rests: Vec<bool>,
    /// How often in a row an event has left a relation as it was.
    dull: Vec<i32>,
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
pub(super) enum Change {
    Watch(usize, f64),
    Discrete(usize, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    Together,
    /// One after the other, the first first: this ends where changing all at once goes round.
    Single,
    /// And a tie that does not move keeps its truth.
    Keeping,
    /// And a tie is one, however it moves: `sign(0)` is 0 where it pushes back from both sides.
    Resting,
}

/// What a relation is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// By its sides, or by their impulse.
    Sure(f64),
    /// Its sides are equal, and this is what they move to.
    Moves(f64),
    /// They are equal and do not move.
    Tie,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    pub(super) at: usize,
    difference: f64,
    pub(super) verdict: Verdict,
}

impl Judged {
    /// As it is written for sides that are equal.
    pub(super) fn at_rest(&self, watch: &Watch) -> f64 {
        watch.kind.decide_at(self.difference, 0.0)
    }
}

/// Discrete variables whose next value is another one.
pub(super) fn next_values<'a>(machine: &'a Machine<'_>) -> impl Iterator<Item = Change> + 'a {
    let discretes = machine.program.discretes.iter().enumerate();
    discretes.filter_map(|(at, discrete)| {
        let value = machine.get(discrete.next?);
        let other = value != machine.get(discrete.value) && !value.is_nan();
        other.then_some(Change::Discrete(at, value))
    })
}

impl Events {
    pub fn new(program: &Program, span: f64) -> Self {
        Events {
            scales: vec![0.0; program.watches.len()],
            shared: 0.0,
            largest: 0.0,
            signs: vec![0.0; program.watches.len()],
            rests: vec![false; program.watches.len()],
            dull: vec![0; program.watches.len()],
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
        solved: &Solved,
        machine: &mut Machine<'_>,
        (time, states): (f64, &[f64]),
    ) -> Result<(), Unsettled> {
        // Truths are needed to compute the sides of others: twice is enough for most, the rest is settled.
        for _ in 0..2 {
            evaluate(solved, machine, (time, states))?;
            self.note_sides(machine);
            decide_all(machine);
        }
        evaluate(solved, machine, (time, states))?;
        self.see_conditions(machine);
        Ok(())
    }

    /// Conditions of `when`s as they are now: they have not just become true.
    pub fn see_conditions(&mut self, machine: &Machine<'_>) {
        for (when, last) in machine.program.whens.iter().zip(&mut self.conditions) {
            for ((condition, _), last) in when.branches.iter().zip(last) {
                *last = machine.get(*condition) != 0.0;
            }
        }
    }

    /// Another program has its own relations after those that all positions have.
    pub fn sit(&mut self, program: &Program, common: usize) {
        let count = program.watches.len();
        self.scales.truncate(common);
        self.scales.resize(count, 0.0);
        self.signs.truncate(common);
        self.signs.resize(count, 0.0);
        self.rests.truncate(common);
        self.rests.resize(count, false);
        self.dull.truncate(common);
        self.dull.resize(count, 0);
        self.recent.truncate(common);
        self.recent.resize(count, Default::default());
        self.rates.resize(program.state_count(), 0.0);
    }

    /// Relations that are equal for this moment only: they count as equal now. `crossed` were found to be so.
    pub fn moments(&self, machine: &mut Machine<'_>, crossed: &[usize]) -> Vec<usize> {
        let mut moments: Vec<usize> = Vec::new();
        for (at, watch) in machine.program.watches.iter().enumerate() {
            // Met here, whether it was looked for or the time was known.
            let meets = |machine: &Machine<'_>| {
                let off = difference(machine, watch.event_sides).abs();
                self.signs[at] != 0.0 && off <= self.zero(machine, at, watch.event_sides)
            };
            if let WatchKind::Relation(op) = watch.kind
                && watch.kind.is_momentary()
                && (crossed.contains(&at) || meets(machine))
            {
                machine.set(watch.held, f64::from(u8::from(op == BinaryOp::Equal)));
                moments.push(at);
            }
        }
        moments
    }

    /// Whether a relation is not what it was, clearly.
    pub fn has_changed(&self, machine: &Machine<'_>, at: usize) -> bool {
        let watch = &machine.program.watches[at];
        let difference = difference(machine, watch.sides);
        let held = machine.get(watch.held);
        let distance = watch.kind.distance(difference, held);
        let times = 10_f64.powi(self.dull[at]) * if self.rests[at] { REST } else { 1.0 };
        if distance.is_nan() || distance.abs() <= times * self.zero(machine, at, watch.sides) {
            return false;
        }
        let passed = watch.kind.is_momentary() && difference * self.signs[at] < 0.0;
        passed || watch.kind.decide(difference) != held
    }

    /// The truths of some relations, before an event.
    pub fn truths(machine: &Machine<'_>, crossed: &[usize]) -> Vec<f64> {
        let held = |&at: &usize| machine.get(machine.program.watches[at].held);
        crossed.iter().map(held).collect()
    }

    /// Of models with switches: relations that an event has left as they were change the next time when they are further
    /// beyond. A diode that opens where its voltage only touches zero would be looked at for ever.
    pub fn note_dull(&mut self, machine: &Machine<'_>, crossed: &[usize], before: &[f64]) {
        /// Up to what a step may be wrong by.
        const MOST: i32 = 6;
        if self.shared == 0.0 {
            return;
        }
        for (&at, &before) in crossed.iter().zip(before) {
            if let (Some(dull), Some(watch)) =
                (self.dull.get_mut(at), machine.program.watches.get(at))
            {
                *dull = match machine.get(watch.held) == before {
                    true => (*dull + 1).min(MOST),
                    false => 0,
                };
            }
        }
    }

    /// How large the sides of relations are at an event.
    pub fn note_sides(&mut self, machine: &Machine<'_>) {
        for watch in machine.program.watches.iter().filter(|watch| !watch.timed) {
            for side in [watch.event_sides.0, watch.event_sides.1] {
                let size = machine.get(side).abs();
                if size.is_finite() {
                    self.note(size);
                }
            }
        }
    }

    /// Something that sides may be computed from is as large as this.
    pub fn note(&mut self, size: f64) {
        self.largest = self.largest.max(size);
    }

    /// The largest side of any relation so far.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// How far a relation is from changing.
    pub fn distance(&self, machine: &Machine<'_>, at: usize) -> f64 {
        let watch = &machine.program.watches[at];
        let difference = difference(machine, watch.sides);
        watch.kind.distance(difference, machine.get(watch.held))
    }

    fn zero(&self, machine: &Machine<'_>, at: usize, sides: (u32, u32)) -> f64 {
        let size = machine.get(sides.0).abs().max(machine.get(sides.1).abs());
        ZERO * self.scales[at].max(self.shared * self.largest) + 4.0 * f64::EPSILON * size
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
                    if !watch.timed {
                        self.note(size);
                    }
                }
            }
            let difference = difference(machine, watch.sides);
            let zero = self.zero(machine, at, watch.sides);
            if difference.abs() > zero {
                self.signs[at] = difference.signum();
            }
            if difference.abs() > 10_f64.powi(self.dull[at] + 1) * zero {
                self.dull[at] = 0;
            }
        }
    }

    /// What is not as it should be. An impulse of the sides of a relation, where there is one, decides before all else.
    pub(super) fn changes(
        &mut self,
        machine: &mut Machine<'_>,
        way: Way,
        moments: &[usize],
        impulses: &[f64],
    ) -> Vec<Change> {
        let program = machine.program;
        let mut changes = Vec::new();
        for judged in self.judge(machine, moments, impulses) {
            let watch = &program.watches[judged.at];
            let held = machine.get(watch.held);
            let decided = match judged.verdict {
                Verdict::Sure(decided) => decided,
                Verdict::Moves(..) if way == Way::Resting => judged.at_rest(watch),
                Verdict::Moves(decided) => decided,
                Verdict::Tie if way == Way::Keeping => held,
                Verdict::Tie => judged.at_rest(watch),
            };
            let tie = !matches!(judged.verdict, Verdict::Sure(_));
            self.rests[judged.at] = tie && way == Way::Resting;
            if decided != held {
                changes.push(Change::Watch(judged.at, decided));
            }
        }
        changes.extend(next_values(machine));
        changes
    }

    /// What each relation is here; not those that are equal for this moment only, nor what has no value.
    pub(super) fn judge(
        &mut self,
        machine: &mut Machine<'_>,
        moments: &[usize],
        impulses: &[f64],
    ) -> Vec<Judged> {
        let program = machine.program;
        let mut all = Vec::with_capacity(program.watches.len());
        let mut moving = None;
        for (at, watch) in program.watches.iter().enumerate() {
            let difference = difference(machine, watch.event_sides);
            if moments.contains(&at) || difference.is_nan() {
                continue;
            }
            let mut judged = Judged {
                at,
                difference,
                verdict: Verdict::Tie,
            };
            let impulse = impulses.get(at).copied().unwrap_or(0.0);
            if impulse != 0.0 && !watch.kind.is_momentary() {
                judged.verdict = Verdict::Sure(watch.kind.decide(impulse));
                all.push(judged);
                continue;
            }
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
            judged.verdict = match watch.kind.nearest(difference).abs() <= zero {
                false => Verdict::Sure(watch.kind.decide(difference)),
                true => {
                    let slope = slope_here(self, machine);
                    // What moves less than this in the whole run stands still.
                    match slope.abs() * self.span > zero.max(f64::MIN_POSITIVE) {
                        true => Verdict::Moves(watch.kind.decide_at(difference, slope)),
                        false => Verdict::Tie,
                    }
                }
            };
            all.push(judged);
        }
        all
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

/// Evaluates the event; where a loop cannot be solved from its last solution, the thorough way.
pub(super) fn evaluate(
    solved: &Solved,
    machine: &mut Machine<'_>,
    (time, states): (f64, &[f64]),
) -> Result<(), Unsettled> {
    if machine.evaluate_event(time, states).is_ok() {
        machine.keep();
        return Ok(());
    }
    // From far away.
    let failed = |failure| Unsettled::Failure(Box::new(failure));
    rescue(solved, machine, time).map_err(failed)?;
    let again: Result<(), Stuck> = machine.evaluate_event(time, states);
    again.map_err(|stuck| {
        let block = &solved.blocks[stuck.block];
        Unsettled::Failure(Box::new(Failure::of_block(&solved.flat, block, time)))
    })
}

/// Decides all relations as they are written.
pub(super) fn decide_all(machine: &mut Machine<'_>) {
    for watch in &machine.program.watches {
        let held = watch.kind.decide(difference(machine, watch.event_sides));
        machine.set(watch.held, if held.is_nan() { 0.0 } else { held });
    }
}

fn difference(machine: &Machine<'_>, sides: (u32, u32)) -> f64 {
    machine.get(sides.0) - machine.get(sides.1)
}

fn slope(machine: &Machine<'_>, sides: (u32, u32)) -> f64 {
    machine.slope(sides.0) - machine.slope(sides.1)
}

/// All that can change at an event, as a key.
pub(super) fn key(machine: &Machine<'_>, states: &[f64]) -> Vec<u64> {
    let program = machine.program;
    let held = program.watches.iter().map(|watch: &Watch| watch.held);
    let values = program.discretes.iter().map(|discrete| discrete.value);
    (held.chain(values))
        .map(|register| machine.get(register).to_bits())
        .chain(states.iter().map(|state| state.to_bits()))
        .collect()
}
