//! Values at the start of a run.
//!
//! Before: a solved model and its start values. After: the registers of the machine hold consistent values, the states are
//! chosen where the choice is left to the run, and the vector of states is returned. Loops are solved by the plain evaluator,
//! which tries other guesses if the first one fails.

use super::point::{load_point, value};
use crate::evaluate::{Failure, Point, Walk, evaluate_start, evaluate_start_again};
use crate::expr::{Function, Node};
use crate::passes::blocks::{Block, Solved};
use crate::program::Program;
use crate::program::machine::Machine;

/// Smaller models are evaluated as a whole, so that a failure is found in variables too that are not recorded.
const LARGE: usize = 10_000;

/// Computes the start, and returns the states.
///
/// Discrete variables begin, unless they are said to be known: then those with a next value keep what the machine has. Relations
/// of the program get the truths that they have at the values found, unless they are shared by several modes.
pub fn begin(
    solved: &Solved,
    program: &Program,
    machine: &mut Machine<'_>,
    (time, known): (f64, bool),
) -> Result<Vec<f64>, Failure> {
    let flat = &solved.flat;
    let mut point = Point::new(solved);
    point.time = time;
    for discrete in &program.discretes {
        point.guess(
            discrete.leaf,
            value(flat, discrete.leaf, machine.get(discrete.value)),
        );
    }
    let iterates = |block: &Block| matches!(block, Block::Nonlinear(_) | Block::Selected(_));
    if flat.variables.len() > LARGE && solved.start.is_none() && !solved.blocks.iter().any(iterates)
    {
        // No loop needs a guess: the machine computes all values from the states, and faster.
        load_point(program, &point, machine);
        let mut states = vec![0.0; program.state_count()];
        machine.states(&mut states);
        return Ok(states);
    }
    let chosen = match known {
        true => evaluate_start_again(solved, &mut point)?,
        false => evaluate_start(solved, &mut point)?,
    };
    for (at, selection) in flat.selections().iter().enumerate() {
        let found = (chosen.iter())
            .find(|chosen| chosen.selections.contains(&(at as u32)))
            .map_or(&selection.choice, |chosen| &chosen.states);
        let mut states: Vec<usize> = (0..selection.candidates.len())
            .filter(|&candidate| found.contains(&selection.candidates[candidate]))
            .collect();
        // Where the compiler could not choose, the first candidates are states.
        for candidate in 0..selection.candidates.len() {
            if states.len() < selection.states as usize && !states.contains(&candidate) {
                states.push(candidate);
            }
        }
        machine.choose(at, &states);
    }
    load_point(program, &point, machine);
    if !known {
        hold_truths(solved, program, &point, machine);
    }
    let mut states = vec![0.0; program.state_count()];
    machine.states(&mut states);
    Ok(states)
}

/// Gives relations the truths that they have at a point. Otherwise a loop would leave the solution found, because it is none
/// while all relations are false.
fn hold_truths(solved: &Solved, program: &Program, point: &Point, machine: &mut Machine<'_>) {
    let exprs = &solved.flat.exprs;
    for watch in program.watches.iter().filter(|watch| !watch.shared) {
        let held = match (exprs.node(watch.node), watch.right) {
            // What is kept of mod(x, y) is how often y goes into x.
            (Node::Call(Function::Mod, _), Some(right)) => {
                let sides = (point.number(exprs, watch.left), point.number(exprs, right));
                match sides {
                    (Some(left), Some(right)) => (left / right).floor(),
                    _ => continue,
                }
            }
            _ => match point.value(exprs, watch.node, &mut Walk::default()) {
                Ok(value) => value.number(),
                Err(_) => continue,
            },
        };
        if held.is_finite() {
            machine.set(watch.held, held);
        }
    }
}
