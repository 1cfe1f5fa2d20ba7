//! The clock of the operating system, for library code that measures time.

use std::sync::LazyLock;
use std::time::Instant;

use crate::base::clock::Clock;

static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);

pub fn clock() -> Clock {
    Clock::new(|| BEGUN.elapsed().as_secs_f64())
}
