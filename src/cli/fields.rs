//! `bgm fields`: what resistors and storages of a bond graph do together.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::causality::unmet;
use super::{Console, FAILED, Output, Source};
use crate::bond::fields::fields;
use crate::compile::bond_graph;
use crate::listing::{causality_json, fields as list, fields_json};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    output: Output,
    /// The causality of an element where there is a choice, as for `bgm causality`
    #[arg(long, value_name = "NAME=CAUSALITY")]
    prefer: Vec<String>,
    /// The matrices of the junction structure, too
    #[arg(long)]
    matrices: bool,
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, String> {
    let mut compiled = arguments.source.compile(console)?;
    let Some(flat) = compiled.flat.take() else {
        console.diagnostics(&compiled.sources, &compiled.diagnostics);
        return Ok(ExitCode::from(FAILED));
    };
    let before = flat.clone();
    let model = bond_graph(flat, &arguments.prefer, &mut compiled.diagnostics)?;
    if let Some(model) = &model {
        unmet(model, &mut compiled.diagnostics);
    }
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    let output = arguments.output.output.as_deref();
    console.result(output, |out| match (&model, arguments.format) {
        (None, Format::Json) => causality_json::write_empty(&before, out),
        (None, Format::Text) => {
            writeln!(out, "{}: no power ports, and so no fields", before.model())
        }
        (Some(model), Format::Json) => fields_json::write(&fields(model, arguments.matrices), out),
        (Some(model), Format::Text) => {
            let text = list::fields(&fields(model, arguments.matrices));
            out.write_all(text.as_bytes())
        }
    })?;
    Ok(match compiled.diagnostics.has_errors() {
        true => ExitCode::from(FAILED),
        false => ExitCode::SUCCESS,
    })
}
