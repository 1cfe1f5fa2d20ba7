//! `bgm equations`: lists the flat model.

use std::process::ExitCode;

use clap::Args;

use super::{Console, FAILED, Fault, Format, Listing};
use crate::listing;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    listing: Listing,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let compiled = arguments.listing.source.compile(console)?;
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    let Some(flat) = &compiled.flat else {
        return Ok(ExitCode::from(FAILED));
    };
    let format = arguments.listing.format;
    let output = arguments.listing.output.output.as_deref();
    console
        .place(output, format.kind())?
        .write(|out| match format {
            Format::Json => listing::json::write(flat, &compiled.sources, out),
            Format::Text => {
                let text = listing::equations::equations(flat, arguments.listing.style.into());
                out.write_all(text.as_bytes())
            }
            Format::Latex => {
                let text = listing::latex::equations(flat, arguments.listing.style.into());
                out.write_all(text.as_bytes())
            }
        })?;
    Ok(ExitCode::SUCCESS)
}
