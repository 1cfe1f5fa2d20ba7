//! `bgm check`: all diagnostics of a file, and a summary.

use super::writing::kinds::Kind;
use super::{Console, FAILED, Fault, Output, Source};
use crate::base::diagnostics::visible::visible_name;
use crate::base::diagnostics::{Diagnostics, json};
use crate::base::source::Sources;
use crate::base::words::count;
use clap::{Args, ValueEnum};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    output: Output,
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Warnings count as errors
    #[arg(long)]
    deny_warnings: bool,
}

/// Diagnostics are not typeset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let mut models = Vec::new();
    let (sources, found) = arguments.source.check(console, |flat| {
        models.push(format!(
            "{}: {}, {}",
            flat.model(),
            count(flat.equation_count(), "equation"),
            count(flat.unknown_count(), "unknown"),
        ));
    })?;
    let failed = found.has_errors() || (arguments.deny_warnings && found.warnings() > 0);
    let text = match arguments.format {
        Format::Json => json::report(&sources, &found),
        Format::Text => {
            console.diagnostics(&sources, &found);
            summary(&sources, &found, &models)
        }
    };
    let kind = match arguments.format {
        Format::Text => Kind::Text,
        Format::Json => Kind::Json,
    };
    let place = console.place(arguments.output.output.as_deref(), kind)?;
    place.write(|out| out.write_all(text.as_bytes()))?;
    Ok(match failed {
        true => ExitCode::from(FAILED),
        false => ExitCode::SUCCESS,
    })
}

/// Returns a line for each model, then `rlc.bgm: no errors, 1 warning`.
fn summary(sources: &Sources, found: &Diagnostics, models: &[String]) -> String {
    let number = |number: usize, what: &str| match number {
        0 => format!("no {what}s"),
        _ => count(number, what),
    };
    let main = sources.ids().next();
    let name = visible_name(main.map_or("", |id| sources.file(id).name.as_str()));
    let mut text = String::new();
    for model in models {
        text.push_str(&format!("{model}\n"));
    }
    text.push_str(&format!(
        "{name}: {}, {}\n",
        number(found.errors(), "error"),
        number(found.warnings(), "warning")
    ));
    text
}
