//! The machine as the right sides of an integrator.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::integrate::System;
use crate::numeric::Pattern;
use crate::program::machine::{Extent, Machine, Stuck};

/// A machine that the integrator and the run share. They use it one after the other, never at the same time.
#[derive(Debug)]
pub struct Rates<'p> {
    pub machine: Rc<RefCell<Machine<'p>>>,
    pattern: Pattern,
    /// So many unknowns of loops are solved for by the integrator, beside the states.
    algebraic: usize,
    /// The block that could not be solved in the last evaluation of the rates.
    pub stuck: Cell<Option<Stuck>>,
}

impl<'p> Rates<'p> {
    pub fn new(machine: Machine<'p>) -> Self {
        Rates {
            pattern: machine.pattern().clone(),
            machine: Rc::new(RefCell::new(machine)),
            algebraic: 0,
            stuck: Cell::new(None),
        }
    }

    /// The same machine, whose loops were joined, for an integrator that solves these loops itself.
    pub fn of_joined(machine: &Rc<RefCell<Machine<'p>>>) -> Option<Self> {
        let borrowed = machine.borrow();
        let joined = borrowed.joined()?;
        Some(Rates {
            pattern: joined.coloring.pattern.clone(),
            machine: Rc::clone(machine),
            algebraic: joined.unknowns.len(),
            stuck: Cell::new(None),
        })
    }
}

impl System for Rates<'_> {
    fn size(&self) -> usize {
        self.pattern.cols()
    }

    fn algebraic(&self) -> usize {
        self.algebraic
    }

    fn rates(&self, time: f64, states: &[f64], rates: &mut [f64]) {
        let mut machine = self.machine.borrow_mut();
        let (states, unknowns) = states.split_at(self.size() - self.algebraic);
        machine.give(unknowns);
        match machine.evaluate(time, states, Extent::Rates) {
            Ok(()) => {
                self.stuck.set(None);
                let (rates, missing) = rates.split_at_mut(states.len());
                machine.rates(rates);
                machine.missing(missing);
            }
            Err(stuck) => {
                self.stuck.set(Some(stuck));
                rates.fill(f64::NAN);
            }
        }
    }

    fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    fn jacobian(&self, time: f64, states: &[f64], entries: &mut [f64]) {
        let mut machine = self.machine.borrow_mut();
        let (states, unknowns) = states.split_at(self.size() - self.algebraic);
        machine.give(unknowns);
        let done =
            (machine.evaluate(time, states, Extent::Rates)).and_then(|()| match self.algebraic {
                0 => machine.jacobian(entries),
                _ => machine.joined_jacobian(entries),
            });
        if done.is_err() {
            entries.fill(f64::NAN);
        }
    }
}
