//! `bgm check`: all diagnostics of a file, and a summary.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::{Console, FAILED, Output, Source};
use crate::compile::Compiled;
use crate::diagnostics::json;
use crate::listing::equations::count;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, String> {
    let compiled = arguments.source.compile(console)?;
    let found = &compiled.diagnostics;
    let failed = found.has_errors() || (arguments.deny_warnings && found.warnings() > 0);
    let text = match arguments.format {
        Format::Json => json::report(&compiled.sources, found),
        Format::Text => {
            console.diagnostics(&compiled);
            summary(&compiled)
        }
    };
    console.result(arguments.output.output.as_deref(), |out| {
        out.write_all(text.as_bytes())
    })?;
    Ok(match failed {
        true => ExitCode::from(FAILED),
        false => ExitCode::SUCCESS,
    })
}

/// `RLC: no errors, 1 warning; 18 equations, 18 unknowns`
fn summary(compiled: &Compiled) -> String {
    let found = &compiled.diagnostics;
    let number = |number: usize, what: &str| match number {
        0 => format!("no {what}s"),
        _ => count(number, what),
    };
    let said = format!(
        "{}, {}",
        number(found.errors(), "error"),
        number(found.warnings(), "warning")
    );
    match &compiled.flat {
        None => {
            let main = compiled.sources.ids().next();
            let name = main.map_or("", |id| compiled.sources.file(id).name.as_str());
            format!("{name}: {said}\n")
        }
        Some(flat) => format!(
            "{}: {said}; {}, {}\n",
            flat.model(),
            count(flat.equation_count(), "equation"),
            count(flat.unknown_count(), "unknown"),
        ),
    }
}
