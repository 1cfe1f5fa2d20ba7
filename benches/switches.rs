//! Ladders of diodes and inductors: what an event costs as they grow, and what switches that leak cost instead.
//!
//! Each stage is an inductor along the ladder and a diode with a resistor to ground. While the last diodes are open, the
//! inductors before them are out of play: the order of the model goes up and down in each wave. Work for each event
//! must not grow as the number of positions does (2^50 of them at 50 stages). The same ladder with diodes that leak is stiff
//! where the ideal one is of lower order.

#![allow(clippy::print_stdout)]

use std::time::Instant;

use bgm::base::diagnostics::Diagnostics;
use bgm::compile::{Options, Prepared, prepare};
use bgm::simulate::job::{RunOptions, job};
use bgm::simulate::run::{End, Observer, Outcome, RowKind, run};
use bgm::syntax::load::{Input, NoFiles};

struct Nobody;

impl Observer for Nobody {
    fn row(&mut self, _: f64, _: &[f64], _: RowKind) -> Result<(), String> {
        Ok(())
    }

    fn goes_on(&mut self, _: f64, _: u64) -> bool {
        true
    }
}

fn ladder(stages: usize, diode: &str) -> String {
    format!(
        "@electrical
model class (Switch) LeakyDiode
  parameter GOpen = 1E-3, RClosed = 1E-3
  new(OpenSwitch) = not u > 0 and not i > 0
end
model Ladder
  submodel (VoltageSource) U0
  submodel (Inductor) L[{stages}](L = 0.1)
  submodel ({diode}) D[{stages}]
  submodel (Resistor) R[{stages}](R = 1)
  submodel Ground
  node n[{stages}], m[{stages}]
  U0.E0 = 10*sin(Time)
  connect Ground - U0 - L[1] - n[1]
  for k in 2 to {stages} do
    connect L[k] from n[k - 1] to n[k]
  endfor
  for k in 1 to {stages} do
    connect D[k] from n[k] to m[k]
    connect R[k] from m[k] to Ground
  endfor
end
experiment Ladder
  simutime 20
  commupoints 101
  tolerance 1E-6
end
"
    )
}

fn simulate(stages: usize, diode: &str) -> (Outcome, f64) {
    let input = Input::Standard(ladder(stages, diode).into_bytes());
    let prepared = prepare(&input, &Options::default(), &NoFiles);
    let Prepared {
        model, diagnostics, ..
    } = prepared;
    let (flat, experiment) = model.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let mut said = Diagnostics::default();
    let wishes = RunOptions {
        vars: vec!["R[1].i".into(), format!("R[{stages}].i")],
        ..RunOptions::default()
    };
    let made = job(flat, &experiment, &wishes, &mut said).expect("the names are known");
    let job = made.unwrap_or_else(|| panic!("{said:?}"));
    let clock = Instant::now();
    let outcome = run(&job, &mut Nobody);
    let seconds = clock.elapsed().as_secs_f64();
    (outcome, seconds)
}

fn main() {
    println!("stages  diodes  end     steps  events  positions  seconds  ms/event  us/event/stage");
    for stages in [5, 10, 20, 50] {
        for diode in ["IdealDiode", "LeakyDiode"] {
            let (outcome, seconds) = simulate(stages, diode);
            let summary = &outcome.summary;
            let end = match &outcome.end {
                End::Done => "done",
                End::Stopped => "stopped",
                End::Failed(_) => "failed",
            };
            let events = summary.events.max(1) as f64;
            println!(
                "{stages:>6}  {:<6}  {end:<6} {:>6}  {:>6}  {:>9}  {seconds:>7.3}  {:>8.2}  {:>14.1}",
                &diode[..5],
                summary.counts.steps,
                summary.events,
                summary.modes,
                1e3 * summary.seconds.events / events,
                1e6 * summary.seconds.events / events / stages as f64,
            );
        }
    }
}
