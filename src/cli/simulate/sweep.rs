//! Sweeps: a run for each combination of parameters, on all cores.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::observer::{RowObserver, RowStorage, rounded};
use super::stats::{count, duration};
use super::{Arguments, Buffer, Files, table};
use crate::base::cancel::{self, Cancelled};
use crate::base::diagnostics::Diagnostics;
use crate::base::source::Sources;
use crate::cli::progress::{Progress, Task};
use crate::cli::sweep_csv::SweepCsv;
use crate::cli::writing::error_text::STANDARD;
use crate::cli::writing::{Rows as RowsFile, Unwritable};
use crate::cli::{Console, FAILED, Fault, defect, report_unwritable, signals};
use crate::experiment::{Experiment, with_parameter};
use crate::expr::show_number;
use crate::flat::{Flat, VarId};
use crate::picture::{Run, svg};
use crate::simulate::job::{Job, RunOptions, job};
use crate::simulate::run::{End, run as run_one};

/// One combination: each parameter with its name and value.
type Combination = Vec<(VarId, String, f64)>;

/// The result of one combination.
struct RunResult {
    at: usize,
    run: Option<Run>,
    diagnostics: Diagnostics,
    stopped: bool,
    steps: u64,
}

pub fn run(
    arguments: &Arguments,
    console: &Console,
    (sources, mut diagnostics): (&Sources, Diagnostics),
    (flat, experiment): (Flat, &Experiment),
    wishes: &RunOptions,
    files: Files<'_>,
) -> Result<ExitCode, Fault> {
    let Files {
        rows: mut file,
        picture,
    } = files;
    let clock = std::time::Instant::now();
    let runs = combinations(experiment);
    // The first run determines the columns and the end time of all.
    let Some(first) = prepare_run(&flat, &runs[0], experiment, wishes, &mut diagnostics)? else {
        console.diagnostics(sources, &diagnostics);
        return Ok(ExitCode::from(FAILED));
    };
    console.diagnostics(sources, &diagnostics);
    super::report_choices(console, &first, experiment);
    let wishes = RunOptions {
        until: Some(first.plan.until()),
        ..wishes.clone()
    };
    let names: Vec<&str> = (first.columns.iter())
        .map(|column| column.name.as_str())
        .collect();
    let parameters: Vec<&str> = (experiment.sweeps.iter())
        .map(|sweep| sweep.name.as_str())
        .collect();
    let path = match (&arguments.output, &arguments.plot) {
        (Some(path), _) => Some(path.to_string_lossy().into_owned()),
        (None, Some(_)) => None,
        (None, None) => Some(STANDARD.to_string()),
    };
    let buffer = Arc::default();
    let header = (parameters.as_slice(), names.as_slice());
    let kept = (console, &buffer);
    let csv = path.map(|path| table(&path, header, kept, file.as_mut()));
    let csv = csv.transpose()?;
    let csv = csv.map(|csv| SweepCsv::over(csv, &parameters, &names));
    let keeps_runs = arguments.plot.is_some();
    let progress = Progress::shown(
        Task::Sweep {
            runs: runs.len() as u64,
        },
        console.shows_progress(),
    );
    let mut results = SweepResults {
        panels: (first.panels.as_ref())
            .map(|panels| panels.iter().flatten().map(|&at| vec![at]).collect()),
        csv,
        kept: (0..runs.len()).map(|_| None).collect(),
        keeps_runs,
        written: Ok(()),
        failed: Vec::new(),
        stopped: false,
        steps: 0,
    };
    {
        let shared = Mutex::new(&mut results);
        let next = AtomicUsize::new(0);
        let token = cancel::current().unwrap_or_default();
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= runs.len() || cancel::is_asked() {
                    break;
                }
                defect::panic_if_requested("sweep");
                let done = run_combination(arguments, &flat, &runs[at], at, experiment, &wishes);
                progress.run_done();
                if let Ok(mut results) = shared.lock() {
                    results.add(done);
                    if results.written.is_err() {
                        // Further runs are useless if their rows cannot be written.
                        next.store(runs.len(), Ordering::Relaxed);
                    }
                }
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..cores.min(runs.len()) {
                // A cancelled thread needs no report; `close` checks the token.
                scope.spawn(|| {
                    let _ = cancel::catch(&token, work);
                });
            }
        });
    }
    progress.finish();
    let closed = results.close(arguments, console, sources, &runs, file)?;
    let drawn = picture.map(|picture| {
        let all: Vec<Run> = results.kept.iter_mut().filter_map(Option::take).collect();
        let name = experiment.title(flat.model());
        let panels = results.panels.as_deref();
        // The runs of an interrupted sweep are drawn as well.
        picture.draw(cancel::spared(|| svg::plot_runs(&name, &all, panels)))
    });
    let undrawn = drawn.transpose().err().map(|fault| fault.report(console));
    if console.is_captured() {
        let bytes = Buffer(buffer).bytes().clone();
        console.result(|out| out.write_all(&bytes))?;
    } else {
        console.message(&format!(
            "{}: {}, {}, {}\n",
            flat.model(),
            count(runs.len() as u64, "run"),
            count(results.steps, "step"),
            duration(clock.elapsed().as_secs_f64())
        ));
    }
    Ok(ExitCode::from(match closed {
        0 => undrawn.unwrap_or(0),
        closed => closed,
    }))
}

/// Returns all combinations; the last parameter changes fastest.
fn combinations(experiment: &Experiment) -> Vec<Combination> {
    let mut runs: Vec<Combination> = vec![Vec::new()];
    for sweep in &experiment.sweeps {
        let longer = runs.iter().flat_map(|values| {
            sweep.values.iter().map(|&value| {
                let mut values = values.clone();
                values.push((sweep.variable, sweep.name.clone(), value));
                values
            })
        });
        runs = longer.collect();
    }
    runs
}

fn prepare_run(
    flat: &Flat,
    values: &Combination,
    experiment: &Experiment,
    wishes: &RunOptions,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Job>, String> {
    let mut flat = flat.clone();
    for &(parameter, _, value) in values {
        if let Err(diagnostic) = with_parameter(&mut flat, parameter, value) {
            diagnostics.push(diagnostic);
            return Ok(None);
        }
    }
    job(flat, experiment, wishes, diagnostics)
}

fn run_combination(
    arguments: &Arguments,
    flat: &Flat,
    values: &Combination,
    at: usize,
    experiment: &Experiment,
    wishes: &RunOptions,
) -> RunResult {
    let mut done = RunResult {
        at,
        run: None,
        diagnostics: Diagnostics::default(),
        stopped: false,
        steps: 0,
    };
    let made =
        cancel::caught(|| prepare_run(flat, values, experiment, wishes, &mut done.diagnostics));
    let job = match made {
        Ok(Ok(Some(job))) => job,
        Ok(_) => return done,
        Err(Cancelled) => {
            done.stopped = true;
            return done;
        }
    };
    let mut rows = RowObserver::new(
        &job.columns,
        None,
        arguments.digits,
        None,
        RowStorage::Points,
    );
    let outcome = run_one(&job, &mut rows);
    done.diagnostics = Diagnostics::default();
    match &outcome.end {
        End::Done => {}
        End::Stopped => done.stopped = true,
        End::Failed(halt) => {
            if let Ok(diagnostic) = halt.diagnostic() {
                done.diagnostics.push(diagnostic);
            }
        }
    }
    done.steps = outcome.summary.counts.steps;
    let mut result = rows.finish().data;
    if arguments.digits.is_some() {
        let series = result.series.iter_mut().map(|series| &mut series.values);
        for value in series.chain([&mut result.times]).flatten() {
            *value = rounded(*value, arguments.digits);
        }
    }
    done.run = Some(Run {
        label: label(values),
        parameters: (values.iter())
            .map(|(_, name, value)| (name.clone(), *value))
            .collect(),
        result,
    });
    done
}

fn label(values: &Combination) -> String {
    let texts: Vec<String> = (values.iter())
        .map(|(_, name, value)| format!("{name} = {}", show_number(*value)))
        .collect();
    texts.join(", ")
}

/// Collects the results in the order in which the runs end.
struct SweepResults {
    /// The variables to draw, one in each panel, because colors distinguish the runs.
    panels: Option<Vec<Vec<usize>>>,
    csv: Option<SweepCsv>,
    kept: Vec<Option<Run>>,
    keeps_runs: bool,
    written: Result<(), String>,
    failed: Vec<(usize, Diagnostics)>,
    stopped: bool,
    steps: u64,
}

impl SweepResults {
    fn add(&mut self, done: RunResult) {
        self.steps += done.steps;
        self.stopped |= done.stopped;
        if done.diagnostics.has_errors() {
            self.failed.push((done.at, done.diagnostics));
        }
        if let Some(csv) = &mut self.csv
            && self.written.is_ok()
        {
            self.written = match &done.run {
                Some(run) => csv.add(done.at, run.clone()),
                None => csv.skip(done.at),
            };
        }
        if self.keeps_runs {
            self.kept[done.at] = done.run;
        }
    }

    fn close(
        &mut self,
        arguments: &Arguments,
        console: &Console,
        sources: &Sources,
        runs: &[Combination],
        file: Option<RowsFile>,
    ) -> Result<u8, Fault> {
        let mut code = 0;
        self.failed.sort_by_key(|&(at, _)| at);
        for (at, diagnostics) in &self.failed {
            console.message(&format!("with {}:\n", label(&runs[*at])));
            console.diagnostics(sources, diagnostics);
            code = FAILED;
        }
        let written = std::mem::replace(&mut self.written, Ok(()));
        // A reader that closes its pipe is no error.
        let closed = self.csv.as_ref().is_some_and(SweepCsv::closed);
        let written = written.and_then(|()| self.csv.take().map_or(Ok(()), SweepCsv::finish));
        if let Err(message) = written
            && !closed
        {
            report_unwritable(console, Unwritable::new(message));
            return Ok(FAILED);
        }
        if self.stopped || cancel::is_asked() {
            console.message("interrupted; what was computed is kept\n");
            return Ok(signals::exit_code());
        }
        // Failed runs have been reported; the rows of the others are complete, so the file is committed.
        if let (Some(file), Some(path)) = (file, &arguments.output) {
            file.commit(path)?;
        }
        Ok(code)
    }
}
