//! `bgm solve --dump STAGE`: what a stage of the compiler has made, as lines.

use super::writing::kinds::Kind;
use super::{Console, FAILED, Fault, Listing};
use crate::base::diagnostics::Diagnostics;
use crate::compile::{
    Aliases, Product, Stage, StageObserver, bond_graph_with, in_mode, lower, program, shown,
};
use crate::flat::Flat;
use crate::simulate::columns;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::process::ExitCode;

/// Parses the name of a stage. The error message for an unknown name lists all stages.
pub fn stage() -> impl TypedValueParser<Value = Stage> {
    let dumped = || Stage::ALL.into_iter().filter(|stage| stage.has_dump());
    PossibleValuesParser::new(dumped().map(Stage::name))
        .map(move |name| (dumped().find(|stage| stage.name() == name)).unwrap_or(Stage::Solved))
}

/// Stores the dump of one stage; if the stage runs several times, the last dump.
struct Dumper {
    stage: Stage,
    text: Option<String>,
}

impl StageObserver for Dumper {
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
    mode: Option<&str>,
    console: &Console,
) -> Result<ExitCode, Fault> {
    if mode.is_some() && matches!(stage, Stage::Tree | Stage::Graph) {
        let name = stage.name();
        return Err(format!("`--mode` has no meaning for `{name}`, which is of all modes").into());
    }
    let mut dumper = Dumper { stage, text: None };
    let mut compiled = listing.source.compile_with(console, &mut dumper)?;
    if let Some(flat) = compiled.flat.take()
        && stage != Stage::Tree
    {
        let said = &mut compiled.diagnostics;
        match stage {
            Stage::Graph => {
                if bond_graph_with(flat, &[], &mut dumper, said)?.is_none() {
                    dumper.text = Some("graph: none\n".to_string());
                }
            }
            _ => lowered(flat, (aliases, mode), &mut dumper, console, said)?,
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
    (aliases, mode): (Aliases, Option<&str>),
    dumper: &mut Dumper,
    console: &Console,
    said: &mut Diagnostics,
) -> Result<(), Fault> {
    let form = match mode {
        None => shown(flat, aliases),
        Some(name) => in_mode(&flat, aliases, name)?,
    };
    if let Some(which) = &form.remark {
        console.message(&format!("note: this dump is {which}\n"));
    }
    match lower(form.flat, form.request, dumper) {
        Err(refused) => refused.report(said),
        Ok(lowered) => {
            lowered.report(said);
            // The program that a run has, with its usual columns.
            if dumper.stage == Stage::Program
                && let Some(mut solved) = lowered.into_solved()
            {
                let columns = columns::default(&mut solved, None);
                let columns: Vec<_> = columns.iter().map(|column| column.value).collect();
                program(&solved, &columns, None, dumper);
            }
        }
    }
    Ok(())
}
