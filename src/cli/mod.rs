//! The command line, with a file for each command. All input and output happens in this room, except that
//! `syntax::load` reads files through a trait.

mod augment;
mod bode;
mod causality;
mod check;
mod clock;
pub mod csv;
mod defect;
mod draw;
mod dump;
mod equations;
pub mod experiment_options;
mod explain;
mod export;
mod fields;
mod fmu;
pub mod golden;
mod io;
mod library;
mod linear;
mod linearize;
mod model;
mod poles;
pub mod progress;
mod reading;
mod reduce;
mod session;
mod signals;
mod simulate;
mod solve;
mod sort;
pub mod sweep_csv;
mod timings;
pub mod writing;

use crate::base::cancel::{self, Cancelled};
use crate::base::diagnostics::visible::has_hidden;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::source::Sources;
use crate::compile::{
    LoadedFlat, NoObserver, Options, Prepared, StageObserver, check, load_flat_with, prepare_with,
};
use crate::expr::print::Style;
use crate::flat::Flat;
use crate::model::Limits;
use clap::{Args, Parser, Subcommand, ValueEnum};
use experiment_options::{Options as ExperimentOptions, Settings};
use io::{Console, Disk};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use writing::Unwritable;
use writing::kinds::Kind;

/// A compiler for acausal models of physical systems, in the classic Dymola language.
#[derive(Debug, Parser)]
#[command(name = "bgm", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Color of the messages
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    color: Color,
    /// For models of strangers: files are read beside the model and along -I only, limits are tighter, no program is started
    #[arg(long, global = true)]
    untrusted: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the equations of a model as flattened
    Equations(equations::Arguments),
    /// List the equations in the order of evaluation, each with its unknown in brackets
    Sort(sort::Arguments),
    /// List the equations solved, in the order of evaluation
    Solve(solve::Arguments),
    /// Tell the causality of a model's bond graph: strokes, storages, resistors, loops
    Causality(causality::Arguments),
    /// Tell of the fields of a model's bond graph: resistors and storages that determine each other
    Fields(fields::Arguments),
    /// Write a model without storages that depend on others
    Reduce(reduce::Arguments),
    /// Write a model with a stiff or parasitic storage put in
    Augment(augment::Arguments),
    /// Draw the bond graph of a model
    Draw(draw::Arguments),
    /// Run a model, as its experiment says
    Simulate(simulate::Arguments),
    /// Linearise a model at a point: A, B, C and D
    Linearize(linearize::Arguments),
    /// Tell the poles and zeros of a model near a point, and what they depend on
    Poles(poles::Arguments),
    /// Compute the frequency response from one variable to another
    Bode(bode::Arguments),
    /// The interactive program of the 1990 paper, or a script of its commands
    Session(session::Arguments),
    /// Write a model as a program in another language
    Export(export::Arguments),
    /// Report everything that is wrong with a model
    Check(check::Arguments),
    /// Compare the listings of models with the golden files beside them
    Golden(golden::Arguments),
    /// Tell what a diagnostic means, with an example of the mistake and of the cure
    Explain(explain::Arguments),
    /// List the types of the standard library, or show one
    Library(library::Arguments),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

/// Arguments of the commands that compile a model.
#[derive(Debug, Args)]
struct Source {
    /// The file of the model; `-` reads standard input
    #[arg(value_name = "MODEL.bgm")]
    file: PathBuf,
    /// The model to compile; default: the last `model` of the file
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The experiment whose parameters, start values and inputs are taken, or a file that holds it
    #[arg(long, value_name = "NAME")]
    experiment: Option<String>,
    #[command(flatten)]
    settings: Settings,
    /// A folder where includes are looked for
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// The most instances of submodels
    #[arg(long, value_name = "N", default_value_t = Limits::default().instances)]
    max_instances: usize,
}

/// The option `-o`.
#[derive(Debug, Args)]
struct Output {
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Arguments of the commands that list equations.
#[derive(Debug, Args)]
struct Listing {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    output: Output,
    /// How to print: with full names, or in the two columns of the 1990 paper
    #[arg(long, value_name = "STYLE", default_value = "full")]
    style: StyleName,
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    /// A document to be typeset
    Latex,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StyleName {
    Full,
    #[value(name = "1990")]
    Classic,
}

impl From<StyleName> for Style {
    fn from(name: StyleName) -> Style {
        match name {
            StyleName::Full => Style::Plain,
            StyleName::Classic => Style::Classic,
        }
    }
}

impl Format {
    fn kind(self) -> Kind {
        match self {
            Format::Text => Kind::Text,
            Format::Json => Kind::Json,
            Format::Latex => Kind::Latex,
        }
    }
}

/// Why a command fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The command line is wrong; exit code 2.
    Usage(String),
    /// The input of the command cannot be read or does not allow the request; exit code 1.
    Input(String),
    Unwritable(Unwritable),
}

impl From<String> for Fault {
    fn from(message: String) -> Fault {
        Fault::Usage(message)
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Fault {
        Fault::Usage(message.to_string())
    }
}

impl From<Unwritable> for Fault {
    fn from(unwritable: Unwritable) -> Fault {
        Fault::Unwritable(unwritable)
    }
}

impl Fault {
    fn into_message(self) -> String {
        match self {
            Fault::Usage(message) | Fault::Input(message) => message,
            Fault::Unwritable(unwritable) => unwritable.message,
        }
    }

    /// Reports the failure and returns the exit code.
    fn report(self, console: &Console) -> u8 {
        match self {
            Fault::Usage(message) => {
                console.message(&format!("error: {message}\n"));
                2
            }
            Fault::Input(message) => {
                console.message(&format!("error: {message}\n"));
                FAILED
            }
            Fault::Unwritable(unwritable) => {
                report_unwritable(console, unwritable);
                FAILED
            }
        }
    }
}

fn report_unwritable(console: &Console, unwritable: Unwritable) {
    let mut diagnostic = Diagnostic::new(Code::Unwritable, unwritable.message);
    if let Some(hint) = unwritable.hint {
        diagnostic = diagnostic.hint(hint);
    }
    let mut diagnostics = Diagnostics::default();
    diagnostics.push(diagnostic);
    console.diagnostics(&Sources::default(), &diagnostics);
}

/// Runs the command line. Exit codes: 0 success; 1 the model has errors, or a file cannot be read or written; 2 wrong
/// usage; 101 a defect of bgm; 128 plus the number of the signal that ended the command.
pub fn run() -> ExitCode {
    defect::record_panics();
    let done = catch_unwind(AssertUnwindSafe(|| {
        cancel::catch(signals::token(), command)
    }));
    match done {
        // A panic on another thread counts too.
        Err(_) | Ok(_) if defect::has_panicked() => {
            defect::report();
            ExitCode::from(defect::DEFECT)
        }
        Ok(Ok(code)) => code,
        Ok(Err(Cancelled)) | Err(_) => {
            Console::new(Some(false), false).message("interrupted\n");
            ExitCode::from(signals::exit_code())
        }
    }
}

fn command() -> ExitCode {
    defect::panic_if_requested("command");
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // clap returns help and version as errors. They go to standard output.
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            usage(&error);
            return ExitCode::from(code);
        }
    };
    let color = match cli.color {
        Color::Auto => None,
        Color::Always => Some(true),
        Color::Never => Some(false),
    };
    let mut console = Console::new(color, cli.untrusted);
    match cli.command.run(&mut console) {
        Ok(code) => code,
        Err(fault) => ExitCode::from(fault.report(&console)),
    }
}

/// Prints an error of the command line, or the requested help.
fn usage(error: &clap::Error) {
    let text = error.render().to_string();
    match has_hidden(&text) {
        // The message quotes an argument, which can contain control characters.
        true => Console::new(Some(false), false).message(&text),
        // A closed pipe is ignored.
        false => drop(error.print()),
    }
}

impl Command {
    fn run(&self, console: &mut Console) -> Result<ExitCode, Fault> {
        match self {
            Command::Equations(arguments) => equations::run(arguments, console),
            Command::Sort(arguments) => sort::run(arguments, console),
            Command::Solve(arguments) => solve::run(arguments, console),
            Command::Causality(arguments) => causality::run(arguments, console),
            Command::Fields(arguments) => fields::run(arguments, console),
            Command::Reduce(arguments) => reduce::run(arguments, console),
            Command::Augment(arguments) => augment::run(arguments, console),
            Command::Draw(arguments) => draw::run(arguments, console),
            Command::Simulate(arguments) => simulate::run_command(arguments, console),
            Command::Linearize(arguments) => linearize::run(arguments, console),
            Command::Poles(arguments) => poles::run(arguments, console),
            Command::Bode(arguments) => bode::run(arguments, console),
            Command::Session(arguments) => session::run(arguments, console),
            Command::Export(arguments) => export::run(arguments, console),
            Command::Check(arguments) => check::run(arguments, console),
            Command::Golden(arguments) => golden::run(arguments, console),
            Command::Explain(arguments) => explain::run(arguments, console),
            Command::Library(arguments) => library::run(arguments, console),
        }
    }
}

/// The exit code if the model has errors or a file cannot be read or written.
const FAILED: u8 = 1;

/// The folders in which files of a model are searched: its own, and those of `-I`.
fn folders<'p>(file: &'p Path, include: &'p [PathBuf]) -> impl Iterator<Item = &'p Path> {
    let beside = file.parent().unwrap_or(Path::new(""));
    std::iter::once(beside).chain(include.iter().map(PathBuf::as_path))
}

impl Source {
    fn options(&self) -> Options {
        Options {
            model: self.model.clone(),
            folders: self.include.clone(),
            request: self.settings.request(self.experiment.clone()),
            limits: Limits {
                instances: self.max_instances,
                ..Limits::default()
            },
        }
    }

    fn compile(&self, console: &Console) -> Result<LoadedFlat, String> {
        self.compile_with(console, &mut NoObserver)
    }

    /// Compiles the model; `watch` observes the stages.
    fn compile_with(
        &self,
        console: &Console,
        watch: &mut dyn StageObserver,
    ) -> Result<LoadedFlat, String> {
        let input = console.input(&self.file)?;
        let options = self.options();
        let files = self.files(&options, console);
        Ok(load_flat_with(&input, &options, &files, watch))
    }

    /// Compiles the model to a flat one with its experiment; `watch` observes the stages.
    fn prepare(
        &self,
        experiment: &ExperimentOptions,
        console: &Console,
        watch: &mut dyn StageObserver,
    ) -> Result<Prepared, String> {
        let input = console.input(&self.file)?;
        let mut options = self.options();
        experiment.add_to(&mut options.request);
        let files = self.files(&options, console);
        Ok(prepare_with(&input, &options, &files, watch))
    }

    fn check(
        &self,
        console: &Console,
        visit: impl FnMut(Flat),
    ) -> Result<(Sources, Diagnostics), String> {
        let input = console.input(&self.file)?;
        let options = self.options();
        let files = self.files(&options, console);
        Ok(check(&input, &options, &files, visit))
    }

    /// Returns the files that the model may be read from.
    fn files(&self, options: &Options, console: &Console) -> Disk {
        console.check_folders(&self.include);
        let folders = folders(&self.file, &self.include);
        console.files(folders, options.request.file().as_deref())
    }
}
