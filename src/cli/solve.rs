//! `bgm solve`: the equations solved, in the order of evaluation.

use super::io::OutputSink;
use super::timings;
use super::{Console, FAILED, Fault, Format, Listing, dump};
use crate::base::diagnostics::Diagnostics;
use crate::base::source::Sources;
use crate::compile::at_point::{PointError, evaluate_at as values};
use crate::compile::{
    Aliases, Listed, LoadedFlat, Modes, Product, Stage, StageObserver, listed, solved_with,
};
use crate::evaluate::show;
use crate::flat::Flat;
use crate::listing::explain::explain;
use crate::listing::modes::{mode_note, modes as list_modes, write_json};
use crate::listing::positions_json::{ByPosition, PositionOf};
use crate::listing::{self, latex_solved, solved_json};
use crate::positions::Positions;
use clap::Args;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    listing: Listing,
    /// Keep variables that equal another one, or a constant
    #[arg(long)]
    no_eliminate: bool,
    /// Tell how a variable is computed instead: its equation, and what it depends on
    #[arg(long, value_name = "VARIABLE")]
    explain: Option<String>,
    /// Tell the modes of the model instead: which switches have free or fixed causality, which storages a position
    /// takes out of play, order and index of each mode
    #[arg(long, conflicts_with_all = ["explain", "at"])]
    modes: bool,
    /// Print every variable's value instead, at a point: states, inputs, parameters, discrete
    /// variables and Time as given, else their start values
    #[arg(long, value_name = "X=1,Y=2", conflicts_with = "explain")]
    at: Option<String>,
    /// Print what a stage of the compiler has made instead, as lines (CONTRIBUTING.md tells how they read)
    #[arg(long, value_name = "STAGE", value_parser = dump::stage(), hide_short_help = true, conflicts_with_all = ["explain", "modes", "at", "timings"])]
    dump: Option<Stage>,
    /// The mode of switches that is dumped, as `--modes` names it
    #[arg(long, value_name = "MODE", requires = "dump", hide_short_help = true)]
    mode: Option<String>,
    /// Tell what each stage has cost
    #[arg(long, hide_short_help = true)]
    timings: bool,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let format = arguments.listing.format;
    match (&arguments.explain, &arguments.at) {
        (Some(_), _) if format != Format::Text => {
            return Err("`--explain` tells in words only: there is no `--format` for it".into());
        }
        _ if arguments.modes && format == Format::Latex => {
            return Err("`--modes` has `--format text` and `--format json`, no `latex`".into());
        }
        (_, Some(_)) if format == Format::Latex => {
            return Err("`--at` has `--format text` and `--format json`, no `latex`".into());
        }
        _ => {}
    }
    let aliases = match arguments.no_eliminate {
        true => Aliases::Keep,
        false => Aliases::Eliminate,
    };
    if let Some(stage) = arguments.dump {
        let mode = arguments.mode.as_deref();
        return dump::run(stage, &arguments.listing, aliases, mode, console);
    }
    timings::told(arguments.timings, console, |watch| {
        list_or_tell(arguments, aliases, console, watch)
    })
}

fn list_or_tell(
    arguments: &Arguments,
    aliases: Aliases,
    console: &Console,
    watch: &mut dyn StageObserver,
) -> Result<ExitCode, Fault> {
    let mut compiled = arguments.listing.source.compile_with(console, watch)?;
    let flat = compiled.flat.take();
    if arguments.modes {
        return modes(arguments, console, &compiled, flat, watch);
    }
    let listing = &arguments.listing;
    if flat.is_none() {
        console.diagnostics(&compiled.sources, &compiled.diagnostics);
        return Ok(ExitCode::from(FAILED));
    }
    let place = console.place(listing.output.output.as_deref(), listing.format.kind())?;
    if arguments.explain.is_none() && arguments.at.is_none() {
        let said = &mut compiled.diagnostics;
        let done = flat.and_then(|flat| listed(flat, aliases, watch, said));
        console.diagnostics(&compiled.sources, &compiled.diagnostics);
        let Some(listed) = &done else {
            return Ok(ExitCode::from(FAILED));
        };
        watch.before(Stage::Writing);
        write(listed, listing, &compiled.sources, place)?;
        watch.after(Stage::Writing, Product::Counts(&[]));
        return Ok(ExitCode::SUCCESS);
    }
    let said = &mut compiled.diagnostics;
    let mut done = flat.and_then(|flat| solved_with(flat, aliases, watch, said));
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    let Some(solution) = &mut done else {
        return Ok(ExitCode::from(FAILED));
    };
    if let Some(name) = &arguments.explain {
        watch.before(Stage::Writing);
        let mut text = explain(&solution.solved, &compiled.sources, name)?;
        if let Some(positions) = &solution.positions {
            text.push_str(&format!("\n{}\n", mode_note(positions, "it is computed")));
        }
        place.write(|out| out.write_all(text.as_bytes()))?;
        watch.after(Stage::Writing, Product::Counts(&[]));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(text) = &arguments.at {
        let placed = match values(solution, text, watch) {
            Ok(placed) => placed,
            Err(PointError::Request(message)) => return Err(message.into()),
            Err(PointError::Diagnostic(diagnostic)) => {
                let mut said = Diagnostics::default();
                said.push(*diagnostic);
                console.diagnostics(&compiled.sources, &said);
                return Ok(ExitCode::from(FAILED));
            }
        };
        let (key, other) = placed.mode.unzip();
        let by = other.flatten();
        let by = by.as_deref().unwrap_or(&solution.solved);
        let position = key.as_deref().zip(solution.positions.as_deref());
        let position = position.map(|(key, positions)| PositionOf { positions, key });
        watch.before(Stage::Writing);
        place.write(|out| match listing.format {
            Format::Json => show::write_json(by, &placed.point, position.as_ref(), out),
            _ => {
                let mut text = String::new();
                let name = position.map(|of| of.name());
                show::write_text(by, &placed.point, name.as_deref(), &mut text);
                out.write_all(text.as_bytes())
            }
        })?;
        watch.after(Stage::Writing, Product::Counts(&[]));
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the listing in the requested format.
fn write(
    listed: &Listed,
    listing: &Listing,
    sources: &Sources,
    place: OutputSink<'_>,
) -> Result<(), Fault> {
    let style = listing.style.into();
    place.write(|out| {
        let (Listed::One(model) | Listed::Paper(model, _) | Listed::ByPosition(model, _)) = listed;
        match (listed, listing.format) {
            (Listed::ByPosition(_, table), Format::Json) => {
                let more = ByPosition { table, sources };
                solved_json::write(model, sources, Some(&more), out)
            }
            (_, Format::Json) => solved_json::write(model, sources, None, out),
            (_, Format::Latex) => {
                let position = match listed {
                    Listed::ByPosition(_, table) => Some(mode_note(&table.positions, "solved")),
                    _ => None,
                };
                let text = latex_solved::solved(model, position.as_deref(), style);
                out.write_all(text.as_bytes())
            }
            (_, Format::Text) => out.write_all(listing::solved::listed(listed, style).as_bytes()),
        }
    })
}

/// Lists the switches and modes of a model.
fn modes(
    arguments: &Arguments,
    console: &Console,
    compiled: &LoadedFlat,
    flat: Option<Flat>,
    watch: &mut dyn StageObserver,
) -> Result<ExitCode, Fault> {
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    let Some(flat) = flat else {
        return Ok(ExitCode::from(FAILED));
    };
    let listing = &arguments.listing;
    let place = console.place(listing.output.output.as_deref(), listing.format.kind())?;
    let mut said = Diagnostics::default();
    let Some(solution) = solved_with(flat.clone(), Aliases::Eliminate, watch, &mut said) else {
        console.diagnostics(&compiled.sources, &said);
        return Ok(ExitCode::from(FAILED));
    };
    // Where one set of formulas serves all modes, they are looked at all the same.
    let of_switches = || Box::new(Modes::of(Positions::of(&flat), Aliases::Eliminate));
    let mut modes = solution.positions.unwrap_or_else(of_switches);
    let wanted = !modes.switches.is_empty() || listing.format == Format::Json;
    let shapes = wanted.then(|| modes.shapes(watch));
    watch.before(Stage::Writing);
    place.write(|out| match (listing.format, &shapes) {
        (Format::Json, Some(shapes)) => write_json(&modes, shapes, out),
        (_, None) => writeln!(out, "{}: no switches", flat.model()),
        (_, Some(shapes)) => out.write_all(list_modes(&modes, shapes).as_bytes()),
    })?;
    watch.after(Stage::Writing, Product::Counts(&[]));
    Ok(ExitCode::SUCCESS)
}
