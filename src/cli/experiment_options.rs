//! Options of the command line that concern an experiment.
//!
//! [`Settings`] change the model, for every command that compiles one; [`Options`] control the simulation. Together
//! they make a [`Request`].

use clap::Args;

use crate::experiment::Request;

/// Options that change parameters, start values and inputs.
#[derive(Clone, Debug, Default, Args)]
pub struct Settings {
    /// Another value of a parameter: R1.R=5
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Another start value: C1.e=2
    #[arg(long, value_name = "NAME=VALUE")]
    init: Vec<String>,
    /// What an input is, as an expression of Time: u=sin(Time)
    #[arg(long, value_name = "NAME=EXPRESSION")]
    input: Vec<String>,
}

impl Settings {
    pub fn request(&self, experiment: Option<String>) -> Request {
        Request {
            experiment,
            set: self.set.clone(),
            init: self.init.clone(),
            input: self.input.clone(),
            ..Request::default()
        }
    }
}

/// Options of a simulation. They override the experiment.
#[derive(Clone, Debug, Default, Args)]
pub struct Options {
    /// The end time
    #[arg(long, value_name = "TIME", value_parser = number, allow_negative_numbers = true)]
    until: Option<f64>,
    /// The start time
    #[arg(long, value_name = "TIME", value_parser = number, allow_negative_numbers = true)]
    start: Option<f64>,
    /// How many points of output
    #[arg(long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    points: Option<usize>,
    /// The time between points of output
    #[arg(long, value_name = "TIME", value_parser = number, allow_negative_numbers = true)]
    step: Option<f64>,
    /// The integrator
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// The relative tolerance
    #[arg(long, value_name = "NUMBER", value_parser = number, allow_negative_numbers = true)]
    tolerance: Option<f64>,
    /// The absolute tolerance, of all variables or of one: 1e-10 or y2=1e-18
    #[arg(long, value_name = "[NAME=]NUMBER", allow_negative_numbers = true)]
    absolute: Vec<String>,
    /// Run for each of several values of a parameter: R1.R=10,20,50, or R1.R=1..100/12 for 12 values from 1 to
    /// 100, or R1.R=1..100/12log; several sweeps make all combinations
    #[arg(long, value_name = "NAME=VALUES")]
    sweep: Vec<String>,
}

impl Options {
    /// Adds these options to a request.
    pub fn add_to(&self, request: &mut Request) {
        request.until = self.until;
        request.start = self.start;
        request.points = self.points;
        request.step = self.step;
        request.method = self.method.clone();
        request.tolerance = self.tolerance;
        request.absolute = self.absolute.clone();
        request.sweep = self.sweep.clone();
    }
}

fn whole(text: &str) -> Result<usize, String> {
    (text.parse()).map_err(|_| "a whole number from 1 on is wanted".to_string())
}

fn number(text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.parse().ok();
    (value.filter(|value| value.is_finite())).ok_or_else(|| "not a number".to_string())
}
