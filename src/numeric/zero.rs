//! What counts as zero.
//!
//! A number v that was computed in floating point carries a bound d(v) on its error, of first order. It is found beside the value
//! (running error analysis, Higham 2002, Accuracy and Stability of Numerical Algorithms, chapter 3.3): each operation adds the
//! rounding of its result to what its slopes make of the errors of its operands. The machine ([`crate::program`]) and the plain
//! evaluator ([`crate::evaluate`]) compute these bounds each in its own way. What they mean is defined here: starts, loops,
//! jumps and steady states ask this file. They do not compare a number with an absolute floor, or with the size of a number that
//! it was not computed from: both depend on units, and at rest everything is small. Relations have margins of their own
//! (`simulate/events`, decision 0039).

/// Half the distance between 1 and the next number: one operation rounds its result by at most this part of it.
pub const UNIT: f64 = f64::EPSILON / 2.0;

/// Bounds are of first order, and functions are rounded a little worse than sums: so many times its bound, a number may be
/// rounding.
const MULTIPLE: f64 = 4.0;

/// What cannot be made smaller may be so many times its bound, because unknowns are rounded, too: the next numbers on
/// either side may both be worse.
const NEAR: f64 = 100.0;

/// The rounding of a result.
pub fn rounding(value: f64) -> f64 {
    UNIT * value.abs()
}

/// Whether a number with this bound on its error may be zero. At rest both are zero.
pub fn is_met(value: f64, error: f64) -> bool {
    value.abs() <= MULTIPLE * error
}

/// The same for a number that no step makes smaller.
pub fn is_nearly_met(value: f64, error: f64) -> bool {
    value.abs() <= NEAR * error
}

/// Whether all residuals with these bounds are met.
pub fn all_met(residuals: &[f64], errors: &[f64]) -> bool {
    let mut all = residuals.iter().zip(errors);
    all.all(|(&residual, &error)| is_met(residual, error))
}

pub fn all_nearly_met(residuals: &[f64], errors: &[f64]) -> bool {
    let mut all = residuals.iter().zip(errors);
    all.all(|(&residual, &error)| is_nearly_met(residual, error))
}

/// The largest residual beside the bound on its error.
pub fn excess(residuals: &[f64], errors: &[f64]) -> f64 {
    (residuals.iter().zip(errors))
        .filter(|(residual, _)| **residual != 0.0)
        .fold(0.0, |most: f64, (residual, error)| {
            most.max(residual.abs() / error)
        })
}

/// Times that were located differ by this from the true ones.
pub fn resolution(time: f64) -> f64 {
    4.0 * f64::EPSILON * time.abs()
}

/// A slope times an error. A factor of zero makes it zero, though the other may be infinite.
pub fn product(slope: f64, error: f64) -> f64 {
    match slope == 0.0 || error == 0.0 {
        true => 0.0,
        false => (slope * error).abs(),
    }
}

/// The convergence to a multiple solution: every full step of Newton's method goes the same part of the way, as for
/// (x - 2)**2, where x - 2 is halved, or for q*abs(q) = 0. Residuals tell nothing there: near a multiple solution
/// they are much smaller than the distance to it, and beside that distance they stay large.
#[derive(Clone, Debug, Default)]
pub struct Contraction {
    last: Vec<f64>,
    /// The number of full steps in a row that became shorter by about the same factor.
    alike: usize,
    factor: f64,
}

impl Contraction {
    const ALIKE: usize = 4;

    pub fn clear(&mut self) {
        self.last.clear();
        self.alike = 0;
        self.factor = 0.0;
    }

    /// The factor by which the step has to be longer to reach a multiple solution at once; 1 if the convergence does not look
    /// like that.
    pub fn longest(&mut self, now: &[f64], step: &[f64]) -> f64 {
        let size = |at: usize| self.last[at].abs() / now[at].abs().max(self.last[at].abs());
        let leading = (0..self.last.len())
            .filter(|&at| self.last[at] != 0.0)
            .max_by(|&a, &b| size(a).total_cmp(&size(b)));
        let factor = leading.map_or(0.0, |at| step[at] / self.last[at]);
        self.alike = match (factor - self.factor).abs() < 0.1 && (0.4..0.9).contains(&factor) {
            true => self.alike + 1,
            false => 0,
        };
        self.factor = factor;
        if self.alike < Self::ALIKE {
            return 1.0;
        }
        // At a solution of multiplicity m each step leaves the part 1 - 1/m of the error.
        (1.0 / (1.0 - factor)).round()
    }

    /// Whether the steps are those that lead to a multiple solution.
    pub fn is_linear(&self) -> bool {
        self.alike >= Self::ALIKE
    }

    /// A step was taken, or this part of it.
    pub fn took(&mut self, part: f64, step: &[f64]) {
        self.last.clear();
        if part == 1.0 {
            self.last.extend_from_slice(step);
        }
    }
}
