//! The explicit method of Tsitouras: order 5 with an embedded error of order 4, and values of order 4 inside each step.
//!
//! Ch. Tsitouras, Runge-Kutta pairs of order 5(4) satisfying only the first column simplifying assumption, Computers and
//! Mathematics with Applications 62 (2011). The control of the step size, and the test for stiffness, are those of DOPRI5 (Hairer
//! and Wanner, Solving Ordinary Differential Equations II, section IV.2). A step allocates nothing.

use super::first::{FirstPoint, fastest, norm};
use super::{Counts, Integrator, IntegratorError, Settings, System};

/// By stage, the part of the step where its rates are evaluated.
const NODES: [f64; 7] = [0.0, 0.161, 0.327, 0.9, 0.980_025_540_904_509_7, 1.0, 1.0];

/// By stage, the weights of the rates of earlier stages. The last one is the end of the step.
const WEIGHTS: [&[f64]; 7] = [
    &[],
    &[0.161],
    &[-0.008_480_655_492_356_989, 0.335_480_655_492_357],
    &[
        2.897_153_057_105_493_5,
        -6.359_448_489_975_075,
        4.362_295_432_869_581_5,
    ],
    &[
        5.325_864_828_439_257,
        -11.748_883_564_062_828,
        7.495_539_342_889_836_5,
        -0.092_495_066_361_755_25,
    ],
    &[
        5.861_455_442_946_42,
        -12.920_969_317_847_11,
        8.159_367_898_576_159,
        -0.071_584_973_281_401,
        -0.028_269_050_394_068_383,
    ],
    &[
        0.096_460_766_818_065_23,
        0.01,
        0.479_889_650_414_499_6,
        1.379_008_574_103_742,
        -3.290_069_515_436_081,
        2.324_710_524_099_774,
    ],
];

/// The difference between the methods of order 5 and 4.
const ERROR: [f64; 7] = [
    -0.001_780_011_052_225_777_2,
    -0.000_816_434_459_656_746_9,
    0.007_880_878_010_261_995,
    -0.144_711_007_173_262_9,
    0.582_357_165_452_555_2,
    -0.458_082_105_929_186_97,
    0.015_151_515_151_515_152,
];

/// Values inside a step: by stage, the factors of the powers of its part, from the first on.
const INSIDE: [[f64; 4]; 7] = [
    [
        1.0,
        -2.763_706_197_274_826,
        2.913_255_461_821_912_6,
        -1.053_088_497_729_021_6,
    ],
    [0.0, 0.131_7, -0.223_4, 0.101_7],
    [
        0.0,
        3.930_296_236_894_751_6,
        -5.941_033_872_131_505,
        2.490_627_285_651_253,
    ],
    [
        0.0,
        -12.411_077_166_933_676,
        30.338_188_630_282_32,
        -16.548_102_889_244_902,
    ],
    [
        0.0,
        37.509_313_416_511_04,
        -88.178_904_894_766_4,
        47.379_521_962_819_28,
    ],
    [
        0.0,
        -27.896_526_289_197_286,
        65.091_894_674_793_66,
        -34.870_657_861_496_61,
    ],
    [0.0, 1.5, -4.0, 2.5],
];

const STAGES: usize = 7;

/// Steps of DOPRI5 change their size by at most these factors.
const SHRINK: f64 = 0.2;
const GROW: f64 = 5.0;
const SAFETY: f64 = 0.9;
/// The part of the last error in the choice of the next size, which keeps sizes from swinging.
const MEMORY: f64 = 0.04;

pub(super) struct Explicit<'s> {
    system: &'s dyn System,
    absolute: Vec<f64>,
    relative: f64,
    longest: f64,
    /// The end of the last step, and its beginning.
    time: f64,
    before: f64,
    states: Vec<f64>,
    /// The states at the beginning of the last step.
    begun: Vec<f64>,
    /// By stage of the last step.
    rates: [Vec<f64>; STAGES],
    /// The first rates are those at the present states; false after a step, when the last ones are.
    is_fresh: bool,
    error: Vec<f64>,
    /// The states of the last two stages.
    inner: Vec<f64>,
    next: Vec<f64>,
    /// The size of the next step where no stop shortens it, and that of the last one; zero after a restart.
    size: f64,
    taken: f64,
    /// The size that the first step after the last restart could have had.
    first: Option<f64>,
    is_first: bool,
    last_error: f64,
    stiffness: Stiffness,
    counts: Counts,
}

/// Steps whose size the stability of the method limits, not its error.
#[derive(Debug, Default)]
struct Stiffness {
    limited: u32,
    free: u32,
}

impl Stiffness {
    /// So many steps in a row, but for a few, are enough to say so.
    const MANY: u32 = 15;
    const FEW: u32 = 6;
    /// The method is stable up to about this product of the step and the largest rate.
    const BOUND: f64 = 3.25;

    fn note(&mut self, product: f64) {
        if product > Self::BOUND {
            self.limited += 1;
            self.free = 0;
        } else {
            self.free += 1;
            if self.free == Self::FEW {
                self.limited = 0;
            }
        }
    }
}

impl<'s> Explicit<'s> {
    pub(super) fn new(
        system: &'s dyn System,
        settings: &Settings,
        time: f64,
        states: &[f64],
    ) -> Result<Explicit<'s>, IntegratorError> {
        let size = system.size();
        let zeros = || vec![0.0; size];
        let mut made = Explicit {
            system,
            absolute: (settings.absolute.iter())
                .map(|value| value.max(1e-300))
                .collect(),
            relative: settings.relative,
            longest: settings.longest.unwrap_or(f64::INFINITY),
            time,
            before: time,
            states: states.to_vec(),
            begun: states.to_vec(),
            rates: std::array::from_fn(|_| zeros()),
            is_fresh: false,
            error: zeros(),
            inner: zeros(),
            next: zeros(),
            size: 0.0,
            taken: 0.0,
            first: None,
            is_first: true,
            last_error: 1e-4,
            stiffness: Stiffness::default(),
            counts: Counts::default(),
        };
        made.restart(time, states, false)?;
        Ok(made)
    }

    /// Whether stability has limited many steps in a row.
    pub(super) fn is_stiff(&self) -> bool {
        self.stiffness.limited >= Stiffness::MANY
    }

    /// Forgets what was seen of stiffness.
    pub(super) fn forget_stiffness(&mut self) {
        self.stiffness = Stiffness::default();
    }

    /// Tries a step; the weighted error, or the state whose rate is not finite.
    fn attempt(&mut self, size: f64) -> Result<f64, usize> {
        for stage in 1..STAGES {
            self.next.copy_from_slice(&self.states);
            for (&weight, rates) in WEIGHTS[stage].iter().zip(&self.rates) {
                add(&mut self.next, size * weight, rates);
            }
            let time = self.time + NODES[stage] * size;
            self.counts.rates += 1;
            self.system.rates(time, &self.next, &mut self.rates[stage]);
            let missing = |rate: &f64| !rate.is_finite();
            if let Some(state) = self.rates[stage].iter().position(missing) {
                return Err(state);
            }
            if stage == STAGES - 2 {
                self.inner.copy_from_slice(&self.next);
            }
        }
        self.error.fill(0.0);
        for (&weight, rates) in ERROR.iter().zip(&self.rates) {
            add(&mut self.error, size * weight, rates);
        }
        if let Some(state) = self.next.iter().position(|value| !value.is_finite()) {
            return Err(state);
        }
        Ok(norm(
            &self.error,
            &self.states,
            &self.absolute,
            self.relative,
        ))
    }

    /// h |f(y7) - f(y6)| / |y7 - y6|, the last two stages.
    fn stability(&mut self, size: f64) -> f64 {
        let (mut fast, mut far) = (0.0, 0.0);
        for k in 0..self.next.len() {
            let weight = self.absolute[k] + self.relative * self.next[k].abs();
            let rate = (self.rates[6][k] - self.rates[5][k]) / weight;
            let apart = (self.next[k] - self.inner[k]) / weight;
            fast += rate * rate;
            far += apart * apart;
        }
        match far > 0.0 {
            true => size.abs() * (fast / far).sqrt(),
            false => 0.0,
        }
    }

    fn factor(&self, error: f64, rejected: bool) -> f64 {
        let raw = error.max(1e-10).powf(0.2 - 0.75 * MEMORY) / SAFETY;
        match rejected {
            true => (1.0 / raw).clamp(SHRINK, 1.0),
            false => (self.last_error.powf(MEMORY) / raw).clamp(SHRINK, GROW),
        }
    }

    fn too_small(&self, missing: Option<usize>) -> IntegratorError {
        let time = self.time;
        if let state @ Some(_) = missing {
            return IntegratorError::NotFinite { time, state };
        }
        let rates = &self.rates[0];
        let state = fastest(rates, &self.states, &self.absolute, self.relative);
        IntegratorError::StepTooSmall { time, state }
    }
}

fn add(to: &mut [f64], factor: f64, rates: &[f64]) {
    for (to, rate) in to.iter_mut().zip(rates) {
        *to += factor * rate;
    }
}

impl Integrator for Explicit<'_> {
    fn time(&self) -> f64 {
        self.time
    }

    fn before(&self) -> f64 {
        self.before
    }

    fn states(&self) -> &[f64] {
        &self.states
    }

    fn step(&mut self, stop: f64) -> Result<(), IntegratorError> {
        let left = stop - self.time;
        let resolution = 100.0 * f64::EPSILON * self.time.abs();
        self.before = self.time;
        if left.is_nan() || left <= resolution {
            self.time = stop.max(self.time);
            self.begun.copy_from_slice(&self.states);
            self.taken = 0.0;
            return Ok(());
        }
        if !std::mem::replace(&mut self.is_fresh, true) {
            let (first, others) = self.rates.split_at_mut(1);
            std::mem::swap(&mut first[0], &mut others[STAGES - 2]);
        }
        let shortest = (4.0 * f64::EPSILON * self.time.abs())
            .max(1e-24 * self.size)
            .min(0.5 * left);
        let mut natural = self.size.min(self.longest);
        let mut rejected = false;
        loop {
            // Two equal steps to the stop are better than a long one and a tiny rest.
            let size = match natural {
                size if size >= left => left,
                size if size > 0.5 * left => 0.5 * left,
                size => size,
            };
            let tried = self.attempt(size);
            let (error, missing) = match tried {
                Ok(error) => (error, None),
                Err(state) => (f64::INFINITY, Some(state)),
            };
            if error <= 1.0 {
                let limited = size < natural;
                let factor = self.factor(error, rejected);
                self.last_error = error.max(1e-4);
                // A step that a stop has shortened says little about a longer one.
                natural = match limited && error < 0.1 {
                    true => natural.max(factor * size),
                    false => factor * size,
                };
                let product = self.stability(size);
                self.stiffness.note(product);
                std::mem::swap(&mut self.begun, &mut self.states);
                std::mem::swap(&mut self.states, &mut self.next);
                self.size = natural;
                self.taken = size;
                self.is_fresh = false;
                if std::mem::replace(&mut self.is_first, false) {
                    self.first = Some(natural);
                }
                self.counts.steps += 1;
                let now = self.time + size;
                self.time = match stop - now <= resolution.max(100.0 * f64::EPSILON * size) {
                    true => stop,
                    false => now,
                };
                return Ok(());
            }
            self.counts.rejected += 1;
            natural = match missing {
                None => size * self.factor(error, true),
                Some(_) => 0.25 * size,
            };
            rejected = true;
            if natural < shortest {
                return Err(self.too_small(missing));
            }
        }
    }

    fn limit(&mut self, longest: f64) {
        self.longest = longest;
    }

    fn interpolate(&self, time: f64, states: &mut [f64]) {
        let part = match self.taken > 0.0 {
            true => ((time - self.before) / self.taken).clamp(0.0, 1.0),
            false => 1.0,
        };
        if part >= 1.0 {
            states.copy_from_slice(&self.states[..states.len()]);
            return;
        }
        states.copy_from_slice(&self.begun[..states.len()]);
        for (factors, rates) in INSIDE.iter().zip(&self.rates) {
            let [a, b, c, d] = factors;
            let weight = part * (a + part * (b + part * (c + part * d)));
            add(states, self.taken * weight, rates);
        }
    }

    fn restart(
        &mut self,
        time: f64,
        states: &[f64],
        same_size: bool,
    ) -> Result<(), IntegratorError> {
        self.time = time;
        self.before = time;
        self.states.copy_from_slice(states);
        self.begun.copy_from_slice(states);
        self.taken = 0.0;
        self.counts.rates += 1;
        self.system.rates(time, states, &mut self.rates[0]);
        if let Some(state) = self.rates[0].iter().position(|rate| !rate.is_finite()) {
            let state = Some(state);
            return Err(IntegratorError::NotFinite { time, state });
        }
        self.is_fresh = true;
        self.is_first = true;
        self.last_error = 1e-4;
        // The same mode begins in the same way; if it does not, the error shortens the step.
        if let Some(first) = self.first.filter(|_| !same_size) {
            self.size = first;
            return Ok(());
        }
        let used = self.size;
        let point = FirstPoint {
            time,
            states,
            rates: &self.rates[0],
            absolute: &self.absolute,
            relative: self.relative,
            order: 5,
        };
        let (system, counts) = (self.system, &mut self.counts);
        let size = point.step_size(|time, states, rates| {
            counts.rates += 1;
            system.rates(time, states, rates);
            rates.iter().all(|rate| rate.is_finite())
        });
        self.size = match same_size {
            true => size.clamp(0.01 * used, used),
            false => size,
        }
        .min(self.longest)
        .max(16.0 * f64::EPSILON * time.abs());
        Ok(())
    }

    fn counts(&self) -> Counts {
        Counts {
            explicit: self.counts.steps,
            ..self.counts
        }
    }
}
