//! Where in a step the first relation changes.

use super::{Halt, Integrator, Run};
use crate::base::cancel::glance;

/// Within a step relations are looked at so often.
const LOOKS: usize = 4;

/// How far relations were from changing, look by look: one that comes near and leaves may have changed
/// between two looks, and back.
#[derive(Debug, Default)]
pub(super) struct Dips {
    /// The look before the step, its start, the looks in it.
    rows: [Vec<f64>; LOOKS + 2],
}

impl Dips {
    /// Begins at a point that no look was before.
    pub(super) fn begin(&mut self, distances: Vec<f64>) {
        self.rows[0] = vec![f64::NAN; distances.len()];
        self.rows[1] = distances;
    }

    fn note(&mut self, look: usize, distances: &[f64]) {
        self.rows[look + 1].clear();
        self.rows[look + 1].extend_from_slice(distances);
    }

    fn go_on(&mut self) {
        self.rows.swap(0, LOOKS);
        self.rows.swap(1, LOOKS + 1);
    }

    /// Relations that were nearest one look ago, clearly nearer than before or after.
    fn at(&self, look: usize) -> Vec<usize> {
        const CLEARLY: f64 = 0.7;
        let (before, middle, now) = (&self.rows[look - 1], &self.rows[look], &self.rows[look + 1]);
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

/// What a step came to.
pub(super) struct Found {
    pub(super) time: f64,
    /// Relations that change there.
    pub(super) crossed: Vec<usize>,
}

impl Run<'_, '_, '_, '_> {
    /// Whether a relation has changed within the last step, and when the first did.
    pub(super) fn watch(&mut self, integrator: &dyn Integrator) -> Result<Option<Found>, Halt> {
        if self.seat.program.watches.iter().all(|watch| watch.timed) {
            return Ok(None);
        }
        let (before, after) = (integrator.before(), integrator.time());
        let time_of = |look: usize| match look == LOOKS {
            true => after,
            false => before + (after - before) * (look as f64 / LOOKS as f64),
        };
        for look in 1..=LOOKS {
            let time = time_of(look);
            let changed = self.changed_at(integrator, time)?;
            if !changed.is_empty() {
                let left = time_of(look - 1);
                return self.locate(integrator, (left, time), changed).map(Some);
            }
            self.dips.note(look, &self.distances());
            let left = time_of(look.saturating_sub(2));
            for watch in self.dips.at(look) {
                if let Some(found) = self.dip(integrator, (left, time), watch)? {
                    return Ok(Some(found));
                }
            }
        }
        self.dips.go_on();
        self.states_at(integrator, after);
        self.look(after)?;
        self.events.remember(&self.seat.rates.machine.borrow());
        Ok(None)
    }

    /// How far all relations are from changing, where the machine is.
    pub(super) fn distances(&self) -> Vec<f64> {
        let machine = self.seat.rates.machine.borrow();
        (0..self.seat.program.watches.len())
            .map(|at| self.events.distance(&machine, at))
            .collect()
    }

    /// Looks for a change between two times at which there is none, where the relation comes nearest to one: by
    /// the golden section.
    fn dip(
        &mut self,
        integrator: &dyn Integrator,
        (left, right): (f64, f64),
        watch: usize,
    ) -> Result<Option<Found>, Halt> {
        const MOST: usize = 16;
        const GOLDEN: f64 = 0.381_966_011_250_105;
        let (mut low, mut high) = (left, right);
        let mut kept: Option<(f64, f64)> = None;
        for _ in 0..MOST {
            let part = GOLDEN * (high - low);
            let (near, far) = (low + part, high - part);
            let mut values = [0.0; 2];
            for (value, time) in values.iter_mut().zip([near, far]) {
                if let Some((at, known)) = kept
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
                true => (high, kept) = (far, Some((near, values[0]))),
                false => (low, kept) = (near, Some((far, values[1]))),
            }
        }
        Ok(None)
    }

    fn changed_at(&mut self, integrator: &dyn Integrator, time: f64) -> Result<Vec<usize>, Halt> {
        self.states_at(integrator, time);
        self.look(time)?;
        let machine = self.seat.rates.machine.borrow();
        Ok((0..self.seat.program.watches.len())
            .filter(|&at| self.events.has_changed(&machine, at))
            .collect())
    }

    /// The first change between two times: none at the left one, some at the right one. It comes out just
    /// behind where the sides are equal. Regula falsi, with the weight of a side that does not move halved
    /// (the Illinois method).
    fn locate(
        &mut self,
        integrator: &dyn Integrator,
        (mut left, mut right): (f64, f64),
        mut changed: Vec<usize>,
    ) -> Result<Found, Halt> {
        let mut watched = usize::MAX;
        let (mut low, mut high) = (0.0, 0.0);
        let mut last_side = 0;
        loop {
            glance();
            let resolution = 4.0 * f64::EPSILON * left.abs().max(right.abs());
            if right - left <= resolution.max(f64::MIN_POSITIVE) {
                return Ok(Found {
                    time: right,
                    crossed: changed,
                });
            }
            if !changed.contains(&watched) {
                // Another one was first.
                watched = changed[0];
                self.states_at(integrator, right);
                self.look(right)?;
                high = self
                    .events
                    .distance(&self.seat.rates.machine.borrow(), watched);
                self.states_at(integrator, left);
                self.look(left)?;
                low = self
                    .events
                    .distance(&self.seat.rates.machine.borrow(), watched);
                last_side = 0;
            }
            let part = low / (low - high);
            let middle = match part > 0.0 && part < 1.0 {
                true => left + part * (right - left),
                false => left + 0.5 * (right - left),
            };
            // Never nearer to a side than what can be told apart.
            let edge = 0.5 * resolution;
            let middle = middle.clamp(left + edge, right - edge);
            let found = self.changed_at(integrator, middle)?;
            let value = self
                .events
                .distance(&self.seat.rates.machine.borrow(), watched);
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
