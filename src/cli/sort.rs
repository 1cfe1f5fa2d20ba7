//! `bgm sort`: which equation is solved for which unknown, in which order.

use std::process::ExitCode;

use clap::Args;

use super::{Console, FAILED, Format, Listing};
use crate::alias::eliminate;
use crate::listing::{json, sorted::sorted as list};
use crate::sort::sort;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    listing: Listing,
    /// Eliminate variables that equal another one, or a constant
    #[arg(long)]
    eliminate: bool,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, String> {
    let mut compiled = arguments.listing.source.compile(console)?;
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
    let listing = &arguments.listing;
    console.result(listing.output.output.as_deref(), |out| {
        match listing.format {
            Format::Json => json::write_sorted(flat, &sorted, &compiled.sources, out),
            Format::Text => {
                let text = list(flat, &sorted, listing.style.into());
                out.write_all(text.as_bytes())
            }
        }
    })?;
    Ok(ExitCode::SUCCESS)
}
