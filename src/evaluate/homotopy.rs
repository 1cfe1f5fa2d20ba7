//! The last method for a nonlinear loop: the Newton homotopy.
//!
//! F(z) = (1 - s) F(z0) has the solution z0 at s = 0, and at s = 1 it is the loop itself. (If the residuals are those of
//! sources, this is the source stepping of circuit simulators.) Each solution is the first guess for the next s; after a
//! failure the step of s becomes shorter.

use super::newton::iterate;
use super::torn_loop::{LoopState, TornLoop};

const FIRST: f64 = 0.05;
const SHORTEST: f64 = 1e-3;
const MOST_STEPS: usize = 60;

/// Follows the solutions from one guess; `None` if they cannot be followed to s = 1.
pub fn follow(torn_loop: &mut TornLoop<'_>, start: &[f64]) -> Option<LoopState> {
    let whole = torn_loop.run(start).ok()?.residuals;
    let found = steps(torn_loop, start.to_vec(), &whole);
    torn_loop.shift(&[], 0.0);
    found
}

fn steps(torn_loop: &mut TornLoop<'_>, mut guess: Vec<f64>, whole: &[f64]) -> Option<LoopState> {
    let count = guess.len();
    let (mut done, mut step) = (0.0, FIRST);
    for _ in 0..MOST_STEPS {
        let next = f64::min(done + step, 1.0);
        torn_loop.shift(whole, 1.0 - next);
        match iterate(torn_loop, guess.clone()) {
            Ok(state) if next == 1.0 => return Some(state),
            Ok(state) => {
                guess = state.values[..count].to_vec();
                (done, step) = (next, 2.0 * step);
            }
            Err(_) => {
                step /= 4.0;
                if step < SHORTEST {
                    return None;
                }
            }
        }
    }
    None
}
