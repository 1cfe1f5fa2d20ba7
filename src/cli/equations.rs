//! `bgm equations`: the flat model as it is.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::{Console, FAILED, Listing};
use crate::listing;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    listing: Listing,
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, String> {
    let compiled = arguments.listing.source.compile(console)?;
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    let Some(flat) = &compiled.flat else {
        return Ok(ExitCode::from(FAILED));
    };
    console.result(
        arguments.listing.output.output.as_deref(),
        |out| match arguments.format {
            Format::Json => listing::json::write(flat, &compiled.sources, out),
            Format::Text => {
                let text = listing::equations::equations(flat, arguments.listing.style.into());
                out.write_all(text.as_bytes())
            }
        },
    )?;
    Ok(ExitCode::SUCCESS)
}
