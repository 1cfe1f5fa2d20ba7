//! Sweeps: one run for each combination of parameters, on all cores.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::observer::{Keeps, Rows, rounded};
use super::stats::{count, duration};
use super::{Arguments, Buffer, Files, table};
use crate::base::cancel::{self, Cancelled};
use crate::base::diagnostics::Diagnostics;
use crate::base::source::Sources;
use crate::cli::progress::{Progress, Task};
use crate::cli::sweep_csv::SweepCsv;
use crate::cli::writing::trouble::STANDARD;
use crate::cli::writing::{Rows as RowsFile, Unwritable};
use crate::cli::{Console, FAILED, Fault, defect, signals, tell_unwritable};
use crate::experiment::{Experiment, with_parameter};
use crate::expr::show_number;
use crate::flat::{Flat, VarId};
use crate::picture::{Run, svg};
use crate::simulate::job::{Job, RunOptions, job};
use crate::simulate::run::{End, run as run_one};

/// One combination.
type Values = Vec<(VarId, String, f64)>;

/// What came of a combination.
struct Done {
    at: usize,
    run: Option<Run>,
    said: Diagnostics,
    stopped: bool,
    steps: u64,
}

pub fn run(
    arguments: &Arguments,
    console: &Console,
    (sources, mut said): (&Sources, Diagnostics),
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
    // The first one says what is recorded, and how long to run.
    let Some(first) = prepared(&flat, &runs[0], experiment, wishes, &mut said)? else {
        console.diagnostics(sources, &said);
        return Ok(ExitCode::from(FAILED));
    };
    console.diagnostics(sources, &said);
    super::tell_choices(console, &first, experiment);
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
    let keeps = arguments.plot.is_some();
    let progress = Progress::shown(
        Task::Sweep {
            runs: runs.len() as u64,
        },
        console.shows_progress(),
    );
    let mut gathered = Gathered {
        panels: (first.panels.as_ref())
            .map(|panels| panels.iter().flatten().map(|&at| vec![at]).collect()),
        csv,
        kept: (0..runs.len()).map(|_| None).collect(),
        keeps,
        written: Ok(()),
        failed: Vec::new(),
        stopped: false,
        steps: 0,
    };
    {
        let shared = Mutex::new(&mut gathered);
        let next = AtomicUsize::new(0);
        let token = cancel::current().unwrap_or_default();
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= runs.len() || cancel::is_asked() {
                    break;
                }
                defect::on_purpose("sweep");
                let done = single(arguments, &flat, &runs[at], at, experiment, &wishes);
                progress.run_done();
                if let Ok(mut gathered) = shared.lock() {
                    gathered.take(done);
                    if gathered.written.is_err() {
                        // Nobody reads what others would give.
                        next.store(runs.len(), Ordering::Relaxed);
                    }
                }
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..cores.min(runs.len()) {
                // What is left at the end of a thread was told by its token.
                scope.spawn(|| {
                    let _ = cancel::catch(&token, work);
                });
            }
        });
    }
    progress.finish();
    let closed = gathered.close(arguments, console, sources, &runs, file)?;
    let drawn = picture.map(|picture| {
        let all: Vec<Run> = gathered.kept.iter_mut().filter_map(Option::take).collect();
        let name = experiment.title(flat.model());
        let panels = gathered.panels.as_deref();
        // What an interrupted sweep has computed is drawn, too.
        picture.draw(cancel::spared(|| svg::plot_runs(&name, &all, panels)))
    });
    let undrawn = drawn.transpose().err().map(|fault| fault.tell(console));
    if console.is_kept() {
        let bytes = Buffer(buffer).bytes().clone();
        console.result(|out| out.write_all(&bytes))?;
    } else {
        console.message(&format!(
            "{}: {}, {}, {}\n",
            flat.model(),
            count(runs.len() as u64, "run"),
            count(gathered.steps, "step"),
            duration(clock.elapsed().as_secs_f64())
        ));
    }
    Ok(ExitCode::from(match closed {
        0 => undrawn.unwrap_or(0),
        closed => closed,
    }))
}

/// All combinations, the last parameter changing fastest.
fn combinations(experiment: &Experiment) -> Vec<Values> {
    let mut runs: Vec<Values> = vec![Vec::new()];
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

fn prepared(
    flat: &Flat,
    values: &Values,
    experiment: &Experiment,
    wishes: &RunOptions,
    said: &mut Diagnostics,
) -> Result<Option<Job>, String> {
    let mut flat = flat.clone();
    for &(parameter, _, value) in values {
        if let Err(diagnostic) = with_parameter(&mut flat, parameter, value) {
            said.push(diagnostic);
            return Ok(None);
        }
    }
    job(flat, experiment, wishes, said)
}

fn single(
    arguments: &Arguments,
    flat: &Flat,
    values: &Values,
    at: usize,
    experiment: &Experiment,
    wishes: &RunOptions,
) -> Done {
    let mut done = Done {
        at,
        run: None,
        said: Diagnostics::default(),
        stopped: false,
        steps: 0,
    };
    let made = cancel::caught(|| prepared(flat, values, experiment, wishes, &mut done.said));
    let job = match made {
        Ok(Ok(Some(job))) => job,
        Ok(_) => return done,
        Err(Cancelled) => {
            done.stopped = true;
            return done;
        }
    };
    let mut rows = Rows::new(&job.columns, None, arguments.digits, None, Keeps::Points);
    let outcome = run_one(&job, &mut rows);
    done.said = Diagnostics::default();
    match &outcome.end {
        End::Done => {}
        End::Stopped => done.stopped = true,
        End::Failed(halt) => {
            if let Ok(diagnostic) = halt.diagnostic() {
                done.said.push(diagnostic);
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

fn label(values: &Values) -> String {
    let texts: Vec<String> = (values.iter())
        .map(|(_, name, value)| format!("{name} = {}", show_number(*value)))
        .collect();
    texts.join(", ")
}

/// Results as they come.
struct Gathered {
    /// What is drawn, a variable in each panel: runs have the colours.
    panels: Option<Vec<Vec<usize>>>,
    csv: Option<SweepCsv>,
    kept: Vec<Option<Run>>,
    keeps: bool,
    written: Result<(), String>,
    failed: Vec<(usize, Diagnostics)>,
    stopped: bool,
    steps: u64,
}

impl Gathered {
    fn take(&mut self, done: Done) {
        self.steps += done.steps;
        self.stopped |= done.stopped;
        if done.said.has_errors() {
            self.failed.push((done.at, done.said));
        }
        if let Some(csv) = &mut self.csv
            && self.written.is_ok()
        {
            self.written = match &done.run {
                Some(run) => csv.add(done.at, run.clone()),
                None => csv.skip(done.at),
            };
        }
        if self.keeps {
            self.kept[done.at] = done.run;
        }
    }

    fn close(
        &mut self,
        arguments: &Arguments,
        console: &Console,
        sources: &Sources,
        runs: &[Values],
        file: Option<RowsFile>,
    ) -> Result<u8, Fault> {
        let mut code = 0;
        self.failed.sort_by_key(|&(at, _)| at);
        for (at, said) in &self.failed {
            console.message(&format!("with {}:\n", label(&runs[*at])));
            console.diagnostics(sources, said);
            code = FAILED;
        }
        let written = std::mem::replace(&mut self.written, Ok(()));
        // A reader that went away is no error.
        let closed = self.csv.as_ref().is_some_and(SweepCsv::closed);
        let written = written.and_then(|()| self.csv.take().map_or(Ok(()), SweepCsv::finish));
        if let Err(message) = written
            && !closed
        {
            tell_unwritable(console, Unwritable::new(message));
            return Ok(FAILED);
        }
        if self.stopped || cancel::is_asked() {
            console.message("interrupted; what was computed is kept\n");
            return Ok(signals::code());
        }
        // A run that failed is a result of a sweep, and told; the others are there.
        if let (Some(file), Some(path)) = (file, &arguments.output) {
            file.commit(path)?;
        }
        Ok(code)
    }
}
