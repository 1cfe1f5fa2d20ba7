//! Loops at run time: Newton's method from the last solution, with exact derivatives.
//!
//! A step is shortened until the next one by the same matrix would be shorter (the natural monotonicity
//! test, Deuflhard 1974). Where it fails from here the caller tries the slow and thorough way
//! ([`crate::evaluate`]).
//!
//! That the next step would be small proves nothing where the slopes have changed on the way: of
//! `max(1e12*(x - 1000), x - 1000) + 1`, a step from 1001 leads to 1000, and by the slope at 1001 the next
//! one would be 1e-12. So a solution counts only if the slopes there agree about the next step.

use super::spaces::LoopSpace;
use super::{Machine, Stuck};
use crate::program::code::{LANES, Op, run, run_lanes};
use crate::program::{Loop, Part, Step};

const MOST_STEPS: usize = 60;
const SHORTEST: f64 = 1e-6;
/// A relative correction this small counts as zero.
const DONE: f64 = 1e-12;
/// A relative correction this small is accepted if no step makes it smaller.
const NEAR: f64 = 1e-9;
/// Parts of the largest value so far, and absolute sizes, below which a value counts as zero.
const SMALL_PART: f64 = 1e-3;
const SMALL: f64 = 1e-10;
/// After this many small steps about which the slopes disagree, the solution counts as a corner.
const CORNERS: usize = 4;

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
        let solved = self.newton(of, space) || {
            // From where the run was, not from where it was tried last.
            for &column in &space.columns {
                self.registers[of.unknowns[column] as usize] = space.kept[column];
            }
            self.newton(of, space)
        };
        *self.loops(is_event) = loops;
        match solved {
            true => Ok(()),
            false => Err(Stuck { block: of.block }),
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
        let (mut corners, mut moves) = (0, 0);
        for _ in 0..MOST_STEPS {
            if space.residuals.iter().all(|&residual| residual == 0.0) {
                return true;
            }
            self.work.iterations += 1;
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
                continue;
            }
            space.step.copy_from_slice(&space.residuals);
            space.lu.solve(&mut space.step);
            space.from.copy_from_slice(&space.values);
            let size = space.length(&space.step);
            if !size.is_finite() {
                return false;
            }
            let mut length = 1.0;
            loop {
                for at in 0..space.values.len() {
                    space.values[at] = space.from[at] - length * space.step[at];
                }
                let mut after = f64::INFINITY;
                if self.residuals(of, space) {
                    space.after.copy_from_slice(&space.residuals);
                    space.lu.solve(&mut space.after);
                    after = space.length(&space.after);
                    if space.size(&space.after) <= DONE {
                        corners += 1;
                        self.correct(of, space);
                        if corners > CORNERS || self.agrees(of, space) {
                            space.remember();
                            return true;
                        }
                        // Beyond a corner: on with the slopes there.
                        break;
                    }
                }
                if after <= (1.0 - length / 4.0) * size {
                    break;
                }
                length /= 2.0;
                if length < SHORTEST {
                    // As near as rounding allows, or stuck.
                    space.values.copy_from_slice(&space.from);
                    return self.residuals(of, space)
                        && (space.size(&space.step) <= NEAR || self.is_rounding(of, space));
                }
            }
        }
        self.is_rounding(of, space)
    }

    /// Whether rounding alone can make the residuals what they are. A current that is zero between
    /// potentials that are not (a bridge in balance) has no size of its own to compare a step with. Each
    /// instruction adds its own rounding to what its slopes make of that of its operands.
    fn is_rounding(&mut self, of: &Loop, space: &LoopSpace) -> bool {
        const MULTIPLE: f64 = 4.0;
        let error = |value: f64| {
            let mut lanes = [0.0; LANES];
            lanes[0] = f64::EPSILON * value.abs();
            lanes
        };
        for &register in of.externals.iter().chain(&of.unknowns) {
            self.lanes[register as usize] = error(self.registers[register as usize]);
        }
        for instruction in &of.code {
            let (a, b) = (instruction.a as usize, instruction.b as usize);
            let to = instruction.to as usize;
            let code = std::slice::from_ref(instruction);
            let reads_b = a != b && !matches!(instruction.op, Op::Whole | Op::Table);
            let mut sum = error(self.registers[to])[0];
            // By one operand at a time: errors do not take each other away.
            for moved in [Some(a), reads_b.then_some(b)].into_iter().flatten() {
                let other = match reads_b {
                    true => a + b - moved,
                    false => to,
                };
                let kept = std::mem::take(&mut self.lanes[other]);
                run_lanes(code, &self.registers, &mut self.lanes, &self.tables);
                if reads_b {
                    self.lanes[other] = kept;
                }
                sum += self.lanes[to][0].abs();
            }
            self.lanes[to] = [0.0; LANES];
            self.lanes[to][0] = sum;
        }
        let mut rows = of.residuals.iter().zip(&space.residuals);
        let small = rows.all(|(&register, residual)| {
            residual.abs() <= MULTIPLE * self.lanes[register as usize][0]
        });
        // What does not move has no derivatives.
        for &register in &of.externals {
            self.lanes[register as usize] = [0.0; LANES];
        }
        small
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

    /// Takes the last small step too, which is known already: it costs no slopes, and what loops leave is
    /// then rounding only. Differences of large numbers and relations at zero need that.
    fn correct(&mut self, of: &Loop, space: &mut LoopSpace) {
        space.before.copy_from_slice(&space.residuals);
        space.from.copy_from_slice(&space.values);
        for (value, after) in space.values.iter_mut().zip(&space.after) {
            *value -= after;
        }
        if !self.residuals(of, space) {
            space.values.copy_from_slice(&space.from);
            self.residuals(of, space);
        }
    }

    /// Whether the slopes here agree with those that the last small step was found with: one direction
    /// tells, since they would have given another step exactly if by them this one does not take the
    /// residuals away.
    fn agrees(&mut self, of: &Loop, space: &mut LoopSpace) -> bool {
        const LIKE: f64 = 0.1;
        for &external in &of.externals {
            self.lanes[external as usize] = [0.0; LANES];
        }
        for &unknown in &of.unknowns {
            self.lanes[unknown as usize] = [0.0; LANES];
        }
        for (&step, &column) in space.after.iter().zip(&space.columns) {
            self.lanes[of.unknowns[column] as usize][0] = step;
        }
        run_lanes(&of.code, &self.registers, &mut self.lanes, &self.tables);
        // The terms of which each residual is the sum.
        space.terms.fill(0.0);
        for (&after, &column) in space.after.iter().zip(&space.columns) {
            let Some(slopes) = space.slopes.outer_view(column) else {
                continue;
            };
            for (row, slope) in slopes.iter() {
                space.terms[row] += (slope * after).abs();
            }
        }
        let mut rows = of.residuals.iter().zip(&space.before).zip(&space.terms);
        rows.all(|((&register, residual), terms)| {
            let left = residual - self.lanes[register as usize][0];
            left.abs() <= LIKE * terms.max(residual.abs())
        })
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
    /// every step look too long.
    fn length(&self, steps: &[f64]) -> f64 {
        let wide = |at: usize| (self.from[at].abs()).max((self.from[at] - self.step[at]).abs());
        self.beside(steps, wide)
    }

    /// A step beside the values.
    fn size(&self, steps: &[f64]) -> f64 {
        self.beside(steps, |at| self.values[at].abs())
    }

    /// The largest part of a step beside these numbers; not a number where a part is none.
    fn beside(&self, steps: &[f64], values: impl Fn(usize) -> f64) -> f64 {
        let mut most = 0.0f64;
        for (at, step) in steps.iter().enumerate() {
            let scale = values(at).max(SMALL_PART * self.largest[at]).max(SMALL);
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
