//! Exchange of values between the machine and the plain evaluator.
//!
//! The plain evaluator is slow, but tries many guesses for loops. It computes the start, solves loops that do not converge
//! from their last solution, and its failures name the expression that has no value.

use crate::evaluate::{Failure, Point, evaluate};
use crate::expr::Value;
use crate::flat::{Flat, Kind, Leaf, Type};
use crate::passes::blocks::Solved;
use crate::program::Program;
use crate::program::machine::Machine;

pub(super) fn value(flat: &Flat, leaf: Leaf, number: f64) -> Value {
    match flat.variable(leaf.variable()).ty {
        Type::Boolean => Value::Bool(number != 0.0),
        Type::Real => Value::Real(number),
    }
}

/// A point with the values of the machine: states, discrete variables, and guesses for loops.
pub fn point(solved: &Solved, machine: &Machine<'_>, time: f64) -> Point {
    let flat = &solved.flat;
    let mut point = Point::new(solved);
    point.time = time;
    let mut chosen: Vec<Leaf> = Vec::new();
    for (at, slots) in machine.program.slots.iter().enumerate() {
        let states = machine.choice(at).iter();
        chosen.extend(states.map(|&candidate| slots.candidates[candidate].leaf));
    }
    for &(leaf, register) in &machine.program.fixed {
        let number = machine.get(register);
        let is_state = flat.is_state(leaf) || chosen.contains(&leaf);
        match leaf {
            Leaf::Var(id) if flat.variable(id).kind == Kind::Discrete => {
                point.set(leaf, value(flat, leaf, number));
            }
            Leaf::Var(_) | Leaf::Der(..) if is_state => point.set(leaf, Value::Real(number)),
            Leaf::Var(id) | Leaf::Der(id, _)
                if number.is_finite()
                    && !matches!(
                        flat.variable(id).kind,
                        Kind::Parameter | Kind::Constant | Kind::Input
                    ) =>
            {
                point.guess(leaf, Value::Real(number));
            }
            _ => {}
        }
    }
    point
}

/// Copies states, discrete variables and unknowns of loops from a point into the registers.
pub fn load_point(program: &Program, point: &Point, machine: &mut Machine<'_>) {
    for &(leaf, register) in &program.fixed {
        if !matches!(leaf, Leaf::Var(_) | Leaf::Der(..)) {
            continue;
        }
        if let Some(value) = point.get(leaf) {
            machine.set(register, value.number());
        }
    }
}

/// Solves the loops by the plain evaluator, with the values in the registers as guesses. After: the registers hold the
/// solution.
pub fn solve_with_evaluator(
    solved: &Solved,
    machine: &mut Machine<'_>,
    time: f64,
) -> Result<(), Failure> {
    let mut point = point(solved, machine, time);
    evaluate(solved, &mut point)?;
    let program = machine.program;
    load_point(program, &point, machine);
    Ok(())
}
