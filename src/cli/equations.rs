//! `bgm equations`: the flat model as it is.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::{Console, FAILED, Output, Source};
use crate::expr::print::Style;
use crate::listing;

#[derive(Debug, Args)]
pub struct Arguments {
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
pub enum StyleName {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, String> {
    let compiled = arguments.source.compile(console)?;
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    let Some(flat) = &compiled.flat else {
        return Ok(ExitCode::from(FAILED));
    };
    console.result(arguments.output.output.as_deref(), |out| {
        match arguments.format {
            Format::Json => listing::json::write(flat, &compiled.sources, out),
            Format::Text => {
                let style = match arguments.style {
                    StyleName::Full => Style::Plain,
                    StyleName::Classic => Style::Classic,
                };
                out.write_all(listing::equations::equations(flat, style).as_bytes())
            }
        }
    })?;
    Ok(ExitCode::SUCCESS)
}
