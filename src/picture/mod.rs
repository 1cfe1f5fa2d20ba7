//! Where rows go: files, pictures, the terminal.
//!
//! Before: trajectories are plain numbers with names. After: text. [`csv`] and [`sweep`] write rows
//! as they come, [`svg`] and [`terminal`] draw what is complete, [`panels`] decides what is drawn
//! together, [`scale`] and [`thin`] serve both pictures, [`progress`] says how far a run is, [`files`] puts trouble with files in words.
//! Nothing here knows the simulator.

pub mod bond;
pub mod panels;
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
    /// Values are 0 and 1 and hold until the next time.
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

    /// The unit, if there is one to show.
    pub fn shown_unit(&self) -> Option<&str> {
        self.unit.as_deref().filter(|unit| !unit.trim().is_empty())
    }
}

/// What one run gives. Times do not decrease; an event is two rows with the same time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectories {
    pub times: Vec<f64>,
    pub series: Vec<Series>,
}

impl Trajectories {
    /// Series without values, for rows to come.
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
    /// As a legend says it: `R1.R = 10`.
    pub label: String,
    pub parameters: Vec<(String, f64)>,
    pub result: Trajectories,
}

/// The least and the greatest of the values that are finite.
pub(crate) fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .filter(|value| value.is_finite())
        .fold(None, |range, value| match range {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        })
}
