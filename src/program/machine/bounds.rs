//! How wrong rounding can have made a difference of two registers: the third mode of the machine, beside values and
//! derivatives. It is used at starts and events, not at every step.
//!
//! Before: an evaluation at a point. After: a bound of first order on the error of the difference
//! ([`crate::numeric::zero`]). A pass forward finds bounds register by register. Where these leave the question open, a
//! pass backward follows the difference to everything it was computed from; through a loop that is one solve with the
//! transposed matrix. So an error that enters both sides alike is taken out, as that of the potential of a floating node.

use super::{Machine, Stuck};
use crate::numeric::zero::{is_met, product, rounding};
use crate::program::bounds::{run_back, run_bounds};
use crate::program::code::Register;
use crate::program::{Part, Program, Step};

/// Bounds on the errors of a difference, and of its first derivative along the solution.
#[derive(Clone, Copy, Debug, Default)]
pub struct Doubt {
    pub value: f64,
    pub slope: f64,
}

/// What has been evaluated last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluated {
    Rates,
    Watches,
    Event,
}

impl Machine<'_> {
    /// Bounds on the errors of all registers at the point that was evaluated last. `states` are bounds on the errors of the
    /// states.
    pub fn find_bounds(&mut self, evaluated: Evaluated, states: &[f64]) -> Result<(), Stuck> {
        let program = self.program;
        let (part, steps) = part_of(program, evaluated);
        self.factor_loops(part, steps)?;
        for (bound, &value) in self.bounds.iter_mut().zip(&self.registers) {
            *bound = rounding(value);
        }
        self.bounds[Program::TIME as usize] = 0.0;
        for (register, at) in self.state_registers() {
            let known = states.get(at).copied().unwrap_or(0.0);
            let bound = &mut self.bounds[register as usize];
            *bound = bound.max(known);
        }
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
        Ok(())
    }

    /// Bounds on the errors of the rates of all states, after an evaluation of the rates.
    pub fn rate_bounds(&mut self, bounds: &mut [f64]) -> Result<(), Stuck> {
        self.find_bounds(Evaluated::Rates, &[])?;
        for (to, &register) in bounds.iter_mut().zip(&self.program.rates) {
            *to = self.bounds[register as usize];
        }
        for (at, register) in self.slot_rates() {
            bounds[at] = self.bounds[register as usize];
        }
        Ok(())
    }

    /// Registers of states, with their places in the vector of states.
    fn state_registers(&self) -> Vec<(Register, usize)> {
        let fixed = self.program.states.len();
        let mut registers: Vec<(Register, usize)> =
            (0..fixed).map(|at| (1 + at as Register, at)).collect();
        for (slots, chosen) in self.program.slots.iter().zip(&self.choice) {
            for (at, &candidate) in chosen.iter().enumerate() {
                registers.push((slots.candidates[candidate].value, slots.first + at));
            }
        }
        registers
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

    /// Whether two registers may be equal but for rounding, after [`Machine::find_bounds`], as far as the pass forward tells.
    pub fn may_be_equal(&self, difference: f64, sides: (Register, Register)) -> bool {
        let bound = |register: Register| self.bounds[register as usize];
        let all = bound(sides.0) + bound(sides.1) + rounding(difference);
        !(all.is_finite() && !is_met(difference, all))
    }

    /// Bounds on the difference of two registers, after [`Machine::find_bounds`]. The difference has to be of the order of
    /// rounding: its own rounding does not count.
    pub fn doubt(&mut self, evaluated: Evaluated, sides: (Register, Register)) -> Doubt {
        let program = self.program;
        let (part, steps) = part_of(program, evaluated);
        let mut weights = std::mem::take(&mut self.weights);
        weights.resize(self.registers.len(), 0.0);
        weights[sides.0 as usize] += 1.0;
        weights[sides.1 as usize] -= 1.0;
        let mut sum = 0.0;
        for step in steps.iter().rev() {
            sum += match step {
                Step::Code(range) => self.back(&part.code[range.clone()], &mut weights),
                Step::System(at) => self.system_back(part, *at, &mut weights),
                Step::Loop(at) => self.loop_back(part, *at, &mut weights),
            };
        }
        sum += self.back(&program.held, &mut weights);
        let mut doubt = Doubt::default();
        for (register, at) in self.state_registers() {
            let rate = match evaluated {
                Evaluated::Rates | Evaluated::Watches => break,
                Evaluated::Event => self.event_rate_register(at),
            };
            let Some(rate) = rate else { continue };
            let (weight, rate) = (weights[register as usize], rate as usize);
            doubt.slope += product(weight, self.bounds[rate]);
            doubt.slope += 4.0 * product(weight, rounding(self.registers[rate]));
        }
        for (weight, bound) in weights.iter_mut().zip(&self.bounds) {
            if *weight != 0.0 {
                sum += product(*weight, *bound);
                *weight = 0.0;
            }
        }
        self.weights = weights;
        doubt.value = sum;
        doubt
    }

    fn event_rate_register(&self, at: usize) -> Option<Register> {
        let program = self.program;
        if let Some(&register) = program.event_rates.get(at) {
            return Some(register);
        }
        (program.slots.iter().zip(&self.choice)).find_map(|(slots, chosen)| {
            let &candidate = chosen.get(at.checked_sub(slots.first)?)?;
            Some(slots.candidates[candidate].event_rate)
        })
    }

    fn back(&self, code: &[crate::program::code::Instruction], weights: &mut [f64]) -> f64 {
        run_back(code, (&self.registers, &self.bounds), weights, &self.tables)
    }

    /// A x = b: the weights of x become those of b and of the entries of A.
    fn system_back(&mut self, part: &Part, at: usize, weights: &mut [f64]) -> f64 {
        let system = &part.systems[at];
        let mut sum = 0.0;
        let mut rows: Vec<f64> = (system.unknowns.iter())
            .map(|&unknown| std::mem::take(&mut weights[unknown as usize]))
            .collect();
        if rows.iter().all(|&weight| weight == 0.0) {
            return 0.0;
        }
        for (&weight, &unknown) in rows.iter().zip(&system.unknowns) {
            sum += product(weight, rounding(self.registers[unknown as usize]));
        }
        let errors = self.system_rounding(part, at);
        self.spaces(part).systems[at].lu.solve_transposed(&mut rows);
        for ((&weight, error), &register) in rows.iter().zip(errors).zip(&system.right) {
            sum += product(weight, error);
            weights[register as usize] += weight;
        }
        for (column, &unknown) in system.matrix.outer_iterator().zip(&system.unknowns) {
            let value = self.registers[unknown as usize];
            for (row, &register) in column.iter() {
                weights[register as usize] -= rows[row] * value;
            }
        }
        sum
    }

    /// F(z, w) = 0: dz = -(dF/dz)**-1 * (dF/dw*dw + what rounding makes of F).
    fn loop_back(&mut self, part: &Part, at: usize, weights: &mut [f64]) -> f64 {
        let of = &part.loops[at];
        let columns = self.spaces(part).loops[at].columns.clone();
        // What the code computes besides its residuals, at the solution.
        let mut sum = self.back(&of.code, weights);
        let mut rows: Vec<f64> = (columns.iter())
            .map(|&column| std::mem::take(&mut weights[of.unknowns[column] as usize]))
            .collect();
        if rows.iter().all(|&weight| weight == 0.0) {
            return sum;
        }
        for (&weight, &column) in rows.iter().zip(&columns) {
            let value = self.registers[of.unknowns[column] as usize];
            sum += product(weight, rounding(value));
        }
        self.spaces(part).loops[at].lu.solve_transposed(&mut rows);
        for (&weight, &residual) in rows.iter().zip(&of.residuals) {
            // What the iteration has left counts as well.
            sum += product(weight, self.registers[residual as usize].abs());
            weights[residual as usize] -= weight;
        }
        sum += self.back(&of.code, weights);
        for &column in &columns {
            weights[of.unknowns[column] as usize] = 0.0;
        }
        sum
    }

    fn spaces(&mut self, part: &Part) -> &mut super::spaces::Spaces {
        match self.is_event(part) {
            true => &mut self.event,
            false => &mut self.continuous,
        }
    }
}

fn part_of(program: &Program, evaluated: Evaluated) -> (&Part, &[Step]) {
    match evaluated {
        Evaluated::Rates => {
            let part = &program.continuous;
            (part, &part.steps[..program.rate_steps])
        }
        Evaluated::Watches => {
            let part = &program.continuous;
            (part, &part.steps[..program.watch_steps])
        }
        Evaluated::Event => (&program.event, &program.event.steps),
    }
}
