//! Runs of models as texts or files, through all that `bgm simulate` does but for printing: the
//! experiment, the options of the command line, the run.

use bgm::base::diagnostics::Diagnostics;
use bgm::compile::{Options, Prepared, prepare};
use bgm::experiment::Request;
use bgm::flat::Flat;
use bgm::simulate::integrate::Method;
use bgm::simulate::job::{Job, RunOptions, job};
use bgm::simulate::run::{End, Observer, RowKind, Summary, run};
use bgm::syntax::load::{Input, NoFiles};

/// How a model is run: what is not said here is as in its experiment.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    pub text: String,
    pub model: Option<String>,
    pub request: Request,
    pub steady: bool,
    pub start_jump: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct Result {
    pub times: Vec<f64>,
    /// By row, in the order of the names.
    pub rows: Vec<Vec<f64>>,
    pub events: Vec<Event>,
    pub summary: Summary,
    /// The message it ended with, and its notes and hints, if it failed.
    pub failure: Option<String>,
    pub code: Option<&'static str>,
    /// What was said before the run.
    pub said: Vec<&'static str>,
}

#[derive(Clone, Debug)]
pub struct Event {
    pub time: f64,
    pub before: Vec<f64>,
    pub after: Vec<f64>,
}

impl Trial {
    /// A text, to a time, with tolerances of 1e-8 and 1e-10 and 101 points.
    pub fn of(text: &str, until: f64) -> Trial {
        let trial = Trial {
            text: text.into(),
            ..Trial::default()
        };
        trial.until(until).points(101).tolerance(1e-8, 1e-10)
    }

    /// A file with its experiment.
    pub fn file(path: &str) -> Trial {
        Trial {
            text: std::fs::read_to_string(path).expect(path),
            ..Trial::default()
        }
    }

    pub fn until(mut self, until: f64) -> Trial {
        self.request.until = Some(until);
        self
    }

    pub fn points(mut self, points: usize) -> Trial {
        self.request.points = Some(points);
        self
    }

    pub fn tolerance(mut self, relative: f64, absolute: f64) -> Trial {
        self.request.tolerance = Some(relative);
        self.request.absolute = vec![format!("{absolute:e}")];
        self
    }

    pub fn method(mut self, method: Method) -> Trial {
        self.request.method = Some(method.name().into());
        self
    }

    pub fn experiment(mut self, name: &str) -> Trial {
        self.request.experiment = Some(name.into());
        self
    }

    pub fn model(mut self, name: &str) -> Trial {
        self.model = Some(name.into());
        self
    }

    pub fn set(mut self, setting: &str) -> Trial {
        self.request.set.push(setting.into());
        self
    }

    pub fn init(mut self, setting: &str) -> Trial {
        self.request.init.push(setting.into());
        self
    }

    pub fn input(mut self, setting: &str) -> Trial {
        self.request.input.push(setting.into());
        self
    }

    pub fn steady(mut self) -> Trial {
        self.steady = true;
        self
    }

    /// Start values that contradict each other jump.
    pub fn start_jump(mut self) -> Trial {
        self.start_jump = true;
        self
    }

    /// The flat model with its experiment in it, before anything is solved.
    pub fn flat(&self) -> Flat {
        let mut said = Diagnostics::default();
        self.prepare(&mut said).0
    }

    fn prepare(&self, said: &mut Diagnostics) -> (Flat, bgm::experiment::Experiment) {
        let input = Input::Standard(self.text.clone().into_bytes());
        let options = Options {
            model: self.model.clone(),
            request: self.request.clone(),
            ..Options::default()
        };
        let Prepared {
            model, diagnostics, ..
        } = prepare(&input, &options, &NoFiles);
        *said = diagnostics;
        model.unwrap_or_else(|| panic!("{said:?}"))
    }

    pub fn job(&self, names: &[&str], said: &mut Diagnostics) -> Job {
        let (flat, experiment) = self.prepare(said);
        let wishes = RunOptions {
            vars: names.iter().map(|name| (*name).to_string()).collect(),
            steady: self.steady,
            start_jump: self.start_jump,
            ..RunOptions::default()
        };
        let made = job(flat, &experiment, &wishes, said).expect("all names are known");
        made.unwrap_or_else(|| panic!("{said:?}"))
    }

    /// Runs the model and records variables, derivatives as `der(x)`.
    pub fn run(&self, names: &[&str]) -> Result {
        let mut said = Diagnostics::default();
        let job = self.job(names, &mut said);
        let found: Vec<&str> = job.columns.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(found, names, "the columns are those asked for");
        let mut rows = Rows::default();
        let outcome = run(&job, &mut rows);
        let diagnostic = match &outcome.end {
            End::Failed(halt) => Some(halt.diagnostic().expect("rows are taken")),
            _ => None,
        };
        Result {
            times: rows.times,
            rows: rows.rows,
            events: rows.events,
            summary: outcome.summary,
            code: diagnostic.as_ref().map(|one| one.code.text()),
            failure: diagnostic.map(|one| one.message),
            said: said.iter().map(|one| one.code.text()).collect(),
        }
    }
}

#[derive(Default)]
struct Rows {
    times: Vec<f64>,
    rows: Vec<Vec<f64>>,
    events: Vec<Event>,
    before: Option<Vec<f64>>,
}

impl Observer for Rows {
    fn row(&mut self, time: f64, values: &[f64], kind: RowKind) -> std::result::Result<(), String> {
        if kind != RowKind::Event {
            self.times.push(time);
            self.rows.push(values.to_vec());
            return Ok(());
        }
        match self.before.take() {
            None => self.before = Some(values.to_vec()),
            Some(before) => self.events.push(Event {
                time,
                before,
                after: values.to_vec(),
            }),
        }
        Ok(())
    }

    fn goes_on(&mut self, _: f64, _: u64) -> bool {
        true
    }
}

impl Result {
    /// One variable over time.
    pub fn column(&self, at: usize) -> Vec<f64> {
        assert_eq!(self.failure, None);
        self.rows.iter().map(|row| row[at]).collect()
    }

    pub fn last(&self) -> &[f64] {
        assert_eq!(self.failure, None);
        self.rows.last().expect("there is a row")
    }

    /// The largest difference of a variable from a function of time.
    pub fn off(&self, at: usize, truth: impl Fn(f64) -> f64) -> f64 {
        (self.times.iter().zip(self.column(at)))
            .map(|(&time, value)| (value - truth(time)).abs())
            .fold(0.0, |worst: f64, off| match off.is_nan() {
                true => f64::NAN,
                false => worst.max(off),
            })
    }

    /// The largest absolute value of something made of a row.
    pub fn worst(&self, of: impl Fn(f64, &[f64]) -> f64) -> f64 {
        assert_eq!(self.failure, None);
        (self.times.iter().zip(&self.rows))
            .map(|(&time, row)| of(time, row).abs())
            .fold(0.0, |worst: f64, off| match off.is_nan() {
                true => f64::NAN,
                false => worst.max(off),
            })
    }

    /// The events at which a variable has changed.
    pub fn changes_of(&self, at: usize) -> Vec<&Event> {
        assert_eq!(self.failure, None);
        (self.events.iter())
            .filter(|event| event.before[at] != event.after[at])
            .collect()
    }

    pub fn event_times(&self) -> Vec<f64> {
        self.events.iter().map(|event| event.time).collect()
    }
}

/// Asserts that a number is at most a bound, and shows it.
#[track_caller]
pub fn within(value: f64, bound: f64) {
    assert!(value <= bound, "{value:e} is more than {bound:e}");
}

/// Asserts that lists of times agree.
#[track_caller]
pub fn same_times(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?}\n{expected:?}");
    for (found, expected) in found.iter().zip(expected) {
        let off = (found - expected).abs();
        assert!(off <= tolerance, "{found} is not {expected}: {off:e}");
    }
}
