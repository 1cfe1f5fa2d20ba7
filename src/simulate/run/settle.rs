//! What happens at an event, round by round: relations, discrete variables, `when`s, positions.
//!
//! Each round evaluates the model where it stands, says what is not as it should be, and changes that: all at once,
//! then one change at a time, the first first, where that goes round in a circle (for a passive circuit of ideal diodes
//! that is Murty's least-index rule, and ends). A change may lead into another position: every position that is tried
//! begins from the values before the event, and only the last one is kept.

use crate::base::cancel::glance;
use rustc_hash::FxHashSet;

use super::{Halt, Run, Seat};
use crate::flat::Leaf;
use crate::positions::{Key, Side, Values};
use crate::program::machine::Machine;
use crate::simulate::events::{Change, Last, Unsettled, Way};
use crate::simulate::events::{evaluate, key, restart, restless};

pub(super) const MOST_ROUNDS: usize = 2_000;

/// Where the rounds of an event begin, and what they have come to.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// The run has not begun: positions begin from start values.
    pub(super) starting: bool,
    /// Values before the event.
    pub(super) before: Values,
    /// What jumped when the position began.
    pub(super) leap: Option<super::jumps::Pending>,
    /// What was kept when the position was entered.
    pub(super) kept: Option<Kept>,
    /// Impulses of the sides of relations.
    pub(super) impulses: Vec<f64>,
    /// The largest values so far of what the source differentiates.
    pub(super) scales: Values,
    /// Positions that were told to have the least norm.
    pub(super) told: FxHashSet<Vec<usize>>,
}

/// What keeps its value between events.
pub(super) type Kept = Vec<f64>;

impl<'m, 's> Run<'_, 'm, 's, '_> {
    /// Settles what happens at a time; true if anything has changed. `crossed` are relations whose sides were found to be
    /// equal here.
    pub(super) fn settle(&mut self, time: f64, crossed: &[usize]) -> Result<bool, Halt> {
        if !self.seat.program.has_events() {
            return Ok(false);
        }
        self.evaluate_event(time)?;
        if self.seats.has_positions() && !self.standing.starting {
            self.standing.before = self.frame();
        }
        self.standing.leap = None;
        self.standing.impulses.clear();
        self.standing.kept = match self.standing.starting {
            true => None,
            false => Some(self.kept()),
        };
        self.keep_pres();
        let (sampled, moments) = {
            let mut machine = self.seat.rates.machine.borrow_mut();
            let sampled = self.events.sample(&mut machine, time);
            (sampled, self.events.moments(&mut machine, crossed))
        };
        let mut changed = self.rounds(time, &moments)?;
        if sampled || !moments.is_empty() {
            {
                let mut machine = self.seat.rates.machine.borrow_mut();
                for sampler in &self.seat.program.samplers {
                    machine.set(sampler.held, 0.0);
                }
            }
            changed |= self.rounds(time, &[])?;
        }
        // Until the next event, what was before is what is.
        self.keep_pres();
        if self.seats.has_positions() {
            self.landed(time);
        }
        Ok(changed)
    }

    fn keep_pres(&mut self) {
        let mut machine = self.seat.rates.machine.borrow_mut();
        for &(kept, of) in &self.seat.program.pres {
            let value = machine.get(of);
            machine.set(kept, value);
        }
    }

    pub(super) fn evaluate_event(&mut self, time: f64) -> Result<(), Unsettled> {
        let mut machine = self.seat.rates.machine.borrow_mut();
        evaluate(self.seat.solved, &mut machine, (time, &self.states))
    }

    fn rounds(&mut self, time: f64, moments: &[usize]) -> Result<bool, Halt> {
        let mut way = Way::Together;
        let mut seen: FxHashSet<Vec<u64>> = FxHashSet::default();
        let mut barred: Vec<(bool, usize)> = Vec::new();
        let mut last: Option<(Kept, Vec<Change>)> = None;
        let mut refused: Option<Halt> = None;
        let mut changed = false;
        let mut done: Option<(&'s Seat<'m>, Last)> = None;
        for _ in 0..MOST_ROUNDS {
            glance();
            if let Err(why) = self.stand(time)? {
                // Back, and another way.
                let Some((kept, changes)) = last.take() else {
                    if self.accompanied(time, &[])? {
                        continue;
                    }
                    return Err(why);
                };
                let tried = self.kept();
                self.put_back(&kept);
                match (way, &changes[..]) {
                    (Way::Together, [_, _, ..]) => way = Way::Single,
                    (_, changes) => {
                        barred.extend(changes.iter().map(|&change| name(change)));
                        // Something else may have to change at the same moment, unless the values after a jump say otherwise.
                        let leaps = self.standing.leap.is_some();
                        self.put_back(&tried);
                        if !leaps && self.accompanied(time, changes)? {
                            barred.clear();
                            way = way.max(Way::Single);
                            continue;
                        }
                        self.put_back(&kept);
                    }
                }
                refused = Some(why);
                continue;
            }
            let seat = self.seat;
            let mut machine = seat.rates.machine.borrow_mut();
            let impulses = std::mem::take(&mut self.standing.impulses);
            let mut changes = (self.events).changes(&mut machine, way, moments, &impulses);
            self.standing.impulses = impulses;
            let mut set = Vec::new();
            let restarts = (self.events).act(seat.solved, &machine, time, &mut set)?;
            let wanted = changes.len();
            changes.retain(|&change| !barred.contains(&name(change)));
            if self.seats.has_positions() {
                changes = first_things(changes, &self.standing);
            }
            if changes.is_empty() && set.is_empty() && restarts.is_empty() {
                drop(machine);
                if let Some(why) = refused.take().filter(|_| wanted > 0) {
                    barred.clear();
                    if self.search(time, moments).is_err() {
                        return Err(why);
                    }
                    changed = true;
                }
                if self.standing.leap.is_none() {
                    return Ok(changed);
                }
                // What the impulses decide is decided; now for the values after the jump.
                self.after_the_jump(time);
                seen.clear();
                last = None;
                way = Way::Together;
                changed = true;
                continue;
            }
            changed = true;
            if way != Way::Together {
                changes.truncate(1);
            }
            // What a `when` does is done, one change at a time or not.
            changes.extend(set);
            let restarted = restarts.last().map(|&(state, _)| Last::Restart(state));
            let shown = changes.last().copied().map(Last::Change).or(restarted);
            done = shown.map(|shown| (seat, shown));
            let kept = kept(&machine);
            apply(&mut machine, &changes);
            if restarts.is_empty() {
                last = Some((kept, changes));
            } else {
                last = None;
                for &(state, value) in &restarts {
                    let states = &mut self.states;
                    restart(
                        seat.solved,
                        &mut machine,
                        &seat.selections,
                        states,
                        state,
                        value,
                    );
                }
            }
            let again = !seen.insert(key(&machine, &self.states));
            drop(machine);
            if !restarts.is_empty() && self.seats.has_positions() {
                self.evaluate_event(time)?;
                self.standing.before = self.frame();
                self.standing.starting = false;
            }
            if again && self.seats.has_positions() {
                // Positions that are not against what they say themselves.
                self.search(time, moments)?;
                let machine = self.seat.rates.machine.borrow();
                let mut set = Vec::new();
                let restarts = (self.events).act(self.seat.solved, &machine, time, &mut set)?;
                drop(machine);
                if !restarts.is_empty() {
                    return Err(self.restless(done, time));
                }
                seen.clear();
                last = None;
                if set.is_empty() && self.standing.leap.is_none() {
                    return Ok(true);
                }
                if set.is_empty() {
                    self.after_the_jump(time);
                    way = Way::Together;
                }
                apply(&mut self.seat.rates.machine.borrow_mut(), &set);
                continue;
            }
            if again {
                seen.clear();
                way = match way {
                    Way::Together => Way::Single,
                    Way::Single => Way::Keeping,
                    Way::Keeping => Way::Resting,
                    Way::Resting => return Err(self.restless(done, time)),
                };
            }
        }
        Err(self.restless(done, time))
    }

    /// Relations have numbers of their own in each position: what was done last comes with that in which it was done.
    fn restless(&self, done: Option<(&'s Seat<'m>, Last)>, time: f64) -> Halt {
        let seat = done.map_or(self.seat, |(seat, _)| seat);
        let last = done.map(|(_, last)| last);
        restless(seat.solved, seat.program, last, time, false).into()
    }

    /// A jump has been made: what comes now begins from the values after it.
    fn after_the_jump(&mut self, time: f64) {
        self.landed(time);
        self.standing.before = self.frame();
        self.standing.impulses.clear();
        self.standing.starting = false;
        self.standing.kept = Some(self.kept());
    }

    /// Evaluates the event in the position that the truths mean. The inner error is one that another position may not have.
    pub(super) fn stand(&mut self, time: f64) -> Result<Result<(), Halt>, Halt> {
        self.evaluate_event(time)?;
        if !self.seats.has_positions() {
            return Ok(Ok(()));
        }
        let key = self.key();
        let kept = self.kept();
        let same = self
            .seat
            .position
            .is_some_and(|position| position.key == key);
        // A source that jumps in the same position moves what is tied to it.
        if same && self.standing.kept.as_ref() == Some(&kept) {
            return Ok(Ok(()));
        }
        let entered = self.enter(&key, time)?;
        self.standing.kept = entered.is_ok().then_some(kept);
        Ok(entered)
    }

    /// The position that the truths mean, after an evaluation of the event.
    pub(super) fn key(&self) -> Key {
        let machine = self.seat.rates.machine.borrow();
        let conditions = self.seat.program.conditions.iter();
        conditions
            .map(|&register| machine.get(register) != 0.0)
            .collect()
    }

    pub(super) fn kept(&self) -> Kept {
        kept(&self.seat.rates.machine.borrow())
    }

    pub(super) fn put_back(&mut self, values: &Kept) {
        let mut machine = self.seat.rates.machine.borrow_mut();
        let registers = kept_registers(&machine);
        for (&register, &value) in registers.iter().zip(values) {
            machine.set(register, value);
        }
    }

    /// Impulses of the two sides of each relation.
    pub(super) fn impulses_of_sides(&self, impulses: &Values) -> Vec<f64> {
        let Some(positions) = self.seats.positions else {
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

/// What comes first: relations, and when all of them are decided what follows from them, so that no switch goes by
/// a truth that is about to change. Where there are impulses, what they decide, what follows from that, and only then what the
/// values after the jump say: in a position that is given up for another one they never come to be.
fn first_things(changes: Vec<Change>, standing: &Standing) -> Vec<Change> {
    let leaps = standing.leap.is_some();
    let impulse = |at: usize| standing.impulses.get(at).copied().unwrap_or(0.0);
    let rank = |change: &Change| match *change {
        Change::Watch(at, _) if leaps && impulse(at) == 0.0 => 2,
        Change::Watch(..) => 0,
        Change::Discrete(..) => 1,
    };
    let first = changes.iter().map(rank).min();
    (changes.into_iter())
        .filter(|change| Some(rank(change)) == first)
        .collect()
}

/// Truths of relations, values of discrete variables, samplers: in the same order in all positions.
pub(super) fn kept_registers(machine: &Machine<'_>) -> Vec<u32> {
    let program = machine.program;
    let discretes = program.discretes.iter().map(|discrete| discrete.value);
    discretes.collect()
}

pub(super) fn kept(machine: &Machine<'_>) -> Kept {
    let registers = kept_registers(machine);
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

/// What a change changes.
fn name(change: Change) -> (bool, usize) {
    match change {
        Change::Watch(at, _) => (true, at),
        Change::Discrete(at, _) => (false, at),
    }
}
