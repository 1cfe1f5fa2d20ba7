//! `bgm draw`: a picture of the bond graph of a model.

use std::path::Path;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::causality::{CompiledGraph, GraphArguments};
use super::signals::waiting;
use super::writing::kinds::{self, Kind};
use super::{Console, FAILED, Fault};
use crate::bond::sketch::sketch;
use crate::bond::view::view;
use crate::listing::causality::nothing_to_draw;
use crate::picture::bond::{dot, svg};
use crate::picture::png::png;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    viewing: GraphArguments,
    /// The format: a picture, or text for Graphviz; default: the one that the name of the file says, else svg
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Svg,
    Png,
    Dot,
}

impl Format {
    fn of(path: &Path) -> Format {
        match kinds::ending(path).as_deref() {
            Some("png") => Format::Png,
            Some("dot" | "gv") => Format::Dot,
            _ => Format::Svg,
        }
    }

    fn kind(self) -> Kind {
        match self {
            Format::Svg => Kind::Svg,
            Format::Png => Kind::Png,
            Format::Dot => Kind::Dot,
        }
    }
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let viewing = &arguments.viewing;
    let output = viewing.output.output.as_deref();
    let named = output.map_or(Format::Svg, Format::of);
    let format = arguments.format.unwrap_or(named);
    let Some(mut graphed) = CompiledGraph::new(&viewing.source, viewing.prefer(), console)? else {
        return Ok(ExitCode::from(FAILED));
    };
    if graphed.model.is_none() {
        let nothing = nothing_to_draw(&graphed.flat);
        graphed.compiled.diagnostics.push(nothing);
    }
    graphed.show_diagnostics(console);
    if let Some(model) = &graphed.model {
        let place = console.place(output, format.kind())?;
        let view = view(&model.flat, &model.graph, viewing.choice());
        let sketch = sketch(model, &view);
        let bytes = match format {
            Format::Svg => svg(&sketch).into_bytes(),
            Format::Png => waiting(|| png(&svg(&sketch)))?,
            Format::Dot => dot(&sketch).into_bytes(),
        };
        place.write(|out| out.write_all(&bytes))?;
    }
    Ok(graphed.exit_code())
}
