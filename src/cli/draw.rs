//! `bgm draw`: a picture of the bond graph of a model.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::causality::{Graphed, Viewing};
use super::{Console, FAILED};
use crate::bond::sketch::sketch;
use crate::bond::view::view;
use crate::listing::causality::nothing_to_draw;
use crate::picture::bond::{dot, svg};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    viewing: Viewing,
    /// SVG, or a text for Graphviz
    #[arg(long, value_name = "FORMAT", default_value = "svg")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Svg,
    Dot,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, String> {
    let viewing = &arguments.viewing;
    let Some(mut graphed) = Graphed::new(&viewing.source, viewing.prefer(), console)? else {
        return Ok(ExitCode::from(FAILED));
    };
    if graphed.model.is_none() {
        let nothing = nothing_to_draw(&graphed.flat);
        graphed.compiled.diagnostics.push(nothing);
    }
    graphed.show_diagnostics(console);
    if let Some(model) = &graphed.model {
        let view = view(&model.flat, &model.graph, viewing.choice());
        let sketch = sketch(model, &view);
        let text = match arguments.format {
            Format::Svg => svg(&sketch),
            Format::Dot => dot(&sketch),
        };
        console.result(viewing.output.output.as_deref(), |out| {
            out.write_all(text.as_bytes())
        })?;
    }
    Ok(graphed.exit_code())
}
