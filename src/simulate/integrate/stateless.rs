//! The integrator of a system without states: only the time advances.

use super::{Counts, Integrator, IntegratorError, Settings};

#[derive(Debug)]
pub(super) struct Stateless {
    time: f64,
    before: f64,
    longest: f64,
    steps: u64,
}

impl Stateless {
    pub(super) fn new(settings: &Settings, time: f64) -> Stateless {
        Stateless {
            time,
            before: time,
            longest: settings.longest.unwrap_or(f64::INFINITY),
            steps: 0,
        }
    }
}

impl Integrator for Stateless {
    fn time(&self) -> f64 {
        self.time
    }

    fn before(&self) -> f64 {
        self.before
    }

    fn states(&self) -> &[f64] {
        &[]
    }

    fn step(&mut self, stop: f64) -> Result<(), IntegratorError> {
        self.before = self.time;
        // If the longest step is lost in rounding, the step goes to the stop at once.
        let next = self.time + self.longest;
        self.time = match next > self.time && next < stop {
            true => next,
            false => stop.max(self.time),
        };
        self.steps += 1;
        Ok(())
    }

    fn limit(&mut self, longest: f64) {
        self.longest = longest;
    }

    fn interpolate(&self, _time: f64, _states: &mut [f64]) {}

    fn restart(
        &mut self,
        time: f64,
        _states: &[f64],
        _same_size: bool,
    ) -> Result<(), IntegratorError> {
        self.time = time;
        self.before = time;
        Ok(())
    }

    fn counts(&self) -> Counts {
        Counts {
            steps: self.steps,
            ..Counts::default()
        }
    }
}
