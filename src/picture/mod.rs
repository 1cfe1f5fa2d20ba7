//! Pictures of trajectories and of bond graphs, as SVG, PNG and text.
//!
//! Before: trajectories, plain numbers with names. After: text or pixels. [`svg`] and [`terminal`]
//! draw trajectories, [`panels`] decides what is drawn together, `scale` and `thin` serve both.
//! [`chart`] draws Bode plots and root loci, [`bond`] bond graphs, [`png`] converts any SVG of this room to pixels. Nothing here knows
//! the simulator.

pub mod bond;
pub mod chart;
pub mod panels;
pub mod png;
pub mod scale;
pub mod svg;
pub mod terminal;
pub mod thin;

/// The values of one variable, one for each time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    pub name: String,
    pub unit: Option<String>,
    pub values: Vec<f64>,
    /// The values are 0 and 1, and each holds until the next time.
    pub boolean: bool,
}

impl Series {
    pub fn new(name: impl Into<String>, unit: Option<&str>, values: Vec<f64>) -> Series {
        Series {
            name: name.into(),
            unit: unit.map(str::to_string),
            values,
            boolean: false,
        }
    }

    pub fn boolean(name: impl Into<String>, values: Vec<f64>) -> Series {
        Series {
            boolean: true,
            ..Series::new(name, None, values)
        }
    }

    /// Returns the unit, if there is one to show.
    pub fn shown_unit(&self) -> Option<&str> {
        self.unit.as_deref().filter(|unit| !unit.trim().is_empty())
    }
}

/// The results of one run. Times do not decrease; an event is two rows with the same time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectories {
    pub times: Vec<f64>,
    pub series: Vec<Series>,
}

impl Trajectories {
    /// Makes trajectories without rows.
    pub fn of(series: impl Iterator<Item = Series>) -> Trajectories {
        Trajectories {
            times: Vec::new(),
            series: series.collect(),
        }
    }

    pub fn push(&mut self, time: f64, values: &[f64]) {
        self.times.push(time);
        for (series, &value) in self.series.iter_mut().zip(values) {
            series.values.push(value);
        }
    }
}

/// One run of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The label in a legend: `R1.R = 10`.
    pub label: String,
    pub parameters: Vec<(String, f64)>,
    pub result: Trajectories,
}

/// Returns the least and the greatest of the finite values.
pub(crate) fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .filter(|value| value.is_finite())
        .fold(None, |range, value| match range {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        })
}
