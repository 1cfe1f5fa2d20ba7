//! Relations whose sides are equal but for errors of the states.
//!
//! Before: the evaluation of an event. After: some relations have a band. Within its band a relation keeps its truth between events;
//! a little beyond it the direction in which its sides move decides at an event. A band lasts until the sides have moved apart as
//! the truth says, at most until the next event.
//!
//! In a model with switches bands are wider. After an event states are known to the tolerances of the run only. Where the sides begin to move slowly (a diode closes at the
//! peak of a sine), the interpolation within the next step gives their difference with the wrong sign at first, and after
//! some modes with storages that depend on each other, what was equal differs by more than rounding.

use super::{Events, TIE, difference, slope};
use crate::passes::relations::WatchKind;
use crate::program::Watch;
use crate::program::machine::Machine;

/// Tolerances of the states: the relative one, and the absolute one of each.
pub(in crate::simulate) type Tolerances<'a> = (f64, &'a [f64]);

/// Sides that would leave their band in this part of the run move clearly.
const SOON: f64 = 1e-3;

impl Events {
    /// After an event: sides that were equal there stay equal until they have moved apart by more than that. Otherwise what is a tie
    /// at the event (two balls that touch and no longer move) would be compared exactly in the next step. What leaves a band on the
    /// same side again and again gets one that is wider by as much each time, so that the events are counted in the end.
    pub(in crate::simulate) fn keep_ties(&mut self, machine: &Machine<'_>) {
        for (at, watch) in machine.program.watches.iter().enumerate() {
            let tie = TIE * self.zero(machine, at, watch.event_sides);
            let off = difference(machine, watch.event_sides).abs();
            let equal = has_band(watch) && (off <= tie || self.tied[at]);
            self.bands[at] = if equal { off + 2.0 * tie } else { 0.0 };
        }
    }

    /// After an event in a model with switches: wider bands of relations that are within them, unless they move clearly against their truth.
    pub(in crate::simulate) fn hold_ties(
        &mut self,
        machine: &mut Machine<'_>,
        tolerances: Tolerances<'_>,
        held_at_zero: &[bool],
    ) {
        let may_be = |at: usize, difference: f64| {
            !held_at_zero[at] && difference.abs() <= self.widest(at, tolerances)
        };
        let doubts = self.doubts(machine, tolerances, may_be);
        let near: Vec<(usize, f64)> = (doubts.into_iter())
            .filter(|&(at, doubt)| {
                let sides = machine.program.watches[at].event_sides;
                difference(machine, sides).abs() <= doubt
            })
            .collect();
        if near.is_empty() {
            return;
        }
        let moving = self.evaluate_slopes(machine);
        for (at, doubt) in near {
            let watch = &machine.program.watches[at];
            let slope = if moving {
                slope(machine, watch.event_sides)
            } else {
                0.0
            };
            let against = watch.kind.decide(slope) != machine.get(watch.held);
            if !(against && slope.abs() * SOON * self.span > doubt) {
                self.bands[at] = self.bands[at].max(doubt);
            }
        }
    }

    /// At an event: bands for all relations, at least as wide as they are.
    pub(in crate::simulate) fn widen(
        &mut self,
        machine: &mut Machine<'_>,
        tolerances: Tolerances<'_>,
    ) {
        for (at, doubt) in self.doubts(machine, tolerances, |_, _| true) {
            self.bands[at] = self.bands[at].max(doubt);
        }
    }

    /// Bounds of single terms say too much of their difference: no band is wider.
    fn widest(&self, at: usize, (relative, _): Tolerances<'_>) -> f64 {
        relative * self.largest.max(self.scales[at])
    }

    /// How far the difference of the sides of relations may be wrong, if states are wrong by their tolerances.
    fn doubts(
        &self,
        machine: &mut Machine<'_>,
        tolerances: Tolerances<'_>,
        of: impl Fn(usize, f64) -> bool,
    ) -> Vec<(usize, f64)> {
        let program = machine.program;
        let (relations, sides): (Vec<usize>, Vec<_>) = (program.watches.iter().enumerate())
            .filter(|(at, watch)| {
                has_band(watch) && of(*at, difference(machine, watch.event_sides))
            })
            .map(|(at, watch)| (at, watch.event_sides))
            .unzip();
        let doubts = match relations.is_empty() {
            true => return Vec::new(),
            false => machine.doubts(tolerances, &sides).unwrap_or_default(),
        };
        let capped = relations.into_iter().zip(doubts).map(|(at, doubt)| {
            let most = self.widest(at, tolerances);
            (at, if doubt < most { doubt } else { most })
        });
        capped.collect()
    }
}

/// What is known in advance, and what is equal at single points only, needs none.
fn has_band(watch: &Watch) -> bool {
    let relation = matches!(watch.kind, WatchKind::Relation(_));
    relation && !watch.timed && !watch.kind.is_momentary()
}
