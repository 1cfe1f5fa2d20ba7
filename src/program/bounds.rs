//! Bounds on rounding errors, by the same code: running error analysis ([`crate::numeric::zero`]).
//!
//! Before: code whose registers have their values. After: each register has a bound beside its value, from the
//! bounds of its operands.

use super::code::{Instruction, Op, Table, slopes, value};
use crate::numeric::zero::{product, rounding};

/// Bounds on the errors of the results, where the operands have theirs.
pub fn run_bounds(code: &[Instruction], registers: &[f64], bounds: &mut [f64], tables: &[Table]) {
    for instruction in code {
        let (a, b) = (instruction.a as usize, instruction.b as usize);
        let (p, q) = slopes(instruction, registers, tables);
        let own = rounding(registers[instruction.to as usize]);
        let moved = match instruction.reads_b() {
            // Both operands are wrong by the same.
            true if a == b => product(p + q, bounds[a]),
            true => {
                // The error of a product at 0*0 is that of second order.
                let both = match instruction.op {
                    Op::Mul | Op::NegMul => bounds[a] * bounds[b],
                    _ => 0.0,
                };
                product(p, bounds[a]) + product(q, bounds[b]) + both
            }
            false => secant(instruction, p, registers, bounds[a], tables),
        };
        bounds[instruction.to as usize] = own + moved;
    }
}

/// By how much an error of the only operand moves the result. Where the slope says too little (x**2 at 0) or infinitely
/// much (the root at 0), the value at the moved operand decides.
fn secant(
    instruction: &Instruction,
    slope: f64,
    registers: &[f64],
    bound: f64,
    tables: &[Table],
) -> f64 {
    let first = product(slope, bound);
    let steep = !first.is_finite();
    let flat = slope == 0.0 && matches!(instruction.op, Op::Square | Op::Whole);
    if bound == 0.0 || !(steep || flat) {
        return first;
    }
    let x = registers[instruction.a as usize];
    let here = registers[instruction.to as usize];
    let mut most = 0.0f64;
    for moved in [x + bound, x - bound] {
        let there = value(instruction, (moved, 0.0, false), tables);
        if there.is_finite() {
            most = most.max((there - here).abs());
        }
    }
    most
}
