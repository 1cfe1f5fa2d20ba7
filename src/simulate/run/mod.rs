//! The run: steps, events, rows.
//!
//! Before: a program and a [`Plan`]. After: the [`Observer`] has received the rows at the communication points and at events,
//! and [`Outcome`] says how the run ended. After each step the relations are compared with their truths before it. If one has
//! changed, the first change is located inside the step, rows up to that time are written, the event iteration runs, and the
//! integrator is restarted. Steps end exactly at time events.

mod enter_mode;
mod integrator_error;
mod iterate;
mod jumps;
mod locate;
mod mode_cache;
mod plan;
mod rows;
mod search;
mod sines;
mod start;
mod truths;

pub use jumps::JumpRecord;
pub use plan::{Absolute, End, Observer, Outcome, Plan, RowKind, Seconds, Summary};

use super::begin::begin;
use super::events::{EventError, Events, simultaneous};
use super::integrate::{Integrator, IntegratorError, Method, Settings};
use super::job::Job;
use super::mode_instance::ModeInstance;
use super::point::solve_with_evaluator;
use super::run_error::RunError;
use super::stable_arena::StableArena;
use crate::base::cancel::{self, Cancelled};
use crate::base::clock::Stopwatch;
use crate::compile::{NoObserver, StageObserver};
use crate::evaluate::Failure;
use crate::flat::Leaf;
use crate::passes::blocks::Solved;
use crate::positions::switches;
use crate::program::Program;
use crate::program::machine::{Extent, Machine};
use iterate::EventIteration;
use mode_cache::ModeCache;
use sines::SineLimit;

/// Part of the largest side of any relation that is the least scale of each relation. The voltage of a closed diode is a
/// difference of potentials, and its rounding error is that of the potentials.
const SHARED_SCALE: f64 = 0.05;

/// The most modes that one run can enter.
const MOST_MODES: usize = 65_536;

pub fn run(job: &Job, observer: &mut dyn Observer) -> Outcome {
    run_with(job, observer, &mut NoObserver)
}

/// The same; `stages` is told of the stages while modes are compiled.
pub fn run_with(job: &Job, observer: &mut dyn Observer, stages: &mut dyn StageObserver) -> Outcome {
    let Job {
        solved,
        positions,
        program,
        plan,
        ..
    } = job;
    let positions = positions.as_deref();
    let capacity = match positions {
        Some(_) => MOST_MODES,
        None => 1,
    };
    let programs = StableArena::new(capacity);
    let first;
    let instances = StableArena::new(capacity);
    // A mode has a second integrator once its loops are left to it.
    let storages = StableArena::new(2 * capacity);
    let mut modes = ModeCache::new(positions, &programs, &instances, &storages, stages);
    let has_modes = positions.is_some();
    let mode = ModeInstance::new(solved, program, None);
    let mode = match has_modes {
        false => match modes.add(mode) {
            Some(mode) => mode,
            None => unreachable!("the arena has a capacity of one"),
        },
        // The first mode is found when the run begins.
        true => {
            first = mode;
            &first
        }
    };
    let mut run = Run {
        history: locate::DistanceHistory::default(),
        plan,
        watch: Stopwatch::start(job.clock),
        mode,
        mode_index: 0,
        modes,
        iteration: EventIteration::default(),
        events: Events::new(program, plan.until() - plan.start()),
        states: Vec::new(),
        last_good: Vec::new(),
        values: vec![0.0; plan.columns.len().max(program.columns.len())],
        in_event: false,
        next_row: 0,
        sines: SineLimit::default(),
        summary: Summary::default(),
        observer,
    };
    run.mode.rates.machine.borrow_mut().absolute = plan.absolute.all;
    if !has_modes && !switches(&solved.flat).is_empty() {
        run.events.shared = SHARED_SCALE;
    }
    let end = match run.whole() {
        Ok(true) => End::Done,
        Ok(false) => End::Stopped,
        Err(error) => End::Failed(Box::new(error.in_words(positions, run.modes.stages))),
    };
    let mut summary = std::mem::take(&mut run.summary);
    run.modes.add_counts(&mut summary);
    Outcome { summary, end }
}

struct Run<'r, 'm, 's, 'p> {
    plan: &'r Plan,
    watch: Stopwatch,
    /// The present mode, and its index in the cache.
    mode: &'s ModeInstance<'m>,
    mode_index: usize,
    modes: ModeCache<'r, 'm, 's, 'p>,
    iteration: EventIteration,
    history: locate::DistanceHistory,
    events: Events,
    states: Vec<f64>,
    /// The states at the end of the last good step: the last row shows them if the next step fails.
    last_good: Vec<f64>,
    values: Vec<f64>,
    /// The row before an event is written, and the row after it is not.
    in_event: bool,
    next_row: usize,
    sines: SineLimit,
    summary: Summary,
    observer: &'r mut dyn Observer,
}

impl From<EventError> for RunError {
    fn from(error: EventError) -> RunError {
        match error {
            EventError::Failure(failure) => RunError::Evaluation(failure),
            EventError::NoConvergence(diagnostic) => RunError::Diagnostic(diagnostic),
        }
    }
}

impl<'p> Run<'_, '_, '_, 'p> {
    /// True if the run came to its end, false if it was stopped.
    fn whole(&mut self) -> Result<bool, RunError> {
        let start = self.plan.start();
        self.summary.time = start;
        match cancel::caught(|| self.begin(start)) {
            Ok(begun) => begun?,
            Err(Cancelled) => return Ok(false),
        }
        self.last_good.clone_from(&self.states);
        self.summary.seconds.start = self.watch.lap();
        self.row(start, RowKind::Point)?;
        self.next_row = 1;
        if self.plan.until() <= start {
            return Ok(true);
        }
        let done = cancel::caught(|| self.steps()).unwrap_or(Ok(false));
        let time = self.summary.time;
        if !matches!(done, Ok(true)) && self.plan.times[self.next_row - 1] < time {
            // The step that failed may have moved the states.
            self.states.clone_from(&self.last_good);
            // If an event failed, the last row shows the values before it.
            let _ = match self.in_event {
                true => {
                    (self.observer.row(time, &self.values, RowKind::Last)).map_err(RunError::Output)
                }
                false => cancel::spared(|| self.row(time, RowKind::Last)),
            };
        }
        done
    }

    /// The longest step where no sine asks for a shorter one.
    fn longest_step(&self) -> f64 {
        /// Steps in a run at least: with states, and without.
        const LEAST: (f64, f64) = (20.0, 2000.0);
        let span = self.plan.until() - self.plan.start();
        let rows = (self.plan.times.len().max(2) - 1) as f64;
        match self.mode.program.state_count() {
            0 => span / rows.max(LEAST.1),
            _ => span / LEAST.0,
        }
    }

    /// The variable that is the state of this index.
    fn state_variable(&self, index: usize) -> Leaf {
        if let Some(&leaf) = self.mode.program.states.get(index) {
            return leaf;
        }
        let machine = self.mode.rates.machine.borrow();
        let slots = self.mode.program.slots.iter().enumerate();
        let mut found = slots.filter_map(|(selection, slots)| {
            let choice = machine.choice(selection);
            let candidate = *choice.get(index.checked_sub(slots.first)?)?;
            Some(slots.candidates[candidate].leaf)
        });
        found.next().unwrap_or(Leaf::Var(crate::flat::VarId(0)))
    }

    /// Evaluates the sides of all relations at the present states.
    fn evaluate_relations(&mut self, time: f64) -> Result<(), RunError> {
        let mut machine = self.mode.rates.machine.borrow_mut();
        evaluate(
            self.mode.solved,
            &mut machine,
            (time, &self.states),
            Extent::Watches,
        )
    }

    fn steps(&mut self) -> Result<bool, RunError> {
        let mut integrator = self.take_integrator(self.plan.start())?;
        let done = self.steps_with(&mut integrator);
        self.modes.put_integrator(self.mode_index, integrator);
        done
    }

    /// The integrator of the present mode, restarted at the present states.
    fn take_integrator(&mut self, time: f64) -> Result<Box<dyn Integrator + 'p>, RunError> {
        let mut absolute = (self.plan.absolute).of(&self.mode.solved.flat, self.mode.program);
        // Nobody gives tolerances for unknowns of loops. Their errors do not add up from step to step; where they follow from
        // changes of states in a step, they have fewer digits than these.
        const LOOSER: f64 = 1e3;
        let unknowns = &self.mode.with_unknowns(&[]);
        let (all, relative) = (self.plan.absolute.all, self.plan.relative);
        let unknown = |value: &f64| LOOSER * (all + relative * value.abs());
        absolute.extend(unknowns.iter().map(unknown));
        let settings = Settings {
            // What follows from the step itself, such as a voltage from the change of a current, has no smooth past that a method
            // of many steps could go on from.
            method: match self.plan.method {
                Method::Bdf if !unknowns.is_empty() => Method::Esdirk34,
                method => method,
            },
            relative: self.plan.relative,
            absolute,
            longest: Some(self.longest_step()),
        };
        self.sines = SineLimit {
            acting: self.longest_beside_sines(),
            until: time,
        };
        let taken = (self.modes).take_integrator(self.mode_index, &settings, (time, &self.states));
        taken.map_err(|error| self.integrator_error(error))
    }

    fn steps_with(&mut self, integrator: &mut Box<dyn Integrator + 'p>) -> Result<bool, RunError> {
        let mut time_event = self.next_time_event(self.plan.start())?;
        loop {
            let stop = time_event.min(self.plan.until());
            self.limit_by_sines(integrator.as_mut());
            let stepped = integrator.step(stop);
            self.summary.seconds.steps += self.watch.lap();
            if let Err(error) = stepped {
                let next = self.with_joined_loops(error)?;
                self.summary
                    .counts
                    .add(&std::mem::replace(integrator, next).counts());
                continue;
            }
            let located = self.locate_event(integrator.as_ref())?;
            self.summary.seconds.events += self.watch.lap();
            let end = (located.as_ref()).map_or(integrator.time(), |located| located.time);
            // The end of the run may equal the time event but for rounding.
            let is_time_event =
                located.is_none() && (end >= time_event || simultaneous(end, time_event));
            let is_event = located.is_some() || is_time_event;
            self.rows(integrator.as_ref(), end, is_event)?;
            self.states_at(integrator.as_ref(), end);
            self.summary.time = end;
            self.last_good.clone_from(&self.states);
            self.update_state_scales();
            if is_event {
                let crossed = located.map_or(Vec::new(), |located| located.crossed);
                let before = self.mode_index;
                self.handle_event(end, &crossed, is_time_event)?;
                time_event = self.next_time_event(end)?;
                self.sines.until = end;
                if self.mode_index == before {
                    let values = self.mode.with_unknowns(&self.states);
                    (integrator.restart(end, &values, false))
                        .map_err(|error| self.integrator_error(error))?;
                } else {
                    let next = self.take_integrator(end)?;
                    (self.modes).put_integrator(before, std::mem::replace(integrator, next));
                }
                self.summary.seconds.events += self.watch.lap();
            } else if !self.mode.selections.is_empty() {
                self.reselect(integrator.as_mut(), end)?;
            }
            if !self.observer.goes_on(end, self.summary.events) {
                return Ok(false);
            }
            if end >= self.plan.until() {
                return Ok(true);
            }
        }
    }

    fn states_at(&mut self, integrator: &dyn Integrator, time: f64) {
        let mode = self.mode;
        if mode.joined.get().is_none() {
            match time == integrator.time() {
                true => self.states.copy_from_slice(integrator.states()),
                false => integrator.interpolate(time, &mut self.states),
            }
            return;
        }
        let mut values = mode.with_unknowns(&self.states);
        match time == integrator.time() {
            true => values.copy_from_slice(integrator.states()),
            false => integrator.interpolate(time, &mut values),
        }
        let (states, unknowns) = values.split_at(self.states.len());
        self.states.copy_from_slice(states);
        mode.rates.machine.borrow_mut().give(unknowns);
    }

    /// After a step that failed: an integrator that solves the loops of the rates together with its steps, from the last good
    /// states. The error, if it does so already or has none to solve.
    fn with_joined_loops(
        &mut self,
        error: IntegratorError,
    ) -> Result<Box<dyn Integrator + 'p>, RunError> {
        let (time, mode) = (self.summary.time, self.mode);
        let explicit = self.plan.method == Method::Tsit45;
        let failed = self.integrator_error(error);
        let solved = {
            let mut machine = mode.rates.machine.borrow_mut();
            evaluate(
                mode.solved,
                &mut machine,
                (time, &self.last_good),
                Extent::Rates,
            )
        };
        if explicit || solved.is_err() || !mode.join() {
            return Err(failed);
        }
        self.states.clone_from(&self.last_good);
        self.take_integrator(time)
    }

    fn next_time_event(&mut self, time: f64) -> Result<f64, RunError> {
        if !self.mode.program.has_known_times() {
            return Ok(f64::INFINITY);
        }
        let mut machine = self.mode.rates.machine.borrow_mut();
        if machine.evaluate_event(time, &self.states).is_err() {
            return Ok(f64::INFINITY);
        }
        Ok(self.events.next_time_event(&mut machine, time))
    }

    /// An event: the event iteration, and a row before and after it.
    fn handle_event(
        &mut self,
        time: f64,
        crossed: &[usize],
        is_time_event: bool,
    ) -> Result<(), RunError> {
        self.summary.events += 1;
        self.row(time, RowKind::Event)?;
        self.in_event = true;
        if !is_time_event {
            let machine = self.mode.rates.machine.borrow();
            (self.events).count(self.mode.solved, &machine, time, crossed)?;
        }
        let truths = Events::truths(&self.mode.rates.machine.borrow(), crossed);
        self.iterate_event(time, crossed)?;
        (self.events).desensitise(&self.mode.rates.machine.borrow(), crossed, &truths);
        self.evaluate_relations(time)?;
        (self.events).update_scales(&self.mode.rates.machine.borrow());
        (self.events).clear_signs_of_ties(&self.mode.rates.machine.borrow());
        let distances = self.distances();
        self.history.begin(distances);
        self.in_event = false;
        self.row(time, RowKind::Event)?;
        if let Some(&row) = self.plan.times.get(self.next_row)
            && simultaneous(row, time)
        {
            self.row(row, RowKind::Point)?;
            self.next_row += 1;
        }
        Ok(())
    }

    /// Chooses other states where the pivots of the present choice have become too small.
    fn reselect(&mut self, integrator: &mut dyn Integrator, time: f64) -> Result<(), RunError> {
        let mode = self.mode;
        let mut machine = mode.rates.machine.borrow_mut();
        evaluate(
            mode.solved,
            &mut machine,
            (time, &self.states),
            Extent::Rates,
        )?;
        if !(mode.selections).improve(&mode.solved.flat, &mut machine) {
            return Ok(());
        }
        machine.states(&mut self.states);
        drop(machine);
        self.summary.choices += 1;
        (integrator.restart(time, &self.states, true)).map_err(|error| self.integrator_error(error))
    }
}

/// Evaluates by the machine; where a loop does not converge from its last solution, by the plain evaluator first.
fn evaluate(
    solved: &Solved,
    machine: &mut Machine<'_>,
    (time, states): (f64, &[f64]),
    extent: Extent,
) -> Result<(), RunError> {
    if machine.evaluate(time, states, extent).is_ok() {
        machine.keep();
        return Ok(());
    }
    let failed = |failure| RunError::Evaluation(Box::new(failure));
    solve_with_evaluator(solved, machine, time).map_err(failed)?;
    let again = machine.evaluate(time, states, extent);
    again.map_err(|stuck| {
        let block = &solved.blocks[stuck.block];
        failed(Failure::of_block(&solved.flat, block, time))
    })
}
