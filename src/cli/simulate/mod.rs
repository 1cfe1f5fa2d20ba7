//! `bgm simulate`: runs a model and writes rows as CSV, pictures, and a summary.

mod observer;
mod stats;
mod sweep;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Args;

use super::clock::clock;
use super::experiment_options::Options as ExperimentOptions;
use super::io::OutputSink;
use super::signals::{self, waiting};
use super::writing::inputs::is_same;
use super::writing::kinds::Kind;
use super::writing::{self, Unwritable, Waiting, error_text};
use super::{Console, FAILED, Fault, Source, report_unwritable};
use crate::base::cancel;
use crate::base::diagnostics::Diagnostics;
use crate::base::source::Sources;
use crate::cli::csv::{Csv, Target};
use crate::cli::progress::{Progress, Task};
use crate::cli::timings;
use crate::compile::{Prepared, Product, Stage, StageObserver};
use crate::experiment::Experiment;
use crate::expr::{show_briefly, show_number};
use crate::picture::png::png;
use crate::picture::{Trajectories, panels, svg, terminal};
use crate::simulate::job::{Job, RunOptions, job_with};
use crate::simulate::run::{End, Outcome, run_with};
use observer::{RecordedRows, RowObserver, RowStorage, rounded};
use stats::Stats;
pub use stats::duration;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    experiment_options: ExperimentOptions,
    /// Write the rows to a CSV file; `-` is standard output
    #[arg(short, long, value_name = "FILE.csv")]
    output: Option<PathBuf>,
    /// What to record: names, with `*` and `?`; default: states, inputs and outputs
    #[arg(long, value_name = "NAMES")]
    vars: Vec<String>,
    /// Draw a picture: SVG, or PNG if its name ends so
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Begin where nothing moves
    #[arg(long)]
    steady: bool,
    /// Let start values that contradict each other jump to values that do not
    #[arg(long)]
    start_jump: bool,
    /// Round the numbers that are written to so many digits
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=17))]
    digits: Option<u8>,
    /// Tell where the time went
    #[arg(long)]
    stats: bool,
    /// Tell what each stage has cost
    #[arg(long, hide_short_help = true)]
    timings: bool,
}

pub fn run_command(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    timings::told(arguments.timings, console, |watch| {
        run_watched(arguments, console, watch)
    })
}

fn run_watched(
    arguments: &Arguments,
    console: &Console,
    watch: &mut dyn StageObserver,
) -> Result<ExitCode, Fault> {
    let clock = clock();
    let begun = clock.now();
    let Prepared {
        sources,
        model,
        mut diagnostics,
    } = (arguments.source).prepare(&arguments.experiment_options, console, watch)?;
    let compiling = clock.now() - begun;
    let Some((flat, experiment)) = model else {
        console.diagnostics(&sources, &diagnostics);
        return Ok(ExitCode::from(FAILED));
    };
    let wishes = RunOptions {
        vars: arguments.vars.clone(),
        steady: arguments.steady,
        start_jump: arguments.start_jump,
        until: None,
        clock,
    };
    let files = match Files::open(arguments, console) {
        Ok(files) => files,
        Err(fault) => {
            console.diagnostics(&sources, &diagnostics);
            return Err(fault);
        }
    };
    if !experiment.sweeps.is_empty() {
        let given = (flat, &experiment);
        let diagnostics = (&sources, diagnostics);
        watch.before(Stage::Run);
        let code = sweep::run(arguments, console, diagnostics, given, &wishes, files);
        watch.after(Stage::Run, Product::Counts(&[]));
        return code;
    }
    let made = job_with(flat, &experiment, &wishes, watch, &mut diagnostics)?;
    console.diagnostics(&sources, &diagnostics);
    let Some(job) = made else {
        return Ok(ExitCode::from(FAILED));
    };
    report_choices(console, &job, &experiment);
    let Files {
        rows: mut file,
        picture,
    } = files;
    let (csv, output) = Output::open(arguments, console, &job, file.as_mut())?;
    let (start, end) = (job.plan.start(), job.plan.until());
    let progress = Progress::shown(Task::Run { start, end }, console.shows_progress());
    let mut rows = RowObserver::new(
        &job.columns,
        csv,
        arguments.digits,
        Some(&progress),
        output.storage,
    );
    watch.before(Stage::Run);
    let outcome = run_with(&job, &mut rows, watch);
    watch.after(Stage::Run, Product::Counts(&stats::counts(&outcome)));
    watch.before(Stage::Writing);
    let RecordedRows { written, data } = rows.finish();
    progress.finish();
    report_jumps(console, &outcome);
    let mut code = report_end(console, &sources, &outcome);
    if let Err(message) = written {
        report_unwritable(console, Unwritable::new(message));
        code = FAILED;
    }
    // Incomplete rows do not replace a complete file.
    if let (Some(file), Some(path)) = (file, &arguments.output)
        && matches!(outcome.end, End::Done)
        && code == 0
        && let Err(unwritable) = file.commit(path)
    {
        report_unwritable(console, unwritable);
        code = FAILED;
    }
    let name = experiment.title(job.solved.flat.model());
    if let Some(picture) = picture {
        let groups = job.panels.as_deref();
        if groups.is_none()
            && let Some(note) = panels::automatic(&data).note
        {
            console.message(&format!("note: {note}\n"));
        }
        // The rows of an interrupted run are drawn as well.
        let drawn = cancel::spared(|| svg::plot(&name, &data, groups));
        if let Err(fault) = picture.draw(drawn) {
            code = fault.report(console);
        }
    }
    output.show(console, &job, &name, &data)?;
    watch.after(Stage::Writing, Product::Counts(&[]));
    if !console.is_captured() {
        console.message(&stats::summary(job.solved.flat.model(), &job, &outcome));
    }
    if arguments.stats {
        let stats = Stats {
            compiling,
            job: &job,
            outcome: &outcome,
        };
        console.message(&stats.text());
    }
    Ok(ExitCode::from(code))
}

/// The open files of a run. They are opened before the run, so that errors are known before a long run.
struct Files<'c> {
    rows: Option<writing::Rows>,
    picture: Option<Picture<'c>>,
}

impl<'c> Files<'c> {
    fn open(arguments: &'c Arguments, console: &'c Console) -> Result<Files<'c>, Fault> {
        let (output, plot) = (arguments.output.as_deref(), arguments.plot.as_deref());
        if console.is_captured() && (output.is_some() || plot.is_some()) {
            let message = "files have no place here: leave out `-o` and `--plot`";
            return Err(Unwritable::new(message).into());
        }
        if let (Some(output), Some(plot)) = (output, plot)
            && is_same(output, plot)
            && !console.inputs().contains(plot)
        {
            let shown = error_text::shown(&plot.to_string_lossy());
            let message = format!("{shown} cannot hold both the rows and the picture");
            return Err(Unwritable::new(message).into());
        }
        let rows = output.map(|path| console.rows(path)).transpose()?;
        let picture = plot.map(|path| Picture::open(path, console)).transpose()?;
        Ok(Files {
            rows: rows.flatten(),
            picture,
        })
    }
}

/// The open file of a picture.
struct Picture<'c> {
    place: OutputSink<'c>,
    kind: Kind,
}

impl<'c> Picture<'c> {
    fn open(path: &'c Path, console: &'c Console) -> Result<Picture<'c>, Fault> {
        let kind = Kind::of_picture(Some(path));
        let place = console.place(Some(path), kind)?;
        Ok(Picture { place, kind })
    }

    fn draw(self, drawn: Result<String, String>) -> Result<(), Fault> {
        let bytes = drawn.and_then(|text| match self.kind {
            Kind::Png => waiting(|| png(&text)),
            _ => Ok(text.into_bytes()),
        });
        let bytes = bytes.map_err(Unwritable::new)?;
        self.place.write(|out| out.write_all(&bytes))
    }
}

/// The destinations of the rows.
struct Output {
    /// Which rows are stored for pictures.
    storage: RowStorage,
    /// True: the values of a single point are printed.
    values: bool,
    digits: Option<u8>,
    terminal: bool,
    /// The CSV text, if output is captured.
    buffer: Arc<Mutex<Vec<u8>>>,
}

/// A file in memory, for captured output.
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Target for Buffer {
    fn cut(&mut self, length: u64) {
        self.bytes().truncate(length as usize);
    }
}

impl Output {
    fn open(
        arguments: &Arguments,
        console: &Console,
        job: &Job,
        file: Option<&mut writing::Rows>,
    ) -> Result<(Option<Csv>, Output), Fault> {
        // A single point is printed as a list of values, not as CSV.
        let single = job.plan.times.len() < 2;
        let terminal = std::io::stdout().is_terminal() && !console.is_captured();
        let names: Vec<&str> = (job.columns.iter())
            .map(|column| column.name.as_str())
            .collect();
        let path = match &arguments.output {
            Some(path) => Some(path.to_string_lossy().into_owned()),
            None if single || terminal || arguments.plot.is_some() => None,
            None => Some(error_text::STANDARD.to_string()),
        };
        let buffer = Arc::default();
        let csv = match path {
            None => None,
            Some(path) => Some(table(&path, (&[], &names), (console, &buffer), file)?),
        };
        let standard = arguments.output.as_deref() == Some(Path::new(error_text::STANDARD));
        let output = Output {
            storage: match arguments.plot.is_some() || terminal || single {
                true => RowStorage::All,
                false => RowStorage::Nothing,
            },
            values: single && arguments.output.is_none(),
            digits: arguments.digits,
            terminal: terminal && !single && !standard,
            buffer,
        };
        Ok((csv, output))
    }

    /// Shows a plot on the terminal, or the values of a single point.
    fn show(
        &self,
        console: &Console,
        job: &Job,
        name: &str,
        data: &Trajectories,
    ) -> Result<(), Fault> {
        if console.is_captured() {
            let bytes = Buffer(Arc::clone(&self.buffer)).bytes().clone();
            console.result(|out| out.write_all(&bytes))?;
        }
        if self.values {
            let text = values(job, data, self.digits);
            return console.result(|out| out.write_all(text.as_bytes()));
        }
        if !self.terminal {
            return Ok(());
        }
        let which = match job.panels.as_ref().and_then(|panels| panels.first()) {
            Some(panel) => panel.clone(),
            None => terminal::chosen(data),
        };
        let (width, height) = console.size();
        let height = height.saturating_sub(4).min(24);
        let text = terminal::plot(name, data, &which, (width, height), console.has_colour());
        console.result_as_is(&text)
    }
}

/// Opens a CSV table that is written to a file, to standard output, or to the buffer; `path` is its name.
fn table(
    path: &str,
    (parameters, columns): (&[&str], &[&str]),
    (console, buffer): (&Console, &Arc<Mutex<Vec<u8>>>),
    file: Option<&mut writing::Rows>,
) -> Result<Csv, Fault> {
    let failed = |message: String| Fault::from(Unwritable::new(message));
    let target: Box<dyn Target> = match &file {
        _ if console.is_captured() => Box::new(Buffer(Arc::clone(buffer))),
        None => Box::new(Waiting(io::stdout())),
        Some(rows) => {
            let file = rows.file();
            let file = file.map_err(|error| failed(error_text::message(path, &error)))?;
            match rows {
                // Writing to a disk does not block, so it is not marked as waiting.
                writing::Rows::Partial(_) => Box::new(file),
                writing::Rows::Direct(_) => Box::new(Waiting(file)),
            }
        }
    };
    let csv = Csv::over(target, path, parameters, columns).map_err(failed)?;
    if let Some(file) = file {
        file.end_header();
    }
    Ok(csv)
}

/// Returns a line such as `C1.e = 5 V` for each column.
fn values(job: &Job, data: &Trajectories, digits: Option<u8>) -> String {
    let mut text = String::new();
    for (column, series) in job.columns.iter().zip(&data.series) {
        let Some(&value) = series.values.last() else {
            continue;
        };
        let value = match column.boolean {
            true => (value != 0.0).to_string(),
            false => show_number(rounded(value, digits)),
        };
        let unit = column
            .unit
            .as_deref()
            .map_or(String::new(), |unit| format!(" {unit}"));
        text.push_str(&format!("{} = {value}{unit}\n", column.name));
    }
    text
}

fn report_choices(console: &Console, job: &Job, experiment: &Experiment) {
    if job.chosen.is_empty() {
        return;
    }
    let what = match experiment.span {
        Some(_) => "chosen, where the experiment says nothing",
        None => "no experiment; chosen",
    };
    console.message(&format!("note: {what}: {}\n", job.chosen.join(", ")));
}

/// Reports state jumps at mode changes, and values that were not determined there.
fn report_jumps(console: &Console, outcome: &Outcome) {
    /// Further jumps are only counted.
    const SHOWN: usize = 10;
    let summary = &outcome.summary;
    for jump in summary.jumps.iter().take(SHOWN) {
        console.message(&format!("note: {jump}\n"));
    }
    let shown = SHOWN.min(summary.jumps.len()) as u64;
    if summary.jump_count > shown {
        let more = stats::count(summary.jump_count - shown, "more jump");
        let lost = summary
            .jumps
            .iter()
            .map(|jump| jump.lost)
            .sum::<Option<f64>>();
        let lost = match lost {
            Some(lost) if summary.jump_count == summary.jumps.len() as u64 => {
                format!("; energy lost in all {}", show_briefly(lost))
            }
            _ => String::new(),
        };
        console.message(&format!("note: {more} of states{lost}\n"));
    }
    for note in &summary.notes {
        console.message(&format!("note: {note}\n"));
    }
}

/// Reports why the run ended early, and returns the exit code.
fn report_end(console: &Console, sources: &Sources, outcome: &Outcome) -> u8 {
    match &outcome.end {
        End::Done => 0,
        End::Stopped => {
            let time = show_briefly(outcome.summary.time);
            console.message(&format!(
                "interrupted at Time = {time}; what was computed is kept\n"
            ));
            signals::exit_code()
        }
        End::Failed(halt) => {
            match halt.diagnostic() {
                Ok(diagnostic) => {
                    let mut diagnostics = Diagnostics::default();
                    diagnostics.push(diagnostic);
                    console.diagnostics(sources, &diagnostics);
                }
                // A reader that closes its pipe is no error.
                Err(message) if message.is_empty() => return 0,
                Err(message) => report_unwritable(console, Unwritable::new(message)),
            }
            FAILED
        }
    }
}
