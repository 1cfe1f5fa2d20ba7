//! A clock that the caller lends, so that the library can measure times also where the system has no clock.

/// Returns the seconds since some moment.
#[derive(Clone, Copy, Debug)]
pub struct Clock(fn() -> f64);

impl Clock {
    pub fn new(read: fn() -> f64) -> Clock {
        Clock(read)
    }

    pub fn now(self) -> f64 {
        (self.0)()
    }
}

/// A clock that is read once at the end of each part of some work.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    clock: Clock,
    last: f64,
}

impl Stopwatch {
    pub fn start(clock: Clock) -> Stopwatch {
        Stopwatch {
            clock,
            last: clock.now(),
        }
    }

    /// The seconds since the end of the part before.
    pub fn lap(&mut self) -> f64 {
        let before = std::mem::replace(&mut self.last, self.clock.now());
        self.last - before
    }
}

/// A clock that always shows the same time.
impl Default for Clock {
    fn default() -> Clock {
        Clock(|| 0.0)
    }
}
