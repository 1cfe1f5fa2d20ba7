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

/// How a model is to be run. What is not said here is as the experiment says, else chosen.
#[derive(Clone, Debug, Default)]
pub struct Run {
    request: Request,
    variables: Vec<String>,
    steady: bool,
}

impl Run {
    pub fn new() -> Run {
        Run::default()
    }

    /// The time at which it ends.
    #[must_use]
    pub fn until(mut self, time: f64) -> Run {
        self.request.until = Some(time);
        self
    }

    /// The time at which it begins; 0 where nothing is said.
    #[must_use]
    pub fn from(mut self, time: f64) -> Run {
        self.request.start = Some(time);
        self
    }

    /// How many rows there are, the first and the last with them.
    #[must_use]
    pub fn points(mut self, points: usize) -> Run {
        self.request.points = Some(points);
        self
    }

    /// The time between two rows.
    #[must_use]
    pub fn step(mut self, step: f64) -> Run {
        self.request.step = Some(step);
        self
    }

    /// Another value of a parameter.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Display) -> Run {
        self.request.set.push(format!("{name}={value}"));
        self
    }

    /// Another start value.
    #[must_use]
    pub fn init(mut self, name: &str, value: impl Display) -> Run {
        self.request.init.push(format!("{name}={value}"));
        self
    }

    /// An input as an expression: `input("u", "10*sin(314*Time)")`.
    #[must_use]
    pub fn input(mut self, name: &str, expression: impl Display) -> Run {
        self.request.input.push(format!("{name}={expression}"));
        self
    }

    /// The experiment of the file that is performed; its own where nothing is said.
    #[must_use]
    pub fn experiment(mut self, name: &str) -> Run {
        self.request.experiment = Some(name.to_string());
        self
    }

    /// The integrator: `bdf`, `esdirk34`, `trbdf2`, `tsit45`.
    #[must_use]
    pub fn method(mut self, method: &str) -> Run {
        self.request.method = Some(method.to_string());
        self
    }

    /// The relative tolerance.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Run {
        self.request.tolerance = Some(tolerance);
        self
    }

    /// What is recorded, with `*` and `?` in it; states, inputs and outputs where nothing is said.
    #[must_use]
    pub fn record(mut self, pattern: &str) -> Run {
        self.variables.push(pattern.to_string());
        self
    }

    /// Begins where nothing moves.
    #[must_use]
    pub fn steady(mut self) -> Run {
        self.steady = true;
        self
    }

    /// What is said here counts more than what the model was loaded with.
    fn over(&self, loaded: Request) -> Request {
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

/// What a run has recorded: a column for each variable, a row for each time.
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

    /// The values of a variable at these times; a truth is 0 or 1.
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

    /// What else the command line tells of a run: what was chosen because nobody said it, and which states jumped.
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

/// A column that waits for its values.
pub(crate) fn series(column: &Column) -> Series {
    Series {
        name: column.name.clone(),
        unit: column.unit.clone(),
        values: Vec::new(),
        boolean: column.boolean,
    }
}

/// Keeps all rows.
struct Rows<'t>(&'t mut Trajectories);

impl Observer for Rows<'_> {
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
        options.request = how.over(self.request());
        let Prepared {
            sources,
            model,
            diagnostics: mut said,
        } = prepare(&self.input, &options, &self.files);
        let Some((flat, experiment)) = model else {
            return Err(Error::new(&sources, &said));
        };
        let wishes = RunOptions {
            vars: how.variables.clone(),
            steady: how.steady,
            ..RunOptions::default()
        };
        let made = job(flat, &experiment, &wishes, &mut said).map_err(Error::of_request)?;
        let Some(job) = made else {
            return Err(Error::new(&sources, &said));
        };
        let mut data = Trajectories::of(job.columns.iter().map(series));
        let outcome = run(&job, &mut Rows(&mut data));
        let trajectory = Trajectory {
            title: experiment.title(job.solved.flat.model()),
            data,
            panels: job.panels.clone(),
            warnings: Message::all(&sources, &said),
            notes: notes(&job, &outcome.summary),
        };
        match outcome.end {
            End::Done | End::Stopped => Ok(trajectory),
            End::Failed(halt) => {
                let mut said = Diagnostics::default();
                match halt.diagnostic() {
                    Ok(diagnostic) => said.push(diagnostic),
                    Err(message) => return Err(Error::of_request(message).after(trajectory)),
                }
                Err(Error::new(&sources, &said).after(trajectory))
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
