//! The size of the first step.
//!
//! After Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, section II.4, but independent of the unit of
//! time: instead of 1e-6 s this uses the time in which the states change by about their tolerances.

/// The root mean square of values, each weighted by the tolerance of its state.
pub(super) fn norm(values: &[f64], states: &[f64], absolute: &[f64], relative: f64) -> f64 {
    let squares = (values.iter().zip(states).zip(absolute)).map(|((value, state), absolute)| {
        let weighted = value / (absolute + relative * state.abs());
        weighted * weighted
    });
    (squares.sum::<f64>() / values.len().max(1) as f64).sqrt()
}

/// The state that changes fastest relative to its tolerance.
pub(super) fn fastest(
    rates: &[f64],
    states: &[f64],
    absolute: &[f64],
    relative: f64,
) -> Option<usize> {
    let speed = |k: usize| rates[k].abs() / (absolute[k] + relative * states[k].abs());
    (0..rates.len())
        .filter(|&k| rates[k] != 0.0)
        .max_by(|&a, &b| speed(a).total_cmp(&speed(b)))
}

/// The values at which the step begins.
pub(super) struct FirstPoint<'a> {
    pub(super) time: f64,
    pub(super) states: &'a [f64],
    pub(super) rates: &'a [f64],
    pub(super) absolute: &'a [f64],
    pub(super) relative: f64,
    /// The order of the method in its first step.
    pub(super) order: i32,
}

impl FirstPoint<'_> {
    /// A size for the first step. `evaluate` computes the rates at a time and states; true if they are finite.
    pub(super) fn step_size(
        &self,
        mut evaluate: impl FnMut(f64, &[f64], &mut [f64]) -> bool,
    ) -> f64 {
        let norm = |values: &[f64]| norm(values, self.states, self.absolute, self.relative);
        let (large, fast) = (norm(self.states), norm(self.rates));
        // All rates are zero now, but they may depend on time.
        let mut size = match fast > 0.0 {
            true => 0.01 * large.max(1.0) / fast,
            false => 1e-6 * self.time.abs().max(1.0),
        };
        let mut ahead = vec![0.0; self.states.len()];
        let mut rates = vec![0.0; self.states.len()];
        for _ in 0..60 {
            for (k, ahead) in ahead.iter_mut().enumerate() {
                *ahead = self.states[k] + size * self.rates[k];
            }
            if evaluate(self.time + size, &ahead, &mut rates) {
                break;
            }
            size *= 0.1;
        }
        for (rate, begin) in rates.iter_mut().zip(self.rates) {
            *rate -= begin;
        }
        let curved = norm(&rates) / size;
        let steep = fast.max(curved);
        let wanted = match steep > 0.0 && steep.is_finite() {
            true => (0.01 / steep).powf(1.0 / f64::from(self.order + 1)),
            false => size,
        };
        wanted.min(100.0 * size)
    }
}
