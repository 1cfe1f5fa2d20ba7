//! How a run goes into a position: at its start, and at events.

use super::{Halt, Run, Seat, begin};
use crate::expr::Node;
use crate::flat::Leaf;
use crate::positions::Refused;
use crate::program::Program;
use crate::simulate::events::{Events, decide_all};

use super::SHARED;
use super::settle::{kept, kept_registers};

impl<'m> Run<'_, 'm, '_, '_> {
    /// Goes into a position, from the values before the event.
    pub(super) fn enter(&mut self, key: &[bool], time: f64) -> Result<Result<(), Halt>, Halt> {
        let Some(to) = self.seats.find(key, self.standing.starting, self.plan) else {
            return Ok(Err(self.impossible(key, time)));
        };
        self.standing.leap = None;
        self.standing.impulses.clear();
        let seat = self.seats.get(to);
        let from = self.seat;
        self.hand_over(from, seat);
        let position = seat.position;
        let mut after = None;
        if self.standing.starting {
            let failed = |failure| Halt::Evaluation(Box::new(failure));
            let states = {
                let mut machine = seat.rates.machine.borrow_mut();
                begin(seat.solved, seat.program, &mut machine, time)
            };
            match states {
                Ok(states) => self.sit(to, states),
                Err(failure) => return Ok(Err(failed(failure))),
            }
            if position.is_none_or(|position| !position.contradicts) {
                return Ok(self.evaluate_event(time).map_err(Halt::from));
            }
            // What was given counts as what was before.
            if let Err(why) = self.evaluate_event(time) {
                return Ok(Err(why.into()));
            }
            self.standing.before = self.given();
        }
        if let Some(jump) = position.and_then(|position| position.jump.as_ref()) {
            match self.leap(seat, jump, time) {
                Ok(values) => after = values,
                Err(why) => return Ok(Err(self.no_jump(seat, key, time, &why))),
            }
        }
        let mut states = vec![0.0; seat.program.state_count()];
        {
            let mut machine = seat.rates.machine.borrow_mut();
            let before = &self.standing.before;
            for &(leaf, register) in &seat.program.fixed {
                let value = after.as_ref().and_then(|after| after.get(&leaf));
                if let (Leaf::Var(_) | Leaf::Der(..), Some(&value)) =
                    (leaf, value.or(before.get(&leaf)))
                    && !is_kept(seat.program, leaf)
                {
                    machine.set(register, value);
                }
            }
            if !seat.selections.is_empty() {
                seat.selections.improve(&seat.solved.flat, &mut machine);
            }
            machine.states(&mut states);
        }
        self.sit(to, states);
        if let Err(why) = self.evaluate_event(time) {
            return Ok(Err(why.into()));
        }
        if let (Some(jump), Some(pending)) = (
            position.and_then(|position| position.jump.as_ref()),
            &self.standing.leap,
        ) && let Err(why) = pending.is_sure(&seat.solved.flat, jump, time, &self.frame())
        {
            return Ok(Err(self.no_jump(seat, key, time, &why)));
        }
        Ok(Ok(()))
    }

    /// `seat` is that of the position which cannot be jumped into.
    fn no_jump(&self, seat: &Seat<'m>, key: &[bool], time: f64, why: &Refused) -> Halt {
        let positions = self.seats.positions;
        let position = positions.map_or(String::new(), |positions| positions.position_name(key));
        Halt::no_jump(&seat.solved.flat, &position, time, why)
    }

    fn sit(&mut self, to: usize, states: Vec<f64>) {
        self.seat = self.seats.get(to);
        self.at = to;
        self.states = states;
        self.good.clone_from(&self.states);
        let common = (self.seats.positions).map_or(0, |positions| positions.opened.watches.len());
        self.events.sit(self.seat.program, common);
    }

    /// Truths, discrete variables and what was before the event go from one machine to another.
    fn hand_over(&self, from: &Seat<'m>, to: &Seat<'m>) {
        if from.position.is_none() || std::ptr::eq(from, to) {
            return;
        }
        let old = from.rates.machine.borrow();
        let mut new = to.rates.machine.borrow_mut();
        let values = kept(&old);
        for (&register, &value) in kept_registers(&new).iter().zip(&values) {
            new.set(register, value);
        }
        for &(leaf, register) in &to.program.fixed {
            if let Leaf::Pre(id) = leaf
                && let Some(&value) = self.standing.before.get(&Leaf::Var(id))
            {
                new.set(register, value);
            }
        }
    }

    fn impossible(&self, key: &[bool], time: f64) -> Halt {
        Halt::Impossible {
            key: key.into(),
            now: self.seat.position.map(|position| position.key.clone()),
            time,
        }
    }

    /// Finds a position to begin in: as the start values say, if that is possible.
    pub(super) fn begin_in_position(&mut self, time: f64) -> Result<(), Halt> {
        let Some(positions) = self.seats.positions else {
            return Ok(());
        };
        self.standing.starting = true;
        let mut refused = None;
        for key in positions.candidates() {
            match self.enter(&key, time)? {
                Ok(()) => {
                    refused = None;
                    break;
                }
                Err(why) => refused = refused.or(Some(why)),
            }
        }
        if let Some(why) = refused {
            return Err(why);
        }
        self.events = Events::new(self.seat.program, self.plan.until() - self.plan.start());
        self.events.shared = SHARED;
        // Truths are needed to compute the sides of others: a few times is enough for most, the rest is settled.
        for _ in 0..3 {
            self.evaluate_event(time)?;
            self.events.note_sides(&self.seat.rates.machine.borrow());
            decide_all(&mut self.seat.rates.machine.borrow_mut());
            if self.stand(time)?.is_err() && !self.accompanied(time, &[])? {
                self.as_here(time)?;
            }
        }
        self.evaluate_event(time)?;
        self.events
            .see_conditions(&self.seat.rates.machine.borrow());
        Ok(())
    }

    /// Switches that decide for themselves are as the position that the run is in says.
    fn as_here(&mut self, time: f64) -> Result<(), Halt> {
        let (Some(positions), Some(position)) = (self.seats.positions, self.seat.position) else {
            return Ok(());
        };
        {
            let mut machine = self.seat.rates.machine.borrow_mut();
            for (switch, &truth) in positions.switches.iter().zip(&position.key) {
                let Node::Leaf(leaf) = positions.flat.exprs.node(switch.condition) else {
                    continue;
                };
                let mut discretes = self.seat.program.discretes.iter();
                if let Some(found) = discretes.find(|discrete| discrete.leaf == leaf) {
                    machine.set(found.value, f64::from(u8::from(truth)));
                }
            }
        }
        // One that is steered from outside stays as it is.
        match self.stand(time)? {
            Ok(()) => Ok(()),
            Err(why) => Err(why),
        }
    }
}

fn is_kept(program: &Program, leaf: Leaf) -> bool {
    program
        .discretes
        .iter()
        .any(|discrete| discrete.leaf == leaf)
}
