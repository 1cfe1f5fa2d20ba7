//! Loops at run time: Newton's method from the last solution, with exact derivatives.
//!
//! A step is shortened until the next one by the same matrix would be shorter (the natural monotonicity
//! test, Deuflhard 1974). Where it fails from here the caller tries the slow and thorough way
//! ([`crate::evaluate`]).

use super::{LoopSpace, Machine, Stuck};
use crate::simulate::program::code::{LANES, run, run_lanes};
use crate::simulate::program::{Loop, Part, Step};

const MOST_STEPS: usize = 60;
const SHORTEST: f64 = 1e-6;
/// A correction so small beside the values is none.
const DONE: f64 = 1e-12;
/// Accepted where no step makes it smaller.
const NEAR: f64 = 1e-9;
/// What is smaller than this part of what it has been at most, or than this, counts as zero.
const SMALL_PART: f64 = 1e-3;
const SMALL: f64 = 1e-10;

impl Machine<'_> {
    /// Solves a loop: its unknowns have values at which the residuals vanish.
    pub(super) fn iterate(&mut self, part: &Part, at: usize) -> Result<(), Stuck> {
        let of = &part.loops[at];
        let is_event = self.is_event(part);
        // Taken out and put back: the rest of the machine is needed beside it.
        let spaces = match is_event {
            true => &mut self.event.loops,
            false => &mut self.continuous.loops,
        };
        let mut space = std::mem::take(&mut spaces[at]);
        let solved = self.newton(of, &mut space);
        let spaces = match is_event {
            true => &mut self.event.loops,
            false => &mut self.continuous.loops,
        };
        spaces[at] = space;
        match solved {
            true => Ok(()),
            false => Err(Stuck { block: of.block }),
        }
    }

    fn newton(&mut self, of: &Loop, space: &mut LoopSpace) -> bool {
        for (value, &column) in space.values.iter_mut().zip(&space.columns) {
            let last = self.registers[of.unknowns[column] as usize];
            *value = if last.is_finite() { last } else { 0.0 };
        }
        if !self.residuals(of, space) {
            return false;
        }
        for _ in 0..MOST_STEPS {
            if space.residuals.iter().all(|&residual| residual == 0.0) {
                return true;
            }
            self.work.iterations += 1;
            if !self.factor(of, space) {
                return false;
            }
            space.step.copy_from_slice(&space.residuals);
            space.lu.solve(&mut space.step);
            let size = space.size(&space.step);
            if !size.is_finite() {
                return false;
            }
            space.from.copy_from_slice(&space.values);
            let mut length = 1.0;
            loop {
                for at in 0..space.values.len() {
                    space.values[at] = space.from[at] - length * space.step[at];
                }
                let mut after = f64::INFINITY;
                if self.residuals(of, space) {
                    space.after.copy_from_slice(&space.residuals);
                    space.lu.solve(&mut space.after);
                    after = space.size(&space.after);
                }
                if after <= DONE {
                    space.remember();
                    return true;
                }
                if after <= (1.0 - length / 4.0) * size {
                    break;
                }
                length /= 2.0;
                if length < SHORTEST {
                    // As near as rounding allows, or stuck.
                    space.values.copy_from_slice(&space.from);
                    return self.residuals(of, space) && size <= NEAR;
                }
            }
        }
        false
    }

    /// Runs the code of a loop with the values of its space. False where a residual is not finite.
    fn residuals(&mut self, of: &Loop, space: &mut LoopSpace) -> bool {
        for (&value, &column) in space.values.iter().zip(&space.columns) {
            self.registers[of.unknowns[column] as usize] = value;
        }
        run(&of.code, &mut self.registers, &self.tables);
        let mut finite = true;
        for (to, &register) in space.residuals.iter_mut().zip(&of.residuals) {
            *to = self.registers[register as usize];
            finite &= to.is_finite();
        }
        finite
    }

    /// The matrix of a loop where it is, factored.
    fn factor(&mut self, of: &Loop, space: &mut LoopSpace) -> bool {
        self.slopes(of, space);
        (space.lu).factor(&space.coloring.pattern, &space.entries, &space.place)
    }

    /// The derivatives of its residuals by all of its unknowns.
    pub(super) fn slopes(&mut self, of: &Loop, space: &mut LoopSpace) {
        for &external in &of.externals {
            self.lanes[external as usize] = [0.0; LANES];
        }
        let coloring = &space.coloring;
        let mut first = 0;
        while first < coloring.count {
            let active = LANES.min(coloring.count - first);
            for (&unknown, &color) in of.unknowns.iter().zip(&coloring.colors) {
                let mut lanes = [0.0; LANES];
                if let Some(lane) = (color as usize).checked_sub(first)
                    && lane < active
                {
                    lanes[lane] = 1.0;
                }
                self.lanes[unknown as usize] = lanes;
            }
            run_lanes(&of.code, &self.registers, &mut self.lanes, &self.tables);
            for (column, &color) in coloring.colors.iter().enumerate() {
                let Some(lane) = (color as usize).checked_sub(first) else {
                    continue;
                };
                if lane >= active {
                    continue;
                }
                let pattern = &coloring.pattern;
                for at in pattern.starts[column]..pattern.starts[column + 1] {
                    let residual = of.residuals[pattern.rows[at]];
                    space.entries[at] = self.lanes[residual as usize][lane];
                }
            }
            first += active;
        }
        for &unknown in &of.unknowns {
            self.lanes[unknown as usize] = [0.0; LANES];
        }
    }

    /// Factors the matrices of loops where they are, so that derivatives can go through them.
    pub(super) fn factor_loops(&mut self, part: &Part, steps: &[Step]) -> Result<(), Stuck> {
        let is_event = self.is_event(part);
        for step in steps {
            let Step::Loop(at) = *step else {
                continue;
            };
            let of = &part.loops[at];
            let spaces = match is_event {
                true => &mut self.event.loops,
                false => &mut self.continuous.loops,
            };
            let mut space = std::mem::take(&mut spaces[at]);
            let done = space.columns.is_empty() || self.factor(of, &mut space);
            let spaces = match is_event {
                true => &mut self.event.loops,
                false => &mut self.continuous.loops,
            };
            spaces[at] = space;
            if !done {
                return Err(Stuck { block: of.block });
            }
        }
        Ok(())
    }

    /// F(z, w) = 0: z' = -(dF/dz)**-1 * dF/dw*w'.
    pub(super) fn loop_lanes(&mut self, part: &Part, at: usize, active: usize) {
        let of = &part.loops[at];
        let is_event = self.is_event(part);
        let spaces = match is_event {
            true => &mut self.event.loops,
            false => &mut self.continuous.loops,
        };
        let space = &mut spaces[at];
        for &column in &space.columns {
            self.lanes[of.unknowns[column] as usize] = [0.0; LANES];
        }
        run_lanes(&of.code, &self.registers, &mut self.lanes, &self.tables);
        for lane in 0..active {
            for (to, &residual) in space.step.iter_mut().zip(&of.residuals) {
                *to = self.lanes[residual as usize][lane];
            }
            space.lu.solve(&mut space.step);
            for (&value, &column) in space.step.iter().zip(&space.columns) {
                self.lanes[of.unknowns[column] as usize][lane] = -value;
            }
        }
        run_lanes(&of.code, &self.registers, &mut self.lanes, &self.tables);
    }

    /// The derivatives of the equations of a block with chosen states by all of its unknowns: by rows.
    pub fn selection_matrix(&mut self, at: usize) -> (Vec<f64>, usize, usize) {
        let of = &self.program.continuous.loops[at];
        let mut space = std::mem::take(&mut self.continuous.loops[at]);
        self.slopes(of, &mut space);
        let (rows, columns) = (of.residuals.len(), of.unknowns.len());
        let mut matrix = vec![0.0; rows * columns];
        let pattern = &space.coloring.pattern;
        for column in 0..columns {
            for at in pattern.starts[column]..pattern.starts[column + 1] {
                matrix[pattern.rows[at] * columns + column] = space.entries[at];
            }
        }
        self.continuous.loops[at] = space;
        (matrix, rows, columns)
    }
}

impl LoopSpace {
    /// A step beside the values.
    fn size(&self, steps: &[f64]) -> f64 {
        let mut most = 0.0f64;
        for (at, step) in steps.iter().enumerate() {
            let scale = (self.values[at].abs())
                .max(SMALL_PART * self.largest[at])
                .max(SMALL);
            let size = step.abs() / scale;
            if size.is_nan() {
                return f64::NAN;
            }
            most = most.max(size);
        }
        most
    }

    fn remember(&mut self) {
        for (largest, value) in self.largest.iter_mut().zip(&self.values) {
            *largest = largest.max(value.abs());
        }
    }
}
