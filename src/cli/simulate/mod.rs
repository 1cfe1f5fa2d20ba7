//! `bgm simulate`: runs a model; rows as CSV, pictures, a summary.

mod observer;
mod stats;
mod sweep;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Args;

use super::clock::clock;
use super::experiment_options::Options as Experimenting;
use super::{Console, FAILED, Source};
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::source::{Origin, Sources};
use crate::cli::csv::{Csv, Target};
use crate::cli::files;
use crate::cli::progress::{Progress, Task};
use crate::cli::timings::Timings;
use crate::compile::{Prepared, Product, Stage, Unwatched, Watch, prepare_with};
use crate::experiment::Experiment;
use crate::expr::{show_briefly, show_number};
use crate::picture::{Trajectories, panels, svg, terminal};
use crate::simulate::job::{Job, Wishes, job_with};
use crate::simulate::run::{End, Outcome, run_with};
use observer::{Keeps, Kept, Rows, rounded};
use stats::Stats;
pub use stats::duration;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    experimenting: Experimenting,
    /// Write the rows to a CSV file; `-` is standard output
    #[arg(short, long, value_name = "FILE.csv")]
    output: Option<PathBuf>,
    /// What to record: names, with `*` and `?`; default: states, inputs and outputs
    #[arg(long, value_name = "NAMES")]
    vars: Vec<String>,
    /// Draw a picture
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Begin where nothing moves
    #[arg(long)]
    steady: bool,
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

/// Interrupted from the keyboard.
const INTERRUPTED: u8 = 130;

static STOP: AtomicBool = AtomicBool::new(false);

/// Ctrl-C ends the run and keeps what was computed; a second one ends the program.
pub(super) fn listen() {
    // Only the first command of a process sets it: there is one.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
}

pub(super) fn stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// A session goes on after Ctrl-C.
pub(super) fn go_on() {
    STOP.store(false, Ordering::SeqCst);
}

pub fn run_command(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, String> {
    let mut timings = arguments.timings.then(Timings::new);
    let mut unwatched = Unwatched;
    let watch: &mut dyn Watch = match &mut timings {
        Some(timings) => timings,
        None => &mut unwatched,
    };
    let code = run_watched(arguments, console, watch);
    if let Some(timings) = &timings {
        console.message(&timings.text());
    }
    code
}

fn run_watched(
    arguments: &Arguments,
    console: &Console,
    watch: &mut dyn Watch,
) -> Result<ExitCode, String> {
    let clock = clock();
    let begun = clock.now();
    let input = console.input(&arguments.source.file)?;
    let mut options = arguments.source.options();
    arguments.experimenting.add_to(&mut options.request);
    let files = arguments.source.files(&options, console);
    let Prepared {
        sources,
        model,
        mut diagnostics,
    } = prepare_with(&input, &options, &files, watch);
    let compiling = clock.now() - begun;
    let Some((flat, experiment)) = model else {
        console.diagnostics(&sources, &diagnostics);
        return Ok(ExitCode::from(FAILED));
    };
    let wishes = Wishes {
        vars: arguments.vars.clone(),
        steady: arguments.steady,
        until: None,
        clock,
    };
    if !console.is_kept() {
        listen();
    }
    if let Err(message) = places(arguments, console, &sources) {
        console.diagnostics(&sources, &diagnostics);
        unwritable(console, &sources, message);
        return Ok(ExitCode::from(FAILED));
    }
    if !experiment.sweeps.is_empty() {
        let given = (flat, &experiment);
        watch.before(Stage::Run);
        let code = sweep::run(arguments, console, (&sources, diagnostics), given, &wishes);
        watch.after(Stage::Run, Product::Counts(&[]));
        return code;
    }
    let made = job_with(flat, &experiment, &wishes, watch, &mut diagnostics)?;
    console.diagnostics(&sources, &diagnostics);
    let Some(job) = made else {
        return Ok(ExitCode::from(FAILED));
    };
    tell_choices(console, &job, &experiment);
    let mut output = Output::open(arguments, console, &job, &sources)?;
    let Some(csv) = output.csv.take() else {
        return Ok(ExitCode::from(FAILED));
    };
    let (start, end) = (job.plan.start(), job.plan.until());
    let progress = Progress::shown(Task::Run { start, end }, console.shows_progress());
    let mut rows = Rows::new(
        &job.columns,
        csv,
        arguments.digits,
        Some(&progress),
        output.keeps,
    );
    watch.before(Stage::Run);
    let outcome = run_with(&job, &mut rows, watch);
    watch.after(Stage::Run, Product::Counts(&stats::counts(&outcome)));
    watch.before(Stage::Writing);
    let Kept { written, data } = rows.finish();
    progress.finish();
    tell_jumps(console, &outcome);
    let mut code = ended(console, &sources, &outcome);
    if let Err(message) = written {
        unwritable(console, &sources, message);
        code = FAILED;
    }
    let name = experiment.title(job.solved.flat.model());
    if let Some(path) = &arguments.plot {
        let groups = job.panels.as_deref();
        if groups.is_none()
            && let Some(note) = panels::automatic(&data).note
        {
            console.message(&format!("note: {note}\n"));
        }
        let drawn = svg::plot(&name, &data, groups)
            .and_then(|text| files::write_text(&path.to_string_lossy(), &text));
        if let Err(message) = drawn {
            unwritable(console, &sources, message);
            code = FAILED;
        }
    }
    output.show(console, &job, &name, &data)?;
    watch.after(Stage::Writing, Product::Counts(&[]));
    if !console.is_kept() {
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

/// Whether files can be written where they are wanted: known before a long run, not after it.
fn places(arguments: &Arguments, console: &Console, sources: &Sources) -> Result<(), String> {
    let wanted: Vec<&Path> = [&arguments.output, &arguments.plot]
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    if console.is_kept() {
        return match wanted.is_empty() {
            true => Ok(()),
            false => Err("files have no place here: leave out `-o` and `--plot`".to_string()),
        };
    }
    let same = |one: &Path, other: &Path| match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    };
    for &path in &wanted {
        let mut read = sources.ids().map(|id| sources.file(id));
        let shown = path.display();
        if read.any(|file| file.origin == Origin::User && same(path, Path::new(&file.name))) {
            return Err(format!(
                "cannot write `{shown}`: the model was read from it; choose another file"
            ));
        }
    }
    if let [output, plot] = wanted[..] {
        let shown = plot.display();
        if same(output, plot) {
            return Err(match output == Path::new(files::STANDARD) {
                true => "standard output cannot hold both the rows and the picture".to_string(),
                false => format!("`{shown}` cannot hold both the rows and the picture"),
            });
        }
    }
    match &arguments.plot {
        Some(path) => files::probe(&path.to_string_lossy()),
        None => Ok(()),
    }
}

/// What is done with rows.
struct Output {
    /// `None` after an error.
    csv: Option<Option<Csv>>,
    /// Rows are kept for pictures.
    keeps: Keeps,
    /// The values of a single point are printed.
    values: bool,
    digits: Option<u8>,
    terminal: bool,
    /// What was written, where it is kept.
    buffer: Arc<Mutex<Vec<u8>>>,
}

/// A file in memory.
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
        sources: &Sources,
    ) -> Result<Output, String> {
        // A single point is printed, not tabulated.
        let single = job.plan.times.len() < 2;
        let terminal = std::io::stdout().is_terminal() && !console.is_kept();
        let names: Vec<&str> = (job.columns.iter())
            .map(|column| column.name.as_str())
            .collect();
        let path = match &arguments.output {
            Some(path) => Some(path.to_string_lossy().into_owned()),
            None if single || terminal || arguments.plot.is_some() => None,
            None => Some(files::STANDARD.to_string()),
        };
        let buffer = Arc::default();
        let csv = match path {
            None => Ok(None),
            Some(path) => match console.is_kept() {
                true => {
                    let target = Box::new(Buffer(Arc::clone(&buffer)));
                    Csv::over(target, &path, &[], &names).map(Some)
                }
                false => Csv::create(&path, &names).map(Some),
            },
        };
        let csv = match csv {
            Ok(csv) => Some(csv),
            Err(message) => {
                unwritable(console, sources, message);
                None
            }
        };
        let standard = arguments.output.as_deref() == Some(std::path::Path::new(files::STANDARD));
        Ok(Output {
            csv,
            keeps: match arguments.plot.is_some() || terminal || single {
                true => Keeps::All,
                false => Keeps::Nothing,
            },
            values: single && arguments.output.is_none(),
            digits: arguments.digits,
            terminal: terminal && !single && !standard,
            buffer,
        })
    }

    /// A quick plot, or the values of a single point.
    fn show(
        &self,
        console: &Console,
        job: &Job,
        name: &str,
        data: &Trajectories,
    ) -> Result<(), String> {
        if console.is_kept() {
            let bytes = Buffer(Arc::clone(&self.buffer)).bytes().clone();
            console.result(None, |out| out.write_all(&bytes))?;
        }
        if self.values {
            let text = values(job, data, self.digits);
            return console.result(None, |out| out.write_all(text.as_bytes()));
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
        console.picture(&text)
    }
}

/// `C1.e = 5 V`, a line each.
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

fn tell_choices(console: &Console, job: &Job, experiment: &Experiment) {
    if job.chosen.is_empty() {
        return;
    }
    let what = match experiment.span {
        Some(_) => "chosen, where the experiment says nothing",
        None => "no experiment; chosen",
    };
    console.message(&format!("note: {what}: {}\n", job.chosen.join(", ")));
}

/// What jumped where switches went into another position, and what was not determined there.
fn tell_jumps(console: &Console, outcome: &Outcome) {
    /// More are only counted.
    const SHOWN: usize = 10;
    let summary = &outcome.summary;
    for leap in summary.jumps.iter().take(SHOWN) {
        console.message(&format!("note: {leap}\n"));
    }
    let shown = SHOWN.min(summary.jumps.len()) as u64;
    if summary.jump_count > shown {
        let more = stats::count(summary.jump_count - shown, "more jump");
        let lost = summary
            .jumps
            .iter()
            .map(|leap| leap.lost)
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

fn unwritable(console: &Console, sources: &Sources, message: String) {
    let mut said = Diagnostics::default();
    said.push(Diagnostic::new(Code::Unwritable, message));
    console.diagnostics(sources, &said);
}

/// Says why it ended before its time; the exit code.
fn ended(console: &Console, sources: &Sources, outcome: &Outcome) -> u8 {
    match &outcome.end {
        End::Done => 0,
        End::Stopped => {
            let time = show_briefly(outcome.summary.time);
            console.message(&format!(
                "interrupted at Time = {time}; what was computed is kept\n"
            ));
            INTERRUPTED
        }
        End::Failed(halt) => {
            match halt.diagnostic() {
                Ok(diagnostic) => {
                    let mut said = Diagnostics::default();
                    said.push(diagnostic);
                    console.diagnostics(sources, &said);
                }
                // A reader that went away is no error.
                Err(message) if message.is_empty() => return 0,
                Err(message) => unwritable(console, sources, message),
            }
            FAILED
        }
    }
}
