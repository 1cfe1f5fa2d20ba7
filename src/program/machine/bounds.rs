//! How wrong rounding can have made the registers: the third mode of the machine, beside values and derivatives. It is used
//! at starts and by the search for steady states, not at every step.
//!
//! Before: an evaluation at a point. After: a bound of first order on the error of each register
//! ([`crate::numeric::zero`]).

use super::{Machine, Stuck};
use crate::numeric::zero::{product, rounding};
use crate::program::bounds::run_bounds;
use crate::program::code::Register;
use crate::program::{Part, Program, Step};

impl Machine<'_> {
    /// Bounds on the errors of the rates of all states, after an evaluation of the rates. States are numbers that have been
    /// rounded.
    pub fn rate_bounds(&mut self, bounds: &mut [f64]) -> Result<(), Stuck> {
        let program = self.program;
        let part = &program.continuous;
        let steps = &part.steps[..program.rate_steps];
        self.factor_loops(part, steps)?;
        for (bound, &value) in self.bounds.iter_mut().zip(&self.registers) {
            *bound = rounding(value);
        }
        self.bounds[Program::TIME as usize] = 0.0;
        run_bounds(
            &program.held,
            &self.registers,
            &mut self.bounds,
            &self.tables,
        );
        for step in steps {
            match step {
                Step::Code(range) => {
                    let code = &part.code[range.clone()];
                    run_bounds(code, &self.registers, &mut self.bounds, &self.tables);
                }
                Step::System(at) => self.system_bounds(part, *at),
                Step::Loop(at) => self.loop_bounds(part, *at),
            }
        }
        for (to, &register) in bounds.iter_mut().zip(&program.rates) {
            *to = self.bounds[register as usize];
        }
        for (at, register) in self.slot_rates() {
            bounds[at] = self.bounds[register as usize];
        }
        Ok(())
    }

    /// What rounding makes of the rows of a system, at its solution.
    fn system_rounding(&mut self, part: &Part, at: usize) -> Vec<f64> {
        let system = &part.systems[at];
        let mut errors = vec![0.0; system.unknowns.len()];
        for (column, &unknown) in system.matrix.outer_iterator().zip(&system.unknowns) {
            let value = self.registers[unknown as usize];
            for (row, &register) in column.iter() {
                errors[row] += rounding(self.registers[register as usize] * value);
            }
        }
        errors
    }

    /// Bounds on the errors of the unknowns of a linear loop: those of its coefficients and right sides, and its rounding,
    /// multiplied by the inverse of its matrix.
    fn system_bounds(&mut self, part: &Part, at: usize) {
        let system = &part.systems[at];
        let mut errors = self.system_rounding(part, at);
        for (column, &unknown) in system.matrix.outer_iterator().zip(&system.unknowns) {
            let value = self.registers[unknown as usize];
            for (row, &register) in column.iter() {
                errors[row] += product(value, self.bounds[register as usize]);
            }
        }
        for (error, &register) in errors.iter_mut().zip(&system.right) {
            *error += self.bounds[register as usize];
        }
        let bounds = self.spaces(part).systems[at].lu.bounds(&errors);
        for (bound, &unknown) in bounds.into_iter().zip(&system.unknowns) {
            self.bounds[unknown as usize] = bound + rounding(self.registers[unknown as usize]);
        }
    }

    fn loop_bounds(&mut self, part: &Part, at: usize) {
        let of = &part.loops[at];
        for &unknown in &of.unknowns {
            self.bounds[unknown as usize] = rounding(self.registers[unknown as usize]);
        }
        run_bounds(&of.code, &self.registers, &mut self.bounds, &self.tables);
        let error = |register: &Register| {
            let at = *register as usize;
            self.bounds[at] + self.registers[at].abs()
        };
        let errors: Vec<f64> = of.residuals.iter().map(error).collect();
        let space = &mut self.spaces(part).loops[at];
        let bounds = space.lu.bounds(&errors);
        let columns = space.columns.clone();
        for (bound, column) in bounds.into_iter().zip(columns) {
            let unknown = of.unknowns[column] as usize;
            self.bounds[unknown] = bound + rounding(self.registers[unknown]);
        }
        run_bounds(&of.code, &self.registers, &mut self.bounds, &self.tables);
    }

    /// Unknowns of loops that their equations do not determine to these tolerances, after the evaluation of an event: with how
    /// far rounding may have moved them.
    pub fn undetermined(&mut self, relative: f64, absolute: f64) -> Vec<(Register, f64)> {
        let program = self.program;
        let part = &program.event;
        let mut found = Vec::new();
        for of in 0..part.loops.len() {
            if self.factor_loops(part, &[Step::Loop(of)]).is_err() {
                continue;
            }
            let of_loop = &part.loops[of];
            for &register in of_loop.externals.iter().chain(&of_loop.unknowns) {
                self.bounds[register as usize] = rounding(self.registers[register as usize]);
            }
            self.loop_bounds(part, of);
            for &column in &self.event.loops[of].columns {
                let register = of_loop.unknowns[column];
                let doubt = self.bounds[register as usize];
                let allowed = relative * self.get(register).abs() + absolute;
                if doubt.is_nan() || doubt > allowed {
                    found.push((register, doubt));
                }
            }
        }
        found
    }

    fn spaces(&mut self, part: &Part) -> &mut super::spaces::Spaces {
        match self.is_event(part) {
            true => &mut self.event,
            false => &mut self.continuous,
        }
    }
}
