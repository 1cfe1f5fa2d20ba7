//! Derivatives through a program, by the same code: of the rates by the states, and along the solution.

use super::{Machine, Stuck};
use crate::numeric::Coloring;
use crate::program::code::{LANES, Register, run_lanes};
use crate::program::{Part, Program, Step};

impl Machine<'_> {
    /// The derivatives of the rates by the states, in the order of [`Machine::pattern`]; what was
    /// evaluated last must be the rates at this point.
    pub fn jacobian(&mut self, entries: &mut [f64]) -> Result<(), Stuck> {
        self.counts.jacobians += 1;
        let program = self.program;
        let steps = &program.continuous.steps[..program.rate_steps];
        self.factor_loops(&program.continuous, steps)?;
        // Time stands still, whatever was asked for before.
        self.lanes[Program::TIME as usize] = [0.0; LANES];
        let count = self.program.coloring.count;
        let mut first = 0;
        while first < count {
            let active = LANES.min(count - first);
            self.seed(|color| color.checked_sub(first).filter(|&lane| lane < active));
            self.lanes_of(&program.continuous, steps, active);
            self.gather(first, active, entries);
            first += active;
        }
        Ok(())
    }

    fn seed(&mut self, lane_of: impl Fn(usize) -> Option<usize>) {
        let lanes = |color: u32| {
            let mut lanes = [0.0; LANES];
            if let Some(lane) = lane_of(color as usize) {
                lanes[lane] = 1.0;
            }
            lanes
        };
        let fixed = self.program.states.len();
        for at in 0..fixed {
            self.lanes[1 + at] = lanes(self.program.coloring.colors[at]);
        }
        for (slots, chosen) in self.program.slots.iter().zip(&self.choice) {
            for (at, &candidate) in chosen.iter().enumerate() {
                let register = slots.candidates[candidate].value as usize;
                self.lanes[register] = lanes(self.program.coloring.colors[slots.first + at]);
            }
        }
    }

    fn gather(&self, first: usize, active: usize, entries: &mut [f64]) {
        let Coloring {
            pattern, colors, ..
        } = &self.program.coloring;
        let fixed = self.program.rates.len();
        let chosen: Vec<Register> = match self.program.slots.is_empty() {
            true => Vec::new(),
            false => self.slot_rates().map(|(_, rate)| rate).collect(),
        };
        let starts = pattern.indptr().into_raw_storage();
        for (range, &color) in starts.windows(2).zip(colors) {
            let Some(lane) = (color as usize).checked_sub(first) else {
                continue;
            };
            if lane >= active {
                continue;
            }
            let range = range[0]..range[1];
            let rows = &pattern.indices()[range.clone()];
            for (entry, &row) in entries[range].iter_mut().zip(rows) {
                let register = match row.checked_sub(fixed) {
                    None => self.program.rates[row],
                    Some(slot) => chosen[slot],
                };
                *entry = self.lanes[register as usize][lane];
            }
        }
    }

    /// Derivatives along the solution, after the evaluation of an event: Time moves on, states by their
    /// rates. They stay in the lanes: a side of a relation may be Time or a state itself.
    pub fn along_time(&mut self, rates: &[f64]) -> Result<(), Stuck> {
        let program = self.program;
        self.factor_loops(&program.event, &program.event.steps)?;
        self.lanes[Program::TIME as usize] = [0.0; LANES];
        self.lanes[Program::TIME as usize][0] = 1.0;
        for (at, &rate) in rates[..program.states.len()].iter().enumerate() {
            self.lanes[1 + at] = [0.0; LANES];
            self.lanes[1 + at][0] = rate;
        }
        for (slots, chosen) in program.slots.iter().zip(&self.choice) {
            for (at, &candidate) in chosen.iter().enumerate() {
                let register = slots.candidates[candidate].value as usize;
                self.lanes[register] = [0.0; LANES];
                self.lanes[register][0] = rates[slots.first + at];
            }
        }
        // Seeds stay: a side of a relation may be Time or a state itself.
        self.lanes_of(&program.event, &program.event.steps, 1);
        Ok(())
    }

    /// Derivatives through the steps, in the directions that are seeded.
    pub(super) fn lanes_of(&mut self, part: &Part, steps: &[Step], active: usize) {
        for step in steps {
            match step {
                Step::Code(range) => run_lanes(
                    &part.code[range.clone()],
                    &self.registers,
                    &mut self.lanes,
                    &self.tables,
                ),
                Step::System(at) => self.system_lanes(part, *at, active),
                Step::Loop(at) if self.is_joined(part, *at) => run_lanes(
                    &part.loops[*at].code,
                    &self.registers,
                    &mut self.lanes,
                    &self.tables,
                ),
                Step::Loop(at) => self.loop_lanes(part, *at, active),
            }
        }
    }

    /// A x = b: A x' = b' - A' x.
    fn system_lanes(&mut self, part: &Part, at: usize, active: usize) {
        let system = &part.systems[at];
        let space = match self.is_event(part) {
            true => &mut self.event.systems[at],
            false => &mut self.continuous.systems[at],
        };
        for lane in 0..active {
            for (to, &register) in space.right.iter_mut().zip(&system.right) {
                *to = self.lanes[register as usize][lane];
            }
            for (column, &unknown) in system.matrix.outer_iterator().zip(&system.unknowns) {
                for (row, &register) in column.iter() {
                    let slope = self.lanes[register as usize][lane];
                    if slope != 0.0 {
                        space.right[row] -= slope * self.registers[unknown as usize];
                    }
                }
            }
            space.lu.solve(&mut space.right);
            for (&value, &unknown) in space.right.iter().zip(&system.unknowns) {
                self.lanes[unknown as usize][lane] = value;
            }
        }
    }
}
