//! What a run is asked to do, whom it tells, and how it ended.

use super::Leap;
use crate::flat::{Flat, Leaf, VarId};
use crate::program::Program;
use crate::program::machine::Work;
use crate::simulate::halt::Halt;
use crate::simulate::integrate::{Counts, Method};

#[derive(Clone, Debug)]
pub struct Plan {
    /// The times of rows, ascending: the start, communication points, the end.
    pub times: Vec<f64>,
    pub method: Method,
    pub relative: f64,
    pub absolute: Absolute,
    /// Begin where nothing moves.
    pub steady: bool,
    /// The names of what is recorded: each position of a model finds its own values for them.
    pub columns: Vec<String>,
}

/// Absolute tolerances.
#[derive(Clone, Debug, Default)]
pub struct Absolute {
    pub all: f64,
    /// Of single variables.
    pub single: Vec<(VarId, f64)>,
}

impl Absolute {
    /// By place in the vector of states; what is given for a variable counts for the state that it equals.
    pub fn of(&self, flat: &Flat, program: &Program) -> Vec<f64> {
        let mut absolute = vec![self.all; program.state_count()];
        for &(id, tolerance) in &self.single {
            let mut leaf = Leaf::Var(id);
            if let Some(gone) = flat.eliminated.iter().find(|gone| gone.leaf == leaf) {
                leaf = match flat.exprs.signed_leaf(gone.expression) {
                    Some((other, _)) => other,
                    None => continue,
                };
            }
            if let Some(at) = program.states.iter().position(|&state| state == leaf) {
                absolute[at] = tolerance;
            }
            for slots in &program.slots {
                let mut candidates = slots.candidates.iter();
                if candidates.any(|candidate| candidate.leaf == leaf) {
                    absolute[slots.first..slots.first + slots.count].fill(tolerance);
                }
            }
        }
        absolute
    }
}

impl Plan {
    pub fn start(&self) -> f64 {
        self.times.first().copied().unwrap_or(0.0)
    }

    pub fn until(&self) -> f64 {
        self.times.last().copied().unwrap_or(0.0)
    }
}

/// Why there is a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    Point,
    /// Before or after an event.
    Event,
    /// The last good values before a failure, or where it was stopped.
    Last,
}

pub trait Observer {
    /// A row of values; an error ends the run.
    fn row(&mut self, time: f64, values: &[f64], kind: RowKind) -> Result<(), String>;
    /// Told after each step; false ends the run.
    fn goes_on(&mut self, time: f64, events: u64) -> bool;
}

#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub counts: Counts,
    pub work: Work,
    pub events: u64,
    /// Changes of the choice of states.
    pub choices: u64,
    /// Jumps of states where a position begins, the first of them.
    pub jumps: Vec<Leap>,
    /// How many there were.
    pub jump_count: u64,
    /// Positions that were made.
    pub positions: u64,
    /// What a position left open, told once.
    pub notes: Vec<String>,
    pub time: f64,
    /// Seconds: initial values, integrating, events, rows.
    pub seconds: Seconds,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Seconds {
    pub start: f64,
    pub steps: f64,
    pub events: f64,
    pub rows: f64,
}

#[derive(Debug)]
pub enum End {
    Done,
    Stopped,
    Failed(Box<Halt>),
}

#[derive(Debug)]
pub struct Outcome {
    pub summary: Summary,
    pub end: End,
}
