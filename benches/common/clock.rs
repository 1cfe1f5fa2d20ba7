//! Time as the processor counts it.

use std::time::Instant;

/// Seconds that a piece of work took the processor, so that other programs count little (Linux;
/// elsewhere the seconds that went by). Nothing here runs in threads.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    used: Option<f64>,
}

impl Clock {
    fn used() -> Option<f64> {
        let all = std::fs::read_to_string("/proc/self/schedstat").ok()?;
        let nanoseconds: f64 = all.split_whitespace().next()?.parse().ok()?;
        Some(nanoseconds / 1e9)
    }

    pub fn start() -> Self {
        Clock {
            start: Instant::now(),
            used: Clock::used(),
        }
    }

    pub fn seconds(&self) -> f64 {
        match (Clock::used(), self.used) {
            (Some(now), Some(before)) if now > before => now - before,
            _ => self.start.elapsed().as_secs_f64(),
        }
    }
}
