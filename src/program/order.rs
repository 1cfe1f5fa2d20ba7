//! Code in an order that runs fast: like operations together.
//!
//! Before: code in the order of the blocks. After: the same instructions, each after those whose results it
//! reads; within a window by depth, and then by operation. Stages of a ladder do the same things: what was a
//! jump for every instruction is one for a row of them ([`super::code::run`]). Windows are small enough
//! for what they read and write to stay near the processor.

use super::code::{Instruction, Op, Register};
use super::{Part, Step};

const WINDOW: usize = 1024;
/// Shorter code has no long rows of one operation.
const LEAST: usize = 64;

/// Sorts the code of each step.
pub fn by_depth(part: &mut Part, registers: usize) {
    let mut depths = vec![0u32; registers];
    for step in &part.steps {
        if let Step::Code(range) = step
            && range.len() >= LEAST
        {
            for window in part.code[range.clone()].chunks_mut(WINDOW) {
                sort(window, &mut depths);
            }
        }
    }
}

/// Depths are zero outside the window, and zero again afterwards.
fn sort(window: &mut [Instruction], depths: &mut [u32]) {
    let mut keyed: Vec<(u32, Instruction)> = Vec::with_capacity(window.len());
    for &instruction in &*window {
        let depth = |register: Register| depths[register as usize];
        let b = match instruction.op {
            Op::Whole | Op::Table => 0,
            _ => depth(instruction.b),
        };
        let own = 1 + depth(instruction.a).max(b).max(depth(instruction.c));
        depths[instruction.to as usize] = own;
        keyed.push((own, instruction));
    }
    keyed.sort_by_key(|(depth, instruction)| (*depth, instruction.op as u8));
    for (to, (_, instruction)) in window.iter_mut().zip(&keyed) {
        *to = *instruction;
        depths[instruction.to as usize] = 0;
    }
}
