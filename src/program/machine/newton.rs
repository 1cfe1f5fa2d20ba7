//! Loops at run time: Newton's method from the last solution, with exact derivatives.
//!
//! A step is shortened until the next one by the same matrix would be shorter (the natural monotonicity
//! test, Deuflhard 1974). A loop is solved when its residuals are met: when rounding alone can make them what they are
//! ([`crate::numeric::zero`]). The length of a step proves nothing: of `max(1e12*(x - 1000), x - 1000) + 1`, a step from 1001
//! leads to 1000, and by the slope at 1001 the next one would be 1e-12; and at rest, where everything is zero but for
//! rounding, steps are as long as the values. Where it fails from here the caller tries the slow and thorough way
//! ([`crate::evaluate`]).

use super::spaces::LoopSpace;
use super::{Machine, Stuck};
use crate::numeric::zero::{all_met, all_nearly_met, excess, is_met, rounding};
use crate::program::bounds::run_bounds;
use crate::program::code::{LANES, run, run_lanes};
use crate::program::{Loop, Part, Step};

const MOST_STEPS: usize = 60;
const SHORTEST: f64 = 1e-6;
/// A relative correction this small may be the last.
const SMALL: f64 = 1e-6;
/// So many steps that may be rounding are taken before the residuals count as near enough.
const CORNERS: usize = 4;
/// The part of the largest value so far below which a value counts as much as that in the length of a step.
const SMALL_PART: f64 = 1e-3;

/// Relative distances by which unknowns are moved where the matrix is singular, one after the other.
const FAR: [f64; 4] = [1e-4, -3e-4, 1e-2, -0.3];

impl Machine<'_> {
    /// Solves a loop: its unknowns have values at which the residuals vanish.
    pub(super) fn iterate(&mut self, part: &Part, at: usize) -> Result<(), Stuck> {
        let of = &part.loops[at];
        let is_event = self.is_event(part);
        // Taken out and put back: the rest of the machine is needed beside them.
        let mut loops = std::mem::take(self.loops(is_event));
        let space = &mut loops[at];
        let mut solved = self.newton(of, space);
        if !solved {
            // From where the run was, not from where it was tried last.
            self.back_to_kept(of, space);
            solved = self.newton(of, space);
        }
        if !solved {
            // A search that failed ends anywhere: what begins there may find another root.
            self.back_to_kept(of, space);
        }
        *self.loops(is_event) = loops;
        match solved {
            true => Ok(()),
            false => Err(Stuck { block: of.block }),
        }
    }

    fn back_to_kept(&mut self, of: &Loop, space: &LoopSpace) {
        for &column in &space.columns {
            self.registers[of.unknowns[column] as usize] = space.kept[column];
        }
    }

    fn loops(&mut self, is_event: bool) -> &mut Vec<LoopSpace> {
        match is_event {
            true => &mut self.event.loops,
            false => &mut self.continuous.loops,
        }
    }

    /// Remembers the solutions of loops at a point of the run.
    pub fn keep(&mut self) {
        let parts = [
            (&self.program.continuous, &mut self.continuous),
            (&self.program.event, &mut self.event),
        ];
        for (part, spaces) in parts {
            for (of, space) in part.loops.iter().zip(&mut spaces.loops) {
                for (kept, &unknown) in space.kept.iter_mut().zip(&of.unknowns) {
                    let value = self.registers[unknown as usize];
                    if value.is_finite() {
                        *kept = value;
                    }
                }
            }
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
        space.begun.copy_from_slice(&space.values);
        space.peaks.fill(0.0);
        space.contraction.clear();
        let (mut moves, mut corners) = (0, 0);
        for step in 0..MOST_STEPS {
            if self.is_met(of, space) {
                let near = step == 0 || self.accept(space);
                return near && self.polish(of, space);
            }
            self.counts.iterations += 1;
            for (peak, residual) in space.peaks.iter_mut().zip(&space.residuals) {
                *peak = residual.abs().max(*peak);
            }
            if !self.factor(of, space) {
                // `q*abs(q)` has no slope at 0: from near by it has.
                let Some(&far) = FAR.get(moves) else {
                    return false;
                };
                moves += 1;
                for (at, value) in space.values.iter_mut().enumerate() {
                    let scale = value.abs().max(space.largest[at]).max(SMALL_PART);
                    // Not all the same, lest they be at a symmetric point.
                    *value += far * scale * (1.0 + 0.07 * (at % 5) as f64);
                }
                if !self.residuals(of, space) {
                    return false;
                }
                space.contraction.clear();
                continue;
            }
            space.step.copy_from_slice(&space.residuals);
            space.lu.solve(&mut space.step);
            space.from.copy_from_slice(&space.values);
            space.find_doubts();
            let size = space.length(&space.step);
            if !size.is_finite() {
                return false;
            }
            if size == 0.0 && all_nearly_met(&space.residuals, &space.errors) {
                // As near as rounding allows; or at a corner, with slopes that lead on behind it.
                corners += 1;
                if corners > CORNERS {
                    return self.accept(space) && self.polish(of, space);
                }
            }
            let mut length = space.contraction.longest(&space.values, &space.step);
            loop {
                for at in 0..space.values.len() {
                    space.values[at] = space.from[at] - length * space.step[at];
                }
                let mut after = f64::INFINITY;
                if self.residuals(of, space) {
                    space.after.copy_from_slice(&space.residuals);
                    space.lu.solve(&mut space.after);
                    after = space.length(&space.after);
                    let small = after <= SMALL;
                    if small && (self.is_met_by_correction(of, space) || self.is_met(of, space)) {
                        return self.accept(space) && self.polish(of, space);
                    }
                }
                if size == 0.0 || after <= (1.0 - length.min(1.0) / 4.0) * size {
                    break;
                }
                length = if length > 1.0 { 1.0 } else { length / 2.0 };
                if length < SHORTEST {
                    // As near as rounding allows, or stuck.
                    space.values.copy_from_slice(&space.from);
                    return self.residuals(of, space)
                        && self.is_nearly_met(of, space)
                        && self.accept(space);
                }
            }
            space.contraction.took(length, &space.step);
            if space.contraction.is_linear()
                && self.is_below_tolerance(&space.step)
                && space.is_informed()
            {
                return true;
            }
        }
        self.is_nearly_met(of, space) && self.accept(space)
    }

    /// Takes a solution that was found. Far from where the search began residuals may vanish by rounding alone, as those of
    /// `sqrt(x*x + 1) - x + 4` at 1e16, which has no solution: what rounding makes of them there would move the unknowns much
    /// further than the whole search has.
    ///
    /// Rounding that is small beside what the residuals were on the way cannot be what makes them vanish.
    fn accept(&mut self, space: &mut LoopSpace) -> bool {
        const LOST: f64 = 1e3;
        if space.is_informed() {
            space.remember();
            return true;
        }
        // By the last matrix: nearly that of the solution.
        space.find_doubts();
        let lost = (space.doubts.iter().enumerate()).any(|(at, doubt)| {
            let (value, begun) = (space.values[at], space.begun[at]);
            let size = value.abs().max((value - begun).abs());
            *doubt > LOST * size.max(self.absolute)
        });
        if !lost {
            space.remember();
        }
        !lost
    }

    /// One more correction of a solution, by the slopes there, where the residuals are not far below what rounding makes of them.
    /// It stays if it leaves less of them.
    fn polish(&mut self, of: &Loop, space: &mut LoopSpace) -> bool {
        const FAR_BELOW: f64 = 0.25;
        let left = excess(&space.residuals, &space.errors);
        if left <= FAR_BELOW || !self.factor(of, space) {
            return true;
        }
        space.before.copy_from_slice(&space.values);
        space.after.copy_from_slice(&space.residuals);
        space.lu.solve(&mut space.after);
        for (value, after) in space.values.iter_mut().zip(&space.after) {
            *value -= after;
        }
        let mut better = self.residuals(of, space);
        if better {
            self.errors(of, space);
            better = excess(&space.residuals, &space.errors) < left;
        }
        if !better {
            space.values.copy_from_slice(&space.before);
            self.residuals(of, space);
        }
        true
    }

    /// Near a multiple solution, residuals tell nothing about the distance to it.
    fn is_below_tolerance(&self, step: &[f64]) -> bool {
        step.iter().all(|step| step.abs() <= self.absolute)
    }

    /// Whether rounding alone can make the residuals what they are, at the values in the registers.
    fn is_met(&mut self, of: &Loop, space: &mut LoopSpace) -> bool {
        self.errors(of, space);
        all_met(&space.residuals, &space.errors)
    }

    fn is_nearly_met(&mut self, of: &Loop, space: &mut LoopSpace) -> bool {
        self.errors(of, space);
        all_nearly_met(&space.residuals, &space.errors)
    }

    /// Bounds on the errors of the residuals. What comes from outside and the unknowns are numbers that have been rounded.
    fn errors(&mut self, of: &Loop, space: &mut LoopSpace) {
        for &register in of.externals.iter().chain(&of.unknowns) {
            self.bounds[register as usize] = rounding(self.registers[register as usize]);
        }
        run_bounds(&of.code, &self.registers, &mut self.bounds, &self.tables);
        for (error, &register) in space.errors.iter_mut().zip(&of.residuals) {
            *error = self.bounds[register as usize];
        }
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

    /// Takes the next small step too, which is known already and costs no slopes: where residuals are met before it, it still
    /// leaves less of what enters large numbers. If the residuals are not met after it, the values stay as they were.
    fn is_met_by_correction(&mut self, of: &Loop, space: &mut LoopSpace) -> bool {
        space.before.copy_from_slice(&space.values);
        for (value, after) in space.values.iter_mut().zip(&space.after) {
            *value -= after;
        }
        if self.residuals(of, space) && self.is_met(of, space) {
            return true;
        }
        space.values.copy_from_slice(&space.before);
        self.residuals(of, space);
        false
    }

    /// The matrix of a loop where it is, factored.
    fn factor(&mut self, of: &Loop, space: &mut LoopSpace) -> bool {
        self.slopes(of, space);
        (space.lu).factor(space.slopes.view(), &space.place)
    }

    /// The derivatives of its residuals by all of its unknowns.
    pub(super) fn slopes(&mut self, of: &Loop, space: &mut LoopSpace) {
        for &external in &of.externals {
            self.lanes[external as usize] = [0.0; LANES];
        }
        let mut first = 0;
        while first < space.color_count {
            let active = LANES.min(space.color_count - first);
            for (&unknown, &color) in of.unknowns.iter().zip(&space.colors) {
                let mut lanes = [0.0; LANES];
                if let Some(lane) = (color as usize).checked_sub(first)
                    && lane < active
                {
                    lanes[lane] = 1.0;
                }
                self.lanes[unknown as usize] = lanes;
            }
            run_lanes(&of.code, &self.registers, &mut self.lanes, &self.tables);
            for (mut column, &color) in space.slopes.outer_iterator_mut().zip(&space.colors) {
                let Some(lane) = (color as usize).checked_sub(first) else {
                    continue;
                };
                if lane >= active {
                    continue;
                }
                for (row, slope) in column.iter_mut() {
                    *slope = self.lanes[of.residuals[row] as usize][lane];
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
        let mut loops = std::mem::take(self.loops(is_event));
        let mut found = steps.iter().filter_map(|step| match *step {
            Step::Loop(at) => Some(at),
            _ => None,
        });
        let stuck = found.find(|&at| {
            let space = &mut loops[at];
            !space.columns.is_empty() && !self.factor(&part.loops[at], space)
        });
        *self.loops(is_event) = loops;
        match stuck {
            Some(at) => Err(Stuck {
                block: part.loops[at].block,
            }),
            None => Ok(()),
        }
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
        let mut loops = std::mem::take(&mut self.continuous.loops);
        self.slopes(of, &mut loops[at]);
        let (rows, columns) = (of.residuals.len(), of.unknowns.len());
        let mut matrix = vec![0.0; rows * columns];
        for (&slope, (row, column)) in &loops[at].slopes {
            matrix[row * columns + column] = slope;
        }
        self.continuous.loops = loops;
        (matrix, rows, columns)
    }
}

impl LoopSpace {
    /// How long a step is beside the values before and after the whole step that is being taken: one measure
    /// for all its parts. Beside the values where it leads, a variable on its way through zero would make
    /// every step look too long. Parts that may be rounding do not count. Not a number where a part is none.
    fn length(&self, steps: &[f64]) -> f64 {
        let mut most = 0.0f64;
        for (at, step) in steps.iter().enumerate() {
            if is_met(*step, self.doubts[at]) {
                continue;
            }
            let wide = (self.from[at].abs()).max((self.from[at] - self.step[at]).abs());
            let size = step.abs() / wide.max(SMALL_PART * self.largest[at]);
            if size.is_nan() {
                return f64::NAN;
            }
            most = most.max(size);
        }
        most
    }

    /// Whether the residuals, and what rounding makes of them, are small beside what they were on the way.
    fn is_informed(&self) -> bool {
        const PART: f64 = 1e-6;
        let mut rows = self.errors.iter().zip(&self.residuals).zip(&self.peaks);
        rows.all(|((error, residual), peak)| error + residual.abs() <= PART * peak)
    }

    /// How far rounding of the residuals may move the unknowns, by the last matrix: two right sides with irregular signs tell.
    fn find_doubts(&mut self) {
        const TIMES_MORE: f64 = 2.0;
        self.doubts.fill(0.0);
        for period in [2, 3] {
            for (at, (to, error)) in self.after.iter_mut().zip(&self.errors).enumerate() {
                *to = if at % period == 1 { -error } else { *error };
            }
            self.lu.solve(&mut self.after);
            for (doubt, value) in self.doubts.iter_mut().zip(&self.after) {
                *doubt = doubt.max(TIMES_MORE * value.abs());
            }
        }
    }

    fn remember(&mut self) {
        for (largest, value) in self.largest.iter_mut().zip(&self.values) {
            *largest = largest.max(value.abs());
        }
    }
}
