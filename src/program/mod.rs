//! The register program of a solved model.
//!
//! Before: a solved model. After: code for a register machine ([`code`]), in the order of the blocks.
//! What depends on parameters alone runs once; what depends on Time and on what changes only at events
//! runs when Time changes; the rest at every evaluation, of which the part that the rates of states need
//! comes first, then what relations need, then what is recorded. At an event everything is computed in the order of the
//! blocks, with the next values of discrete variables and the conditions of `when`s: [`Program::event`].
//!
//! Relations have no value of their own between events: each is a register that keeps its truth
//! ([`Watch`]), so that the rates are smooth while a step is taken.

mod blocks;
pub mod bounds;
mod calls;
pub mod code;
pub mod dump;
mod expressions;
pub mod joined;
pub mod machine;
mod order;
mod pattern;
mod shared;
pub mod verify;
mod watches;

pub use blocks::{build, build_in};
pub use shared::Shared;
pub use watches::{Sampler, Watch, When, WhenAction};

use std::sync::Arc;

use rustc_hash::FxHashSet;
use sprs::CsMat;

use crate::expr::ExprId;
use crate::flat::Leaf;
use crate::numeric::Coloring;
use code::{Instruction, Register};

/// How often the value of a register changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Parameters alone.
    Once,
    /// Time, and what changes only at events.
    Held,
    Always,
    /// While a loop is iterated.
    Loop,
}

/// A part of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Instructions of [`Part::code`].
    Code(std::ops::Range<usize>),
    /// By its place in [`Part::systems`].
    System(usize),
    /// By its place in [`Part::loops`].
    Loop(usize),
}

/// A linear system A x = b whose entries are registers.
#[derive(Clone, Debug)]
pub struct System {
    /// The block of the solved model.
    pub block: usize,
    pub unknowns: Vec<Register>,
    /// By columns.
    pub matrix: CsMat<Register>,
    pub right: Vec<Register>,
}

/// Code that is iterated until its residuals vanish.
#[derive(Clone, Debug)]
pub struct Loop {
    pub block: usize,
    pub code: Vec<Instruction>,
    /// What is iterated on.
    pub unknowns: Vec<Register>,
    pub residuals: Vec<Register>,
    /// What the code reads and does not compute.
    pub externals: Vec<Register>,
    /// Selections whose candidates are among the unknowns: those that are states now are known.
    pub selections: Vec<usize>,
    /// The pattern of the derivatives of residuals by unknowns, the same in both parts.
    pub coloring: Arc<Coloring>,
}

/// Steps in order, and what they refer to.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub code: Vec<Instruction>,
    pub steps: Vec<Step>,
    pub systems: Vec<System>,
    pub loops: Vec<Loop>,
    /// Divisors that must not be zero.
    pub guards: Vec<Register>,
}

impl Part {
    /// Whether it has to run for the values of some registers.
    fn computes(&self, registers: &[Register]) -> bool {
        let wanted: FxHashSet<Register> = registers.iter().copied().collect();
        let code = self.code.iter().map(|instruction| instruction.to);
        let loops = self.loops.iter().flat_map(|of| {
            let inner = of.code.iter().map(|instruction| instruction.to);
            inner.chain(of.unknowns.iter().copied())
        });
        let systems = (self.systems.iter()).flat_map(|system| system.unknowns.iter().copied());
        (code.chain(loops).chain(systems)).any(|register| wanted.contains(&register))
    }
}

/// Of a selection: so many of the candidates are states.
#[derive(Clone, Debug)]
pub struct Slots {
    /// Where its states begin in the vector of states.
    pub first: usize,
    pub count: usize,
    pub candidates: Vec<Candidate>,
}

#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub leaf: Leaf,
    pub value: Register,
    pub rate: Register,
    /// The register of its rate in the part for events.
    pub event_rate: Register,
}

/// A discrete variable, by the registers of its value and its next value. One that a `when` sets has
/// no register for the next.
#[derive(Clone, Copy, Debug)]
pub struct Discrete {
    pub leaf: Leaf,
    pub value: Register,
    pub next: Option<Register>,
}

/// A table, by the registers of its points.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableSource {
    pub xs: Vec<Register>,
    pub ys: Vec<Register>,
    /// Its argument, where that moves with Time alone.
    pub timed: Option<ExprId>,
    /// The register of that, in the part for events.
    pub argument: Register,
}

#[derive(Debug)]
pub struct Program {
    /// Values of all registers before anything runs; literals and parameters keep them.
    pub registers: Vec<f64>,
    pub once: Vec<Instruction>,
    /// Runs when Time has changed, or something at an event.
    pub held: Vec<Instruction>,
    pub continuous: Part,
    /// How many of its steps rates need; how many, relations.
    pub rate_steps: usize,
    pub watch_steps: usize,
    pub event: Part,
    /// States that are always states, by their place in the vector of states.
    pub states: Vec<Leaf>,
    pub rates: Vec<Register>,
    pub event_rates: Vec<Register>,
    /// The pattern of the derivatives of rates by states, and colours of its columns. Where states are chosen at run time it
    /// holds for every choice.
    pub coloring: Coloring,
    pub slots: Vec<Slots>,
    pub discretes: Vec<Discrete>,
    /// `pre(x)`: where it is kept, and the register of x in the part for events.
    pub pres: Vec<(Register, Register)>,
    pub watches: Vec<Watch>,
    pub samplers: Vec<Sampler>,
    pub tables: Vec<TableSource>,
    pub whens: Vec<When>,
    /// Recorded values, after all steps.
    pub columns: Vec<Register>,
    /// Whether any step computes one of them: states alone are there already.
    pub rows_compute: bool,
    /// Registers that keep the number they begin with.
    pub literals: Vec<Register>,
    /// Registers whose values have to be given: leaves that no block computes.
    pub given: Vec<(Leaf, Register)>,
    /// Variables that have one register in all parts: states, discrete ones, unknowns of loops.
    pub fixed: Vec<(Leaf, Register)>,
    /// Of a position: all variables and derivatives, in the part for events.
    pub frame: Vec<(Leaf, Register)>,
    /// Of a position: the conditions of all switches, in the part for events.
    pub conditions: Vec<Register>,
}

impl Program {
    /// Time is the first register, states follow.
    pub const TIME: Register = 0;

    pub fn state_count(&self) -> usize {
        self.states.len() + self.slots.iter().map(|slots| slots.count).sum::<usize>()
    }

    /// Whether times are known in advance at which something happens.
    pub fn has_known_times(&self) -> bool {
        !self.samplers.is_empty()
            || self.watches.iter().any(|watch| watch.timed)
            || self.tables.iter().any(|table| table.timed.is_some())
    }

    /// How much there is of what, as it is told.
    pub fn counts(&self) -> [(&'static str, usize); 4] {
        let parts = [&self.continuous, &self.event];
        let inner = |part: &Part| part.loops.iter().map(|of| of.code.len()).sum::<usize>();
        let code: usize = parts.iter().map(|part| part.code.len() + inner(part)).sum();
        let loops = self.continuous.loops.len() + self.continuous.systems.len();
        [
            ("instructions", self.once.len() + self.held.len() + code),
            ("registers", self.registers.len()),
            ("states", self.state_count()),
            ("loops", loops),
        ]
    }

    /// Whether anything can happen at all.
    pub fn has_events(&self) -> bool {
        !self.watches.is_empty()
            || !self.samplers.is_empty()
            || !self.discretes.is_empty()
            || !self.whens.is_empty()
    }
}
