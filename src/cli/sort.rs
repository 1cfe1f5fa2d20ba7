//! `bgm sort`: which equation is solved for which unknown, in which order.

use std::process::ExitCode;

use clap::Args;

use super::equations::StyleName;
use super::{Console, FAILED, Output, Source};
use crate::alias::eliminate;
use crate::listing;
use crate::sort::sort;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    output: Output,
    /// How to print: with full names, or in the two columns of the 1990 paper
    #[arg(long, value_name = "STYLE", default_value = "full")]
    style: StyleName,
    /// Eliminate variables that equal another one, or a constant
    #[arg(long)]
    eliminate: bool,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, String> {
    let mut compiled = arguments.source.compile(console)?;
    // What cannot be sorted is reported as it was written, before anything is eliminated.
    let mut sorted = match &compiled.flat {
        Some(flat) => sort(flat, &mut compiled.diagnostics),
        None => None,
    };
    if arguments.eliminate && sorted.is_some() {
        compiled.flat = compiled.flat.map(eliminate);
        sorted = match &compiled.flat {
            Some(flat) => sort(flat, &mut compiled.diagnostics),
            None => None,
        };
    }
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    let (Some(flat), Some(sorted)) = (&compiled.flat, sorted) else {
        return Ok(ExitCode::from(FAILED));
    };
    console.result(arguments.output.output.as_deref(), |out| {
        let text = listing::sorted::sorted(flat, &sorted, arguments.style.into());
        out.write_all(text.as_bytes())
    })?;
    Ok(ExitCode::SUCCESS)
}
