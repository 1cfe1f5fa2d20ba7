//! The machine as the right sides of an integrator.

use std::cell::{Cell, RefCell};

use super::integrate::System;
use crate::numeric::Pattern;
use crate::numeric::zero::{all_met, all_nearly_met};
use crate::program::machine::{Extent, Machine, Stuck};

/// A machine that the integrator and the run share. They use it one after the other, never at the same time.
#[derive(Debug)]
pub struct Rates<'p> {
    pub machine: RefCell<Machine<'p>>,
    pattern: Pattern,
    /// The block that could not be solved in the last evaluation of the rates.
    pub stuck: Cell<Option<Stuck>>,
}

impl<'p> Rates<'p> {
    pub fn new(machine: Machine<'p>) -> Self {
        Rates {
            pattern: machine.pattern().clone(),
            machine: RefCell::new(machine),
            stuck: Cell::new(None),
        }
    }

    /// Whether all rates at these states are zero but for rounding, or nearly so where nothing makes them smaller.
    pub fn vanish(&self, (time, states): (f64, &[f64]), rates: &[f64], nearly: bool) -> bool {
        let mut machine = self.machine.borrow_mut();
        let mut errors = vec![0.0; rates.len()];
        let done = (machine.evaluate(time, states, Extent::Rates))
            .and_then(|()| machine.rate_bounds(&mut errors));
        done.is_ok()
            && match nearly {
                true => all_nearly_met(rates, &errors),
                false => all_met(rates, &errors),
            }
    }

    /// What no state has to be known better than, where nothing else tells.
    pub fn absolute(&self) -> f64 {
        self.machine.borrow().absolute
    }
}

impl System for Rates<'_> {
    fn size(&self) -> usize {
        self.pattern.cols()
    }

    fn rates(&self, time: f64, states: &[f64], rates: &mut [f64]) {
        let mut machine = self.machine.borrow_mut();
        match machine.evaluate(time, states, Extent::Rates) {
            Ok(()) => {
                self.stuck.set(None);
                machine.rates(rates);
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
        let done = (machine.evaluate(time, states, Extent::Rates))
            .and_then(|()| machine.jacobian(entries));
        if done.is_err() {
            entries.fill(f64::NAN);
        }
    }
}
