//! Rates and residuals of a program whose loops are solved by the integrator.
//!
//! Before: a machine and its [`Joined`] loops. After [`Machine::join`]: an evaluation of the continuous part takes the unknowns
//! of these loops as they are in their registers, and leaves what is missing in their equations.

use std::sync::Arc;

use super::{Machine, Stuck};
use crate::numeric::Coloring;
use crate::program::Program;
use crate::program::code::{LANES, Register};
use crate::program::joined::Joined;

impl Machine<'_> {
    /// From now on the unknowns of these loops are given, in the continuous part.
    pub fn join(&mut self, joined: Arc<Joined>) {
        self.joined = Some(joined);
    }

    pub fn joined(&self) -> Option<&Joined> {
        self.joined.as_deref()
    }

    /// Sets the unknowns of joined loops.
    pub fn give(&mut self, unknowns: &[f64]) {
        if let Some(joined) = &self.joined {
            for (&register, &value) in joined.unknowns.iter().zip(unknowns) {
                self.registers[register as usize] = value;
            }
        }
    }

    /// The unknowns of joined loops.
    pub fn given(&self) -> impl Iterator<Item = f64> + '_ {
        let joined = self.joined.iter();
        joined.flat_map(|joined| joined.unknowns.iter().map(|&register| self.get(register)))
    }

    /// What is missing in the equations of joined loops, after an evaluation.
    pub fn missing(&self, residuals: &mut [f64]) {
        if let Some(joined) = &self.joined {
            for (to, &register) in residuals.iter_mut().zip(&joined.residuals) {
                *to = self.registers[register as usize];
            }
        }
    }

    /// The derivatives of rates and residuals by states and unknowns, in the order of [`Joined::coloring`]. The rates at this
    /// point must have been evaluated, and nothing since.
    pub fn joined_jacobian(&mut self, entries: &mut [f64]) -> Result<(), Stuck> {
        let Some(joined) = self.joined.clone() else {
            return self.jacobian(entries);
        };
        self.counts.jacobians += 1;
        let program = self.program;
        let steps = &program.continuous.steps[..program.rate_steps];
        let Coloring {
            pattern,
            colors,
            count,
        } = &joined.coloring;
        let states = program.states.len();
        let columns = (1..=states).chain(joined.unknowns.iter().map(|&unknown| unknown as usize));
        let columns: Vec<usize> = columns.collect();
        let rows = program.rates.iter().chain(&joined.residuals);
        let rows: Vec<Register> = rows.copied().collect();
        // Time stands still, whatever was asked for before.
        self.lanes[Program::TIME as usize] = [0.0; LANES];
        let mut first = 0;
        while first < *count {
            let active = LANES.min(count - first);
            let lane_of = |color: u32| {
                (color as usize)
                    .checked_sub(first)
                    .filter(|&at| at < active)
            };
            for (&register, &color) in columns.iter().zip(colors) {
                let mut lanes = [0.0; LANES];
                if let Some(lane) = lane_of(color) {
                    lanes[lane] = 1.0;
                }
                self.lanes[register] = lanes;
            }
            self.lanes_of(&program.continuous, steps, active);
            let starts = pattern.indptr().into_raw_storage();
            for (range, &color) in starts.windows(2).zip(colors) {
                let Some(lane) = lane_of(color) else {
                    continue;
                };
                let range = range[0]..range[1];
                let indices = &pattern.indices()[range.clone()];
                for (entry, &row) in entries[range].iter_mut().zip(indices) {
                    *entry = self.lanes[rows[row] as usize][lane];
                }
            }
            first += active;
        }
        for &register in &columns[states..] {
            self.lanes[register] = [0.0; LANES];
        }
        Ok(())
    }
}
