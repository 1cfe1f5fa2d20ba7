//! Runs of a model.

use std::fmt::Display;
use std::ops::Index;

use super::error::{Error, Message};
use super::model::Model;
use crate::base::diagnostics::Diagnostics;
use crate::compile::{Prepared, prepare};
use crate::experiment::Request;
use crate::picture::{Series, Trajectories, svg};
use crate::simulate::columns::Column;
use crate::simulate::job::{Job, RunOptions, job};
use crate::simulate::run::{End, Observer, RowKind, Summary, run};

/// Options of a run. Options that are not set are taken from the experiment, else chosen by default.
#[derive(Clone, Debug, Default)]
pub struct Run {
    request: Request,
    variables: Vec<String>,
    steady: bool,
    start_jump: bool,
}

impl Run {
    pub fn new() -> Run {
        Run::default()
    }

    /// Sets the end time.
    #[must_use]
    pub fn until(mut self, time: f64) -> Run {
        self.request.until = Some(time);
        self
    }

    /// Sets the start time; default: 0.
    #[must_use]
    pub fn from(mut self, time: f64) -> Run {
        self.request.start = Some(time);
        self
    }

    /// Sets the number of rows, including the first and the last.
    #[must_use]
    pub fn points(mut self, points: usize) -> Run {
        self.request.points = Some(points);
        self
    }

    /// Sets the time between two rows.
    #[must_use]
    pub fn step(mut self, step: f64) -> Run {
        self.request.step = Some(step);
        self
    }

    /// Sets a parameter.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Display) -> Run {
        self.request.set.push(format!("{name}={value}"));
        self
    }

    /// Sets a start value.
    #[must_use]
    pub fn init(mut self, name: &str, value: impl Display) -> Run {
        self.request.init.push(format!("{name}={value}"));
        self
    }

    /// Sets an input to an expression: `input("u", "10*sin(314*Time)")`.
    #[must_use]
    pub fn input(mut self, name: &str, expression: impl Display) -> Run {
        self.request.input.push(format!("{name}={expression}"));
        self
    }

    /// Selects an experiment of the file; default: the model's own.
    #[must_use]
    pub fn experiment(mut self, name: &str) -> Run {
        self.request.experiment = Some(name.to_string());
        self
    }

    /// Selects the integrator: `bdf`, `esdirk34`, `trbdf2`, `tsit45`.
    #[must_use]
    pub fn method(mut self, method: &str) -> Run {
        self.request.method = Some(method.to_string());
        self
    }

    /// Sets the relative tolerance.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Run {
        self.request.tolerance = Some(tolerance);
        self
    }

    /// Adds variables to record; the pattern may contain `*` and `?`. Default: states, inputs and outputs.
    #[must_use]
    pub fn record(mut self, pattern: &str) -> Run {
        self.variables.push(pattern.to_string());
        self
    }

    /// Starts the run in a steady state.
    #[must_use]
    pub fn steady(mut self) -> Run {
        self.steady = true;
        self
    }

    /// Lets start values that contradict each other jump, as charges and momenta do where a switch closes.
    #[must_use]
    pub fn start_jump(mut self) -> Run {
        self.start_jump = true;
        self
    }

    /// Returns the settings of the loader, overridden by those of this run.
    fn merged_with(&self, loaded: Request) -> Request {
        let own = self.request.clone();
        let joined = |mut first: Vec<String>, second: Vec<String>| {
            let name = |given: &str| given.split('=').next().map(|name| name.trim().to_string());
            first.retain(|old| second.iter().all(|new| name(new) != name(old)));
            first.extend(second);
            first
        };
        Request {
            experiment: own.experiment.or(loaded.experiment),
            set: joined(loaded.set, own.set),
            init: joined(loaded.init, own.init),
            input: joined(loaded.input, own.input),
            ..own
        }
    }
}

/// The recorded values of a run: a column for each variable, a row for each time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    title: String,
    data: Trajectories,
    panels: Option<Vec<Vec<usize>>>,
    warnings: Vec<Message>,
    notes: Vec<String>,
}

impl Trajectory {
    /// The times of the rows. At an event there are two rows: just before it and after.
    pub fn times(&self) -> &[f64] {
        &self.data.times
    }

    /// The values of a variable at these times; a truth value is 0 or 1.
    pub fn get(&self, name: &str) -> Option<&[f64]> {
        self.series(name).map(|series| series.values.as_slice())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.data.series.iter().map(|series| series.name.as_str())
    }

    pub fn unit(&self, name: &str) -> Option<&str> {
        self.series(name).and_then(|series| series.unit.as_deref())
    }

    pub fn warnings(&self) -> &[Message] {
        &self.warnings
    }

    /// Other notes that the command line prints: values that were chosen by default, and states that jumped.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// A picture, as SVG.
    pub fn plot(&self) -> Result<String, Error> {
        svg::plot(&self.title, &self.data, self.panels.as_deref()).map_err(Error::of_request)
    }

    fn series(&self, name: &str) -> Option<&Series> {
        self.data.series.iter().find(|series| series.name == name)
    }
}

impl Index<&str> for Trajectory {
    type Output = [f64];

    /// # Panics
    ///
    /// If nothing of this name was recorded; [`Trajectory::get`] asks.
    fn index(&self, name: &str) -> &[f64] {
        let Some(values) = self.get(name) else {
            panic!("`{name}` was not recorded");
        };
        values
    }
}

/// Makes an empty series for a column.
pub(crate) fn series(column: &Column) -> Series {
    Series {
        name: column.name.clone(),
        unit: column.unit.clone(),
        values: Vec::new(),
        boolean: column.boolean,
    }
}

/// Records all rows of a run.
struct RowRecorder<'t>(&'t mut Trajectories);

impl Observer for RowRecorder<'_> {
    fn row(&mut self, time: f64, values: &[f64], _: RowKind) -> Result<(), String> {
        self.0.push(time, values);
        Ok(())
    }

    fn goes_on(&mut self, _: f64, _: u64) -> bool {
        true
    }
}

impl Model {
    /// Runs the model. A run that fails on its way is an error that holds the rows up to there
    /// ([`Error::trajectory`]).
    ///
    /// ```
    /// let model = bgm::Model::from_text("
    /// model Ball
    ///   local h, v
    ///   init(h) = 1
    ///   der(h) = v
    ///   der(v) = -9.81
    ///   when h < 0 and v < 0 then init(v) = -0.8*v endwhen
    /// end")?;
    /// let run = model.simulate(&bgm::Run::new().until(1.0).tolerance(1e-10))?;
    /// let height = run["h"].last().unwrap();
    /// let t = 1.0 - (2.0 / 9.81f64).sqrt();
    /// let after = 0.8 * (2.0 * 9.81f64).sqrt();
    /// assert!((height - (after * t - 9.81 * t * t / 2.0)).abs() < 1e-7);
    /// # Ok::<(), bgm::Error>(())
    /// ```
    pub fn simulate(&self, how: &Run) -> Result<Trajectory, Error> {
        let mut options = self.options.clone();
        options.request = how.merged_with(self.request());
        let Prepared {
            sources,
            model,
            mut diagnostics,
        } = prepare(&self.input, &options, &self.files);
        let Some((flat, experiment)) = model else {
            return Err(Error::new(&sources, &diagnostics));
        };
        let wishes = RunOptions {
            vars: how.variables.clone(),
            steady: how.steady,
            start_jump: how.start_jump,
            ..RunOptions::default()
        };
        let made = job(flat, &experiment, &wishes, &mut diagnostics).map_err(Error::of_request)?;
        let Some(job) = made else {
            return Err(Error::new(&sources, &diagnostics));
        };
        let mut data = Trajectories::of(job.columns.iter().map(series));
        let outcome = run(&job, &mut RowRecorder(&mut data));
        let trajectory = Trajectory {
            title: experiment.title(job.solved.flat.model()),
            data,
            panels: job.panels.clone(),
            warnings: Message::all(&sources, &diagnostics),
            notes: notes(&job, &outcome.summary),
        };
        match outcome.end {
            End::Done | End::Stopped => Ok(trajectory),
            End::Failed(halt) => {
                let mut diagnostics = Diagnostics::default();
                match halt.diagnostic() {
                    Ok(diagnostic) => diagnostics.push(diagnostic),
                    Err(message) => return Err(Error::of_request(message).with_rows(trajectory)),
                }
                Err(Error::new(&sources, &diagnostics).with_rows(trajectory))
            }
        }
    }
}

fn notes(job: &Job, summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    if !job.chosen.is_empty() {
        notes.push(format!("chosen: {}", job.chosen.join(", ")));
    }
    notes.extend(summary.jumps.iter().map(ToString::to_string));
    notes.extend(summary.notes.iter().cloned());
    notes
}
