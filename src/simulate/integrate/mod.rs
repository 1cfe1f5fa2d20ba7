//! Integrators behind a trait of ours.
//!
//! Before: the right sides of x' = f(t, x), with the pattern of their Jacobian. After: steps, each
//! with values anywhere inside it. Nothing here knows of models, events or names.
//!
//! [`equations`] shows a system to diffsol, [`driver`] takes the steps, [`first`] chooses the size of
//! the first one, [`still`] is for systems without states.

mod driver;
mod equations;
mod first;
mod still;

use crate::numeric::Pattern;

pub use driver::Place;

/// The right sides of x' = f(t, x). What cannot be computed is NaN: the integrator tries a
/// shorter step.
pub trait System {
    fn size(&self) -> usize;
    fn rates(&self, time: f64, states: &[f64], rates: &mut [f64]);
    fn pattern(&self) -> &Pattern;
    /// The entries of df/dx in the order of the pattern.
    fn jacobian(&self, time: f64, states: &[f64], entries: &mut [f64]);
}

/// How to integrate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Bdf,
    Esdirk34,
    TrBdf2,
    Tsit45,
}

impl Method {
    pub const ALL: [Method; 4] = [
        Method::Bdf,
        Method::Esdirk34,
        Method::TrBdf2,
        Method::Tsit45,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Method::Bdf => "bdf",
            Method::Esdirk34 => "esdirk34",
            Method::TrBdf2 => "trbdf2",
            Method::Tsit45 => "tsit45",
        }
    }

    pub fn from_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }

    /// What it is good for, in one line.
    pub fn words(self) -> &'static str {
        match self {
            Method::Bdf => "implicit, many steps back, order 1 to 5, for stiff models",
            Method::Esdirk34 => "implicit, one step, order 3, for stiff models with many events",
            Method::TrBdf2 => "implicit, one step, order 2, for stiff models and loose tolerances",
            Method::Tsit45 => "explicit, one step, order 5, for models that are not stiff",
        }
    }
}

/// A method, and how exact it shall be.
#[derive(Clone, Debug)]
pub struct Settings {
    pub method: Method,
    pub relative: f64,
    /// By state. An error e of state x counts as e / (absolute + relative |x|); the root of the mean
    /// of their squares is kept below 1 in every step.
    pub absolute: Vec<f64>,
    /// The longest step.
    pub longest: Option<f64>,
}

/// What was done so far, restarts included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub steps: u64,
    /// Attempts whose error was too large.
    pub rejected: u64,
    /// Newton iterations that did not converge.
    pub failed: u64,
    /// Iterations of Newton's method.
    pub newton: u64,
    pub rates: u64,
    pub jacobians: u64,
    pub factorizations: u64,
}

/// Why it cannot go on. The integrator still holds the last good states.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// No step is short enough. `state` is the one that changes fastest against its tolerance.
    StepTooSmall { time: f64, state: Option<usize> },
    /// The rate of `state` cannot be computed, however short the step.
    NotFinite { time: f64, state: Option<usize> },
    /// Something else that the integrator says.
    Other(String),
}

pub trait Integrator {
    /// End of the last step.
    fn time(&self) -> f64;
    /// Start of the last step.
    fn before(&self) -> f64;
    /// States at [`Integrator::time`].
    fn states(&self) -> &[f64];
    /// One internal step, never past `stop`, and no rate is asked for past it; when it gets there its
    /// time is exactly `stop`. A `stop` nearer than a hundred units in the last place of the time
    /// counts as reached.
    ///
    /// A stop may shorten a step, and this costs, unless a restart follows anyway: one more step and
    /// a factorization, with [`Method::Bdf`] three to seven more steps, for it grows again but slowly.
    /// Stop where the right sides change; for values at given times, step on and interpolate.
    fn step(&mut self, stop: f64) -> Result<(), Trouble>;
    /// Values at any time within the last step.
    fn interpolate(&self, time: f64, states: &mut [f64]);
    /// Goes on from here with no history, after an event. The size of the first step is chosen anew;
    /// with `same_size` it is near the size used before.
    fn restart(&mut self, time: f64, states: &[f64], same_size: bool) -> Result<(), Trouble>;
    fn counts(&self) -> Counts;
}

/// An integrator of `system` that starts at `time` with `states`. Its lasting parts lie in
/// `place`, which must be empty: one integrator a place.
pub fn integrator<'p, 's: 'p>(
    place: &'p Place<'s>,
    system: &'s dyn System,
    settings: &Settings,
    time: f64,
    states: &[f64],
) -> Result<Box<dyn Integrator + 'p>, Trouble> {
    if system.size() == 0 {
        return Ok(Box::new(still::Still::new(settings, time)));
    }
    driver::start(place, system, settings, time, states)
}
