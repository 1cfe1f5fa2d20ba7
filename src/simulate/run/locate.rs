//! Location of events: the first time within a step at which a relation changes.

use super::{Integrator, Run, RunError};
use crate::base::cancel::glance;

/// Relations are evaluated at so many points of a step.
const SAMPLES: usize = 4;

/// The distances of the relations from a change, sample by sample. A relation whose distance has a minimum may have changed
/// and changed back between two samples.
#[derive(Debug, Default)]
pub(super) struct DistanceHistory {
    /// The last sample before the step, the start of the step, the samples in it.
    rows: [Vec<f64>; SAMPLES + 2],
}

impl DistanceHistory {
    /// Starts a history at a point without an earlier sample.
    pub(super) fn begin(&mut self, distances: Vec<f64>) {
        self.rows[0] = vec![f64::NAN; distances.len()];
        self.rows[1] = distances;
    }

    fn store(&mut self, sample: usize, distances: &[f64]) {
        self.rows[sample + 1].clear();
        self.rows[sample + 1].extend_from_slice(distances);
    }

    /// Makes the last two samples the first two of the next step.
    fn next_step(&mut self) {
        self.rows.swap(0, SAMPLES);
        self.rows.swap(1, SAMPLES + 1);
    }

    /// Relations whose distance had a clear minimum at the sample before this one.
    fn minima(&self, sample: usize) -> Vec<usize> {
        const CLEARLY: f64 = 0.7;
        let before = &self.rows[sample - 1];
        let (middle, now) = (&self.rows[sample], &self.rows[sample + 1]);
        (0..now.len().min(middle.len()).min(before.len()))
            .filter(|&at| {
                let (a, b, c) = (before[at], middle[at], now[at]);
                let near = b.abs();
                a * c > 0.0
                    && a * b > 0.0
                    && near <= a.abs()
                    && near <= c.abs()
                    && near < CLEARLY * a.abs().max(c.abs())
            })
            .collect()
    }
}

/// An event that was located within a step.
pub(super) struct LocatedEvent {
    pub(super) time: f64,
    /// Relations that change at this time.
    pub(super) crossed: Vec<usize>,
}

impl Run<'_, '_, '_, '_> {
    /// The first event within the last step, if there is one.
    pub(super) fn locate_event(
        &mut self,
        integrator: &dyn Integrator,
    ) -> Result<Option<LocatedEvent>, RunError> {
        if self.mode.program.watches.iter().all(|watch| watch.timed) {
            return Ok(None);
        }
        let (before, after) = (integrator.before(), integrator.time());
        let time_of = |sample: usize| match sample == SAMPLES {
            true => after,
            false => before + (after - before) * (sample as f64 / SAMPLES as f64),
        };
        for sample in 1..=SAMPLES {
            let time = time_of(sample);
            let changed = self.changed_at(integrator, time)?;
            if !changed.is_empty() {
                let left = time_of(sample - 1);
                return self.locate(integrator, (left, time), changed).map(Some);
            }
            self.history.store(sample, &self.distances());
            let left = time_of(sample.saturating_sub(2));
            for watch in self.history.minima(sample) {
                let located = self.search_minimum(integrator, (left, time), watch)?;
                if located.is_some() {
                    return Ok(located);
                }
            }
        }
        self.history.next_step();
        self.states_at(integrator, after);
        self.evaluate_relations(after)?;
        (self.events).update_scales(&self.mode.rates.machine.borrow());
        Ok(None)
    }

    /// The distances of all relations from a change, as the machine was last evaluated.
    pub(super) fn distances(&self) -> Vec<f64> {
        let machine = self.mode.rates.machine.borrow();
        (0..self.mode.program.watches.len())
            .map(|at| self.events.distance(&machine, at))
            .collect()
    }

    /// Searches a change between two times at which there is none: minimizes the distance of a relation by golden section.
    fn search_minimum(
        &mut self,
        integrator: &dyn Integrator,
        (left, right): (f64, f64),
        watch: usize,
    ) -> Result<Option<LocatedEvent>, RunError> {
        const MOST: usize = 16;
        const GOLDEN: f64 = 0.381_966_011_250_105;
        let (mut low, mut high) = (left, right);
        let mut reused: Option<(f64, f64)> = None;
        for _ in 0..MOST {
            let part = GOLDEN * (high - low);
            let (near, far) = (low + part, high - part);
            let mut values = [0.0; 2];
            for (value, time) in values.iter_mut().zip([near, far]) {
                if let Some((at, known)) = reused
                    && at == time
                {
                    *value = known;
                    continue;
                }
                let changed = self.changed_at(integrator, time)?;
                if !changed.is_empty() {
                    return self.locate(integrator, (left, time), changed).map(Some);
                }
                *value = self.distances()[watch].abs();
            }
            match values[0] < values[1] {
                true => (high, reused) = (far, Some((near, values[0]))),
                false => (low, reused) = (near, Some((far, values[1]))),
            }
        }
        Ok(None)
    }

    fn changed_at(
        &mut self,
        integrator: &dyn Integrator,
        time: f64,
    ) -> Result<Vec<usize>, RunError> {
        self.states_at(integrator, time);
        self.evaluate_relations(time)?;
        let machine = self.mode.rates.machine.borrow();
        Ok((0..self.mode.program.watches.len())
            .filter(|&at| self.events.has_changed(&machine, at))
            .collect())
    }

    /// The first change between two times; at the left one nothing has changed, at the right one something has. The time
    /// found lies just behind the point where the sides are equal. The method is regula falsi, in which the weight of an end
    /// that stays is halved (the Illinois method).
    fn locate(
        &mut self,
        integrator: &dyn Integrator,
        (mut left, mut right): (f64, f64),
        mut changed: Vec<usize>,
    ) -> Result<LocatedEvent, RunError> {
        let mut watched = usize::MAX;
        let (mut low, mut high) = (0.0, 0.0);
        let mut last_side = 0;
        loop {
            glance();
            let resolution = 4.0 * f64::EPSILON * left.abs().max(right.abs());
            if right - left <= resolution.max(f64::MIN_POSITIVE) {
                return Ok(LocatedEvent {
                    time: right,
                    crossed: changed,
                });
            }
            if !changed.contains(&watched) {
                // Another relation changes first.
                watched = changed[0];
                self.states_at(integrator, right);
                self.evaluate_relations(right)?;
                high = self
                    .events
                    .distance(&self.mode.rates.machine.borrow(), watched);
                self.states_at(integrator, left);
                self.evaluate_relations(left)?;
                low = self
                    .events
                    .distance(&self.mode.rates.machine.borrow(), watched);
                last_side = 0;
            }
            let part = low / (low - high);
            let middle = match part > 0.0 && part < 1.0 {
                true => left + part * (right - left),
                false => left + 0.5 * (right - left),
            };
            // Times closer to an end than this cannot be distinguished from it.
            let edge = 0.5 * resolution;
            let middle = middle.clamp(left + edge, right - edge);
            let found = self.changed_at(integrator, middle)?;
            let value = self
                .events
                .distance(&self.mode.rates.machine.borrow(), watched);
            match found.is_empty() {
                true => {
                    (left, low) = (middle, value);
                    if last_side == -1 {
                        high *= 0.5;
                    }
                    last_side = -1;
                }
                false => {
                    (right, high, changed) = (middle, value, found);
                    if last_side == 1 {
                        low *= 0.5;
                    }
                    last_side = 1;
                }
            }
        }
    }
}
