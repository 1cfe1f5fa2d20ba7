//! The truths of relations at an event, and the changes that are due.
//!
//! A relation whose sides differ is certain. If its sides are equal, the direction in which they move decides. If they do not
//! move either, it is a tie, and the strategy of the event iteration decides.

use super::{Change, Events, TIE, difference, slope};
use crate::program::machine::Machine;
use crate::program::{Program, Watch};
use crate::simulate::events::time_events::time_rounding;

/// How the event iteration applies changes. The next strategy is taken when the iteration comes back to a snapshot that it
/// had before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::simulate) enum Strategy {
    AllAtOnce,
    /// One change in each pass, the first of the list.
    OneAtATime,
    /// The same, and ties keep their truths.
    KeepTies,
    /// The same, and equal sides count as equal even if they move: `sign(0)` is 0 where the model moves back to zero from
    /// both sides.
    TiesAsWritten,
}

/// What the sides of a relation tell about its truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::simulate) enum Verdict {
    /// The sides differ, or their difference has an impulse.
    Certain(f64),
    /// The sides are equal, and move towards this truth.
    Moving(f64),
    /// The sides are equal and do not move.
    Tie,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::simulate) struct Judgement {
    pub(in crate::simulate) at: usize,
    difference: f64,
    pub(in crate::simulate) verdict: Verdict,
}

impl Judgement {
    /// The truth of the relation for equal sides, as the relation is written.
    pub(in crate::simulate) fn as_written(&self, watch: &Watch) -> f64 {
        watch.kind.decide_at(self.difference, 0.0)
    }
}

/// Discrete variables whose next value differs from their value.
pub(in crate::simulate) fn next_values<'a>(
    machine: &'a Machine<'_>,
) -> impl Iterator<Item = Change> + 'a {
    let discretes = machine.program.discretes.iter().enumerate();
    discretes.filter_map(|(at, discrete)| {
        let value = machine.get(discrete.next?);
        let other = value != machine.get(discrete.value) && !value.is_nan();
        other.then_some(Change::Discrete(at, value))
    })
}

impl Events {
    /// The changes that are due: relations whose truth does not fit their sides, and discrete variables whose next value
    /// differs from their value. If the sides of a relation have an impulse, the impulse decides.
    pub(in crate::simulate) fn changes(
        &mut self,
        machine: &mut Machine<'_>,
        strategy: Strategy,
        momentary: &[usize],
        impulses: &[f64],
    ) -> Vec<Change> {
        let program = machine.program;
        let mut changes = Vec::new();
        for judgement in self.judge(machine, momentary, impulses) {
            let watch = &program.watches[judgement.at];
            let held = machine.get(watch.held);
            let decided = match judgement.verdict {
                Verdict::Certain(decided) => decided,
                Verdict::Moving(..) if strategy == Strategy::TiesAsWritten => {
                    judgement.as_written(watch)
                }
                Verdict::Moving(decided) => decided,
                Verdict::Tie if strategy == Strategy::KeepTies => held,
                Verdict::Tie => judgement.as_written(watch),
            };
            let tie = !matches!(judgement.verdict, Verdict::Certain(_));
            self.held_as_tie[judgement.at] = tie && strategy == Strategy::TiesAsWritten;
            if decided != held {
                changes.push(Change::Watch(judgement.at, decided));
            }
        }
        changes.extend(next_values(machine));
        changes
    }

    /// Judges all relations but those that are momentarily equal and those without a value.
    pub(in crate::simulate) fn judge(
        &mut self,
        machine: &mut Machine<'_>,
        momentary: &[usize],
        impulses: &[f64],
    ) -> Vec<Judgement> {
        let program = machine.program;
        let mut all = Vec::with_capacity(program.watches.len());
        let mut moving = None;
        for (at, watch) in program.watches.iter().enumerate() {
            let difference = difference(machine, watch.event_sides);
            if momentary.contains(&at) || difference.is_nan() {
                continue;
            }
            let mut judgement = Judgement {
                at,
                difference,
                verdict: Verdict::Tie,
            };
            let impulse = impulses.get(at).copied().unwrap_or(0.0);
            if impulse != 0.0 && !watch.kind.is_momentary() {
                judgement.verdict = Verdict::Certain(watch.kind.decide(impulse));
                self.tied[at] = false;
                all.push(judgement);
                continue;
            }
            // Wider than the margin that `has_changed` uses: at the time located for a change the sides are equal.
            let mut zero = TIE * self.zero(machine, at, watch.event_sides) + self.bands[at];
            let mut slope_here = |events: &mut Self, machine: &mut Machine<'_>| {
                let known = *moving.get_or_insert_with(|| events.evaluate_slopes(machine));
                match known {
                    true => slope(machine, watch.event_sides),
                    false => 0.0,
                }
            };
            if watch.timed {
                // The last digits of a time that was computed in advance are not reliable.
                let time = machine.get(Program::TIME);
                zero += 2.0 * time_rounding(time) * slope_here(self, machine).abs();
            }
            judgement.verdict = match watch.kind.nearest(difference).abs() <= zero {
                false => Verdict::Certain(watch.kind.decide(difference)),
                true if self.at_instant => Verdict::Tie,
                true => {
                    let slope = slope_here(self, machine);
                    // Sides that move less than this in the whole run count as constant.
                    match slope.abs() * self.span > zero.max(f64::MIN_POSITIVE) {
                        true => Verdict::Moving(watch.kind.decide_at(difference, slope)),
                        false => Verdict::Tie,
                    }
                }
            };
            self.tied[at] = !matches!(judgement.verdict, Verdict::Certain(_));
            all.push(judgement);
        }
        all
    }

    /// Computes the derivatives of all registers along the solution; false if there are none.
    pub(super) fn evaluate_slopes(&mut self, machine: &mut Machine<'_>) -> bool {
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

/// Decides all relations as they are written, equal sides included.
pub(in crate::simulate) fn decide_all(machine: &mut Machine<'_>) {
    for watch in &machine.program.watches {
        let held = watch.kind.decide(difference(machine, watch.event_sides));
        machine.set(watch.held, if held.is_nan() { 0.0 } else { held });
    }
}
