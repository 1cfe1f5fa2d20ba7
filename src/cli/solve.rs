//! `bgm solve`: the equations solved, in the order of evaluation.

use std::process::ExitCode;

use clap::Args;

use super::{Console, FAILED, Format, Listing};
use crate::compile::{Aliases, solved};
use crate::listing::explain::explain;
use crate::listing::solved::solved as list;
use crate::listing::{latex_solved, solved_json};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    listing: Listing,
    /// Keep variables that equal another one, or a constant
    #[arg(long)]
    no_eliminate: bool,
    /// Tell how a variable is computed instead: its equation, and what it depends on
    #[arg(long, value_name = "VARIABLE")]
    explain: Option<String>,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, String> {
    let mut compiled = arguments.listing.source.compile(console)?;
    let aliases = match arguments.no_eliminate {
        true => Aliases::Keep,
        false => Aliases::Eliminate,
    };
    let flat = compiled.flat.take();
    let done = flat.and_then(|flat| solved(flat, aliases, &mut compiled.diagnostics));
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    let Some(model) = &done else {
        return Ok(ExitCode::from(FAILED));
    };
    let listing = &arguments.listing;
    if let Some(name) = &arguments.explain {
        let text = explain(model, &compiled.sources, name)?;
        console.result(listing.output.output.as_deref(), |out| {
            out.write_all(text.as_bytes())
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    console.result(listing.output.output.as_deref(), |out| {
        match listing.format {
            Format::Json => solved_json::write(model, &compiled.sources, out),
            Format::Text => {
                let text = list(model, listing.style.into());
                out.write_all(text.as_bytes())
            }
            Format::Latex => {
                let text = latex_solved::solved(model, listing.style.into());
                out.write_all(text.as_bytes())
            }
        }
    })?;
    Ok(ExitCode::SUCCESS)
}
