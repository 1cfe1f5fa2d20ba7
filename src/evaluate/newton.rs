//! Nonlinear loops: Newton's method with damping, from several starting points.
//!
//! Before: a torn loop, and guesses. After: values of its unknowns at which the residuals vanish to
//! rounding. The step is exact: inner assignments and residuals are one sparse linear system in the
//! changes of inner and iteration variables. A step is shortened until the next one, by the same
//! matrix, would be shorter (the natural monotonicity test, Deuflhard 1974): this does not depend on
//! how equations and variables are scaled. It ends when the residuals are as small as their
//! rounding errors, or the step is.

use super::Point;
use super::failure::Failure;
use super::linear::Factored;
use super::system::{Bad, State, System};
use crate::expr::show_number;
use crate::flat::{EqId, Flat, Leaf};
use crate::solve::Nonlinear;

/// From a voltage of 5 V a diode comes down by 26 mV a step.
const MOST_STEPS: usize = 400;
const MOST_HALVINGS: usize = 60;
/// How often a singular matrix is left by a move.
const MOST_MOVES: usize = 3;
/// Tried in this order where the first guess fails.
const GUESSES: [f64; 10] = [1.0, -1.0, 0.1, -0.1, 1e-3, 10.0, -10.0, 100.0, 1e3, 1e-6];

/// Values of the unknowns of the loop: iteration variables, then inner ones.
pub fn solve(flat: &Flat, block: &Nonlinear, point: &Point) -> Result<Vec<(Leaf, f64)>, Failure> {
    let mut system = System::new(flat, block, point);
    let mut best = Attempt::default();
    for start in starts(block, point) {
        match iterate(&mut system, start) {
            Ok(state) => return Ok(system.leaves().zip(state.values).collect()),
            Err(attempt) => best = best.or_better(attempt),
        }
    }
    Err(best.failure(flat, block, point))
}

/// First what is given, 0 elsewhere; then other guesses where nothing is given; then everywhere.
fn starts(block: &Nonlinear, point: &Point) -> Vec<Vec<f64>> {
    let given: Vec<Option<f64>> = (block.iteration.iter())
        .map(|&leaf| point.real(leaf).filter(|value| value.is_finite()))
        .collect();
    let filled = |guess: f64, keep: bool| -> Vec<f64> {
        (given.iter().enumerate())
            .map(|(at, value)| match value {
                Some(value) if keep => *value,
                // Not all the same, lest they be at a symmetric point.
                _ => guess * (1.0 + 0.03 * (at % 7) as f64),
            })
            .collect()
    };
    let mut starts = vec![filled(0.0, true)];
    if given.iter().any(Option::is_none) {
        starts.extend(GUESSES.iter().map(|&guess| filled(guess, true)));
    }
    if given.iter().any(Option::is_some) {
        starts.push(filled(0.0, false));
        starts.extend(GUESSES.iter().map(|&guess| filled(guess, false)));
    }
    starts
}

fn iterate(system: &mut System<'_>, start: Vec<f64>) -> Result<State, Attempt> {
    let count = start.len();
    let mut state = system.run(&start).map_err(|bad| Attempt {
        bad: Some(bad),
        reached: None,
    })?;
    let mut known = system.matrix(&state).ok();
    let mut largest: Vec<f64> = start.iter().map(|value| value.abs()).collect();
    let mut moves = 0;
    let mut step = Vec::new();
    for _ in 0..MOST_STEPS {
        if within(&state.residuals, &state.noise, 1.0) {
            return Ok(state);
        }
        let Some(matrix) = known else {
            moves += 1;
            match moved(system, &state.values[..count]) {
                Some((next, matrix)) if moves <= MOST_MOVES => {
                    (state, known) = (next, Some(matrix));
                    continue;
                }
                _ => break,
            }
        };
        step = system.step(&matrix, &state.residuals);
        if step.iter().any(|change| !change.is_finite()) {
            break;
        }
        let now = &state.values[..count];
        if within(&step, now, 2.0 * f64::EPSILON) {
            return Ok(state);
        }
        match shortened(system, &matrix, now, &step) {
            Some(next) => (state, known) = next,
            None => {
                // No progress: as near as rounding allows, or stuck.
                let near =
                    within(&state.residuals, &state.noise, 100.0) || within(&step, now, 1e-10);
                return match near {
                    true => Ok(state),
                    false => Err(Attempt::stuck(state)),
                };
            }
        }
        for (largest, value) in largest.iter_mut().zip(&state.values) {
            *largest = largest.max(value.abs());
        }
    }
    // A multiple solution is approached slowly.
    match step.len() == count && within(&step, &largest, 1e-12) {
        true => Ok(state),
        false => Err(Attempt::stuck(state)),
    }
}

fn within(values: &[f64], bounds: &[f64], factor: f64) -> bool {
    (values.iter().zip(bounds)).all(|(value, bound)| value.abs() <= factor * bound.abs())
}

/// The longest of step, step/2, step/4, ... that brings the solution nearer, with the matrix there.
/// Where that is singular (beyond the end of a table) a shorter one is taken, if there is one.
fn shortened(
    system: &mut System<'_>,
    matrix: &Factored,
    now: &[f64],
    step: &[f64],
) -> Option<(State, Option<Factored>)> {
    let size = |change: &[f64]| {
        (change.iter().zip(now).zip(step))
            .map(|((change, value), step)| {
                let scale = value.abs().max(step.abs());
                if scale > 0.0 {
                    change.abs() / scale
                } else {
                    change.abs()
                }
            })
            .fold(0.0, f64::max)
    };
    let before = size(step);
    let mut singular = None;
    let mut part = 1.0;
    for _ in 0..MOST_HALVINGS {
        let trial: Vec<f64> = (now.iter().zip(step))
            .map(|(value, change)| value + part * change)
            .collect();
        if let Ok(state) = system.run(&trial) {
            if within(&state.residuals, &state.noise, 1.0) {
                return Some((state, None));
            }
            let after = size(&system.step(matrix, &state.residuals));
            if after <= (1.0 - part / 4.0) * before {
                match system.matrix(&state) {
                    Ok(matrix) => return Some((state, Some(matrix))),
                    Err(_) => singular = singular.or(Some((state, None))),
                }
            }
        }
        part /= 2.0;
    }
    singular
}

/// A state where the matrix is regular, as near by as may be: q*abs(q) has no slope at 0, a table
/// none beyond its ends.
fn moved(system: &mut System<'_>, now: &[f64]) -> Option<(State, Factored)> {
    const FAR: [f64; 7] = [1e-4, 1e-2, 0.3, 3.0, 30.0, 300.0, 3000.0];
    let signed = FAR.into_iter().flat_map(|far| [far, -far]);
    signed.into_iter().find_map(|far| {
        let trial: Vec<f64> = (now.iter().enumerate())
            .map(|(at, &value)| {
                let scale = if value == 0.0 { 1.0 } else { value.abs() };
                value + far * scale * (1.0 + 0.07 * (at % 5) as f64)
            })
            .collect();
        let state = system.run(&trial).ok()?;
        let matrix = system.matrix(&state).ok()?;
        Some((state, matrix))
    })
}

/// How a start went wrong.
#[derive(Debug, Default)]
struct Attempt {
    /// Why it could not even begin.
    bad: Option<Bad>,
    reached: Option<State>,
}

impl Attempt {
    fn stuck(state: State) -> Self {
        Attempt {
            bad: None,
            reached: Some(state),
        }
    }

    fn size(&self) -> f64 {
        self.reached.as_ref().map_or(f64::INFINITY, |state| {
            (state.residuals.iter()).fold(0.0, |most, residual| most.max(residual.abs()))
        })
    }

    fn or_better(self, other: Attempt) -> Attempt {
        let begun = self.bad.is_some() || self.reached.is_some();
        match begun && self.size() <= other.size() {
            true => self,
            false => other,
        }
    }

    fn failure(self, flat: &Flat, block: &Nonlinear, point: &Point) -> Failure {
        const SHOWN: usize = 6;
        let mut off: Vec<(EqId, f64)> = Vec::new();
        let mut notes = Vec::new();
        if let Some(state) = &self.reached {
            let equations = block.residuals.iter().map(|residual| residual.equation);
            off = equations
                .zip(state.residuals.iter().map(|value| value.abs()))
                .collect();
            off.sort_by(|a, b| b.1.total_cmp(&a.1));
            let near: Vec<String> = (block.iteration.iter().zip(&state.values))
                .take(SHOWN)
                .map(|(&leaf, &value)| format!("{} = {}", flat.leaf_name(leaf), show_number(value)))
                .collect();
            notes.push(format!("the nearest found: {}", near.join(", ")));
        }
        notes.extend(self.bad.map(|bad| bad_text(flat, block, bad)));
        let names: Vec<String> = (block.iteration.iter().take(SHOWN))
            .map(|&leaf| format!("`{}`", flat.leaf_name(leaf)))
            .collect();
        notes.push(format!(
            "a start value near the solution may help, for {}",
            names.join(", ")
        ));
        Failure::not_found(flat, point, &block.unknowns, &off, notes)
    }
}

fn bad_text(flat: &Flat, block: &Nonlinear, bad: Bad) -> String {
    let inner = |at: usize| &block.inner[at];
    match bad {
        Bad::Divisor(at) => {
            let divisor = inner(at).guard.map(|guard| flat.expression(guard));
            let name = flat.leaf_name(inner(at).target);
            let divisor = divisor.unwrap_or_default();
            format!("at the guesses tried, the divisor `{divisor}` of `{name}` is zero")
        }
        Bad::Inner(at) => {
            let name = flat.leaf_name(inner(at).target);
            let text = flat.expression(inner(at).value);
            format!("at the guesses tried, {name} = {text} is not a finite number")
        }
        Bad::Residual(at) => {
            let text = flat.expression(block.residuals[at].value);
            format!("at the guesses tried, `{text}` is not a finite number")
        }
    }
}
