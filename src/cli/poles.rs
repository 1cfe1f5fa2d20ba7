//! `bgm poles`: poles, zeros, and what they depend on.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use faer::c64;

use super::linear::{Point, refused};
use super::signals::waiting;
use super::writing::Unwritable;
use super::writing::kinds::{Kind, ending};
use super::{Console, FAILED, Fault, Output};
use crate::analyse::dynamics::{Dynamics, checked, dynamics};
use crate::analyse::matrices::matrices;
use crate::analyse::poles::{Wanted, poles};
use crate::analyse::{Analysed, Place, Refusal, Wishes, analyse};
use crate::base::cancel::check;
use crate::base::diagnostics::Diagnostics;
use crate::compile::NoObserver;
use crate::experiment::{Experiment, with_parameter};
use crate::expr::show_number;
use crate::flat::{Flat, VarId};
use crate::listing::linear::json::Several;
use crate::listing::linear::locus::Locus;
use crate::listing::linear::poles as listing;
use crate::picture::chart::svg;
use crate::picture::png::png;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    point: Point,
    #[command(flatten)]
    output: Output,
    /// Only the poles next to a point: 0, -1000 or -10+200i
    #[arg(long, value_name = "POINT", value_parser = complex, allow_hyphen_values = true, conflicts_with = "rightmost")]
    near: Option<c64>,
    /// How many poles `--near` tells
    #[arg(long, value_name = "N", default_value_t = 6, requires = "near", value_parser = clap::value_parser!(u16).range(1..=200))]
    count: u16,
    /// Only so many poles with the largest real parts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=200))]
    rightmost: Option<u16>,
    /// Let a parameter have several values, a root locus: R1.R=10,20,50 or R1.R=1..100/12 for 12 values, 1..100/12log
    #[arg(long, value_name = "NAME=VALUES", conflicts_with = "modes")]
    sweep: Option<String>,
    /// Draw the root locus: SVG, or PNG if its name ends so
    #[arg(long, value_name = "FILE.svg", requires = "sweep")]
    plot: Option<PathBuf>,
    /// Default: what the name behind `-o` says, else text
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    /// Of a root locus: a line for each pole at each value
    Csv,
    /// A root locus as a picture
    Svg,
    #[value(hide = true)]
    Png,
}

/// `-1`, `2i`, `-10+200i`
fn complex(text: &str) -> Result<c64, String> {
    let wrong = || "a number is wanted, such as -1000 or -10+200i".to_string();
    let number = |text: &str| -> Result<f64, String> {
        let value: f64 = text.trim().parse().map_err(|_| wrong())?;
        value.is_finite().then_some(value).ok_or_else(wrong)
    };
    let Some(rest) = text.trim().strip_suffix(['i', 'j']) else {
        return Ok(c64::new(number(text)?, 0.0));
    };
    // The sign of the imaginary part: the last one that is no sign of an exponent.
    let bytes = rest.as_bytes();
    let is_sign =
        |&at: &usize| matches!(bytes[at], b'+' | b'-') && !matches!(bytes[at - 1], b'e' | b'E');
    let Some(at) = (1..bytes.len()).rev().find(is_sign) else {
        return Ok(c64::new(0.0, number(rest)?));
    };
    let im = rest[at..].replace(' ', "");
    Ok(c64::new(number(&rest[..at])?, number(&im)?))
}

impl Arguments {
    fn format(&self) -> Format {
        let by_name = || {
            let path = self.output.output.as_deref()?;
            Some(match ending(path)?.as_str() {
                "json" => Format::Json,
                "csv" => Format::Csv,
                "svg" => Format::Svg,
                "png" => Format::Png,
                _ => return None,
            })
        };
        self.format.or_else(by_name).unwrap_or(Format::Text)
    }

    fn kind(&self) -> Kind {
        match self.format() {
            Format::Text => Kind::Text,
            Format::Json => Kind::Json,
            Format::Csv => Kind::Rows,
            Format::Svg => Kind::Svg,
            Format::Png => Kind::Png,
        }
    }

    fn wanted(&self) -> Wanted {
        match (self.near, self.rightmost) {
            (Some(point), _) => Wanted::Near(point, usize::from(self.count)),
            (_, Some(count)) => Wanted::Rightmost(usize::from(count)),
            _ => Wanted::All,
        }
    }
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let (point, format) = (&arguments.point, arguments.format());
    if arguments.sweep.is_some() {
        return locus(arguments, console);
    }
    if !matches!(format, Format::Text | Format::Json) {
        return Err("tables and pictures of poles are root loci: add `--sweep NAME=VALUES`".into());
    }
    let place = console.place(arguments.output.output.as_deref(), arguments.kind())?;
    let wishes = point.wishes();
    let steady = wishes.place == Place::Steady;
    let found = point.linearised(&wishes, console, |_, _| {})?;
    let (sources, mut analysed) = match found {
        Ok(found) => found,
        Err(code) => return Ok(code),
    };
    let mut said = Diagnostics::default();
    let mut all: Vec<Dynamics> = Vec::new();
    for of in &mut analysed {
        let done = matrices(&of.linear)
            .and_then(|matrices| dynamics(&mut of.linear, &matrices, arguments.wanted(), steady));
        match done {
            Ok(dynamics) => {
                if let Some(diagnostic) = dynamics.multiples(&of.linear) {
                    said.push(diagnostic);
                }
                all.push(dynamics);
            }
            Err(diagnostic) => said.push(*diagnostic),
        }
    }
    console.diagnostics(&sources, &said);
    if said.has_errors() {
        return Ok(ExitCode::from(FAILED));
    }
    let all: Vec<(&Analysed, &Dynamics)> = analysed.iter().zip(&all).collect();
    place.write(|out| {
        match (format, point.modes, all.first()) {
            (Format::Text, ..) => {
                let texts: Vec<String> = all
                    .iter()
                    .map(|(analysed, of)| listing::text(analysed, of))
                    .collect();
                return out.write_all(texts.join("\n").as_bytes());
            }
            (_, false, Some((analysed, of))) => {
                serde_json::to_writer(&mut *out, &listing::document(analysed, of))?;
            }
            _ => {
                let several = Several {
                    version: 1,
                    model: all.first().map_or("", |(of, _)| of.linear.flat().model()),
                    modes: all
                        .iter()
                        .map(|(analysed, of)| listing::document(analysed, of))
                        .collect(),
                };
                serde_json::to_writer(&mut *out, &several)?;
            }
        }
        out.write_all(b"\n")
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A root locus. Values for which there are no poles are told and left out.
fn locus(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let place = console.place(arguments.output.output.as_deref(), arguments.kind())?;
    let picture = match &arguments.plot {
        None => None,
        Some(path) => {
            let kind = Kind::of_picture(Some(path));
            Some((console.place(Some(path), kind)?, kind))
        }
    };
    let prepared = arguments.point.prepare(arguments.sweep.as_ref(), console)?;
    console.diagnostics(&prepared.sources, &prepared.diagnostics);
    let Some((flat, mut experiment)) = prepared.model else {
        return Ok(ExitCode::from(FAILED));
    };
    let Some(sweep) = std::mem::take(&mut experiment.sweeps).into_iter().next() else {
        return Ok(ExitCode::from(FAILED));
    };
    let wishes = arguments.point.wishes();
    let mut found = Locus {
        model: flat.model().to_string(),
        parameter: sweep.name.clone(),
        values: Vec::new(),
        poles: Vec::new(),
    };
    for &value in &sweep.values {
        check();
        match poles_at(
            &flat,
            (sweep.variable, value),
            &experiment,
            &wishes,
            arguments.wanted(),
        ) {
            Ok(poles) => {
                found.values.push(value);
                found.poles.push(poles);
            }
            Err(refusal) => {
                let mut said = Diagnostics::default();
                let code = refused(refusal, &mut said)?;
                console.message(&format!("note: {} = {}:\n", sweep.name, show_number(value)));
                console.diagnostics(&prepared.sources, &said);
                if said.iter().next().is_none() {
                    return Ok(code);
                }
            }
        }
    }
    if found.values.is_empty() {
        return Ok(ExitCode::from(FAILED));
    }
    if let Some((place, kind)) = picture {
        let bytes = picture_bytes(&svg(&found.chart()), kind)?;
        place.write(|out| out.write_all(&bytes))?;
        if arguments.output.output.is_none() && arguments.format.is_none() {
            return Ok(ExitCode::SUCCESS);
        }
    }
    let bytes = match arguments.format() {
        Format::Text => found.text().into_bytes(),
        Format::Csv => found.csv().into_bytes(),
        Format::Json => {
            let text = serde_json::to_string(&found.json());
            text.map_err(|error| error.to_string())?.into_bytes()
        }
        Format::Svg | Format::Png => picture_bytes(&svg(&found.chart()), arguments.kind())?,
    };
    place.write(|out| {
        out.write_all(&bytes)?;
        match arguments.format() {
            Format::Json => out.write_all(b"\n"),
            _ => Ok(()),
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

fn poles_at(
    flat: &Flat,
    (parameter, value): (VarId, f64),
    experiment: &Experiment,
    wishes: &Wishes,
    wanted: Wanted,
) -> Result<Vec<c64>, Refusal> {
    let mut flat = flat.clone();
    with_parameter(&mut flat, parameter, value)?;
    let (mut diagnostics, mut notes) = (Diagnostics::default(), Vec::new());
    let said = (&mut diagnostics, &mut notes);
    let analysed = analyse(flat, experiment, wishes, &mut NoObserver, said)?;
    let Some(of) = analysed.first() else {
        return Err(Refusal::Reported);
    };
    let linear = &of.linear;
    let matrices = matrices(linear).map_err(Refusal::Diagnostic)?;
    checked(linear, wanted).map_err(Refusal::Diagnostic)?;
    let found = poles(linear, &matrices, wanted).ok_or(Refusal::Reported)?;
    Ok(found.into_iter().map(|pole| pole.value).collect())
}

/// A picture as it is written to a file.
pub fn picture_bytes(text: &str, kind: Kind) -> Result<Vec<u8>, Fault> {
    match kind {
        Kind::Png => Ok(waiting(|| png(text)).map_err(Unwritable::new)?),
        _ => Ok(text.as_bytes().to_vec()),
    }
}
