//! The plan of a run, the observer that receives its rows, and its outcome.

use super::JumpRecord;
use crate::flat::{Flat, Leaf, VarId};
use crate::program::Program;
use crate::program::machine::EvaluationCounts;
use crate::simulate::integrate::{Counts, Method};
use crate::simulate::run_error::RunError;

#[derive(Clone, Debug)]
pub struct Plan {
    /// The times of rows, ascending: the start, communication points, the end.
    pub times: Vec<f64>,
    pub method: Method,
    pub relative: f64,
    pub absolute: Absolute,
    /// Begin in the steady state.
    pub steady: bool,
    /// The names of the columns: each mode finds its own expressions for them.
    pub columns: Vec<String>,
}

/// Absolute tolerances.
#[derive(Clone, Debug, Default)]
pub struct Absolute {
    pub all: f64,
    /// For single variables.
    pub single: Vec<(VarId, f64)>,
}

impl Absolute {
    /// By index in the vector of states. The tolerance of a variable counts for the state that it equals.
    pub fn of(&self, flat: &Flat, program: &Program) -> Vec<f64> {
        let mut absolute = vec![self.all; program.state_count()];
        for &(id, tolerance) in &self.single {
            let mut leaf = Leaf::Var(id);
            let mut eliminated = flat.eliminated.iter();
            if let Some(eliminated) = eliminated.find(|eliminated| eliminated.leaf == leaf) {
                leaf = match flat.exprs.signed_leaf(eliminated.expression) {
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
    /// The last good values before a failure, or the values where the run was stopped.
    Last,
}

pub trait Observer {
    /// A row of values; an error ends the run.
    fn row(&mut self, time: f64, values: &[f64], kind: RowKind) -> Result<(), String>;
    /// Called after each step; false ends the run.
    fn goes_on(&mut self, time: f64, events: u64) -> bool;
}

#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub counts: Counts,
    pub evaluation_counts: EvaluationCounts,
    pub events: u64,
    /// Changes of the choice of states.
    pub choices: u64,
    /// Jumps of states where a mode begins, the first ones only.
    pub jumps: Vec<JumpRecord>,
    /// The number of all jumps.
    pub jump_count: u64,
    /// The number of modes that were compiled.
    pub modes: u64,
    /// Notes on modes that do not determine all values, one for each set of switches.
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
    Failed(Box<RunError>),
}

#[derive(Debug)]
pub struct Outcome {
    pub summary: Summary,
    pub end: End,
}
