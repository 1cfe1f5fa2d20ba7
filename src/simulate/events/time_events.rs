//! Time events, whose times are known in advance: samples, relations that are linear in Time, corners of tables.

use super::{Events, difference, slope};
use crate::program::machine::Machine;

impl Events {
    /// The next time event after this time. The machine must have evaluated the event.
    pub fn next_time_event(&mut self, machine: &mut Machine<'_>, time: f64) -> f64 {
        let program = machine.program;
        let mut next = f64::INFINITY;
        for (at, sampler) in program.samplers.iter().enumerate() {
            let (start, period) = (machine.get(sampler.start), machine.get(sampler.period));
            let mut count = match self.samples[at] {
                u64::MAX if period > 0.0 => ((time - start) / period).floor().max(0.0) as u64,
                u64::MAX => 0,
                count => count,
            };
            while sample_time(start, period, count) <= time + time_rounding(time) {
                if period.is_nan() || period <= 0.0 {
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
        // An event closer than this counts as simultaneous.
        let now = time_rounding(time);
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

    /// Sets the samplers that are due; true if there is one.
    pub(in crate::simulate) fn sample(&mut self, machine: &mut Machine<'_>, time: f64) -> bool {
        let program = machine.program;
        let mut sampled = false;
        for (at, sampler) in program.samplers.iter().enumerate() {
            let (start, period) = (machine.get(sampler.start), machine.get(sampler.period));
            let count = match self.samples[at] {
                u64::MAX if period > 0.0 => ((time - start) / period).round().max(0.0) as u64,
                u64::MAX => 0,
                count => count,
            };
            if simultaneous(sample_time(start, period, count), time) {
                machine.set(sampler.held, 1.0);
                sampled = true;
            }
        }
        sampled
    }
}

/// Whether two times are equal but for rounding: 3*0.2 and 2*0.3, or a row at 60*0.005 and a sample at 3*0.1, which the row
/// has to show.
pub fn simultaneous(a: f64, b: f64) -> bool {
    (a - b).abs() <= time_rounding(a)
}

pub(super) fn time_rounding(time: f64) -> f64 {
    8.0 * f64::EPSILON * time.abs()
}

fn sample_time(start: f64, period: f64, count: u64) -> f64 {
    start + count as f64 * period
}
