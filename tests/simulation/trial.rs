//! Runs of models as texts, with all that comes out of them.

use bgm::compile::{Aliases, Options, compile, solved};
use bgm::diagnostics::Diagnostics;
use bgm::flat::Leaf;
use bgm::load::{Input, NoFiles};
use bgm::simulate::integrate::Method;
use bgm::simulate::program::build;
use bgm::simulate::run::{End, Observer, Plan, RowKind, Summary, run};
use bgm::solve::Solved;

/// How a model is run.
#[derive(Clone, Debug)]
pub struct Trial {
    pub text: String,
    pub start: f64,
    pub until: f64,
    pub points: usize,
    pub method: Method,
    pub relative: f64,
    pub absolute: f64,
    pub steady: bool,
    pub experiment: Option<String>,
}

/// What came of it.
#[derive(Debug)]
pub struct Result {
    pub times: Vec<f64>,
    /// By row, in the order of the names.
    pub rows: Vec<Vec<f64>>,
    pub summary: Summary,
    /// The message it ended with, if it failed.
    pub failure: Option<String>,
    pub code: Option<&'static str>,
}

impl Trial {
    pub fn of(text: &str, until: f64) -> Trial {
        Trial {
            text: text.into(),
            start: 0.0,
            until,
            points: 101,
            method: Method::Bdf,
            relative: 1e-8,
            absolute: 1e-10,
            steady: false,
            experiment: None,
        }
    }

    pub fn file(path: &str, until: f64) -> Trial {
        let text = std::fs::read_to_string(path).expect(path);
        Trial::of(&text, until)
    }

    pub fn tolerance(mut self, relative: f64, absolute: f64) -> Trial {
        (self.relative, self.absolute) = (relative, absolute);
        self
    }

    pub fn points(mut self, points: usize) -> Trial {
        self.points = points;
        self
    }

    pub fn solve(&self) -> Solved {
        let input = Input::Standard(self.text.clone().into_bytes());
        let options = Options {
            experiment: self.experiment.clone(),
            ..Options::default()
        };
        let compiled = compile(&input, &options, &NoFiles);
        let mut said: Diagnostics = compiled.diagnostics;
        let flat = compiled.flat.unwrap_or_else(|| panic!("{said:?}"));
        solved(flat, Aliases::Eliminate, &mut said).unwrap_or_else(|| panic!("{said:?}"))
    }

    /// Runs the model and records variables, derivatives as `der(x)`.
    pub fn run(&self, names: &[&str]) -> Result {
        let mut model = self.solve();
        let columns: Vec<_> = (names.iter())
            .map(|name| {
                let leaf = leaf(&model, name);
                model.flat.exprs.leaf(leaf)
            })
            .collect();
        let program = build(&model, &columns);
        let plan = Plan {
            start: self.start,
            until: self.until,
            points: self.points,
            method: self.method,
            relative: self.relative,
            absolute: vec![self.absolute; program.state_count()],
            steady: self.steady,
        };
        let mut rows = Rows::default();
        let outcome = run(&model, &program, &plan, &mut rows);
        let diagnostic = match &outcome.end {
            End::Failed(halt) => Some(halt.diagnostic(&model).expect("rows are taken")),
            _ => None,
        };
        Result {
            times: rows.times,
            rows: rows.rows,
            summary: outcome.summary,
            code: diagnostic.as_ref().map(|said| said.code.text()),
            failure: diagnostic.map(|said| said.message),
        }
    }
}

fn leaf(model: &Solved, name: &str) -> Leaf {
    let (inner, order) = match name.strip_prefix("der(") {
        Some(rest) => (rest.trim_end_matches(')'), 1),
        None => (name, 0),
    };
    let id = (model.flat.variable_ids())
        .find(|&id| model.flat.name(id) == inner)
        .unwrap_or_else(|| panic!("no {name}"));
    Leaf::at_order(id, order)
}

#[derive(Default)]
struct Rows {
    times: Vec<f64>,
    rows: Vec<Vec<f64>>,
}

impl Observer for Rows {
    fn row(&mut self, time: f64, values: &[f64], kind: RowKind) -> std::result::Result<(), String> {
        if kind != RowKind::Event {
            self.times.push(time);
            self.rows.push(values.to_vec());
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
            .fold(0.0, f64::max)
    }
}
