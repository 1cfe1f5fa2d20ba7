//! Loops that an integrator solves together with its step.
//!
//! Before: a program. After: the unknowns of the nonlinear loops that the rates need, as unknowns beside the states; their
//! residuals, as equations beside the rates; and the pattern of the derivatives of all these.
//!
//! A loop that is solved inside each evaluation of the rates can amplify the rounding of the states: the voltage of a diode in
//! reverse, computed from the current of a coil, has ten digits less than this current. With the step and the loop in one
//! iteration the voltage follows from what the coil does in the step (Hairer and Wanner II, VI.1: the direct approach).

use super::code::{Op, Register};
use super::{Program, Step};
use crate::numeric::{Coloring, color};

#[derive(Debug)]
pub struct Joined {
    /// By loop of [`Program::continuous`].
    pub loops: Vec<bool>,
    pub unknowns: Vec<Register>,
    pub residuals: Vec<Register>,
    /// Of rates and residuals by states and unknowns.
    pub coloring: Coloring,
}

/// The columns on which registers depend, ascending.
struct Dependence {
    lists: Vec<Vec<u32>>,
    /// By register, the place of its list.
    of: Vec<u32>,
    joined: Vec<u32>,
}

impl Dependence {
    const NOTHING: u32 = 0;

    fn column(&mut self, register: Register, column: usize) {
        self.of[register as usize] = self.lists.len() as u32;
        self.lists.push(vec![column as u32]);
    }

    /// Makes a register depend on what others depend on.
    fn follow(&mut self, to: Register, from: impl IntoIterator<Item = Register>) {
        let mut first = Self::NOTHING;
        self.joined.clear();
        for register in from {
            let list = self.of[register as usize];
            if list == Self::NOTHING || list == first {
                continue;
            }
            if first == Self::NOTHING {
                first = list;
                continue;
            }
            if self.joined.is_empty() {
                self.joined.extend_from_slice(&self.lists[first as usize]);
            }
            self.joined.extend_from_slice(&self.lists[list as usize]);
        }
        if self.joined.is_empty() {
            self.of[to as usize] = first;
            return;
        }
        self.joined.sort_unstable();
        self.joined.dedup();
        self.of[to as usize] = self.lists.len() as u32;
        self.lists.push(self.joined.clone());
    }

    fn run(&mut self, code: &[super::code::Instruction]) {
        for instruction in code {
            let b = match instruction.op {
                Op::Whole | Op::Table => instruction.a,
                _ => instruction.b,
            };
            self.follow(instruction.to, [instruction.a, b]);
        }
    }
}

impl Joined {
    /// `None` where there is nothing to join, or where the states are chosen at run time.
    pub fn of(program: &Program) -> Option<Joined> {
        if !program.slots.is_empty() {
            return None;
        }
        let part = &program.continuous;
        let steps = &part.steps[..program.rate_steps];
        let mut loops = vec![false; part.loops.len()];
        let (mut unknowns, mut residuals) = (Vec::new(), Vec::new());
        for step in steps {
            if let Step::Loop(at) = *step {
                let of = &part.loops[at];
                if !of.selections.is_empty() || of.unknowns.len() != of.residuals.len() {
                    return None;
                }
                loops[at] = true;
                unknowns.extend_from_slice(&of.unknowns);
                residuals.extend_from_slice(&of.residuals);
            }
        }
        if unknowns.is_empty() {
            return None;
        }
        let states = program.states.len();
        let size = states + unknowns.len();
        let mut depends = Dependence {
            lists: vec![Vec::new()],
            of: vec![Dependence::NOTHING; program.registers.len()],
            joined: Vec::new(),
        };
        for column in 0..states {
            depends.column(1 + column as Register, column);
        }
        for (&unknown, column) in unknowns.iter().zip(states..) {
            depends.column(unknown, column);
        }
        for step in steps {
            crate::base::cancel::check();
            match step {
                Step::Code(range) => depends.run(&part.code[range.clone()]),
                Step::Loop(at) => depends.run(&part.loops[*at].code),
                Step::System(at) => {
                    let system = &part.systems[*at];
                    let entries = system.matrix.data().iter().chain(&system.right);
                    let (first, others) = system.unknowns.split_first()?;
                    depends.follow(*first, entries.copied());
                    for &other in others {
                        depends.of[other as usize] = depends.of[*first as usize];
                    }
                }
            }
        }
        let rows: Vec<u32> = (program.rates.iter().chain(&residuals))
            .map(|&register| depends.of[register as usize])
            .collect();
        Some(Joined {
            loops,
            coloring: color(&depends.lists, &rows, size),
            unknowns,
            residuals,
        })
    }
}
