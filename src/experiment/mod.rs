//! Experiments: the settings of a run, from a file and from the command line.
//!
//! Before: a flat model, the files with their experiments, and a [`Request`] with the settings of the command line. After
//! [`ExperimentSources::apply_chosen`]: parameters, start values and inputs of the flat model are those of the experiment, so
//! that sorting and solving use them (zeros, states, derivatives of inputs); all other settings are in an [`Experiment`], for
//! the simulator. Settings of the command line override those of the file.

mod apply;
mod collect;
mod command;
mod convert;
mod find;
mod names;
mod numbers;
mod outputs;
mod sweep;
mod values;

pub use command::CommandLine;
pub use find::{ExperimentSources, missing_models, model_of, models_of};
pub use sweep::{Sweep, read as read_sweep};
pub use values::with_parameter;

use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::Span;
use crate::expr::{Value, show_number};
use crate::flat::VarId;
use std::path::{Path, PathBuf};

/// The most points of output.
const MOST_POINTS: usize = 100_000_000;

/// The settings of the command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The name of an experiment, or a file that holds one.
    pub experiment: Option<String>,
    pub until: Option<f64>,
    pub start: Option<f64>,
    pub points: Option<usize>,
    pub step: Option<f64>,
    /// `R1.R=5`
    pub set: Vec<String>,
    /// `C1.e=2`
    pub init: Vec<String>,
    /// `u=sin(Time)`
    pub input: Vec<String>,
    pub method: Option<String>,
    pub tolerance: Option<f64>,
    /// `1e-10`, or `y2=1e-18` for one variable
    pub absolute: Vec<String>,
    /// `R1.R=10,20,50` or `R1.R=1..100/12log`
    pub sweep: Vec<String>,
}

impl Request {
    /// The file that holds the experiment, if the option is not a name.
    pub fn file(&self) -> Option<PathBuf> {
        let wanted = self.experiment.as_deref()?;
        let is_name = wanted.starts_with(char::is_alphabetic)
            && wanted.chars().all(|c| c.is_alphanumeric() || c == '_');
        (!is_name).then(|| Path::new(wanted).to_path_buf())
    }

    /// Whether the command line gives no settings.
    pub fn is_empty(&self) -> bool {
        *self == Request::default()
    }
}

/// The settings of an experiment for the simulator, and the changes that were made to the flat model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    /// The name, if it has one of its own.
    pub name: Option<String>,
    /// `None` without an experiment in a file.
    pub span: Option<Span>,
    pub start: f64,
    pub until: Option<f64>,
    /// The number of points of output, including the first and the last.
    pub points: Option<usize>,
    /// The interval between points, if it was given; the last one may be shorter.
    pub step: Option<f64>,
    /// The most points allowed, if that is less than [`MOST_POINTS`].
    pub most_points: Option<usize>,
    /// The name of the integrator, not checked here.
    pub method: Option<(String, Span)>,
    pub tolerance: Option<f64>,
    pub absolute: Option<f64>,
    /// Absolute tolerances of single variables, by variable.
    pub absolutes: Vec<(VarId, f64)>,
    /// The quantities of each `plot`.
    pub plots: Vec<Vec<Plotted>>,
    /// Parameters with other values, sorted by variable.
    pub set: Vec<ChangedValue>,
    /// Start values, sorted by variable.
    pub starts: Vec<ChangedValue>,
    /// Inputs that are given, sorted by variable, each with its span.
    pub inputs: Vec<(VarId, Span)>,
    pub sweeps: Vec<Sweep>,
    /// The text of a `ctblock`: statements of the target language.
    pub control: Option<String>,
    /// The name of the first `outblock`.
    pub block: Option<String>,
    pub places: SettingSpans,
}

/// The spans of the numbers of an experiment; `None` for those that were not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SettingSpans {
    pub start: Option<Span>,
    pub until: Option<Span>,
    pub points: Option<Span>,
    pub step: Option<Span>,
    pub tolerance: Option<Span>,
    pub absolute: Option<Span>,
}

/// A value that the experiment gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangedValue {
    pub variable: VarId,
    pub value: Value,
    pub span: Span,
}

/// A quantity that is plotted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plotted {
    /// As written.
    pub name: String,
    pub span: Span,
    /// `None` for a quantity that is computed from variables: see [`DERIVED`].
    pub variable: Option<VarId>,
}

/// The last parts of names of quantities that are no variables: the power of a port, `C1.A.power`, and the contents of a
/// storage.
pub const DERIVED: &[&str] = &["power", "momentum", "displacement"];

impl Experiment {
    /// The title of a plot of its run.
    pub fn title(&self, model: &str) -> String {
        match &self.name {
            Some(name) => format!("{model}: {name}"),
            None => model.to_string(),
        }
    }

    /// The number of intervals of output up to `until`.
    fn intervals(&self, until: f64, points: usize) -> f64 {
        let span = until - self.start;
        match (self.step, self.points) {
            _ if span <= 0.0 => 0.0,
            (Some(step), _) => numbers::intervals(span, step),
            (None, points_given) => (points_given.unwrap_or(points).max(2) - 1) as f64,
        }
    }

    /// The number of points of output up to `until`.
    pub fn count(&self, until: f64, points: usize) -> usize {
        (self.intervals(until, points) + 1.0) as usize
    }

    /// The error if there are too many points of output up to `until`.
    pub fn too_many(&self, until: f64, points: usize) -> Option<Diagnostic> {
        let most = self.most_points.unwrap_or(MOST_POINTS).min(MOST_POINTS);
        let count = self.intervals(until, points) + 1.0;
        if count <= most as f64 {
            return None;
        }
        let message = format!(
            "too many points of output: at most {}",
            show_number(most as f64)
        );
        let diagnostic = Diagnostic::new(Code::WrongSetting, message);
        let place = self.places.step.or(self.places.points).or(self.span);
        let made = format!("makes {} points", show_number(count));
        Some(match place {
            Some(span) => diagnostic.at(span, made),
            None => diagnostic.note(made),
        })
    }

    /// The times of output up to `until`, both ends included, by the step or number of points of the experiment, otherwise
    /// `points` of them.
    pub fn times(&self, until: f64, points: usize) -> Vec<f64> {
        let span = until - self.start;
        if span <= 0.0 {
            return vec![self.start];
        }
        let last = self.intervals(until, points);
        let mut times: Vec<f64> = (0..last as usize)
            .map(|at| match self.step {
                Some(step) => self.start + at as f64 * step,
                // Multiplied before the division, which gives rounder numbers.
                None => self.start + span * at as f64 / last,
            })
            .collect();
        times.push(until);
        times
    }
}
