//! The run: steps, events, rows.
//!
//! Before: a program and a [`Plan`]. After: rows at the communication points went to the [`Observer`],
//! and [`Outcome`] says how it ended. After each step relations are compared with what they were; where
//! one has changed, the first change is located inside the step, everything up to there is kept, the event
//! is settled, and the integrator starts anew. Times that are known in advance are stepped to exactly.

mod enter;
mod jumps;
mod locate;
mod plan;
mod search;
mod seats;
mod settle;
mod trouble;

pub use jumps::Leap;
pub use plan::{Absolute, End, Observer, Outcome, Plan, RowKind, Seconds, Summary};

use super::begin::begin;
use super::defaults::fastest_sine;
use super::events::{Events, Unsettled, at_once};
use super::halt::Halt;
use super::integrate::{Integrator, Settings, Trouble};
use super::job::Job;
use super::point::rescue;
use super::seat::{Seat, Shelf};
use super::steady::steady;
use crate::base::cancel::{self, Cancelled};
use crate::base::clock::Clock;
use crate::compile::{Unwatched, Watch};
use crate::evaluate::Failure;
use crate::flat::Leaf;
use crate::passes::blocks::Solved;
use crate::positions::switches;
use crate::program::Program;
use crate::program::machine::{Extent, Machine};
use seats::Seats;
use settle::Standing;

/// Of the largest side of any relation: a closed diode's voltage is a difference of potentials, and its rounding that of theirs.
const SHARED: f64 = 0.05;

/// No run comes through more positions.
const MOST_POSITIONS: usize = 65_536;

pub fn run(job: &Job, observer: &mut dyn Observer) -> Outcome {
    run_with(job, observer, &mut Unwatched)
}

/// The same with somebody who looks on while modes are compiled.
pub fn run_with(job: &Job, observer: &mut dyn Observer, watch: &mut dyn Watch) -> Outcome {
    let Job {
        solved,
        positions,
        program,
        plan,
        ..
    } = job;
    let positions = positions.as_deref();
    let room = match positions {
        Some(_) => MOST_POSITIONS,
        None => 1,
    };
    let made = Shelf::new(room);
    let first;
    let seats = Shelf::new(room);
    let places = Shelf::new(room);
    let mut all = Seats::new(positions, &made, &seats, &places, watch);
    let plain = positions.is_none();
    let seat = Seat::new(solved, program, None);
    let seat = match plain {
        true => match all.add(seat) {
            Some(seat) => seat,
            None => unreachable!("a shelf has room for one"),
        },
        // The first position is found when the run begins.
        false => {
            first = seat;
            &first
        }
    };
    let mut run = Run {
        dips: locate::Dips::default(),
        plan,
        clock: job.clock,
        seat,
        at: 0,
        seats: all,
        standing: Standing::default(),
        events: Events::new(program, plan.until() - plan.start()),
        states: Vec::new(),
        good: Vec::new(),
        values: vec![0.0; plan.columns.len().max(program.columns.len())],
        settling: false,
        next_row: 0,
        summary: Summary::default(),
        observer,
    };
    if plain && !switches(&solved.flat).is_empty() {
        run.events.shared = SHARED;
    }
    let end = match run.all() {
        Ok(true) => End::Done,
        Ok(false) => End::Stopped,
        Err(halt) => End::Failed(Box::new(halt.in_words(positions, run.seats.watch))),
    };
    let mut summary = std::mem::take(&mut run.summary);
    run.seats.count(&mut summary);
    Outcome { summary, end }
}

struct Run<'r, 'm, 's, 'p> {
    plan: &'r Plan,
    clock: Clock,
    /// The position that the run is in, and its number.
    seat: &'s Seat<'m>,
    at: usize,
    seats: Seats<'r, 'm, 's, 'p>,
    standing: Standing,
    dips: locate::Dips,
    events: Events,
    states: Vec<f64>,
    /// The states at the time reached: those of the last row, should the next step fail.
    good: Vec<f64>,
    values: Vec<f64>,
    /// Between the two rows of an event.
    settling: bool,
    next_row: usize,
    summary: Summary,
    observer: &'r mut dyn Observer,
}

impl From<Unsettled> for Halt {
    fn from(unsettled: Unsettled) -> Halt {
        match unsettled {
            Unsettled::Failure(failure) => Halt::Evaluation(failure),
            Unsettled::Restless(diagnostic) => Halt::Told(diagnostic),
        }
    }
}

impl<'p> Run<'_, '_, '_, 'p> {
    /// True if it came to its end, false if it was stopped.
    fn all(&mut self) -> Result<bool, Halt> {
        let begun = self.clock.now();
        let start = self.plan.start();
        self.summary.time = start;
        match cancel::caught(|| self.begin(start)) {
            Ok(begun) => begun?,
            Err(Cancelled) => return Ok(false),
        }
        self.good.clone_from(&self.states);
        self.summary.seconds.start = self.clock.now() - begun;
        self.row(start, RowKind::Point)?;
        self.next_row = 1;
        if self.plan.until() <= start {
            return Ok(true);
        }
        let done = cancel::caught(|| self.steps()).unwrap_or(Ok(false));
        let time = self.summary.time;
        if !matches!(done, Ok(true)) && self.plan.times[self.next_row - 1] < time {
            // What was reached is kept; the attempt that failed may have moved the states.
            self.states.clone_from(&self.good);
            // Of an event that cannot be settled, what was before it.
            let _ = match self.settling {
                true => {
                    (self.observer.row(time, &self.values, RowKind::Last)).map_err(Halt::Output)
                }
                false => cancel::spared(|| self.row(time, RowKind::Last)),
            };
        }
        done
    }

    /// The longest step: what acts from time to time is not to be passed over.
    fn longest(&self) -> f64 {
        let program = self.seat.program;
        /// Of the run: with states, and where there is nothing to integrate.
        const LEAST: (f64, f64) = (20.0, 2000.0);
        let span = self.plan.until() - self.plan.start();
        let rows = (self.plan.times.len().max(2) - 1) as f64;
        let longest = match program.state_count() {
            0 => span / rows.max(LEAST.1),
            _ => span / LEAST.0,
        };
        // Not over half a period of a sine: where nothing moves, that would be easy.
        let watched = program.watches.iter().any(|watch| !watch.timed);
        let shortest = if watched { 1e-6 } else { 1e-4 };
        let mut machine = self.seat.rates.machine.borrow_mut();
        if machine
            .evaluate_event(self.summary.time, &self.states)
            .is_err()
        {
            return longest;
        }
        fastest_sine(&mut machine).map_or(longest, |speed| {
            longest.min((std::f64::consts::PI / speed).max(shortest * span))
        })
    }

    /// Consistent values, relations decided, and the steady state if that is wanted.
    fn begin(&mut self, time: f64) -> Result<(), Halt> {
        if self.seats.has_positions() {
            self.begin_in_position(time)?;
        } else {
            let seat = self.seat;
            let failed = |failure| Halt::Evaluation(Box::new(failure));
            let mut machine = seat.rates.machine.borrow_mut();
            self.states = begin(seat.solved, seat.program, &mut machine, time).map_err(failed)?;
            (self.events).begin(seat.solved, &mut machine, (time, &self.states))?;
        }
        self.settle(time, &[])?;
        self.standing.starting = false;
        if self.plan.steady {
            self.rest(time)?;
        }
        self.look(time)?;
        (self.events).remember(&self.seat.rates.machine.borrow());
        let distances = self.distances();
        self.dips.begin(distances);
        Ok(())
    }

    /// Moves the states to where nothing moves.
    fn rest(&mut self, time: f64) -> Result<(), Halt> {
        /// Each time in another position.
        const MOST: usize = 100;
        for _ in 0..MOST {
            match self.rest_here(time) {
                Err(Halt::Switched) => {}
                done => return done,
            }
        }
        self.rest_here(time)
    }

    fn rest_here(&mut self, time: f64) -> Result<(), Halt> {
        let seat = self.seat;
        let mut states = self.states.clone();
        let found = steady(&seat.rates, time, &mut states, &mut |states| {
            self.states.copy_from_slice(states);
            let mut changed = self.settle(time, &[])?;
            if !std::ptr::eq(self.seat, seat) {
                return Err(Halt::Switched);
            }
            if !seat.selections.is_empty() {
                let mut machine = seat.rates.machine.borrow_mut();
                evaluate(
                    seat.solved,
                    &mut machine,
                    (time, &self.states),
                    Extent::Rates,
                )?;
                changed |= seat.selections.improve(&seat.solved.flat, &mut machine);
                machine.states(&mut self.states);
            }
            states.copy_from_slice(&self.states);
            Ok(changed)
        })?;
        found.map_err(|restive| {
            let state = self.name(restive.state);
            Halt::restive(self.seat.solved, state, restive.rate, time)
        })?;
        self.states = states;
        Ok(())
    }

    /// The user's name of a state.
    fn name(&self, at: usize) -> Leaf {
        if let Some(&leaf) = self.seat.program.states.get(at) {
            return leaf;
        }
        let machine = self.seat.rates.machine.borrow();
        let slots = self.seat.program.slots.iter().enumerate();
        let mut found = slots.filter_map(|(selection, slots)| {
            let choice = machine.choice(selection);
            let candidate = *choice.get(at.checked_sub(slots.first)?)?;
            Some(slots.candidates[candidate].leaf)
        });
        found.next().unwrap_or(Leaf::Var(crate::flat::VarId(0)))
    }

    /// Evaluates relations and all before them at the states.
    fn look(&mut self, time: f64) -> Result<(), Halt> {
        let mut machine = self.seat.rates.machine.borrow_mut();
        evaluate(
            self.seat.solved,
            &mut machine,
            (time, &self.states),
            Extent::Watches,
        )
    }

    fn steps(&mut self) -> Result<bool, Halt> {
        let mut integrator = self.integrator(self.plan.start())?;
        let done = self.steps_with(&mut integrator);
        self.seats.keep(self.at, integrator);
        done
    }

    /// The integrator of the position that the run is in, at its states.
    fn integrator(&mut self, time: f64) -> Result<Box<dyn Integrator + 'p>, Halt> {
        let settings = Settings {
            method: self.plan.method,
            relative: self.plan.relative,
            absolute: (self.plan.absolute).of(&self.seat.solved.flat, self.seat.program),
            longest: Some(self.longest()),
        };
        let made = (self.seats).integrator(self.at, &settings, (time, &self.states));
        made.map_err(|trouble| self.trouble(trouble))
    }

    fn steps_with(&mut self, integrator: &mut Box<dyn Integrator + 'p>) -> Result<bool, Halt> {
        let mut known = self.next_known(self.plan.start())?;
        loop {
            let stop = known.min(self.plan.until());
            let begun = self.clock.now();
            let stepped = integrator.step(stop);
            self.summary.seconds.steps += self.clock.now() - begun;
            stepped.map_err(|trouble| self.trouble(trouble))?;
            let begun = self.clock.now();
            let found = self.watch(integrator.as_ref())?;
            self.summary.seconds.events += self.clock.now() - begun;
            let end = found.as_ref().map_or(integrator.time(), |found| found.time);
            // The end may be the known time but for rounding.
            let is_known = found.is_none() && (end >= known || at_once(end, known));
            let is_event = found.is_some() || is_known;
            self.rows(integrator.as_ref(), end, is_event)?;
            self.states_at(integrator.as_ref(), end);
            self.summary.time = end;
            self.good.clone_from(&self.states);
            self.measure_states();
            if is_event {
                let begun = self.clock.now();
                let crossed = found.map_or(Vec::new(), |found| found.crossed);
                let before = self.at;
                self.event(end, &crossed, is_known)?;
                known = self.next_known(end)?;
                if self.at == before {
                    (integrator.restart(end, &self.states, false))
                        .map_err(|trouble| self.trouble(trouble))?;
                } else {
                    let next = self.integrator(end)?;
                    self.seats.keep(before, std::mem::replace(integrator, next));
                }
                self.summary.seconds.events += self.clock.now() - begun;
            } else if !self.seat.selections.is_empty() {
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
        match time == integrator.time() {
            true => self.states.copy_from_slice(integrator.states()),
            false => integrator.interpolate(time, &mut self.states),
        }
    }

    fn next_known(&mut self, time: f64) -> Result<f64, Halt> {
        if !self.seat.program.has_known_times() {
            return Ok(f64::INFINITY);
        }
        let mut machine = self.seat.rates.machine.borrow_mut();
        if machine.evaluate_event(time, &self.states).is_err() {
            return Ok(f64::INFINITY);
        }
        Ok(self.events.next_known(&mut machine, time))
    }

    /// An event: rows on both sides, and what happens between them.
    fn event(&mut self, time: f64, crossed: &[usize], known: bool) -> Result<(), Halt> {
        self.summary.events += 1;
        self.row(time, RowKind::Event)?;
        self.settling = true;
        if !known {
            let machine = self.seat.rates.machine.borrow();
            (self.events).count(self.seat.solved, &machine, time, crossed)?;
        }
        let truths = Events::truths(&self.seat.rates.machine.borrow(), crossed);
        self.settle(time, crossed)?;
        (self.events).note_dull(&self.seat.rates.machine.borrow(), crossed, &truths);
        self.look(time)?;
        (self.events).remember(&self.seat.rates.machine.borrow());
        (self.events).forget_sides(&self.seat.rates.machine.borrow());
        let distances = self.distances();
        self.dips.begin(distances);
        self.settling = false;
        self.row(time, RowKind::Event)?;
        if let Some(&row) = self.plan.times.get(self.next_row)
            && at_once(row, time)
        {
            self.row(row, RowKind::Point)?;
            self.next_row += 1;
        }
        Ok(())
    }

    /// Rows at communication points in the last step, up to a time; at an event the row comes after it.
    fn rows(&mut self, integrator: &dyn Integrator, end: f64, event: bool) -> Result<(), Halt> {
        let begun = self.clock.now();
        while let Some(&time) = self.plan.times.get(self.next_row) {
            if time > end || event && at_once(time, end) {
                break;
            }
            self.states_at(integrator, time);
            self.row(time, RowKind::Point)?;
            self.next_row += 1;
        }
        self.summary.seconds.rows += self.clock.now() - begun;
        Ok(())
    }

    /// Evaluates everything at the states and hands it on.
    fn row(&mut self, time: f64, kind: RowKind) -> Result<(), Halt> {
        let seat = self.seat;
        let mut machine = seat.rates.machine.borrow_mut();
        evaluate(seat.solved, &mut machine, (time, &self.states), Extent::All)?;
        let mut finite = machine.divisors_hold();
        for (value, &register) in self.values.iter_mut().zip(&seat.program.columns) {
            *value = machine.get(register);
            finite &= value.is_finite();
        }
        if !finite {
            // The plain evaluator knows where it comes from.
            rescue(seat.solved, &mut machine, time)
                .map_err(|failure| Halt::Evaluation(Box::new(failure)))?;
        }
        drop(machine);
        (self.observer.row(time, &self.values, kind)).map_err(Halt::Output)
    }

    /// Chooses other states where the choice has turned bad.
    fn reselect(&mut self, integrator: &mut dyn Integrator, time: f64) -> Result<(), Halt> {
        let seat = self.seat;
        let mut machine = seat.rates.machine.borrow_mut();
        evaluate(
            seat.solved,
            &mut machine,
            (time, &self.states),
            Extent::Rates,
        )?;
        if !(seat.selections).improve(&seat.solved.flat, &mut machine) {
            return Ok(());
        }
        machine.states(&mut self.states);
        drop(machine);
        self.summary.choices += 1;
        (integrator.restart(time, &self.states, true)).map_err(|trouble| self.trouble(trouble))
    }
}

/// Evaluates; where a loop cannot be solved from its last solution, the thorough way.
fn evaluate(
    solved: &Solved,
    machine: &mut Machine<'_>,
    (time, states): (f64, &[f64]),
    extent: Extent,
) -> Result<(), Halt> {
    if machine.evaluate(time, states, extent).is_ok() {
        machine.keep();
        return Ok(());
    }
    let failed = |failure| Halt::Evaluation(Box::new(failure));
    rescue(solved, machine, time).map_err(failed)?;
    let again = machine.evaluate(time, states, extent);
    again.map_err(|stuck| {
        let block = &solved.blocks[stuck.block];
        failed(Failure::of_block(&solved.flat, block, time))
    })
}
