//! The machine that runs a [`Program`]: registers, loops, derivatives.
//!
//! Before: a program, and values for the registers that are given. After an evaluation at (Time, states):
//! every register that was asked for has its value there. What cannot be computed says so
//! ([`Stuck`]) and leaves NaN; nothing is allocated on the way.

mod bounds;
mod derivatives;
mod joined;
mod newton;
mod ranges;
mod spaces;

use std::sync::Arc;

use self::spaces::Spaces;
use crate::numeric::Pattern;
use crate::program::code::{LANES, Lanes, Register, Table, run};
use crate::program::joined::Joined;
use crate::program::{Part, Program, Step};

/// A block that could not be solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    pub block: usize,
}

/// Which part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Rates,
    /// Also the sides of relations.
    Watches,
    /// Also all that is recorded.
    All,
}

/// How much a machine has computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvaluationCounts {
    pub evaluations: u64,
    pub jacobians: u64,
    /// Iterations in nonlinear loops.
    pub iterations: u64,
}

/// The absolute tolerance outside runs.
const ABSOLUTE: f64 = 1e-9;

#[derive(Debug)]
pub struct Machine<'p> {
    pub program: &'p Program,
    pub registers: Vec<f64>,
    lanes: Vec<Lanes>,
    /// Bounds on the errors of registers, where they were asked for.
    bounds: Vec<f64>,
    /// What no unknown has to be known better than, where nothing else tells.
    pub absolute: f64,
    tables: Vec<Table>,
    /// The time at which what depends on it was computed; NaN where something else has changed.
    held_at: f64,
    /// By selection: which candidates are states.
    choice: Vec<Vec<usize>>,
    continuous: Spaces,
    event: Spaces,
    pub counts: EvaluationCounts,
    /// Loops of the continuous part whose unknowns are given.
    joined: Option<Arc<Joined>>,
}

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program) -> Self {
        let registers = program.registers.clone();
        let count = registers.len();
        let mut machine = Machine {
            program,
            lanes: vec![[0.0; LANES]; count],
            bounds: vec![0.0; count],
            absolute: ABSOLUTE,
            tables: Vec::new(),
            held_at: f64::NAN,
            choice: (program.slots.iter())
                .map(|slots| (0..slots.count).collect())
                .collect(),
            continuous: Spaces::new(&program.continuous),
            event: Spaces::new(&program.event),
            registers,
            counts: EvaluationCounts::default(),
            joined: None,
        };
        run(&program.once, &mut machine.registers, &[]);
        machine.tables = (program.tables.iter())
            .map(|source| Table {
                xs: machine.values_of(&source.xs),
                ys: machine.values_of(&source.ys),
            })
            .collect();
        for at in 0..program.slots.len() {
            let choice = machine.choice[at].clone();
            machine.choose(at, &choice);
        }
        machine
    }

    fn values_of(&self, registers: &[Register]) -> Vec<f64> {
        (registers.iter())
            .map(|&register| self.registers[register as usize])
            .collect()
    }

    pub fn get(&self, register: Register) -> f64 {
        self.registers[register as usize]
    }

    /// The first derivative of a register after [`Machine::along_time`].
    pub fn slope(&self, register: Register) -> f64 {
        self.lanes[register as usize][0]
    }

    /// Changes what keeps its value between events.
    pub fn set(&mut self, register: Register, value: f64) {
        self.registers[register as usize] = value;
        self.held_at = f64::NAN;
    }

    pub fn table(&self, at: usize) -> &Table {
        &self.tables[at]
    }

    /// Tables whose arguments depend on Time alone: the number of the table, its argument and the argument's slope. To
    /// be called after [`Machine::along_time`].
    pub fn timed_tables(&self) -> impl Iterator<Item = (usize, f64, f64)> + '_ {
        let tables = self.program.tables.iter().enumerate();
        tables
            .filter(|(_, table)| table.timed.is_some())
            .map(|(at, table)| {
                let register = table.argument;
                (at, self.get(register), self.slope(register))
            })
    }

    pub fn pattern(&self) -> &Pattern {
        &self.program.coloring.pattern
    }

    pub fn choice(&self, selection: usize) -> &[usize] {
        &self.choice[selection]
    }

    /// Makes these candidates of a selection its states.
    pub fn choose(&mut self, selection: usize, candidates: &[usize]) {
        self.choice[selection] = candidates.to_vec();
        let program = self.program;
        let known: Vec<Register> = (program.slots.iter().zip(&self.choice))
            .flat_map(|(slots, chosen)| chosen.iter().map(|&at| slots.candidates[at].value))
            .collect();
        let parts = [
            (&program.continuous, &mut self.continuous),
            (&program.event, &mut self.event),
        ];
        for (part, spaces) in parts {
            for (of, space) in part.loops.iter().zip(&mut spaces.loops) {
                if !of.selections.contains(&selection) {
                    continue;
                }
                space.columns = (0..of.unknowns.len())
                    .filter(|&at| !known.contains(&of.unknowns[at]))
                    .collect();
                space.place = vec![u32::MAX; of.unknowns.len()];
                for (place, &column) in space.columns.iter().enumerate() {
                    space.place[column] = place as u32;
                }
                space.largest.fill(0.0);
            }
        }
    }

    /// Puts Time and states into their registers.
    pub fn load(&mut self, time: f64, states: &[f64]) {
        self.registers[Program::TIME as usize] = time;
        let fixed = self.program.states.len();
        self.registers[1..=fixed].copy_from_slice(&states[..fixed]);
        for (slots, chosen) in self.program.slots.iter().zip(&self.choice) {
            for (at, &candidate) in chosen.iter().enumerate() {
                let register = slots.candidates[candidate].value;
                self.registers[register as usize] = states[slots.first + at];
            }
        }
        if time != self.held_at {
            run(&self.program.held, &mut self.registers, &self.tables);
            self.held_at = time;
        }
    }

    /// The states as they are in their registers.
    pub fn states(&self, states: &mut [f64]) {
        let fixed = self.program.states.len();
        states[..fixed].copy_from_slice(&self.registers[1..=fixed]);
        for (slots, chosen) in self.program.slots.iter().zip(&self.choice) {
            for (at, &candidate) in chosen.iter().enumerate() {
                states[slots.first + at] = self.get(slots.candidates[candidate].value);
            }
        }
    }

    /// Evaluates at (Time, states).
    pub fn evaluate(&mut self, time: f64, states: &[f64], extent: Extent) -> Result<(), Stuck> {
        self.load(time, states);
        self.counts.evaluations += 1;
        let program = self.program;
        let steps = match extent {
            Extent::Rates => program.rate_steps,
            Extent::Watches => program.watch_steps,
            Extent::All if !program.rows_compute => 0,
            Extent::All => program.continuous.steps.len(),
        };
        self.steps(&program.continuous, &program.continuous.steps[..steps])
    }

    /// Evaluates everything in the order of the blocks, with what happens at an event.
    pub fn evaluate_event(&mut self, time: f64, states: &[f64]) -> Result<(), Stuck> {
        self.load(time, states);
        self.counts.evaluations += 1;
        let program = self.program;
        self.steps(&program.event, &program.event.steps)
    }

    fn is_event(&self, part: &Part) -> bool {
        std::ptr::eq(part, &self.program.event)
    }

    /// Whether the unknowns of a loop are given.
    fn is_joined(&self, part: &Part, at: usize) -> bool {
        !self.is_event(part) && self.joined.as_ref().is_some_and(|joined| joined.loops[at])
    }

    fn steps(&mut self, part: &Part, steps: &[Step]) -> Result<(), Stuck> {
        for step in steps {
            match step {
                Step::Code(range) => {
                    run(&part.code[range.clone()], &mut self.registers, &self.tables);
                }
                Step::System(at) => self.system(part, *at)?,
                Step::Loop(at) if self.is_joined(part, *at) => {
                    run(&part.loops[*at].code, &mut self.registers, &self.tables);
                }
                Step::Loop(at) => self.iterate(part, *at)?,
            }
        }
        Ok(())
    }

    fn system(&mut self, part: &Part, at: usize) -> Result<(), Stuck> {
        let system = &part.systems[at];
        let space = match self.is_event(part) {
            true => &mut self.event.systems[at],
            false => &mut self.continuous.systems[at],
        };
        let mut same = space.factored;
        for (entry, &register) in (space.matrix.data_mut().iter_mut()).zip(system.matrix.data()) {
            let value = self.registers[register as usize];
            same &= *entry == value;
            *entry = value;
        }
        if !same {
            space.factored = (space.lu).factor(space.matrix.view(), &space.place);
            if !space.factored {
                return Err(Stuck {
                    block: system.block,
                });
            }
        }
        for (value, &register) in space.right.iter_mut().zip(&system.right) {
            *value = self.registers[register as usize];
        }
        space.lu.solve(&mut space.right);
        let mut finite = true;
        for (&value, &unknown) in space.right.iter().zip(&system.unknowns) {
            self.registers[unknown as usize] = value;
            finite &= value.is_finite();
        }
        match finite {
            true => Ok(()),
            false => Err(Stuck {
                block: system.block,
            }),
        }
    }

    /// The rates of all states, after an evaluation.
    pub fn rates(&self, rates: &mut [f64]) {
        for (to, &register) in rates.iter_mut().zip(&self.program.rates) {
            *to = self.registers[register as usize];
        }
        for (at, register) in self.slot_rates() {
            rates[at] = self.registers[register as usize];
        }
    }

    /// The same after the evaluation of an event.
    pub fn event_rates(&self, rates: &mut [f64]) {
        for (to, &register) in rates.iter_mut().zip(&self.program.event_rates) {
            *to = self.registers[register as usize];
        }
        for (slots, chosen) in self.program.slots.iter().zip(&self.choice) {
            for (at, &candidate) in chosen.iter().enumerate() {
                rates[slots.first + at] = self.get(slots.candidates[candidate].event_rate);
            }
        }
    }

    /// Places in the vector of states from the first chosen one on, with the registers of their rates.
    fn slot_rates(&self) -> impl Iterator<Item = (usize, Register)> + '_ {
        let all = self.program.slots.iter().zip(&self.choice);
        all.flat_map(|(slots, chosen)| {
            let registers = chosen.iter().map(|&at| slots.candidates[at].rate);
            (slots.first..).zip(registers)
        })
    }

    /// Whether all divisors that can vanish are there.
    pub fn divisors_hold(&self) -> bool {
        if !self.program.rows_compute {
            return true;
        }
        let guards = &self.program.continuous.guards;
        guards.iter().all(|&guard| self.get(guard) != 0.0)
    }
}
