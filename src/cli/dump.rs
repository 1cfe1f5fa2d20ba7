//! `bgm solve --dump STAGE`: what a stage of the compiler has made, as lines.

use super::writing::kinds::Kind;
use super::{Console, FAILED, Fault, Listing};
use crate::base::diagnostics::Diagnostics;
use crate::compile::{Aliases, Product, Stage, Watch, bond_graph, lower, shown};
use crate::flat::Flat;
use crate::passes::blocks::Solved;
use crate::program::{self, build};
use crate::simulate::columns;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::process::ExitCode;

/// The stages that have a dump.
const DUMPED: [Stage; 10] = [
    Stage::Tree,
    Stage::Flat,
    Stage::Determined,
    Stage::Index,
    Stage::Aliases,
    Stage::Sorted,
    Stage::Solved,
    Stage::Start,
    Stage::Program,
    Stage::Graph,
];

/// Parses the name of a stage. The error message for an unknown name lists all stages.
pub fn stage() -> impl TypedValueParser<Value = Stage> {
    PossibleValuesParser::new(DUMPED.map(Stage::name)).map(|name| {
        (DUMPED.into_iter().find(|stage| stage.name() == name)).unwrap_or(Stage::Solved)
    })
}

/// Stores the dump of one stage; if the stage runs several times, the last dump.
struct Dumper {
    stage: Stage,
    text: Option<String>,
}

impl Watch for Dumper {
    fn after(&mut self, stage: Stage, product: Product<'_>) {
        if stage == self.stage {
            self.text = Some(product.dump(stage));
        }
    }
}

pub fn run(
    stage: Stage,
    listing: &Listing,
    aliases: Aliases,
    console: &Console,
) -> Result<ExitCode, Fault> {
    let mut dumper = Dumper { stage, text: None };
    let mut compiled = listing.source.compile_with(console, &mut dumper)?;
    if let Some(flat) = compiled.flat.take()
        && stage != Stage::Tree
    {
        match stage {
            Stage::Graph => {
                let found = bond_graph(flat, &[], &mut compiled.diagnostics)?;
                let dump = |found| Product::Graph(&found).dump(stage);
                dumper.text = Some(found.map_or_else(|| "graph: none\n".to_string(), dump));
            }
            _ => lowered(
                flat,
                aliases,
                &mut dumper,
                console,
                &mut compiled.diagnostics,
            ),
        }
    }
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    if let Some(text) = &dumper.text {
        let output = listing.output.output.as_deref();
        let place = console.place(output, Kind::Text)?;
        place.write(|out| out.write_all(text.as_bytes()))?;
    }
    let failed = compiled.diagnostics.has_errors() || dumper.text.is_none();
    Ok(match failed {
        true => ExitCode::from(FAILED),
        false => ExitCode::SUCCESS,
    })
}

/// Runs the pipeline on the form of the model that `bgm solve` lists.
fn lowered(
    flat: Flat,
    aliases: Aliases,
    dumper: &mut Dumper,
    console: &Console,
    said: &mut Diagnostics,
) {
    let form = shown(flat, aliases);
    if let Some(which) = &form.said {
        console.message(&format!("note: this dump is {which}\n"));
    }
    match lower(form.flat, form.request, dumper) {
        Err(refused) => refused.tell(said),
        Ok(lowered) => {
            lowered.tell(said);
            if dumper.stage == Stage::Program {
                dumper.text = lowered.into_solved().map(program);
            }
        }
    }
}

/// Returns the dump of the program that a run would execute, with its default columns.
fn program(mut solved: Solved) -> String {
    let columns = columns::default(&mut solved, None);
    let columns: Vec<_> = columns.iter().map(|column| column.value).collect();
    program::dump::dump(&build(&solved, &columns), Some(&solved.flat))
}
