//! `bgm solve`: the equations solved, in the order of evaluation.

use std::process::ExitCode;

use clap::Args;

use super::{Console, FAILED, Format, Listing};
use crate::compile::{Aliases, solved};
use crate::diagnostics::Diagnostics;
use crate::evaluate::{Failure, Point, at, evaluate, show};
use crate::listing::explain::explain;
use crate::listing::solved::solved as list;
use crate::listing::{latex_solved, solved_json};
use crate::solve::Solved;

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
    /// Print every variable's value instead, at a point: states, inputs, parameters, discrete
    /// variables and Time as given, else their start values
    #[arg(long, value_name = "X=1,Y=2", conflicts_with = "explain")]
    at: Option<String>,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, String> {
    let format = arguments.listing.format;
    match (&arguments.explain, &arguments.at) {
        (Some(_), _) if format != Format::Text => {
            return Err("`--explain` tells in words only: there is no `--format` for it".into());
        }
        (_, Some(_)) if format == Format::Latex => {
            return Err("`--at` has `--format text` and `--format json`, no `latex`".into());
        }
        _ => {}
    }
    let mut compiled = arguments.listing.source.compile(console)?;
    let aliases = match arguments.no_eliminate {
        true => Aliases::Keep,
        false => Aliases::Eliminate,
    };
    let flat = compiled.flat.take();
    let done = flat.and_then(|flat| solved(flat, aliases, &mut compiled.diagnostics));
    console.diagnostics(&compiled.sources, &compiled.diagnostics);
    let Some(model) = &done else {
        return Ok(ExitCode::from(FAILED));
    };
    let listing = &arguments.listing;
    if let Some(name) = &arguments.explain {
        let text = explain(model, &compiled.sources, name)?;
        console.result(listing.output.output.as_deref(), |out| {
            out.write_all(text.as_bytes())
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(text) = &arguments.at {
        let point = match values(model, text)? {
            Ok(point) => point,
            Err(failure) => {
                let mut said = Diagnostics::default();
                said.push(failure.diagnostic(&model.flat));
                console.diagnostics(&compiled.sources, &said);
                return Ok(ExitCode::from(FAILED));
            }
        };
        console.result(listing.output.output.as_deref(), |out| {
            match listing.format {
                Format::Json => show::write_json(model, &point, out),
                _ => {
                    let mut text = String::new();
                    show::write_text(model, &point, &mut text);
                    out.write_all(text.as_bytes())
                }
            }
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    console.result(listing.output.output.as_deref(), |out| {
        match listing.format {
            Format::Json => solved_json::write(model, &compiled.sources, out),
            Format::Text => {
                let text = list(model, listing.style.into());
                out.write_all(text.as_bytes())
            }
            Format::Latex => {
                let text = latex_solved::solved(model, listing.style.into());
                out.write_all(text.as_bytes())
            }
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The values at a point; what is wrong with the text that describes it is a mistake of usage.
fn values(model: &Solved, text: &str) -> Result<Result<Point, Failure>, String> {
    let settings = at::read(model, text).map_err(|mistakes| {
        let texts: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        texts.join("\nerror: ")
    })?;
    let mut point = at::point(model, &settings);
    if let Err(failure) = evaluate(model, &mut point) {
        return Ok(Err(failure));
    }
    if let Some(&(leaf, found)) = at::disagreeing(model, &settings, &point).first() {
        let name = model.flat.leaf_name(leaf);
        return Err(format!(
            "the values given do not agree: with the others, `{name}` is {found}\n  leave it out, or give one that agrees"
        ));
    }
    Ok(Ok(point))
}
