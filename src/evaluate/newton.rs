//! Nonlinear loops: Newton's method with damping, from several starting points.
//!
//! Before: a torn loop, and guesses. After: values of its unknowns at which the residuals vanish up to rounding errors, or a
//! failure. Jacobians are exact. A step is shortened until the next step, computed with the same matrix, becomes shorter (the
//! natural monotonicity test, Deuflhard 1974): this does not depend on how equations and variables are scaled. The iteration
//! ends when the residuals are within their rounding errors, or close to them and no step makes them smaller.

use super::Point;
use super::failure::Failure;
use super::homotopy::follow;
use super::newton_matrix::NewtonMatrix;
use super::torn_loop::{BadGuess, LoopState, TornLoop};
use super::truths::Truths;
use crate::base::cancel::glance;
use crate::expr::Value;
use crate::flat::{EqId, Flat, Leaf};
use crate::numeric::zero::{Contraction, all_met, all_nearly_met, excess, is_met, rounding};
use crate::passes::blocks::Nonlinear;

/// Many steps are needed for exponentials: the voltage of a diode decreases by 26 mV in each step, perhaps from 5 V on.
const MOST_STEPS: usize = 400;
const MOST_HALVINGS: usize = 60;
/// The most moves away from points with a singular matrix.
const MOST_MOVES: usize = 3;
/// Guesses that are tried in this order if the first one fails.
const GUESSES: [f64; 10] = [1.0, -1.0, 0.1, -0.1, 1e-3, 10.0, -10.0, 100.0, 1e3, 1e-6];

/// If all guesses fail, a homotopy is followed from so many of them.
const FOLLOWED: usize = 3;

/// The truths of so many relations are searched before other guesses are tried.
const FEW_RELATIONS: usize = 6;
/// The most combinations of truths that are tried: of few relations, and of many.
const MOST_TRUTHS: usize = 4096;
const TRUTHS_OF_MANY: usize = 256;

/// Values of the unknowns of the loop: iteration variables, then inner ones. A guess that solves it is taken; else what
/// Newton's method reaches from it, then a homotopy from it, then truths of relations that it does not have, then other guesses.
pub fn solve(flat: &Flat, block: &Nonlinear, point: &Point) -> Result<Vec<(Leaf, f64)>, Failure> {
    let mut torn_loop = TornLoop::new(flat, block, point);
    let mut best = Attempt::default();
    let starts = starts(block, point);
    let mut truths = Truths::new(flat, block, point);
    for (at, start) in starts.iter().enumerate() {
        match iterate(&mut torn_loop, start.clone()) {
            Ok(state) => return Ok(torn_loop.leaves().zip(state.values).collect()),
            Err(attempt) => best = best.or_better(attempt),
        }
        if at > 0 {
            continue;
        }
        if let Some(state) = follow(&mut torn_loop, start) {
            return Ok(torn_loop.leaves().zip(state.values).collect());
        }
        if (1..=FEW_RELATIONS).contains(&truths.count())
            && let Some(found) = truths.search(start, MOST_TRUTHS)
        {
            return Ok(found);
        }
    }
    for start in starts.iter().take(FOLLOWED).skip(1) {
        if let Some(state) = follow(&mut torn_loop, start) {
            return Ok(torn_loop.leaves().zip(state.values).collect());
        }
    }
    if truths.count() > FEW_RELATIONS
        && let Some(found) = truths.search(&starts[0], TRUTHS_OF_MANY)
    {
        return Ok(found);
    }
    let tried = Tried {
        guesses: starts.len(),
        homotopies: starts.len().min(FOLLOWED),
        truths: truths.tried,
        relations: truths.texts(3),
    };
    Err(best.failure(flat, block, point, &tried))
}

/// What was tried in vain.
struct Tried {
    guesses: usize,
    homotopies: usize,
    /// Combinations of the truths of these relations.
    truths: usize,
    relations: Vec<String>,
}

impl Tried {
    fn text(&self) -> String {
        let mut text = format!(
            "tried: Newton's method from {} guesses, a homotopy from {}",
            self.guesses, self.homotopies
        );
        if self.truths > 0 {
            text += &format!(
                ", {} combinations of the truths of {}",
                self.truths,
                self.relations.join(", ")
            );
        }
        text
    }
}

/// Starting points: first the given values, and 0 for the other unknowns; then the given values with other guesses; then
/// guesses for all unknowns.
fn starts(block: &Nonlinear, point: &Point) -> Vec<Vec<f64>> {
    let given: Vec<Option<f64>> = (block.iteration.iter())
        .map(|&leaf| point.real(leaf).filter(|value| value.is_finite()))
        .collect();
    let filled = |guess: f64, keep: bool| -> Vec<f64> {
        (given.iter().enumerate())
            .map(|(at, value)| match value {
                Some(value) if keep => *value,
                // Guesses differ a little from each other, because symmetric points may be singular.
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

pub(super) fn iterate(torn_loop: &mut TornLoop<'_>, start: Vec<f64>) -> Result<LoopState, Attempt> {
    let count = start.len();
    let mut state = torn_loop.run(&start).map_err(|bad| Attempt {
        bad: Some(bad),
        reached: None,
    })?;
    let mut known = torn_loop.matrix(&state).ok();
    let mut moves = 0;
    let mut contraction = Contraction::default();
    for _ in 0..MOST_STEPS {
        glance();
        if all_met(&state.residuals, &state.noise) && is_sharp(torn_loop, &state) {
            return Ok(state);
        }
        let Some(matrix) = known else {
            moves += 1;
            match moved_off(torn_loop, &state.values[..count]) {
                Some((next, matrix)) if moves <= MOST_MOVES => {
                    (state, known) = (next, Some(matrix));
                    contraction = Contraction::default();
                    continue;
                }
                _ => break,
            }
        };
        let (step, doubt) = matrix.step_with_doubt(&state.residuals, &state.noise);
        let now = &state.values[..count];
        let finite = step.iter().chain(&doubt).all(|change| change.is_finite());
        if !finite || within(&step, now, f64::EPSILON) {
            break;
        }
        let longest = contraction.longest(now, &step);
        let Some((part, next, matrix)) =
            shortened(torn_loop, &matrix, &state, (&step, &doubt), longest)
        else {
            break;
        };
        contraction.took(part, &step);
        (state, known) = (next, matrix);
    }
    match is_near(torn_loop, &state) && is_sharp(torn_loop, &state) {
        true => Ok(state),
        false => Err(Attempt::stuck(state)),
    }
}

/// Whether the residuals determine the solution: far from zero they may vanish by rounding alone, as those of
/// `sqrt(x*x + 1) - x = -4` at 1e16, which has no solution.
fn is_sharp(torn_loop: &mut TornLoop<'_>, state: &LoopState) -> bool {
    /// The largest estimated error, relative to the largest value, and the least such value.
    const DOUBTFUL: f64 = 1e-4;
    const ABOUT_ZERO: f64 = 1e-9;
    if state.residuals.iter().all(|&residual| residual == 0.0) {
        return true;
    }
    let Ok(matrix) = torn_loop.matrix(state) else {
        return false;
    };
    let (_, doubt) = matrix.step_with_doubt(&state.residuals, &state.noise);
    let guessed = &state.values[..torn_loop.guessed()];
    let largest = guessed
        .iter()
        .fold(ABOUT_ZERO, |most: f64, value| most.max(value.abs()));
    doubt.iter().all(|doubt| doubt.abs() <= DOUBTFUL * largest)
}

/// After the last step without progress: whether the residuals are as small as rounding allows. The size of the step does not
/// tell that, because it may have been lost to rounding. The bound includes the rounding of iteration variables: the next
/// floating-point numbers may be too large and too small, and a value of zero may be the rest of a difference.
fn is_near(torn_loop: &mut TornLoop<'_>, state: &LoopState) -> bool {
    let mut errors = match torn_loop.matrix(state) {
        Ok(matrix) => matrix.blur(&state.values, &state.residuals, &state.noise),
        Err(_) => Vec::new(),
    };
    errors.resize(torn_loop.guessed(), 0.0);
    for (error, value) in errors.iter_mut().zip(&state.values) {
        *error = error.max(rounding(*value));
    }
    let slack = torn_loop.slack(state, errors);
    slack.is_some_and(|slack| all_nearly_met(&state.residuals, &slack))
}

/// Whether all values are within finite bounds.
fn within(values: &[f64], bounds: &[f64], factor: f64) -> bool {
    (values.iter().zip(bounds))
        .all(|(value, bound)| bound.is_finite() && value.abs() <= factor * bound.abs())
}

/// The longest of step, step/2, step/4, ... that comes closer to the solution: the part of the step, the state and the matrix
/// there. If that matrix is singular (behind the end of a table), a shorter step with a regular matrix is preferred. Changes
/// that are smaller than their estimated errors count as zero.
fn shortened(
    torn_loop: &mut TornLoop<'_>,
    matrix: &NewtonMatrix,
    state: &LoopState,
    (step, doubt): (&[f64], &[f64]),
    longest: f64,
) -> Option<(f64, LoopState, Option<NewtonMatrix>)> {
    let now = &state.values[..step.len()];
    let mut scales: Vec<f64> = (now.iter().zip(step))
        .map(|(value, change)| value.abs().max(change.abs()))
        .collect();
    let others = matrix.alike(&scales);
    // A variable that is zero and does not change in this step may change in the next one.
    for (scale, other) in scales.iter_mut().zip(others) {
        if *scale == 0.0 {
            *scale = other;
        }
    }
    let size = |change: &[f64]| {
        (0..change.len())
            .filter(|&at| !is_met(change[at], doubt[at]))
            .map(|at| change[at].abs() / scales[at])
            .fold(0.0, f64::max)
    };
    let before = size(step);
    let mut singular = None;
    let mut part = longest;
    for _ in 0..MOST_HALVINGS {
        glance();
        let trial: Vec<f64> = (now.iter().zip(step))
            .map(|(value, change)| value + part * change)
            .collect();
        if trial == now {
            break;
        }
        if let Ok(next) = torn_loop.run(&trial) {
            if all_met(&next.residuals, &next.noise) {
                return Some((part, next, None));
            }
            let nearer = match before > 0.0 {
                true => {
                    let after = size(&matrix.step(&next.residuals));
                    after <= (1.0 - part.min(1.0) / 4.0) * before
                }
                // The step is below its estimated error, so the residuals decide.
                false => {
                    let of = |state: &LoopState| excess(&state.residuals, &state.noise);
                    of(&next) < of(state) / 2.0
                }
            };
            if nearer {
                match torn_loop.matrix(&next) {
                    Ok(matrix) => return Some((part, next, Some(matrix))),
                    Err(_) => singular = singular.or(Some((part, next, None))),
                }
            }
        }
        part = if part > 1.0 { 1.0 } else { part / 2.0 };
    }
    singular
}

/// The closest state tried at which the matrix is regular: q*abs(q) has a slope of 0 at 0, and a table behind its ends.
fn moved_off(torn_loop: &mut TornLoop<'_>, now: &[f64]) -> Option<(LoopState, NewtonMatrix)> {
    const FAR: [f64; 7] = [1e-4, 1e-2, 0.3, 3.0, 30.0, 300.0, 3000.0];
    let signed = FAR.into_iter().flat_map(|far| [far, -far]);
    signed.into_iter().find_map(|far| {
        let trial: Vec<f64> = (now.iter().enumerate())
            .map(|(at, &value)| {
                let scale = if value == 0.0 { 1.0 } else { value.abs() };
                value + far * scale * (1.0 + 0.07 * (at % 5) as f64)
            })
            .collect();
        let state = torn_loop.run(&trial).ok()?;
        let matrix = torn_loop.matrix(&state).ok()?;
        Some((state, matrix))
    })
}

/// The result of a start that failed.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    /// Why the residuals have no value at the start.
    bad: Option<BadGuess>,
    reached: Option<LoopState>,
}

impl Attempt {
    fn stuck(state: LoopState) -> Self {
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

    fn failure(self, flat: &Flat, block: &Nonlinear, point: &Point, tried: &Tried) -> Failure {
        const SHOWN: usize = 6;
        let mut off: Vec<(EqId, f64)> = Vec::new();
        let mut notes = Vec::new();
        let mut nearest = point.clone();
        if let Some(state) = &self.reached {
            let inner = block.inner.iter().map(|inner| inner.target);
            let all = block.iteration.iter().copied().chain(inner);
            for (leaf, &value) in all.zip(&state.values) {
                nearest.guess(leaf, Value::Real(value));
            }
            let equations = block.residuals.iter().map(|residual| residual.equation);
            off = equations
                .zip(state.residuals.iter().map(|value| value.abs()))
                .collect();
            let near: Vec<String> = (block.iteration.iter().zip(&state.values))
                .take(SHOWN)
                // Only the first digits of a failed iteration are meaningful.
                .map(|(&leaf, &value)| format!("{} = {value:.2e}", flat.leaf_name(leaf)))
                .collect();
            notes.push(format!("the nearest found: {}", near.join(", ")));
        }
        notes.extend(self.bad.map(|bad| bad_text(flat, block, bad)));
        notes.push(tried.text());
        let names: Vec<String> = (block.iteration.iter().take(SHOWN))
            .map(|&leaf| format!("`{}`", flat.leaf_name(leaf)))
            .collect();
        notes.push(format!(
            "a start value near the solution may help, for {}",
            names.join(", ")
        ));
        Failure::not_found(flat, (point, &nearest), &block.unknowns, &off, notes)
    }
}

fn bad_text(flat: &Flat, block: &Nonlinear, bad: BadGuess) -> String {
    let inner = |at: usize| &block.inner[at];
    match bad {
        BadGuess::Divisor(at) => {
            let divisor = inner(at).guard.map(|guard| flat.expression(guard));
            let name = flat.leaf_name(inner(at).target);
            let divisor = divisor.unwrap_or_default();
            format!("at the guesses tried, the divisor `{divisor}` of `{name}` is zero")
        }
        BadGuess::Inner(at) => {
            let name = flat.leaf_name(inner(at).target);
            let text = flat.expression(inner(at).value);
            format!("at the guesses tried, {name} = {text} is not a finite number")
        }
        BadGuess::Residual(at) => {
            let text = flat.expression(block.residuals[at].value);
            format!("at the guesses tried, `{text}` is not a finite number")
        }
    }
}
