//! Integrators behind a trait of our own.
//!
//! Before: the right sides of x' = f(t, x), with the pattern of their Jacobian. After: steps, with interpolated values at any
//! time inside each step. This module uses no models, events or names.
//!
//! [`explicit`] is the explicit method. The implicit ones are those of diffsol: [`equations`] adapts a system to it, [`checked`] checks
//! the matrices of Newton's method, [`driver`] takes the steps. [`auto`] chooses between them. [`first`] chooses the size of the
//! first step, [`stateless`] is for systems without states.

mod auto;
mod checked;
mod driver;
mod equations;
mod explicit;
mod first;
mod stateless;

use crate::numeric::Pattern;

pub use driver::IntegratorStorage;

/// The right sides of x' = f(t, x). Rates that cannot be computed are NaN: the integrator then tries a shorter step.
pub trait System {
    fn size(&self) -> usize;
    /// So many of the last equations are algebraic, 0 = f(t, x), and determine the last so many entries of x. Only implicit
    /// methods can solve them. A restart must be given values that satisfy them.
    fn algebraic(&self) -> usize {
        0
    }
    fn rates(&self, time: f64, states: &[f64], rates: &mut [f64]);
    fn pattern(&self) -> &Pattern;
    /// The entries of df/dx in the order of the pattern.
    fn jacobian(&self, time: f64, states: &[f64], entries: &mut [f64]);
}

/// The integration method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Auto,
    Bdf,
    Esdirk34,
    TrBdf2,
    Tsit45,
}

impl Method {
    pub const ALL: [Method; 5] = [
        Method::Auto,
        Method::Bdf,
        Method::Esdirk34,
        Method::TrBdf2,
        Method::Tsit45,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Bdf => "bdf",
            Method::Esdirk34 => "esdirk34",
            Method::TrBdf2 => "trbdf2",
            Method::Tsit45 => "tsit45",
        }
    }

    pub fn from_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }

    /// The kind of method and the models that it suits, in one line.
    pub fn words(self) -> &'static str {
        match self {
            Method::Auto => "tsit45 where the model is not stiff, bdf where it is: the default",
            Method::Bdf => "implicit, many steps back, order 1 to 5, for stiff models",
            Method::Esdirk34 => "implicit, one step, order 3, for stiff models with many events",
            Method::TrBdf2 => "implicit, one step, order 2, for stiff models and loose tolerances",
            Method::Tsit45 => "explicit, one step, order 5, for models that are not stiff",
        }
    }
}

/// A method with its tolerances.
#[derive(Clone, Debug)]
pub struct Settings {
    pub method: Method,
    pub relative: f64,
    /// By state. An error e of state x is weighted as e / (absolute + relative |x|); the root mean square of the weighted
    /// errors is kept below 1 in each step.
    pub absolute: Vec<f64>,
    /// The longest step.
    pub longest: Option<f64>,
}

/// Counts since the integrator was made, over all restarts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub steps: u64,
    /// Those of the explicit method.
    pub explicit: u64,
    /// Steps that were rejected because their error was too large.
    pub rejected: u64,
    /// Newton iterations that did not converge.
    pub failed: u64,
    /// Iterations of Newton's method.
    pub newton: u64,
    pub rates: u64,
    pub jacobians: u64,
    pub factorizations: u64,
}

impl Counts {
    pub fn add(&mut self, more: &Counts) {
        self.steps += more.steps;
        self.explicit += more.explicit;
        self.rejected += more.rejected;
        self.failed += more.failed;
        self.newton += more.newton;
        self.rates += more.rates;
        self.jacobians += more.jacobians;
        self.factorizations += more.factorizations;
    }
}

/// Why the integrator cannot go on. It still holds the last good states.
#[derive(Clone, Debug, PartialEq)]
pub enum IntegratorError {
    /// No step is short enough. `state` is the one that changes fastest relative to its tolerance.
    StepTooSmall { time: f64, state: Option<usize> },
    /// The rate of `state` cannot be computed, however short the step.
    NotFinite { time: f64, state: Option<usize> },
    /// Any other error, in the words of the integrator.
    Other(String),
}

pub trait Integrator {
    /// The end of the last step.
    fn time(&self) -> f64;
    /// The start of the last step.
    fn before(&self) -> f64;
    /// States at [`Integrator::time`].
    fn states(&self) -> &[f64];
    /// Takes one internal step, which ends at `stop` at the latest. No rates are evaluated behind `stop`. When the step
    /// reaches `stop`, the time is exactly `stop`. A `stop` that is closer than a hundred units in the last place of the time
    /// counts as reached.
    ///
    /// A stop that shortens a step costs one more step and a factorization, with [`Method::Bdf`] three to seven more steps,
    /// because the step size grows slowly afterwards. Before a restart it costs nothing. So stop only at times where the right
    /// sides change; for values at other times, interpolate.
    fn step(&mut self, stop: f64) -> Result<(), IntegratorError>;
    /// Changes the longest step, from the next one on.
    fn limit(&mut self, longest: f64);
    /// Interpolates the states at a time within the last step; the first ones, if the slice is shorter than the system.
    fn interpolate(&self, time: f64, states: &mut [f64]);
    /// Goes on from here without history, after an event. The size of the first step is chosen anew; with `same_size` it
    /// stays near the size used before.
    fn restart(
        &mut self,
        time: f64,
        states: &[f64],
        same_size: bool,
    ) -> Result<(), IntegratorError>;
    fn counts(&self) -> Counts;
}

/// An integrator of `system` that starts at `time` with `states`. It borrows its problem from `storage`, which must be empty:
/// each integrator needs a storage of its own.
pub fn integrator<'p, 's: 'p>(
    storage: &'p IntegratorStorage<'s>,
    system: &'s dyn System,
    settings: &Settings,
    time: f64,
    states: &[f64],
) -> Result<Box<dyn Integrator + 'p>, IntegratorError> {
    if system.size() == 0 {
        return Ok(Box::new(stateless::Stateless::new(settings, time)));
    }
    if states.len() != system.size() || settings.absolute.len() != system.size() {
        return Err(IntegratorError::Other(
            "states or tolerances do not fit the system".to_string(),
        ));
    }
    match settings.method {
        Method::Tsit45 => Ok(Box::new(explicit::Explicit::new(
            system, settings, time, states,
        )?)),
        // Algebraic equations need an implicit method.
        Method::Auto if system.algebraic() == 0 => Ok(Box::new(auto::Auto::new(
            storage, system, settings, time, states,
        )?)),
        _ => driver::start(storage, system, settings, time, states),
    }
}
