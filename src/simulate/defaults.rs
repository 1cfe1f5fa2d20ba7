//! The default end time of a run.
//!
//! The eigenvalues of the model at its start give its time constants and periods: a run is as long as the slowest motion
//! needs to decay, or to swing a few times. It is longer if sources with a slower sine or a later time event need more.

use nalgebra::DMatrix;

use super::begin::begin;
use super::events::Events;
use crate::passes::blocks::Solved;
use crate::program::Program;
use crate::program::code::Op;
use crate::program::machine::{Extent, Machine};

/// No eigenvalues are computed for larger models.
const LARGEST: usize = 200;
/// A decay is over after so many time constants.
const TIME_CONSTANTS: f64 = 7.0;
/// An oscillation is shown for so many periods.
const PERIODS: f64 = 10.0;
/// Eigenvalues smaller than this, relative to the largest, count as zero: the model only integrates there.
const ZERO: f64 = 1e-9;

/// A round end time after the start, and why.
pub fn until(solved: &Solved, program: &Program, start: f64) -> (f64, &'static str) {
    let spans = spans(solved, program, start).unwrap_or_default();
    let (span, why) = match (spans.motion, spans.outside) {
        (Some(motion), Some(outside)) if outside > motion => (outside, OUTSIDE),
        (Some(motion), _) => (motion, "from the slowest motion at the start"),
        (None, Some(outside)) => (outside, OUTSIDE),
        (None, None) => (1.0, "nothing tells how fast the model is"),
    };
    (start + round_up(span), why)
}

const OUTSIDE: &str = "from what acts on it in time";

#[derive(Clone, Copy, Debug, Default)]
struct Spans {
    /// The time that the motion of the model needs.
    motion: Option<f64>,
    /// The time that its sources need: a few periods of a sine, twice the first time event.
    outside: Option<f64>,
}

/// The spans, as far as the start shows them; `None` if it cannot be computed.
fn spans(solved: &Solved, program: &Program, start: f64) -> Option<Spans> {
    let mut machine = Machine::new(program);
    let states = begin(solved, program, &mut machine, (start, false)).ok()?;
    let mut events = Events::new(program, 1.0);
    if program.has_events() {
        events.begin(solved, &mut machine, (start, &states)).ok()?;
    }
    machine.evaluate_event(start, &states).ok()?;
    let known = match program.has_known_times() {
        true => events.next_time_event(&mut machine, start) - start,
        false => f64::INFINITY,
    };
    let known = (known > 0.0 && known.is_finite()).then_some(2.0 * known);
    let outside = known.into_iter().chain(sine(&mut machine));
    Some(Spans {
        outside: outside.reduce(f64::max),
        motion: longest(&mut machine, start, &states),
    })
}

/// Periods of the slowest sine of Time.
fn sine(machine: &mut Machine<'_>) -> Option<f64> {
    const PERIODS: f64 = 3.0;
    let slowest = sines(machine).into_iter().reduce(f64::min)?;
    Some(PERIODS * std::f64::consts::TAU / slowest)
}

/// The angular frequency of the fastest sine of Time.
pub fn fastest_sine(machine: &mut Machine<'_>) -> Option<f64> {
    sines(machine).into_iter().reduce(f64::max)
}

/// The angular frequencies of all sines of Time: the slopes of their arguments while the states are constant.
fn sines(machine: &mut Machine<'_>) -> Vec<f64> {
    let no_rates = vec![0.0; machine.program.state_count()];
    if machine.along_time(&no_rates).is_err() {
        return Vec::new();
    }
    (machine.program.event.code.iter())
        .filter(|instruction| matches!(instruction.op, Op::Sin | Op::Cos))
        .map(|instruction| machine.slope(instruction.a).abs())
        .filter(|&speed| speed > 0.0 && speed.is_finite())
        .collect()
}

/// The time that the slowest motion at the start needs.
fn longest(machine: &mut Machine<'_>, start: f64, states: &[f64]) -> Option<f64> {
    let size = states.len();
    if size == 0 || size > LARGEST {
        return None;
    }
    machine.evaluate(start, states, Extent::Rates).ok()?;
    let mut jacobian = machine.pattern().map(|()| 0.0);
    machine.jacobian(jacobian.data_mut()).ok()?;
    let mut matrix = DMatrix::zeros(size, size);
    for (&entry, place) in &jacobian {
        matrix[place] = entry;
    }
    if matrix.iter().any(|entry: &f64| !entry.is_finite()) {
        return None;
    }
    let values = nalgebra::linalg::Schur::try_new(matrix, f64::EPSILON, 10_000)?;
    let values = values.complex_eigenvalues();
    let fastest = values
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.norm()));
    let span = |value: &nalgebra::Complex<f64>| {
        let decay = TIME_CONSTANTS / value.re.abs();
        let oscillation = PERIODS * std::f64::consts::TAU / value.im.abs();
        match value.im == 0.0 {
            true => decay,
            false => decay.min(oscillation),
        }
    };
    (values.iter())
        .filter(|value| value.norm() > ZERO * fastest)
        .map(span)
        .filter(|span| span.is_finite())
        .reduce(f64::max)
}

/// 1, 2 or 5 times a power of ten.
fn round_up(span: f64) -> f64 {
    let exponent = span.log10().floor();
    let power = 10f64.powi(exponent as i32);
    let digits = span / power;
    let digits = match digits {
        digits if digits <= 1.0 => 1.0,
        digits if digits <= 2.0 => 2.0,
        digits if digits <= 5.0 => 5.0,
        _ => 10.0,
    };
    // Parsed from its text, so that the result is 5e-5 and not 0.00005000000000000001.
    format!("{digits}e{exponent}")
        .parse()
        .unwrap_or(digits * power)
}
