//! The implementation of [`Integrator`] by the implicit methods of diffsol.
//!
//! Before: a system and settings. After: an [`Integrator`]. Four properties of diffsol are worked around:
//! - its limits count over the whole run, or are absolute times: they are set anew before each step;
//! - a stop shortens the step size for good: it is set only if the next step would pass it, and the step size from before is
//!   restored afterwards;
//! - the one-step implicit methods keep their factors when a stop changes the step size: they get a new state with that step
//!   size instead, which makes new factors;
//! - after an event the Jacobian and the measured rate of convergence are those from before it: a restart sets a new state,
//!   which drops both.

use std::cell::{OnceCell, RefCell};

use diffsol::error::OdeSolverError;
use diffsol::matrix::MatrixRef;
use diffsol::{
    Bdf, BdfState, DiffsolError, FaerSparseMat, NalgebraMat, OdeEquations, OdeSolverMethod,
    OdeSolverProblem, OdeSolverState, RkState, Sdirk, Tableau, Vector, VectorRef,
};

use super::checked::CheckedLu;
use super::equations::{Equations, Kind};
use super::first::{FirstPoint, fastest};
use super::{Counts, Integrator, IntegratorError, Method, Settings, System};

type Problem<'s, M> = OdeSolverProblem<Equations<'s, M>>;
type BdfOf<'p, 's, M> = Bdf<'p, Equations<'s, M>, CheckedLu<'p, 's, M>>;
type SdirkOf<'p, 's, M> = Sdirk<'p, Equations<'s, M>, CheckedLu<'p, 's, M>>;

/// The problem of an integrator: the integrator borrows it.
#[derive(Default)]
pub struct IntegratorStorage<'s> {
    sparse: OnceCell<Problem<'s, FaerSparseMat<f64>>>,
    dense: OnceCell<Problem<'s, NalgebraMat<f64>>>,
}

impl std::fmt::Debug for IntegratorStorage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IntegratorStorage").finish_non_exhaustive()
    }
}

/// Systems up to this size have dense matrices.
const DENSE: usize = 16;
/// Larger systems have dense matrices if at least this part of the entries is not zero.
const FULL: f64 = 0.3;

/// The operations that differ between diffsol's methods.
trait Stepper<'p, E: OdeEquations + 'p>: OdeSolverMethod<'p, E> {
    /// Sets the shortest step and the largest growth of a step, and allows enough failures.
    fn limit(&mut self, shortest: f64, growth: f64);
    /// Makes the next step end at `stop`, which is closer than the present step size.
    fn set_stop(&mut self, stop: f64) -> Result<(), DiffsolError>;
    /// Removes a stop that was not reached.
    fn clear_stop(&mut self) -> Result<(), DiffsolError> {
        Ok(())
    }
    /// Sets the size of the next step, if the method allows that.
    fn set_size(&mut self, size: f64);
    /// Drops the history of a multistep method.
    fn forget_history(state: &mut Self::State);
}

fn attempts(used: usize) -> usize {
    used + 400
}

impl<'p, 's: 'p, M: Kind> Stepper<'p, Equations<'s, M>>
    for Bdf<'p, Equations<'s, M>, CheckedLu<'p, 's, M>>
where
    for<'b> &'b M::V: VectorRef<M::V>,
    for<'b> &'b M: MatrixRef<M>,
{
    fn limit(&mut self, shortest: f64, growth: f64) {
        let failed = self.get_statistics().number_of_nonlinear_solver_fails;
        let config = self.config_mut();
        config.minimum_timestep = shortest;
        config.maximum_timestep_growth = growth.min(2.0);
        config.maximum_newton_fails = attempts(failed);
        config.maximum_error_test_failures = attempts(0);
    }

    fn set_stop(&mut self, stop: f64) -> Result<(), DiffsolError> {
        self.set_stop_time(stop)
    }

    fn clear_stop(&mut self) -> Result<(), DiffsolError> {
        self.set_stop_time(f64::MAX)
    }

    fn set_size(&mut self, _size: f64) {}

    fn forget_history(state: &mut Self::State) {
        BdfState::initialise_diff_to_first_order(state);
    }
}

impl<'p, 's: 'p, M: Kind> Stepper<'p, Equations<'s, M>>
    for Sdirk<'p, Equations<'s, M>, CheckedLu<'p, 's, M>>
{
    fn limit(&mut self, shortest: f64, growth: f64) {
        let failed = self.get_statistics().number_of_nonlinear_solver_fails;
        let config = self.config_mut();
        config.minimum_timestep = shortest;
        config.maximum_timestep_growth = growth.min(2.0);
        config.maximum_newton_fails = attempts(failed);
        config.maximum_error_test_failures = attempts(0);
    }

    fn set_stop(&mut self, stop: f64) -> Result<(), DiffsolError> {
        let size = stop - self.state().t;
        self.set_size(size);
        Ok(())
    }

    fn set_size(&mut self, size: f64) {
        let mut state = self.state_clone();
        *state.as_mut().h = size;
        self.set_state(state);
    }

    fn forget_history(_state: &mut Self::State) {}
}

struct Driver<'p, 's, M: Kind, S> {
    problem: &'p Problem<'s, M>,
    solver: S,
    /// The time as reported: diffsol's own time may differ in its last places.
    time: f64,
    before: f64,
    /// The solver holds the last step, so that its values can be interpolated; false after a restart.
    stepped: bool,
    /// The step size from before a stop shortened the last step.
    size: Option<f64>,
    longest: f64,
    /// The solver has a stop that it has not reached.
    stop_set: bool,
    /// The order of the first step.
    order: i32,
    scratch: RefCell<M::V>,
}

/// diffsol refuses steps that are smaller than this.
fn smallest_step(time: f64, size: f64) -> f64 {
    100.0 * f64::EPSILON * (time.abs() + size.abs())
}

impl<'p, 's: 'p, M: Kind, S: Stepper<'p, Equations<'s, M>>> Driver<'p, 's, M, S> {
    fn absolute(&self) -> &[f64] {
        M::slice(&self.problem.atol)
    }

    fn error(&self, error: DiffsolError) -> IntegratorError {
        let time = self.time;
        // The value of an algebraic equation is not the rate of a state.
        let differential = self.problem.eqn.differential();
        let named = |state: Option<usize>| state.filter(|&state| state < differential);
        if let state @ Some(_) = self.problem.eqn.not_finite.get() {
            let state = named(state);
            return IntegratorError::NotFinite { time, state };
        }
        match error {
            DiffsolError::OdeSolverError(
                OdeSolverError::StepSizeTooSmall { .. }
                | OdeSolverError::TooManyErrorTestFailures { .. }
                | OdeSolverError::TooManyNonlinearSolverFailures { .. },
            ) => {
                let states = self.states();
                let mut rates = vec![0.0; states.len()];
                let finite = self.problem.eqn.evaluate(time, states, &mut rates);
                if !finite {
                    let state = named(self.problem.eqn.not_finite.get());
                    return IntegratorError::NotFinite { time, state };
                }
                rates.truncate(differential);
                let state = fastest(&rates, states, self.absolute(), self.problem.rtol);
                IntegratorError::StepTooSmall { time, state }
            }
            other => IntegratorError::Other(other.to_string()),
        }
    }
}

impl<'p, 's: 'p, M: Kind, S: Stepper<'p, Equations<'s, M>>> Integrator for Driver<'p, 's, M, S> {
    fn time(&self) -> f64 {
        self.time
    }

    fn before(&self) -> f64 {
        self.before
    }

    fn states(&self) -> &[f64] {
        M::slice(self.solver.state().y)
    }

    fn step(&mut self, stop: f64) -> Result<(), IntegratorError> {
        if let Some(size) = self.size.take() {
            self.solver.set_size(size);
        }
        let (time, size) = (self.solver.state().t, self.solver.state().h);
        let left = stop - time;
        if left.is_nan() || left <= smallest_step(time, size) {
            self.before = self.time;
            self.time = stop.max(self.time);
            return Ok(());
        }
        self.before = self.time;
        // Shorter steps are lost in rounding. diffsol reports an error for a step that grows but is still below the limit, so
        // the first step is far above it.
        let shortest = (4.0 * f64::EPSILON * time.abs())
            .max(1e-24 * size)
            .min(0.5 * left);
        let growth = (self.longest / size).max(1.0);
        self.solver.limit(shortest, growth);
        // Two equal steps to the stop are better than a long one and a tiny rest.
        let end = match size < left {
            true => time + 0.5 * left,
            false => stop,
        };
        // The longest step may have become shorter than the size that was chosen.
        let too_long = size > 1.000_1 * self.longest && self.longest < 0.5 * left;
        let end = match too_long {
            true => time + self.longest,
            false => end,
        };
        let natural = if too_long { self.longest } else { size };
        let short = too_long || size > 0.5 * left;
        let aimed = match short {
            true => {
                self.stop_set = true;
                self.solver.set_stop(end)
            }
            false if self.stop_set => {
                self.stop_set = false;
                self.solver.clear_stop()
            }
            false => Ok(()),
        };
        aimed.map_err(|error| self.error(error))?;
        self.problem.eqn.not_finite.set(None);
        let done = self.solver.step();
        done.map_err(|error| self.error(error))?;
        self.stepped = true;
        let now = self.solver.state().t;
        self.time = match stop - now <= smallest_step(now, size) {
            true => stop,
            false => now,
        };
        if short {
            self.size = Some(natural);
        }
        let states = M::slice(self.solver.state().y);
        if let Some(state) = states.iter().position(|state| !state.is_finite()) {
            let (time, state) = (self.time, Some(state));
            return Err(IntegratorError::NotFinite { time, state });
        }
        Ok(())
    }

    fn limit(&mut self, longest: f64) {
        self.longest = longest;
    }

    fn interpolate(&self, time: f64, states: &mut [f64]) {
        let state = self.solver.state();
        let mut scratch = self.scratch.borrow_mut();
        let inside = self.stepped
            && time < self.time
            && (self.solver)
                .interpolate_inplace(time.max(self.before).min(state.t), &mut scratch)
                .is_ok();
        let all = match inside {
            true => M::slice(&scratch),
            false => M::slice(state.y),
        };
        states.copy_from_slice(&all[..states.len()]);
    }

    fn restart(
        &mut self,
        time: f64,
        states: &[f64],
        same_size: bool,
    ) -> Result<(), IntegratorError> {
        let equations = &self.problem.eqn;
        let used = self.size.take().unwrap_or(self.solver.state().h);
        let mut state = self.solver.state_clone();
        {
            let state = state.as_mut();
            *state.t = time;
            M::slice_mut(state.y).copy_from_slice(states);
            let rates = M::slice_mut(state.dy);
            let differential = equations.differential();
            if !equations.evaluate(time, states, rates) {
                let state = equations.not_finite.get();
                let state = state.filter(|&state| state < differential);
                return Err(IntegratorError::NotFinite { time, state });
            }
            // How fast algebraic unknowns change is not known before the first step.
            rates[differential..].fill(0.0);
            let point = FirstPoint {
                time,
                states,
                rates,
                absolute: M::slice(&self.problem.atol),
                relative: self.problem.rtol,
                order: self.order,
            };
            let size = point.step_size(|time, states, rates| {
                let finite = equations.evaluate(time, states, rates);
                rates[differential..].fill(0.0);
                finite
            });
            *state.h = match same_size {
                true => size.clamp(0.01 * used, used),
                false => size,
            }
            .min(self.longest)
            .max(16.0 * f64::EPSILON * time.abs());
        }
        S::forget_history(&mut state);
        self.solver.set_state(state);
        // A mutable access makes the solver initialise itself anew.
        let _ = self.solver.state_mut();
        self.time = time;
        self.before = time;
        self.stepped = false;
        Ok(())
    }

    fn counts(&self) -> Counts {
        let statistics = self.solver.get_statistics();
        let equations = &self.problem.eqn;
        Counts {
            steps: statistics.number_of_steps as u64,
            explicit: 0,
            rejected: statistics.number_of_error_test_failures as u64,
            failed: statistics.number_of_nonlinear_solver_fails as u64,
            newton: statistics.number_of_nonlinear_solver_iterations as u64,
            rates: equations.rates.get(),
            jacobians: equations.jacobians.get(),
            factorizations: statistics.number_of_linear_solver_setups as u64,
        }
    }
}

/// An integrator with the matrices that suit the system.
pub(super) fn start<'p, 's: 'p>(
    storage: &'p IntegratorStorage<'s>,
    system: &'s dyn System,
    settings: &Settings,
    time: f64,
    states: &[f64],
) -> Result<Box<dyn Integrator + 'p>, IntegratorError> {
    let size = system.size();
    let filled = system.pattern().nnz() as f64 / (size * size) as f64;
    match size <= DENSE || filled >= FULL {
        true => begin::<NalgebraMat<f64>>(&storage.dense, system, settings, time, states),
        false => begin::<FaerSparseMat<f64>>(&storage.sparse, system, settings, time, states),
    }
}

fn begin<'p, 's: 'p, M: Kind>(
    storage: &'p OnceCell<Problem<'s, M>>,
    system: &'s dyn System,
    settings: &Settings,
    time: f64,
    states: &[f64],
) -> Result<Box<dyn Integrator + 'p>, IntegratorError>
where
    for<'b> &'b M::V: VectorRef<M::V>,
    for<'b> &'b M: MatrixRef<M>,
{
    if storage.get().is_some() {
        let message = "the storage is used by another integrator".to_string();
        return Err(IntegratorError::Other(message));
    }
    // A tolerance of zero at a state of zero would divide zero by zero.
    let absolute = (settings.absolute.iter()).map(|absolute| absolute.max(1e-300));
    let problem: &'p Problem<'s, M> = storage.get_or_init(|| OdeSolverProblem {
        eqn: Equations::new(system, states),
        rtol: settings.relative,
        atol: M::V::from_vec(absolute.collect(), M::C::default()),
        t0: time,
        h0: 1.0,
        integrate_out: false,
        sens_rtol: None,
        sens_atol: None,
        out_rtol: None,
        out_atol: None,
        param_rtol: None,
        param_atol: None,
        ic_options: Default::default(),
        ode_options: Default::default(),
    });
    let words = |error: DiffsolError| IntegratorError::Other(error.to_string());
    let absolute = M::slice(&problem.atol);
    let checked = |inner| CheckedLu::new(&problem.eqn, absolute, problem.rtol, inner);
    let mut integrator: Box<dyn Integrator + 'p> = match settings.method {
        Method::Bdf | Method::Auto | Method::Tsit45 => {
            let state: BdfState<M::V> = BdfState::new_without_initialise(problem).map_err(words)?;
            let solver = <BdfOf<'p, 's, M>>::new(problem, state, checked(1.0));
            drive(problem, solver, settings, time)?
        }
        Method::Esdirk34 | Method::TrBdf2 => {
            let state: RkState<M::V> = RkState::new_without_initialise(problem).map_err(words)?;
            let tableau = match settings.method {
                Method::TrBdf2 => Tableau::tr_bdf2(),
                _ => Tableau::esdirk34(),
            };
            let diagonal = tableau.a(1, 1);
            let solver = <SdirkOf<'p, 's, M>>::new(problem, state, tableau, checked(diagonal));
            drive(problem, solver, settings, time)?
        }
    };
    integrator.restart(time, states, false)?;
    Ok(integrator)
}

fn drive<'p, 's: 'p, M: Kind, S: Stepper<'p, Equations<'s, M>> + 'p>(
    problem: &'p Problem<'s, M>,
    solver: Result<S, DiffsolError>,
    settings: &Settings,
    time: f64,
) -> Result<Box<dyn Integrator + 'p>, IntegratorError> {
    let solver = solver.map_err(|error| IntegratorError::Other(error.to_string()))?;
    Ok(Box::new(Driver {
        order: match settings.method {
            Method::Esdirk34 | Method::TrBdf2 => solver.order() as i32,
            _ => 1,
        },
        scratch: RefCell::new(M::V::zeros(problem.eqn.system.size(), M::C::default())),
        problem,
        solver,
        time,
        before: time,
        stepped: false,
        size: None,
        longest: settings.longest.unwrap_or(f64::INFINITY),
        stop_set: false,
    }))
}
