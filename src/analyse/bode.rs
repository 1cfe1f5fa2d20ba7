//! A frequency response over a range, and its margins.
//!
//! Before: linearised equations. After: values at frequencies that are dense where the response turns fast. The range is a
//! decade beyond the slowest and the fastest pole or zero that shows in the response.

use std::f64::consts::PI;

use faer::c64;

use super::linearised::Linearised;
use super::matrices::Matrices;
use super::poles::{MOST, Wanted, full, poles};
use super::response::Response;
use super::zeros::{cancelled, zeros};
use crate::base::cancel::check;
use crate::numeric::eigen::eigenvalues;

/// Frequencies in Hz.
#[derive(Clone, Debug, PartialEq)]
pub struct Bode {
    pub frequency: Vec<f64>,
    pub values: Vec<c64>,
    pub margins: Margins,
}

/// Where the closed loop -1/(1 + H) would be at its limit; `None` where there is no such frequency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Margins {
    pub gain_db: Option<f64>,
    pub phase_deg: Option<f64>,
    /// Where |H| = 1.
    pub gain_crossover: Option<f64>,
    /// Where the phase is -180 degrees.
    pub phase_crossover: Option<f64>,
}

impl Bode {
    pub fn magnitude_db(&self) -> Vec<f64> {
        self.values.iter().map(|value| decibels(*value)).collect()
    }

    /// In degrees, without jumps from one turn to the next. It begins between -180 (included) and 180.
    pub fn phase_deg(&self) -> Vec<f64> {
        let plain: Vec<f64> = (self.values.iter())
            .map(|value| value.im.atan2(value.re).to_degrees())
            .collect();
        let mut found: Vec<f64> = Vec::with_capacity(plain.len());
        for (at, &phase) in plain.iter().enumerate() {
            let Some(&before) = found.last() else {
                // Two integrators: from there it falls.
                found.push(if phase >= 180.0 - 1e-6 {
                    phase - 360.0
                } else {
                    phase
                });
                continue;
            };
            let mut turn = (phase - before).rem_euclid(360.0);
            if turn > 180.0 {
                turn -= 360.0;
            }
            if turn.abs() > HALF {
                // A pole or a zero on the axis: as if it were a little to the left, where what decays is.
                let size = |at: usize| self.values.get(at).map_or(0.0, |value| value.norm());
                let dips = size(at - 1).min(size(at)) < size(at.wrapping_sub(2)).max(size(at + 1));
                let peaks =
                    size(at - 1).max(size(at)) > 2.0 * size(at.wrapping_sub(2)).max(size(at + 1));
                match (dips && !peaks, turn > 0.0) {
                    (true, false) => turn += 360.0,
                    (false, true) => turn -= 360.0,
                    _ => {}
                }
            }
            found.push(before + turn);
        }
        found
    }
}

/// A turn from one frequency to the next beyond this, in degrees, is a jump by 180.
const HALF: f64 = 150.0;

pub fn decibels(value: c64) -> f64 {
    20.0 * value.norm().log10()
}

const POINTS: usize = 200;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// In Hz; `None`: chosen.
    pub range: Option<(f64, f64)>,
    /// `None`: 200, and more where the response turns fast.
    pub points: Option<usize>,
}

/// Computes it; `None` if the response has no value anywhere in the range.
pub fn bode(
    linear: &Linearised,
    matrices: &Matrices,
    (input, output): (usize, usize),
    span: Span,
) -> Option<Bode> {
    let mut response = Response::new(linear, matrices, input, output);
    let features = features(linear, matrices, (input, output));
    let (low, high) = span.range.unwrap_or_else(|| range(&features));
    let mut grid = spaced(low, high, span.points.unwrap_or(POINTS));
    // Resonances and notches are narrow.
    for root in features.iter().filter(|_| span.points.is_none()) {
        let (frequency, damping) = (root.norm() / (2.0 * PI), (root.re / root.norm()).abs());
        if damping < 0.5 {
            // On the axis itself there is nothing, or no end.
            let middle = if damping < 1e-6 { 1.0 } else { 0.0 };
            let beside = [-3.0, -1.0, -0.3, middle, 0.3, 1.0, 3.0];
            grid.extend(beside.map(|step| frequency * (1.0 + step * damping.max(1e-6))));
        }
    }
    grid.retain(|frequency| (low..=high).contains(frequency));
    grid.sort_by(f64::total_cmp);
    grid.dedup();
    let mut found: Vec<(f64, c64)> = Vec::with_capacity(grid.len());
    for frequency in grid {
        check();
        found.extend(
            response
                .at_frequency(frequency)
                .map(|value| (frequency, value)),
        );
    }
    if found.is_empty() {
        return None;
    }
    if matrices.a.rows.len() < MOST && span.points.is_none() {
        refine(&mut response, &mut found);
    }
    let margins = match matrices.a.rows.len() < MOST {
        true => {
            let mut wide = found.clone();
            let beyond = [spaced(low * 1e-3, low, 61), spaced(high, high * 1e3, 61)];
            for frequency in beyond.concat() {
                wide.extend(
                    response
                        .at_frequency(frequency)
                        .map(|value| (frequency, value)),
                );
            }
            wide.sort_by(|a, b| a.0.total_cmp(&b.0));
            margins(&mut response, &wide)
        }
        false => margins(&mut response, &found),
    };
    let (frequency, values) = found.into_iter().unzip();
    Some(Bode {
        frequency,
        values,
        margins,
    })
}

/// Poles and zeros that show in the response, but for zero.
fn features(linear: &Linearised, matrices: &Matrices, (input, output): (usize, usize)) -> Vec<c64> {
    let size = matrices.a.rows.len();
    if size >= MOST {
        // The slowest ones, and a bound on the fastest.
        let slow = poles(linear, matrices, Wanted::Near(c64::new(0.0, 0.0), 2));
        let mut found: Vec<c64> = slow.iter().flatten().map(|pole| pole.value).collect();
        let rows = matrices.a.rows.iter();
        let most = rows.map(|row| row.iter().map(|(_, value)| value.abs()).sum::<f64>());
        found.push(c64::new(-most.fold(0.0, f64::max), 0.0));
        found.retain(|root| root.norm() > 0.0);
        return found;
    }
    let values = eigenvalues(&full(matrices)).unwrap_or_default();
    let of = zeros(matrices, input, output);
    let (mut shown, mut roots) = (values.clone(), Vec::new());
    if let Some(of) = of {
        for (zero, gone) in of.zeros.iter().zip(cancelled(&of.zeros, &values)) {
            if !gone {
                roots.push(*zero);
                continue;
            }
            let distance = |pole: &c64| (pole - zero).norm();
            let nearest = (0..shown.len())
                .min_by(|&a, &b| distance(&shown[a]).total_cmp(&distance(&shown[b])));
            nearest.map(|at| shown.swap_remove(at));
        }
    }
    shown.extend(roots);
    let largest = shown.iter().map(|root| root.norm()).fold(0.0, f64::max);
    // Poles at zero that rounding has moved.
    shown.retain(|root| root.norm() > 1e-12 * largest);
    shown
}

fn range(features: &[c64]) -> (f64, f64) {
    /// A wider one shows nothing.
    const DECADES: f64 = 14.0;
    let logs = features
        .iter()
        .map(|root| (root.norm() / (2.0 * PI)).log10());
    let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| {
        (low.min(at), high.max(at))
    });
    if low > high {
        return (0.01, 100.0);
    }
    let high = (high + 1.0).ceil();
    let low = (low - 1.0).floor().max(high - DECADES);
    (10_f64.powf(low), 10_f64.powf(high))
}

fn spaced(low: f64, high: f64, points: usize) -> Vec<f64> {
    let last = points.max(2) - 1;
    (0..=last)
        .map(|at| match at {
            0 => low,
            at if at == last => high,
            at => low * (high / low).powf(at as f64 / last as f64),
        })
        .collect()
}

/// Halves intervals in which the phase turns far.
fn refine(response: &mut Response, found: &mut Vec<(f64, c64)>) {
    /// In degrees.
    const FAR: f64 = 20.0;
    const ROUNDS: usize = 8;
    const MOST_POINTS: usize = 4_000;
    for _ in 0..ROUNDS {
        let turned = |a: c64, b: c64| {
            let turn = b * a.conj();
            turn.im.atan2(turn.re).to_degrees().abs()
        };
        let between: Vec<f64> = (found.windows(2))
            .filter(|pair| {
                turned(pair[0].1, pair[1].1) > FAR && pair[1].0 > pair[0].0 * (1.0 + 1e-9)
            })
            .map(|pair| (pair[0].0 * pair[1].0).sqrt())
            .collect();
        if between.is_empty() || found.len() + between.len() > MOST_POINTS {
            return;
        }
        for frequency in between {
            found.extend(
                response
                    .at_frequency(frequency)
                    .map(|value| (frequency, value)),
            );
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
}

/// Crossings are found between neighbours and located by halving. Of several the least margin counts.
fn margins(response: &mut Response, found: &[(f64, c64)]) -> Margins {
    let mut margins = Margins::default();
    for pair in found.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        if (a.1.norm() > 1.0) != (b.1.norm() > 1.0)
            && let Some((frequency, value)) = located(response, a, b, &|value| value.norm().ln())
        {
            let phase = value.im.atan2(value.re).to_degrees().rem_euclid(360.0) - 180.0;
            if margins
                .phase_deg
                .is_none_or(|known| phase.abs() < known.abs())
            {
                (margins.phase_deg, margins.gain_crossover) = (Some(phase), Some(frequency));
            }
        }
        // What is real but for rounding crosses nothing.
        let turns = |value: c64| value.im.abs() > 1e-10 * value.norm();
        if (a.1.im > 0.0) != (b.1.im > 0.0)
            && (turns(a.1) || turns(b.1))
            && let Some((frequency, value)) = located(response, a, b, &|value| value.im)
            && value.re < 0.0
            && value.im.abs() < 1e-3 * value.norm()
        {
            let gain = -decibels(value);
            if margins.gain_db.is_none_or(|known| gain.abs() < known.abs()) {
                (margins.gain_db, margins.phase_crossover) = (Some(gain), Some(frequency));
            }
        }
    }
    margins
}

fn located(
    response: &mut Response,
    a: (f64, c64),
    b: (f64, c64),
    of: &dyn Fn(c64) -> f64,
) -> Option<(f64, c64)> {
    let (mut low, mut high) = (a.0, b.0);
    let above = of(a.1) > 0.0;
    let mut best = a;
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        if middle <= low || middle >= high {
            break;
        }
        let value = response.at_frequency(middle)?;
        best = (middle, value);
        match (of(value) > 0.0) == above {
            true => low = middle,
            false => high = middle,
        }
    }
    Some(best)
}
