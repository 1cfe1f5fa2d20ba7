//! Axes: their range, their ticks and labels.
//!
//! Before: a least and a greatest value, any finite doubles. After: an axis that contains both,
//! with ticks at multiples of 1, 2 or 5 and labels of a few digits. Very small and very large
//! values are divided by a power of ten (its exponent is a multiple of three), which is written in
//! the label of the axis: as a prefix of the unit if there is one.

/// An axis. Its labels are values divided by `10^exponent`.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    pub exponent: i32,
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<f64>,
    pub labels: Vec<String>,
}

/// How an axis is made from its range.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// Free space at each end, as a fraction of the range.
    pub padding: f64,
    /// The largest number of ticks.
    pub ticks: usize,
    /// A range smaller than this fraction of the values is noise, and is drawn as a flat line.
    pub least: f64,
}

impl Scale {
    pub fn new(low: f64, high: f64, wish: Wish) -> Scale {
        let size = low.abs().max(high.abs());
        let exponent = exponent_of(size, high / 2.0 - low / 2.0);
        let (mut low, mut high) = (scaled(low, exponent), scaled(high, exponent));
        let size = low.abs().max(high.abs());
        if high - low <= size * wish.least {
            let middle = low + (high - low) / 2.0;
            let half = match high > low {
                true => size * wish.least / 2.0,
                false if size > 0.0 => size / 10.0,
                false => 1.0,
            };
            (low, high) = (middle - half, middle + half);
        }
        let padding = (high - low) * wish.padding;
        let (low, high) = (low - padding, high + padding);
        let mut step = step((high - low) / wish.ticks.max(1) as f64);
        let (mut first, mut last) = multiples(low, high, step);
        // At least three ticks, or two if there is little room: with fewer the scale cannot be
        // read.
        let least = if wish.ticks > 2 { 2 } else { 1 };
        while last - first < least {
            step = finer(step);
            (first, last) = multiples(low, high, step);
        }
        let ticks: Vec<f64> = (first..=last).map(|at| at as f64 * step).collect();
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let labels = ticks.iter().map(|&tick| label(tick, decimals)).collect();
        Scale {
            exponent,
            low,
            high,
            ticks,
            labels,
        }
    }

    /// Returns where a value lies, from 0 (low end) to 1.
    pub fn part(&self, value: f64) -> f64 {
        self.part_of_scaled(scaled(value, self.exponent))
    }

    pub fn part_of_scaled(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Returns the unit as it is written in the label of the axis: `mV`, `10⁻⁶ kg`, `10⁹`.
    pub fn unit(&self, unit: Option<&str>) -> Option<String> {
        if self.exponent == 0 {
            return unit.map(str::to_string);
        }
        let power = format!("10{}", superscript(self.exponent));
        match unit {
            None => Some(power),
            Some(unit) => Some(match prefix(unit, self.exponent) {
                Some(prefix) => format!("{prefix}{unit}"),
                None => format!("{power} {unit}"),
            }),
        }
    }
}

/// Returns the exponent of an axis, zero if labels are short. `half` is half of the range: a narrow
/// range needs all digits anyway, and 101325.2 is clearer than 101.3252 thousands.
fn exponent_of(size: f64, half: f64) -> i32 {
    if size == 0.0 {
        return 0;
    }
    let digit = size.log10().floor() as i32;
    let narrow = half > 0.0 && half < size * 5e-3;
    match digit {
        -2..=3 => 0,
        4..=7 if narrow => 0,
        _ => digit.div_euclid(3) * 3,
    }
}

/// Returns `value / 10^exponent`, without overflow in between.
fn scaled(value: f64, exponent: i32) -> f64 {
    let first = exponent.clamp(-300, 300);
    let rest = exponent - first;
    value / 10f64.powi(first) / 10f64.powi(rest)
}

/// Returns the next number of the form 1, 2 or 5 times a power of ten.
fn step(raw: f64) -> f64 {
    let digit = raw.log10().floor() as i32;
    let base = 10f64.powi(digit);
    let times = raw / base;
    // Formatted as a decimal and parsed again: 3 times 0.1 is not 0.3, but the parsed number is as
    // exact as possible.
    let times = [1, 2, 5]
        .into_iter()
        .find(|&t| times <= f64::from(t) + 1e-9);
    match times {
        Some(times) => format!("{times}e{digit}").parse(),
        None => format!("1e{}", digit + 1).parse(),
    }
    .unwrap_or(base)
}

/// Returns the first and the last multiple of a step in a range.
fn multiples(low: f64, high: f64, step: f64) -> (i64, i64) {
    // The tolerance is for rounding: a range that ends at a tick includes the tick.
    let first = (low / step - 1e-6).ceil() as i64;
    let last = (high / step + 1e-6).floor() as i64;
    (first, last)
}

/// Returns the next smaller step: 5, 2, 1, 0.5.
fn finer(coarse: f64) -> f64 {
    step(coarse / 2.6)
}

fn label(tick: f64, decimals: usize) -> String {
    let text = format!("{tick:.decimals$}");
    // The typographic minus sign, as wide as a digit.
    text.replacen('-', "\u{2212}", 1)
}

pub(super) fn superscript(number: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number
        .to_string()
        .chars()
        .map(|c| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]))
        .collect()
}

/// Units that take a prefix: kg, m2 and 1/s do not.
const PREFIXED: [&str; 24] = [
    "V", "A", "W", "J", "N", "Pa", "Hz", "F", "H", "Ohm", "ohm", "Ω", "C", "m", "s", "T", "Wb",
    "S", "K", "m/s", "N.m", "Nm", "N*m", "V/m",
];

fn prefix(unit: &str, exponent: i32) -> Option<&'static str> {
    if !PREFIXED.contains(&unit) || (unit == "s" && exponent > 0) {
        return None;
    }
    Some(match exponent {
        -15 => "f",
        -12 => "p",
        -9 => "n",
        -6 => "µ",
        -3 => "m",
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        _ => return None,
    })
}
