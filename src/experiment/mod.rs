//! Experiments: what is done with a model, as a file and the command line say it.
//!
//! Before: a flat model, the files with their experiments, and a [`Request`], what the command line says.
//! After [`Bench::perform`]: parameters, start values and inputs of the flat model are those of the
//! experiment, so that sorting and solving see them (zeros, states, the derivatives of inputs); all else is in
//! an [`Experiment`], for the simulator. What the command line says counts more than the file.

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
pub use find::{Bench, missing_models, model_of, models_of};
pub use sweep::{Sweep, read as read_sweep};
pub use values::with_parameter;

use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::Span;
use crate::expr::{Value, show_number};
use crate::flat::VarId;
use std::path::{Path, PathBuf};

/// More points of output than this nobody can keep.
const MOST_POINTS: usize = 100_000_000;

/// What the command line says.
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
    /// The file that holds the experiment: what is no name is one.
    pub fn file(&self) -> Option<PathBuf> {
        let wanted = self.experiment.as_deref()?;
        let is_name = wanted.starts_with(char::is_alphabetic)
            && wanted.chars().all(|c| c.is_alphanumeric() || c == '_');
        (!is_name).then(|| Path::new(wanted).to_path_buf())
    }

    /// Nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Request::default()
    }
}

/// What is left of an experiment for the simulator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    /// The name of its own, and where it is written.
    pub name: Option<String>,
    pub span: Option<Span>,
    pub start: f64,
    pub until: Option<f64>,
    /// How many points of output, the first and the last with them.
    pub points: Option<usize>,
    /// The interval between them, where it was given; the last one may be shorter.
    pub step: Option<f64>,
    /// The most points that there may be, where that is less than [`MOST_POINTS`].
    pub most_points: Option<usize>,
    /// The integrator, not checked here.
    pub method: Option<(String, Span)>,
    pub tolerance: Option<f64>,
    pub absolute: Option<f64>,
    /// Absolute tolerances of single variables, by variable.
    pub absolutes: Vec<(VarId, f64)>,
    /// A list for each `plot`.
    pub plots: Vec<Vec<Plotted>>,
    /// Parameters with other values, by variable.
    pub set: Vec<Changed>,
    /// Start values given, by variable.
    pub starts: Vec<Changed>,
    /// Inputs given, by variable, each with its place.
    pub inputs: Vec<(VarId, Span)>,
    pub sweeps: Vec<Sweep>,
    /// `ctblock`: statements of the target language, word for word.
    pub control: Option<String>,
    /// The name of the first `outblock`.
    pub block: Option<String>,
    pub places: Places,
}

/// Where the numbers of an experiment were given; `None` where they were not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    pub start: Option<Span>,
    pub until: Option<Span>,
    pub points: Option<Span>,
    pub step: Option<Span>,
    pub tolerance: Option<Span>,
    pub absolute: Option<Span>,
}

/// A value that the experiment gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Changed {
    pub variable: VarId,
    pub value: Value,
    pub span: Span,
}

/// What is to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plotted {
    /// As written.
    pub name: String,
    pub span: Span,
    /// `None` for what is computed from variables: see [`DERIVED`].
    pub variable: Option<VarId>,
}

/// Last parts of names that are no variables and can be shown all the same: the power of a port,
/// `C1.A.power`, and what a storage holds.
pub const DERIVED: &[&str] = &["power", "momentum", "displacement"];

impl Experiment {
    /// What a picture of its run is called.
    pub fn title(&self, model: &str) -> String {
        match &self.name {
            Some(name) => format!("{model}: {name}"),
            None => model.to_string(),
        }
    }

    /// How many times follow the first one up to `until`.
    fn intervals(&self, until: f64, points: usize) -> f64 {
        let span = until - self.start;
        match (self.step, self.points) {
            _ if span <= 0.0 => 0.0,
            (Some(step), _) => numbers::intervals(span, step),
            (None, points_given) => (points_given.unwrap_or(points).max(2) - 1) as f64,
        }
    }

    /// How many times of output there are up to `until`.
    pub fn count(&self, until: f64, points: usize) -> usize {
        (self.intervals(until, points) + 1.0) as usize
    }

    /// Why there are too many times of output up to `until`, if there are.
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

    /// The times of output up to `until`, both ends with them: at the steps given, else at the number of points
    /// given, else at `points` of them.
    pub fn times(&self, until: f64, points: usize) -> Vec<f64> {
        let span = until - self.start;
        if span <= 0.0 {
            return vec![self.start];
        }
        let last = self.intervals(until, points);
        let mut times: Vec<f64> = (0..last as usize)
            .map(|at| match self.step {
                Some(step) => self.start + at as f64 * step,
                // Multiplied first: fewer last digits that nobody asked for.
                None => self.start + span * at as f64 / last,
            })
            .collect();
        times.push(until);
        times
    }
}
