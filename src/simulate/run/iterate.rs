//! The event iteration: relations, discrete variables, `when`s and modes at one time.
//!
//! Before: states at the time of an event. After: each relation has the truth that its sides give it, each `new(x)` equals
//! x, and the run is in the mode that the conditions of the switches give.
//!
//! Each pass of the iteration evaluates the model in its present mode, finds the changes that are due, and applies them: all
//! of them at once, or, after the iteration has come back to a snapshot that it had before, one change in each pass, the
//! first of the list. (For passive circuits of ideal diodes that is Murty's least-index rule, which always ends.) A change
//! may lead into another mode. Every mode that is tried starts from the values before the event; the last mode stays.

use std::collections::BTreeSet;

use crate::base::cancel::glance;
use rustc_hash::FxHashSet;

use super::truths::TruthsBefore;
use super::{ModeInstance, Run, RunError};
use crate::flat::Leaf;
use crate::positions::{Key, Side, Values};
use crate::program::machine::Machine;
use crate::simulate::events::{Change, EventError, LastChange, Strategy};
use crate::simulate::events::{evaluate, key, no_convergence};

pub(super) const MOST_PASSES: usize = 2_000;

/// The state of the event iteration.
#[derive(Debug, Default)]
pub(super) struct EventIteration {
    /// The run has not begun: modes begin from start values.
    pub(super) starting: bool,
    /// Combinations of truths that were tried at this event in vain.
    pub(super) combinations: usize,
    /// Discrete variables have begun: those with a next value may have changed since.
    pub(super) begun: bool,
    /// Values before the event.
    pub(super) before: Values,
    /// The jump of states by which the present mode was entered.
    pub(super) jump: Option<super::jumps::PendingJump>,
    /// The snapshot with which the present mode was entered.
    pub(super) at_entry: Option<Snapshot>,
    /// For each relation, the impulse of the difference of its sides.
    pub(super) impulses: Vec<f64>,
    /// The largest values so far of the variables that the source differentiates.
    pub(super) scales: Values,
    /// Sets of switches for which a note on the solution of least norm was written.
    pub(super) reported: FxHashSet<Vec<usize>>,
}

/// The values of the discrete variables, by index.
pub(super) type Snapshot = Vec<f64>;

impl<'m, 's> Run<'_, 'm, 's, '_> {
    /// Iterates the event at a time; true if anything has changed. `crossed` are the relations whose sides were located to
    /// be equal at this time.
    pub(super) fn iterate_event(&mut self, time: f64, crossed: &[usize]) -> Result<bool, RunError> {
        if !self.mode.program.has_events() {
            if self.modes.has_modes() {
                self.record_jump(time);
            }
            return Ok(false);
        }
        self.evaluate_event(time)?;
        if self.modes.has_modes() && !self.iteration.starting {
            self.iteration.before = self.current_values();
        }
        self.iteration.jump = None;
        self.iteration.impulses.clear();
        self.iteration.at_entry = match self.iteration.starting {
            true => None,
            false => Some(self.snapshot()),
        };
        self.store_pre_values();
        let (sampled, momentary) = {
            let mut machine = self.mode.rates.machine.borrow_mut();
            let sampled = self.events.sample(&mut machine, time);
            (sampled, self.events.momentary(&mut machine, crossed))
        };
        let mut changed = match self.iterate(time, &momentary) {
            Err(why) if self.events.at_instant && self.modes.has_switches() => {
                self.iterate_from_defaults(time, &momentary, why)?
            }
            done => done?,
        };
        if sampled || !momentary.is_empty() {
            {
                let mut machine = self.mode.rates.machine.borrow_mut();
                for sampler in &self.mode.program.samplers {
                    machine.set(sampler.held, 0.0);
                }
            }
            changed |= self.iterate(time, &[])?;
        }
        // Until the next event `pre(x)` equals x.
        self.store_pre_values();
        if self.modes.has_modes() {
            self.record_jump(time);
        }
        Ok(changed)
    }

    /// No mode agrees with start values that nobody gave: a diode that conducts at the start stops to do so at once, and
    /// its capacitor keeps what it has then. So these values count as values before.
    fn iterate_from_defaults(
        &mut self,
        time: f64,
        momentary: &[usize],
        why: RunError,
    ) -> Result<bool, RunError> {
        if self.begin_in_mode(time).is_err() {
            return Err(why);
        }
        self.leave_start();
        self.iterate(time, momentary).map_err(|_| why)
    }

    fn store_pre_values(&mut self) {
        let mut machine = self.mode.rates.machine.borrow_mut();
        for &(pre, of) in &self.mode.program.pres {
            let value = machine.get(of);
            machine.set(pre, value);
        }
    }

    pub(super) fn evaluate_event(&mut self, time: f64) -> Result<(), EventError> {
        let mut machine = self.mode.rates.machine.borrow_mut();
        evaluate(self.mode.solved, &mut machine, (time, &self.states))
    }

    fn iterate(&mut self, time: f64, momentary: &[usize]) -> Result<bool, RunError> {
        self.iteration.combinations = 0;
        let before = TruthsBefore::new(&self.mode.rates.machine.borrow());
        let mut moved: BTreeSet<usize> = BTreeSet::new();
        let mut searched = false;
        let mut strategy = Strategy::AllAtOnce;
        let mut seen: FxHashSet<Vec<u64>> = FxHashSet::default();
        let mut excluded: Vec<(bool, usize)> = Vec::new();
        let mut last: Option<(Snapshot, Vec<Change>)> = None;
        let mut refused: Option<RunError> = None;
        let mut changed = false;
        let mut done: Option<(&'s ModeInstance<'m>, LastChange)> = None;
        for _ in 0..MOST_PASSES {
            glance();
            let entered = match self.evaluate_in_mode(time) {
                // With these truths a loop has no solution: with others it may have one.
                Err(failed @ RunError::Evaluation(_)) if !self.modes.has_modes() && !searched => {
                    searched = true;
                    if !self.search_truths((time, momentary), &before, &moved)? {
                        return Err(failed);
                    }
                    seen.clear();
                    strategy = Strategy::AllAtOnce;
                    changed = true;
                    Ok(())
                }
                entered => entered?,
            };
            if let Err(why) = entered {
                // The last changes lead into an impossible mode: they are taken back, and others are tried.
                let Some((snapshot, changes)) = last.take() else {
                    if self.enter_with_switches(time, &[])? {
                        continue;
                    }
                    return Err(why);
                };
                let tried = self.snapshot();
                self.restore(&snapshot);
                match (strategy, &changes[..]) {
                    (Strategy::AllAtOnce, [_, _, ..]) => strategy = Strategy::OneAtATime,
                    (_, changes) => {
                        excluded.extend(changes.iter().map(|&change| target(change)));
                        // Another switch may have to change at the same moment. After a jump the values that it gives
                        // decide that.
                        let jumps = self.iteration.jump.is_some();
                        self.restore(&tried);
                        if !jumps && self.enter_with_switches(time, changes)? {
                            excluded.clear();
                            strategy = strategy.max(Strategy::OneAtATime);
                            continue;
                        }
                        self.restore(&snapshot);
                    }
                }
                refused = Some(why);
                continue;
            }
            let mode = self.mode;
            let mut machine = mode.rates.machine.borrow_mut();
            let impulses = std::mem::take(&mut self.iteration.impulses);
            let mut changes = (self.events).changes(&mut machine, strategy, momentary, &impulses);
            self.iteration.impulses = impulses;
            let mut set_by_whens = Vec::new();
            let restarts =
                (self.events).execute_whens(mode.solved, &machine, time, &mut set_by_whens)?;
            let due = changes.len();
            changes.retain(|&change| !excluded.contains(&target(change)));
            if self.modes.has_switches() || self.iteration.jump.is_some() {
                changes = highest_priority(changes, &self.iteration);
            }
            if changes.is_empty() && set_by_whens.is_empty() && restarts.is_empty() {
                drop(machine);
                if let Some(why) = refused.take().filter(|_| due > 0) {
                    excluded.clear();
                    if self.search_mode(time, momentary).is_err() {
                        return Err(why);
                    }
                    changed = true;
                }
                match self.iteration.jump.is_some() {
                    // The changes that the impulses decide are done; next come those that the values after the jump decide.
                    true => self.continue_after_jump(time),
                    // The values at the start agree; next comes what the way they move decides.
                    false if self.events.at_instant => self.leave_start(),
                    false => return Ok(changed),
                }
                seen.clear();
                excluded.clear();
                last = None;
                strategy = Strategy::AllAtOnce;
                changed = true;
                continue;
            }
            changed = true;
            if strategy != Strategy::AllAtOnce {
                changes.truncate(1);
            }
            // Values that `when`s set are applied whatever the strategy: a `when` acts in one pass only.
            changes.extend(set_by_whens);
            let restarted = restarts
                .last()
                .map(|&(state, _)| LastChange::Restart(state));
            let shown = changes.last().copied().map(LastChange::Change);
            done = shown.or(restarted).map(|shown| (mode, shown));
            moved.extend(changes.iter().filter_map(|change| match *change {
                Change::Watch(at, _) => Some(at),
                Change::Discrete(..) => None,
            }));
            let snapshot = snapshot(&machine);
            drop(machine);
            if !restarts.is_empty() {
                self.restart(time, &restarts)?;
            }
            let mut machine = mode.rates.machine.borrow_mut();
            apply(&mut machine, &changes);
            last = restarts.is_empty().then_some((snapshot, changes));
            let repeats = !seen.insert(key(&machine, &self.states));
            drop(machine);
            if !restarts.is_empty() && self.modes.has_modes() {
                self.evaluate_event(time)?;
                self.leave_start();
            }
            if repeats && self.modes.has_switches() {
                self.search_mode(time, momentary)?;
                let machine = self.mode.rates.machine.borrow();
                let mut set_by_whens = Vec::new();
                let restarts = (self.events).execute_whens(
                    self.mode.solved,
                    &machine,
                    time,
                    &mut set_by_whens,
                )?;
                drop(machine);
                if !restarts.is_empty() {
                    return Err(self.no_convergence(done, time));
                }
                seen.clear();
                last = None;
                if set_by_whens.is_empty() {
                    match self.iteration.jump.is_some() {
                        true => self.continue_after_jump(time),
                        false if self.events.at_instant => self.leave_start(),
                        false => return Ok(true),
                    }
                    strategy = Strategy::AllAtOnce;
                }
                apply(&mut self.mode.rates.machine.borrow_mut(), &set_by_whens);
                continue;
            }
            if repeats {
                seen.clear();
                strategy = match strategy {
                    Strategy::AllAtOnce => Strategy::OneAtATime,
                    Strategy::OneAtATime => Strategy::KeepTies,
                    Strategy::KeepTies => Strategy::TiesAsWritten,
                    // Several relations may have to change together.
                    Strategy::TiesAsWritten if !searched => {
                        searched = true;
                        match self.search_truths((time, momentary), &before, &moved)? {
                            true => Strategy::OneAtATime,
                            false => return Err(self.no_convergence(done, time)),
                        }
                    }
                    Strategy::TiesAsWritten => return Err(self.no_convergence(done, time)),
                };
            }
        }
        Err(self.no_convergence(done, time))
    }

    /// `done` is the last change with the mode in which it was made: each mode numbers its relations by itself.
    fn no_convergence(
        &self,
        done: Option<(&'s ModeInstance<'m>, LastChange)>,
        time: f64,
    ) -> RunError {
        let mode = done.map_or(self.mode, |(mode, _)| mode);
        let last = done.map(|(_, last)| last);
        let error = no_convergence(mode.solved, mode.program, last, time, false);
        let EventError::NoConvergence(mut diagnostic) = error else {
            return error.into();
        };
        let mut tried = String::from(
            "tried: all changes at once, one at a time, with ties kept, with equal sides as equal",
        );
        if self.iteration.combinations > 0 {
            tried += &format!(
                ", {} combinations of truths in one loop",
                self.iteration.combinations
            );
        }
        if !self.modes.has_modes() {
            diagnostic.notes.push(tried);
        }
        RunError::Diagnostic(diagnostic)
    }

    /// States have jumped: the iteration goes on from the values after the jump.
    fn continue_after_jump(&mut self, time: f64) {
        self.record_jump(time);
        self.iteration.impulses.clear();
        self.leave_start();
        self.iteration.at_entry = Some(self.snapshot());
    }

    /// From here on the present values are the values before the event.
    fn leave_start(&mut self) {
        self.iteration.before = self.current_values();
        if self.iteration.starting {
            self.iteration.at_entry = Some(self.snapshot());
        }
        self.iteration.starting = false;
        self.events.at_instant = false;
    }

    /// Evaluates the event in the mode that the conditions of the switches give. The inner error is one that may not occur
    /// in another mode.
    pub(super) fn evaluate_in_mode(&mut self, time: f64) -> Result<Result<(), RunError>, RunError> {
        self.evaluate_event(time)?;
        if !self.modes.has_modes() {
            return Ok(Ok(()));
        }
        let key = self.key();
        let snapshot = self.snapshot();
        let same = self
            .mode
            .compiled
            .is_some_and(|compiled| compiled.key == key);
        // A mode is entered anew where its key is the same but a discrete variable has changed: states that are tied to that
        // variable jump with it.
        if same && self.iteration.at_entry.as_ref() == Some(&snapshot) {
            return Ok(Ok(()));
        }
        let entered = self.enter_mode(&key, time)?;
        self.iteration.at_entry = entered.is_ok().then_some(snapshot);
        Ok(entered)
    }

    /// The mode that the conditions of the switches give. The event must have been evaluated.
    pub(super) fn key(&self) -> Key {
        let machine = self.mode.rates.machine.borrow();
        let conditions = self.mode.program.conditions.iter();
        conditions
            .map(|&register| machine.get(register) != 0.0)
            .collect()
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        snapshot(&self.mode.rates.machine.borrow())
    }

    pub(super) fn restore(&mut self, values: &Snapshot) {
        let mut machine = self.mode.rates.machine.borrow_mut();
        let registers = snapshot_registers(&machine);
        for (&register, &value) in registers.iter().zip(values) {
            machine.set(register, value);
        }
    }

    /// For each relation, the impulse of the difference of its sides.
    pub(super) fn impulses_of_sides(&self, impulses: &Values) -> Vec<f64> {
        let Some(positions) = self.modes.positions else {
            return Vec::new();
        };
        let of = |side: Side| match side {
            Side::Variable(id, _) => impulses.get(&Leaf::Var(id)).copied().unwrap_or(0.0),
            Side::Given(_) => 0.0,
        };
        (positions.opened.watches.iter())
            .map(|watch| of(watch.left) - watch.right.map_or(0.0, of))
            .collect()
    }
}

/// The changes that are applied first. Discrete variables wait until all relations are decided, so that no switch follows a
/// truth that is about to change. If states have jumped, relations whose sides have an impulse are decided first, then
/// discrete variables, and only then relations that depend on values after the jump: a mode that is left at once never
/// reaches these values.
fn highest_priority(changes: Vec<Change>, iteration: &EventIteration) -> Vec<Change> {
    let jumps = iteration.jump.is_some();
    let impulse = |at: usize| iteration.impulses.get(at).copied().unwrap_or(0.0);
    let rank = |change: &Change| match *change {
        Change::Watch(at, _) if jumps && impulse(at) == 0.0 => 2,
        Change::Watch(..) => 0,
        Change::Discrete(..) => 1,
    };
    let first = changes.iter().map(rank).min();
    (changes.into_iter())
        .filter(|change| Some(rank(change)) == first)
        .collect()
}

/// The registers of the discrete variables. In a model that is solved anew in each mode the truths of relations and
/// samplers are discrete variables too, and their order is the same in all modes.
pub(super) fn snapshot_registers(machine: &Machine<'_>) -> Vec<u32> {
    let program = machine.program;
    let discretes = program.discretes.iter().map(|discrete| discrete.value);
    discretes.collect()
}

pub(super) fn snapshot(machine: &Machine<'_>) -> Snapshot {
    let registers = snapshot_registers(machine);
    registers
        .iter()
        .map(|&register| machine.get(register))
        .collect()
}

pub(super) fn apply(machine: &mut Machine<'_>, changes: &[Change]) {
    for &change in changes {
        match change {
            Change::Watch(at, held) => machine.set(machine.program.watches[at].held, held),
            Change::Discrete(at, value) => {
                machine.set(machine.program.discretes[at].value, value);
            }
        }
    }
}

/// The relation (true) or discrete variable (false) that a change concerns, by index.
fn target(change: Change) -> (bool, usize) {
    match change {
        Change::Watch(at, _) => (true, at),
        Change::Discrete(at, _) => (false, at),
    }
}
