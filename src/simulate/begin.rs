//! Values at the start of a run.
//!
//! Before: a solved model and its start values. After: a machine whose registers hold a consistent
//! start, states chosen where the run chooses them, and the vector of states. Loops are solved by the
//! plain evaluator, which tries other guesses where the first fails.

use super::point::{adopt, value};
use crate::evaluate::{Failure, Point, evaluate_start};
use crate::passes::blocks::{Block, Solved};
use crate::program::Program;
use crate::program::machine::Machine;

/// In smaller models everything is looked at once, recorded or not.
const LARGE: usize = 10_000;

/// Computes the start; the states come back.
pub fn begin(
    solved: &Solved,
    program: &Program,
    machine: &mut Machine<'_>,
    time: f64,
) -> Result<Vec<f64>, Failure> {
    let flat = &solved.flat;
    let mut point = Point::new(solved);
    point.time = time;
    // As they have been decided so far.
    for discrete in &program.discretes {
        point.guess(
            discrete.leaf,
            value(flat, discrete.leaf, machine.get(discrete.value)),
        );
    }
    let iterates = |block: &Block| matches!(block, Block::Nonlinear(_) | Block::Selected(_));
    if flat.variables.len() > LARGE && !solved.blocks.iter().any(iterates) {
        // Nothing to guess, and much to compute: the machine does it from the states.
        adopt(program, &point, machine);
        let mut states = vec![0.0; program.state_count()];
        machine.states(&mut states);
        return Ok(states);
    }
    let chosen = evaluate_start(solved, &mut point)?;
    for (at, selection) in flat.selections().iter().enumerate() {
        let found = (chosen.iter())
            .find(|chosen| chosen.selections.contains(&(at as u32)))
            .map_or(&selection.choice, |chosen| &chosen.states);
        let mut states: Vec<usize> = (0..selection.candidates.len())
            .filter(|&candidate| found.contains(&selection.candidates[candidate]))
            .collect();
        // What the compiler could not choose: the first ones.
        for candidate in 0..selection.candidates.len() {
            if states.len() < selection.states as usize && !states.contains(&candidate) {
                states.push(candidate);
            }
        }
        machine.choose(at, &states);
    }
    adopt(program, &point, machine);
    let mut states = vec![0.0; program.state_count()];
    machine.states(&mut states);
    Ok(states)
}
