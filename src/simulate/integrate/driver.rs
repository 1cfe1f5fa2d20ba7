//! The steps of diffsol's integrators, as our trait wants them.
//!
//! Before: a system and settings. After: an [`Integrator`]. What diffsol needs help with:
//! - its limits count over the whole run, or are absolute times: they are set anew before each step;
//! - a stop shortens the step for good: it is given only where the next step would pass it, and the
//!   size from before comes back after it;
//! - the one-step implicit methods keep factors made for another step size when a stop shortens
//!   the step: they get their stop as a new state, which makes new factors;
//! - after an event the Jacobian and the measured rate of convergence are those from before it:
//!   restarting hands over a fresh state, which forgets both.

use std::cell::{OnceCell, RefCell};

use diffsol::error::OdeSolverError;
use diffsol::matrix::MatrixRef;
use diffsol::{
    Bdf, BdfState, DiffsolError, ExplicitRk, FaerSparseMat, NalgebraMat, OdeEquations,
    OdeSolverMethod, OdeSolverProblem, OdeSolverState, RkState, Sdirk, Tableau, Vector, VectorRef,
};

use super::equations::{Equations, Kind};
use super::first::{Begin, fastest};
use super::{Counts, Integrator, Method, Settings, System, Trouble};

type Problem<'s, M> = OdeSolverProblem<Equations<'s, M>>;

/// Where the lasting parts of an integrator lie: the integrator borrows them.
#[derive(Default)]
pub struct Place<'s> {
    sparse: OnceCell<Problem<'s, FaerSparseMat<f64>>>,
    dense: OnceCell<Problem<'s, NalgebraMat<f64>>>,
}

impl std::fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").finish_non_exhaustive()
    }
}

/// Systems up to this size have dense matrices.
const DENSE: usize = 16;
/// And larger ones, when this part of the matrix or more is filled.
const FULL: f64 = 0.3;

/// What differs between diffsol's methods.
trait Steps<'p, E: OdeEquations + 'p>: OdeSolverMethod<'p, E> {
    /// Sets the shortest step, the largest factor of growth, and how often the rest may fail.
    fn limit(&mut self, shortest: f64, growth: f64);
    /// The next step shall end at `stop`, which is nearer than the present size.
    fn aim(&mut self, stop: f64) -> Result<(), DiffsolError>;
    /// Takes back a stop that was not reached.
    fn free(&mut self) -> Result<(), DiffsolError> {
        Ok(())
    }
    /// The next step shall have this size, if it can.
    fn resize(&mut self, size: f64);
    /// Forgets the history.
    fn renew(state: &mut Self::State);
}

fn attempts(used: usize) -> usize {
    used + 400
}

impl<'p, 's: 'p, M: Kind> Steps<'p, Equations<'s, M>> for Bdf<'p, Equations<'s, M>, M::Lu>
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

    fn aim(&mut self, stop: f64) -> Result<(), DiffsolError> {
        self.set_stop_time(stop)
    }

    fn free(&mut self) -> Result<(), DiffsolError> {
        self.set_stop_time(f64::MAX)
    }

    fn resize(&mut self, _size: f64) {}

    fn renew(state: &mut Self::State) {
        BdfState::initialise_diff_to_first_order(state);
    }
}

impl<'p, 's: 'p, M: Kind> Steps<'p, Equations<'s, M>> for Sdirk<'p, Equations<'s, M>, M::Lu> {
    fn limit(&mut self, shortest: f64, growth: f64) {
        let failed = self.get_statistics().number_of_nonlinear_solver_fails;
        let config = self.config_mut();
        config.minimum_timestep = shortest;
        config.maximum_timestep_growth = growth.min(2.0);
        config.maximum_newton_fails = attempts(failed);
        config.maximum_error_test_failures = attempts(0);
    }

    fn aim(&mut self, stop: f64) -> Result<(), DiffsolError> {
        let size = stop - self.state().t;
        self.resize(size);
        Ok(())
    }

    fn resize(&mut self, size: f64) {
        let mut state = self.state_clone();
        *state.as_mut().h = size;
        self.set_state(state);
    }

    fn renew(_state: &mut Self::State) {}
}

impl<'p, 's: 'p, M: Kind> Steps<'p, Equations<'s, M>> for ExplicitRk<'p, Equations<'s, M>> {
    fn limit(&mut self, shortest: f64, growth: f64) {
        let config = self.config_mut();
        config.minimum_timestep = shortest;
        config.maximum_timestep_growth = growth.min(5.0);
        config.maximum_error_test_failures = attempts(0);
    }

    fn aim(&mut self, stop: f64) -> Result<(), DiffsolError> {
        let size = stop - self.state().t;
        self.resize(size);
        Ok(())
    }

    fn resize(&mut self, size: f64) {
        *self.state_mut().h = size;
    }

    fn renew(_state: &mut Self::State) {}
}

struct Driver<'p, 's, M: Kind, S> {
    problem: &'p Problem<'s, M>,
    solver: S,
    /// As shown: diffsol's own time may differ in its last places.
    time: f64,
    before: f64,
    /// The last step's values are in the solver, and not overwritten by a restart.
    stepped: bool,
    /// The size that the next step would have without the stop that shortened the last.
    size: Option<f64>,
    longest: f64,
    /// A stop was given to the solver that it has not reached.
    armed: bool,
    /// Order of the first step.
    order: i32,
    explicit: bool,
    room: RefCell<M::V>,
}

/// What diffsol takes for nothing: it would not step so little.
fn nothing(time: f64, size: f64) -> f64 {
    100.0 * f64::EPSILON * (time.abs() + size.abs())
}

impl<'p, 's: 'p, M: Kind, S: Steps<'p, Equations<'s, M>>> Driver<'p, 's, M, S> {
    fn absolute(&self) -> &[f64] {
        M::slice(&self.problem.atol)
    }

    fn trouble(&self, error: DiffsolError) -> Trouble {
        let time = self.time;
        if let state @ Some(_) = self.problem.eqn.bad.get() {
            return Trouble::NotFinite { time, state };
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
                    let state = self.problem.eqn.bad.get();
                    return Trouble::NotFinite { time, state };
                }
                let state = fastest(&rates, states, self.absolute(), self.problem.rtol);
                Trouble::StepTooSmall { time, state }
            }
            other => Trouble::Other(other.to_string()),
        }
    }
}

impl<'p, 's: 'p, M: Kind, S: Steps<'p, Equations<'s, M>>> Integrator for Driver<'p, 's, M, S> {
    fn time(&self) -> f64 {
        self.time
    }

    fn before(&self) -> f64 {
        self.before
    }

    fn states(&self) -> &[f64] {
        M::slice(self.solver.state().y)
    }

    fn step(&mut self, stop: f64) -> Result<(), Trouble> {
        if let Some(size) = self.size.take() {
            self.solver.resize(size);
        }
        let (time, size) = (self.solver.state().t, self.solver.state().h);
        let left = stop - time;
        if left.is_nan() || left <= nothing(time, size) {
            self.before = self.time;
            self.time = stop.max(self.time);
            return Ok(());
        }
        self.before = self.time;
        // Shorter ones are lost in the time. diffsol complains of a step that grows but is
        // still below the limit, so the first one is well above it.
        let shortest = (4.0 * f64::EPSILON * time.abs())
            .max(1e-24 * size)
            .min(0.5 * left);
        let growth = (self.longest / size).max(1.0);
        self.solver.limit(shortest, growth);
        // Rather two steps alike than a long one and a splinter.
        let end = match size < left {
            true => time + 0.5 * left,
            false => stop,
        };
        let natural = size;
        let short = size > 0.5 * left;
        let aimed = match short {
            true => {
                self.armed = true;
                self.solver.aim(end)
            }
            false if self.armed => {
                self.armed = false;
                self.solver.free()
            }
            false => Ok(()),
        };
        aimed.map_err(|error| self.trouble(error))?;
        let size = self.solver.state().h;
        if self.explicit {
            self.problem.eqn.instead.set(Some(1e200 / size));
        }
        self.problem.eqn.bad.set(None);
        let done = self.solver.step();
        done.map_err(|error| self.trouble(error))?;
        self.stepped = true;
        let now = self.solver.state().t;
        self.time = match stop - now <= nothing(now, size) {
            true => stop,
            false => now,
        };
        if short {
            self.size = Some(natural);
        }
        let states = M::slice(self.solver.state().y);
        if let Some(state) = states.iter().position(|state| !state.is_finite()) {
            let (time, state) = (self.time, Some(state));
            return Err(Trouble::NotFinite { time, state });
        }
        Ok(())
    }

    fn interpolate(&self, time: f64, states: &mut [f64]) {
        let state = self.solver.state();
        let mut room = self.room.borrow_mut();
        let inside = self.stepped
            && time < self.time
            && (self.solver)
                .interpolate_inplace(time.max(self.before).min(state.t), &mut room)
                .is_ok();
        states.copy_from_slice(match inside {
            true => M::slice(&room),
            false => M::slice(state.y),
        });
    }

    fn restart(&mut self, time: f64, states: &[f64], same_size: bool) -> Result<(), Trouble> {
        let equations = &self.problem.eqn;
        let used = self.size.take().unwrap_or(self.solver.state().h);
        let mut state = self.solver.state_clone();
        {
            let state = state.as_mut();
            *state.t = time;
            M::slice_mut(state.y).copy_from_slice(states);
            let rates = M::slice_mut(state.dy);
            if !equations.evaluate(time, states, rates) {
                let state = equations.bad.get();
                return Err(Trouble::NotFinite { time, state });
            }
            let begin = Begin {
                time,
                states,
                rates,
                absolute: M::slice(&self.problem.atol),
                relative: self.problem.rtol,
                order: self.order,
            };
            let size = begin.size(|time, states, rates| equations.evaluate(time, states, rates));
            *state.h = match same_size {
                true => size.clamp(0.01 * used, used),
                false => size,
            }
            .min(self.longest)
            .max(16.0 * f64::EPSILON * time.abs());
        }
        S::renew(&mut state);
        self.solver.set_state(state);
        // Touched, so that it begins anew.
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
    place: &'p Place<'s>,
    system: &'s dyn System,
    settings: &Settings,
    time: f64,
    states: &[f64],
) -> Result<Box<dyn Integrator + 'p>, Trouble> {
    let size = system.size();
    if states.len() != size || settings.absolute.len() != size {
        return Err(Trouble::Other(
            "states or tolerances do not fit the system".to_string(),
        ));
    }
    let filled = system.pattern().nnz() as f64 / (size * size) as f64;
    match size <= DENSE || filled >= FULL {
        true => begin::<NalgebraMat<f64>>(&place.dense, system, settings, time, states),
        false => begin::<FaerSparseMat<f64>>(&place.sparse, system, settings, time, states),
    }
}

fn begin<'p, 's: 'p, M: Kind>(
    place: &'p OnceCell<Problem<'s, M>>,
    system: &'s dyn System,
    settings: &Settings,
    time: f64,
    states: &[f64],
) -> Result<Box<dyn Integrator + 'p>, Trouble>
where
    for<'b> &'b M::V: VectorRef<M::V>,
    for<'b> &'b M: MatrixRef<M>,
{
    if place.get().is_some() {
        return Err(Trouble::Other("the place is taken".to_string()));
    }
    // A tolerance of zero at a state of zero would divide zero by zero.
    let absolute = (settings.absolute.iter()).map(|absolute| absolute.max(1e-300));
    let problem: &'p Problem<'s, M> = place.get_or_init(|| OdeSolverProblem {
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
    let words = |error: DiffsolError| Trouble::Other(error.to_string());
    let mut integrator: Box<dyn Integrator + 'p> = match settings.method {
        Method::Bdf => {
            let state: BdfState<M::V> = BdfState::new_without_initialise(problem).map_err(words)?;
            drive(problem, problem.bdf_solver::<M::Lu>(state), settings, time)?
        }
        Method::Esdirk34 | Method::TrBdf2 => {
            let state: RkState<M::V> = RkState::new_without_initialise(problem).map_err(words)?;
            let tableau = match settings.method {
                Method::TrBdf2 => Tableau::tr_bdf2(),
                _ => Tableau::esdirk34(),
            };
            let solver = problem.sdirk_solver::<M::Lu, _>(state, tableau);
            drive(problem, solver, settings, time)?
        }
        Method::Tsit45 => {
            let state: RkState<M::V> = RkState::new_without_initialise(problem).map_err(words)?;
            drive(problem, problem.tsit45_solver(state), settings, time)?
        }
    };
    integrator.restart(time, states, false)?;
    Ok(integrator)
}

fn drive<'p, 's: 'p, M: Kind, S: Steps<'p, Equations<'s, M>> + 'p>(
    problem: &'p Problem<'s, M>,
    solver: Result<S, DiffsolError>,
    settings: &Settings,
    time: f64,
) -> Result<Box<dyn Integrator + 'p>, Trouble> {
    let solver = solver.map_err(|error| Trouble::Other(error.to_string()))?;
    Ok(Box::new(Driver {
        order: match settings.method {
            Method::Bdf => 1,
            _ => solver.order() as i32,
        },
        explicit: settings.method == Method::Tsit45,
        room: RefCell::new(M::V::zeros(problem.eqn.system.size(), M::C::default())),
        problem,
        solver,
        time,
        before: time,
        stepped: false,
        size: None,
        longest: settings.longest.unwrap_or(f64::INFINITY),
        armed: false,
    }))
}
