//! Which rates depend on which states, and how many directions give all of their derivatives.
//!
//! Columns that no row has in common get one colour: one direction serves them all (Curtis, Powell and
//! Reid 1974).

use super::code::{Instruction, Op, Register};
use super::{Loop, Program, Step};
use crate::numeric::{Coloring, color};

/// Sets of columns, shared by registers.
#[derive(Debug)]
struct Sets {
    lists: Vec<Vec<u32>>,
    /// By register; 0 is the empty set.
    of: Vec<u32>,
}

impl Sets {
    fn add(&mut self, list: Vec<u32>) -> u32 {
        self.lists.push(list);
        (self.lists.len() - 1) as u32
    }

    fn union(&mut self, a: u32, b: u32) -> u32 {
        if a == b || b == 0 {
            return a;
        }
        if a == 0 {
            return b;
        }
        let (left, right) = (&self.lists[a as usize], &self.lists[b as usize]);
        let mut merged = Vec::with_capacity(left.len() + right.len());
        let (mut i, mut j) = (0, 0);
        while i < left.len() || j < right.len() {
            let l = left.get(i).copied().unwrap_or(u32::MAX);
            let r = right.get(j).copied().unwrap_or(u32::MAX);
            merged.push(l.min(r));
            i += usize::from(l <= r);
            j += usize::from(r <= l);
        }
        if merged.len() == left.len() {
            return a;
        }
        if merged.len() == right.len() {
            return b;
        }
        self.add(merged)
    }

    fn run(&mut self, code: &[Instruction]) {
        for instruction in code {
            let of = |register: Register| self.of[register as usize];
            let set = match instruction.op {
                Op::Not
                | Op::And
                | Op::Or
                | Op::Less
                | Op::LessEqual
                | Op::Greater
                | Op::GreaterEqual
                | Op::Equal
                | Op::NotEqual
                | Op::Sign
                | Op::Floor
                | Op::Ceil => 0,
                Op::Whole | Op::Table => of(instruction.a),
                _ => {
                    let (a, b) = (of(instruction.a), of(instruction.b));
                    self.union(a, b)
                }
            };
            self.of[instruction.to as usize] = set;
        }
    }

    fn all(&mut self, registers: impl IntoIterator<Item = Register>) -> u32 {
        let mut list: Vec<u32> = Vec::new();
        for register in registers {
            let set = self.of[register as usize];
            list.extend(&self.lists[set as usize]);
        }
        list.sort_unstable();
        list.dedup();
        match list.is_empty() {
            true => 0,
            false => self.add(list),
        }
    }
}

/// The pattern of the derivatives of rates by states, and colours of its columns. Where states are
/// chosen at run time it holds for every choice.
pub fn coloring(program: &Program) -> Coloring {
    let mut sets = Sets {
        lists: vec![Vec::new()],
        of: vec![0; program.registers.len()],
    };
    for at in 0..program.states.len() {
        // States have the registers after Time.
        let set = sets.add(vec![at as u32]);
        sets.of[Program::TIME as usize + 1 + at] = set;
    }
    let part = &program.continuous;
    for step in &part.steps[..program.rate_steps] {
        match step {
            Step::Code(range) => sets.run(&part.code[range.clone()]),
            Step::System(at) => {
                let system = &part.systems[*at];
                let entries = system.matrix.data().iter();
                let set = sets.all(entries.chain(&system.right).copied());
                for &unknown in &system.unknowns {
                    sets.of[unknown as usize] = set;
                }
            }
            Step::Loop(at) => {
                let of = &part.loops[*at];
                let mut set = sets.all(of.externals.iter().copied());
                for &selection in &of.selections {
                    let slots = &program.slots[selection];
                    let own = (slots.first..slots.first + slots.count).map(|at| at as u32);
                    let own = sets.add(own.collect());
                    set = sets.union(set, own);
                }
                for &unknown in &of.unknowns {
                    sets.of[unknown as usize] = set;
                }
                for instruction in &of.code {
                    sets.of[instruction.to as usize] = set;
                }
            }
        }
    }
    let mut rows: Vec<u32> = (program.rates.iter())
        .map(|&rate| sets.of[rate as usize])
        .collect();
    for slots in &program.slots {
        let set = sets.all(slots.candidates.iter().map(|candidate| candidate.rate));
        rows.extend(std::iter::repeat_n(set, slots.count));
    }
    let size = rows.len();
    color(&sets.lists, &rows, size)
}

/// The same for the residuals of a loop by its unknowns. `spare` has a zero for each register, before and
/// after: a model may have thousands of loops.
pub fn loop_coloring(of: &Loop, spare: &mut Vec<u32>) -> Coloring {
    let mut sets = Sets {
        lists: vec![Vec::new()],
        of: std::mem::take(spare),
    };
    for (at, &unknown) in of.unknowns.iter().enumerate() {
        let set = sets.add(vec![at as u32]);
        sets.of[unknown as usize] = set;
    }
    sets.run(&of.code);
    let rows: Vec<u32> = (of.residuals.iter())
        .map(|&residual| sets.of[residual as usize])
        .collect();
    let done = of.code.iter().map(|instruction| &instruction.to);
    for &register in of.unknowns.iter().chain(done) {
        sets.of[register as usize] = 0;
    }
    *spare = sets.of;
    color(&sets.lists, &rows, of.unknowns.len())
}
