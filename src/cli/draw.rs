//! `bgm draw`: a picture of the bond graph of a model.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::causality::{Viewing, unmet};
use super::{Console, FAILED};
use crate::bond::draw::{dot, svg};
use crate::bond::sketch::sketch;
use crate::bond::view::view;
use crate::compile::bond_graph;
use crate::diagnostics::{Code, Diagnostic};

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
    let mut compiled = viewing.source.compile(console)?;
    let Some(flat) = compiled.flat.take() else {
        console.diagnostics(&compiled.sources, &compiled.diagnostics);
        return Ok(ExitCode::from(FAILED));
    };
    let top = flat.instances[0];
    let name = flat.model().to_string();
    let model = bond_graph(flat, viewing.prefer(), &mut compiled.diagnostics)?;
    match &model {
        Some(model) => unmet(model, &mut compiled.diagnostics),
        None => compiled.diagnostics.push(
            Diagnostic::new(
                Code::NoPowerPorts,
                format!("`{name}` has no power ports, and so no bond graph to draw"),
            )
            .at(
                top.span,
                "no cut in it has both an across and a through variable that meet others",
            )
            .hint("write what exchanges power as submodels with cuts: `cut A(e/f)`"),
        ),
    }
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    if let Some(model) = &model {
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
    Ok(match compiled.diagnostics.has_errors() {
        true => ExitCode::from(FAILED),
        false => ExitCode::SUCCESS,
    })
}
