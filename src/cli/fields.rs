//! `bgm fields`: lists the R-fields and storage fields of a bond graph.

use std::process::ExitCode;

use clap::Args;

use super::causality::{CompiledGraph, Format};
use super::{Console, FAILED, Fault, Output, Source};
use crate::bond::fields::{fields, robust};
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
    /// Resistors of R-fields in the forms that are best by numbers, as far as `--prefer` does not say otherwise
    #[arg(long)]
    robust: bool,
    /// The matrices of the junction structure, too
    #[arg(long)]
    matrices: bool,
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let Some(mut graphed) = CompiledGraph::new(&arguments.source, &arguments.prefer, console)?
    else {
        return Ok(ExitCode::from(FAILED));
    };
    graphed.show_diagnostics(console);
    if arguments.robust {
        graphed.model = graphed.model.map(robust);
    }
    let output = arguments.output.output.as_deref();
    let place = console.place(output, arguments.format.kind())?;
    place.write(|out| match (&graphed.model, arguments.format) {
        (None, Format::Json) => causality_json::write_empty(&graphed.flat, out),
        (None, Format::Text) => writeln!(
            out,
            "{}: no power ports, and so no fields",
            graphed.flat.model()
        ),
        (Some(model), Format::Json) => fields_json::write(&fields(model, arguments.matrices), out),
        (Some(model), Format::Text) => {
            let text = list::fields(&fields(model, arguments.matrices));
            out.write_all(text.as_bytes())
        }
    })?;
    Ok(graphed.exit_code())
}
