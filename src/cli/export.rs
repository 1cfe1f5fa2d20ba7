//! `bgm export`: a model as a program in another language.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::experiment_options::Options as ExperimentOptions;
use super::writing::error_text::STANDARD;
use super::writing::kinds::Kind;
use super::{Console, FAILED, Fault, Source};
use crate::base::diagnostics::nearest;
use crate::compile::{NoObserver, Prepared};
use crate::export::{Refusal, Target, export, unit};
use crate::simulate::job::method;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    experiment_options: ExperimentOptions,
    /// The language: c, python, desire, simnon, acsl, modelica; fmu, a Functional Mock-up Unit; or latex, a report
    #[arg(long, value_name = "TARGET")]
    to: String,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let target = target(&arguments.to)?;
    let Prepared {
        sources,
        model,
        mut diagnostics,
    } = (arguments.source).prepare(&arguments.experiment_options, console, &mut NoObserver)?;
    let Some((flat, experiment)) = model else {
        console.diagnostics(&sources, &diagnostics);
        return Ok(ExitCode::from(FAILED));
    };
    if !experiment.sweeps.is_empty() {
        return Err("a program is made for one run: leave out `--sweep`".into());
    }
    // The programs have an integrator of their own; a name that is none is a mistake all the same.
    if method(&experiment, &mut diagnostics).is_none() {
        console.diagnostics(&sources, &diagnostics);
        return Ok(ExitCode::from(FAILED));
    }
    let output = arguments.output.as_deref();
    let output = output.filter(|path| *path != Path::new(STANDARD));
    let name = flat.model().to_string();
    if target == Target::Fmu {
        if arguments.output.is_none() {
            return Err(format!("an FMU is a file: say which with `-o {name}.fmu`").into());
        }
        let place = console.place(output, Kind::Program(target))?;
        let made = unit(flat, &experiment, &mut diagnostics);
        console.diagnostics(&sources, &diagnostics);
        return match made {
            Ok(Some((unit, notes))) => {
                print_notes(console, &notes);
                super::fmu::write(&unit, place, console)?;
                Ok(ExitCode::SUCCESS)
            }
            Ok(None) => Ok(ExitCode::from(FAILED)),
            Err(refusal) => Ok(refused(console, &name, target, &refusal)),
        };
    }
    let place = console.place(output, Kind::Program(target))?;
    let stem = match output.and_then(|path| path.file_stem()) {
        Some(stem) => stem.to_string_lossy().into_owned(),
        None => name.to_lowercase(),
    };
    let exported = export(flat, &experiment, target, &stem, &mut diagnostics);
    console.diagnostics(&sources, &diagnostics);
    match exported {
        Ok(Some(exported)) => {
            print_notes(console, &exported.notes);
            place.write(|out| out.write_all(exported.text.as_bytes()))?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(None) => Ok(ExitCode::from(FAILED)),
        Err(refusal) => Ok(refused(console, &name, target, &refusal)),
    }
}

fn print_notes(console: &Console, notes: &[String]) {
    for note in notes {
        console.message(&format!("note: {note}\n"));
    }
}

fn refused(console: &Console, name: &str, target: Target, refusal: &Refusal) -> ExitCode {
    let target = target.name();
    console.message(&format!(
        "error: `{name}` cannot be exported to {target}: {}\n",
        refusal.0
    ));
    ExitCode::from(FAILED)
}

fn target(name: &str) -> Result<Target, Fault> {
    Target::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Target::ALL.iter().map(|target| target.name()).collect();
        let meant = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? "),
            None => String::new(),
        };
        let known = known.join(", ");
        format!("there is no target `{name}`; {meant}there are: {known}").into()
    })
}
