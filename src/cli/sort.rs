//! `bgm sort`: which equation is solved for which unknown, in which order.

use std::process::ExitCode;

use clap::Args;

use super::{Console, FAILED, Fault, Format, Listing};
use crate::compile::{Aliases, NoObserver, sorted_in_some_mode};
use crate::listing::modes::mode_note;
use crate::listing::{json, latex, sorted::sorted_in_some_mode as list};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    listing: Listing,
    /// Eliminate variables that equal another one, or a constant
    #[arg(long)]
    eliminate: bool,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let mut compiled = arguments.listing.source.compile(console)?;
    let aliases = match arguments.eliminate {
        true => Aliases::Eliminate,
        false => Aliases::Keep,
    };
    let flat = compiled.flat.take();
    let listing = &arguments.listing;
    let place = match flat {
        Some(_) => Some(console.place(listing.output.output.as_deref(), listing.format.kind())?),
        None => None,
    };
    let said = &mut compiled.diagnostics;
    let done = flat.and_then(|flat| sorted_in_some_mode(flat, aliases, &mut NoObserver, said));
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    let Some((flat, sorted, positions)) = &done else {
        return Ok(ExitCode::from(FAILED));
    };
    let Some(place) = place else {
        return Ok(ExitCode::from(FAILED));
    };
    let positions = positions.as_deref();
    let where_said = positions.map(|positions| mode_note(positions, "sorted"));
    place.write(|out| match listing.format {
        Format::Json => json::write_sorted(flat, sorted, &compiled.sources, positions, out),
        Format::Text => {
            let text = list(flat, sorted, where_said.as_deref(), listing.style.into());
            out.write_all(text.as_bytes())
        }
        Format::Latex => {
            let text = latex::sorted(flat, sorted, where_said.as_deref(), listing.style.into());
            out.write_all(text.as_bytes())
        }
    })?;
    Ok(ExitCode::SUCCESS)
}
