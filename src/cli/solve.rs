//! `bgm solve`: the equations solved, in the order of evaluation.

use super::io::OutputSink;
use super::timings::Timings;
use super::{Console, FAILED, Fault, Format, Listing, dump};
use crate::base::diagnostics::Diagnostics;
use crate::base::source::Sources;
use crate::compile::place::{Misplaced, place as values};
use crate::compile::{
    Aliases, Compiled, Presented, Product, Stage, Unwatched, Watch, presented_with, solved,
    solved_with,
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
        return dump::run(stage, &arguments.listing, aliases, console);
    }
    let mut timings = arguments.timings.then(Timings::new);
    let mut unwatched = Unwatched;
    let watch: &mut dyn Watch = match &mut timings {
        Some(timings) => timings,
        None => &mut unwatched,
    };
    let code = list_or_tell(arguments, aliases, console, watch);
    if let Some(timings) = &timings {
        console.message(&timings.text());
    }
    code
}

fn list_or_tell(
    arguments: &Arguments,
    aliases: Aliases,
    console: &Console,
    watch: &mut dyn Watch,
) -> Result<ExitCode, Fault> {
    let mut compiled = arguments.listing.source.compile_with(console, watch)?;
    let flat = compiled.flat.take();
    if arguments.modes {
        return modes(arguments, console, &compiled, flat);
    }
    let listing = &arguments.listing;
    if flat.is_none() {
        console.diagnostics(&compiled.sources, &compiled.diagnostics);
        return Ok(ExitCode::from(FAILED));
    }
    let place = console.place(listing.output.output.as_deref(), listing.format.kind())?;
    if arguments.explain.is_none() && arguments.at.is_none() {
        let said = &mut compiled.diagnostics;
        let done = flat.and_then(|flat| presented_with(flat, aliases, watch, said));
        console.diagnostics(&compiled.sources, &compiled.diagnostics);
        let Some(presented) = &done else {
            return Ok(ExitCode::from(FAILED));
        };
        watch.before(Stage::Writing);
        write(presented, aliases, listing, &compiled.sources, place)?;
        watch.after(Stage::Writing, Product::Counts(&[]));
        return Ok(ExitCode::SUCCESS);
    }
    let said = &mut compiled.diagnostics;
    let done = flat.and_then(|flat| solved_with(flat, aliases, watch, said));
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    let Some(solution) = &done else {
        return Ok(ExitCode::from(FAILED));
    };
    let model = &solution.solved;
    if let Some(name) = &arguments.explain {
        let mut text = explain(model, &compiled.sources, name)?;
        if let Some(positions) = &solution.positions {
            text.push_str(&format!("\n{}\n", mode_note(positions, "it is computed")));
        }
        place.write(|out| out.write_all(text.as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(text) = &arguments.at {
        let placed = match values(solution, aliases, text) {
            Ok(placed) => placed,
            Err(Misplaced::Request(message)) => return Err(message.into()),
            Err(Misplaced::Told(diagnostic)) => {
                let mut said = Diagnostics::default();
                said.push(*diagnostic);
                console.diagnostics(&compiled.sources, &said);
                return Ok(ExitCode::from(FAILED));
            }
        };
        let (key, other) = placed.position.unzip();
        let by = other.flatten();
        let by = by.as_deref().unwrap_or(model);
        let position = key.as_deref().zip(solution.positions.as_deref());
        let position = position.map(|(key, positions)| PositionOf { positions, key });
        place.write(|out| match listing.format {
            Format::Json => show::write_json(by, &placed.point, position.as_ref(), out),
            _ => {
                let mut text = String::new();
                let name = position.map(|of| of.name());
                show::write_text(by, &placed.point, name.as_deref(), &mut text);
                out.write_all(text.as_bytes())
            }
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the listing in the requested format.
fn write(
    presented: &Presented,
    aliases: Aliases,
    listing: &Listing,
    sources: &Sources,
    place: OutputSink<'_>,
) -> Result<(), Fault> {
    let style = listing.style.into();
    place.write(|out| {
        let (Presented::One(model) | Presented::Paper(_, model) | Presented::ByPosition(_, model)) =
            presented;
        match (presented, listing.format) {
            (Presented::ByPosition(positions, _), Format::Json) => {
                let more = ByPosition::new(positions, aliases, sources);
                solved_json::write(model, sources, Some(&more), out)
            }
            (_, Format::Json) => solved_json::write(model, sources, None, out),
            (_, Format::Latex) => {
                let position = match presented {
                    Presented::ByPosition(positions, _) => Some(mode_note(positions, "solved")),
                    _ => None,
                };
                let text = latex_solved::solved(model, position.as_deref(), style);
                out.write_all(text.as_bytes())
            }
            (_, Format::Text) => {
                out.write_all(listing::solved::presented(presented, aliases, style).as_bytes())
            }
        }
    })
}

/// Lists the switches and modes of a model.
fn modes(
    arguments: &Arguments,
    console: &Console,
    compiled: &Compiled,
    flat: Option<Flat>,
) -> Result<ExitCode, Fault> {
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    let Some(flat) = flat else {
        return Ok(ExitCode::from(FAILED));
    };
    let listing = &arguments.listing;
    let place = console.place(listing.output.output.as_deref(), listing.format.kind())?;
    let mut said = Diagnostics::default();
    if solved(flat.clone(), Aliases::Eliminate, &mut said).is_none() {
        console.diagnostics(&compiled.sources, &said);
        return Ok(ExitCode::from(FAILED));
    }
    let positions = Positions::of(&flat);
    place.write(|out| match listing.format {
        Format::Json => write_json(&positions, out),
        _ if positions.switches.is_empty() => writeln!(out, "{}: no switches", flat.model()),
        _ => out.write_all(list_modes(&positions).as_bytes()),
    })?;
    Ok(ExitCode::SUCCESS)
}
