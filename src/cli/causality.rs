//! `bgm causality`: the bond graph of a model, with its strokes.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::writing::kinds::Kind;
use super::{Console, FAILED, Fault, Output, Source};
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::bond::BondGraph;
use crate::bond::view::{Choice, view};
use crate::compile::{LoadedFlat, bond_graph};
use crate::flat::Flat;
use crate::listing::{causality, causality_json};

/// Arguments of the commands that show a bond graph.
#[derive(Debug, Args)]
pub struct GraphArguments {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub output: Output,
    /// The causality of an element where there is a choice: integral or derivative of a storage, resistance or conductance of a
    /// resistor
    #[arg(long, value_name = "NAME=CAUSALITY")]
    prefer: Vec<String>,
    /// Show the graph as it was written: nothing merged, nothing left out
    #[arg(long)]
    expanded: bool,
    /// Close submodels below this depth into boxes: 1 shows each submodel that contains others as a box
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    depth: Option<u16>,
}

impl GraphArguments {
    pub fn choice(&self) -> Choice {
        Choice {
            expanded: self.expanded,
            keep_named: false,
            depth: self.depth.map(usize::from),
        }
    }

    /// The requested causalities, as `NAME=CAUSALITY`.
    pub fn prefer(&self) -> &[String] {
        &self.prefer
    }
}

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    viewing: GraphArguments,
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

impl Format {
    pub fn kind(self) -> Kind {
        match self {
            Format::Text => Kind::Text,
            Format::Json => Kind::Json,
        }
    }
}

/// A compiled model with its bond graph.
pub struct CompiledGraph {
    pub compiled: LoadedFlat,
    /// The flat model before the passes.
    pub flat: Flat,
    /// `None` without power ports.
    pub model: Option<BondGraph>,
}

impl CompiledGraph {
    /// Compiles the model and makes its bond graph. Returns `None` after errors, which are printed here; other
    /// diagnostics are not printed yet.
    pub fn new(
        source: &Source,
        prefer: &[String],
        console: &Console,
    ) -> Result<Option<Self>, Fault> {
        let mut compiled = source.compile(console)?;
        let Some(flat) = compiled.flat.take() else {
            console.diagnostics(&compiled.sources, &compiled.diagnostics);
            return Ok(None);
        };
        let model = bond_graph(flat.clone(), prefer, &mut compiled.diagnostics)?;
        if let Some(model) = &model {
            report_unmet(model, &mut compiled.diagnostics);
        }
        Ok(Some(CompiledGraph {
            compiled,
            flat,
            model,
        }))
    }

    pub fn show_diagnostics(&self, console: &Console) {
        console.diagnostics(&self.compiled.sources, &self.compiled.diagnostics);
    }

    pub fn exit_code(&self) -> ExitCode {
        match self.compiled.diagnostics.has_errors() {
            true => ExitCode::from(FAILED),
            false => ExitCode::SUCCESS,
        }
    }
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let viewing = &arguments.viewing;
    let Some(graphed) = CompiledGraph::new(&viewing.source, viewing.prefer(), console)? else {
        return Ok(ExitCode::from(FAILED));
    };
    graphed.show_diagnostics(console);
    let output = viewing.output.output.as_deref();
    let place = console.place(output, arguments.format.kind())?;
    place.write(|out| match (&graphed.model, arguments.format) {
        (None, Format::Json) => causality_json::write_empty(&graphed.flat, out),
        (None, Format::Text) => out.write_all(causality::without_ports(&graphed.flat).as_bytes()),
        (Some(model), format) => {
            let view = view(&model.flat, &model.graph, viewing.choice());
            match format {
                Format::Json => causality_json::write(model, &view, out),
                Format::Text => out.write_all(causality::causality(model, &view).as_bytes()),
            }
        }
    })?;
    Ok(graphed.exit_code())
}

/// Reports the requested causalities that could not be assigned.
fn report_unmet(model: &BondGraph, diagnostics: &mut Diagnostics) {
    for &at in &model.causality.unmet {
        let wish = model.preferences.list[at];
        let node = model.graph.node(wish.node);
        let found = model.causality.elements[wish.node.index()];
        let span = model.flat.instances[node.owner.index()].span;
        let wanted = wish.wanted.text();
        let stays = found.text().unwrap_or("without causality");
        diagnostics.push(
            Diagnostic::new(
                Code::UnmetPreference,
                format!("`{}` cannot have {wanted} causality", node.name),
            )
            .at(span, format!("its causality is {stays}"))
            .note("what is around it leaves no choice: sources, storages, and wishes that were named before")
            .hint("resistors have a choice where their bond is in a loop, storages where another one can be dependent instead"),
        );
    }
}
