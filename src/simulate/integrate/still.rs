//! The integrator of a system without states: time alone goes on.

use super::{Counts, Integrator, Settings, Trouble};

#[derive(Debug)]
pub(super) struct Still {
    time: f64,
    before: f64,
    longest: f64,
    steps: u64,
}

impl Still {
    pub(super) fn new(settings: &Settings, time: f64) -> Still {
        Still {
            time,
            before: time,
            longest: settings.longest.unwrap_or(f64::INFINITY),
            steps: 0,
        }
    }
}

impl Integrator for Still {
    fn time(&self) -> f64 {
        self.time
    }

    fn before(&self) -> f64 {
        self.before
    }

    fn states(&self) -> &[f64] {
        &[]
    }

    fn step(&mut self, stop: f64) -> Result<(), Trouble> {
        self.before = self.time;
        // A longest step that is lost in the time would never get there.
        let next = self.time + self.longest;
        self.time = match next > self.time && next < stop {
            true => next,
            false => stop.max(self.time),
        };
        self.steps += 1;
        Ok(())
    }

    fn interpolate(&self, _time: f64, _states: &mut [f64]) {}

    fn restart(&mut self, time: f64, _states: &[f64], _same_size: bool) -> Result<(), Trouble> {
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
