//! `bgm poles`: poles, zeros, and what they depend on.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use faer::c64;

use super::linear::Point;
use super::writing::kinds::Kind;
use super::{Console, FAILED, Fault, Output};
use crate::analyse::dynamics::{Dynamics, dynamics};
use crate::analyse::matrices::matrices;
use crate::analyse::poles::Wanted;
use crate::analyse::{Analysed, Place};
use crate::base::diagnostics::Diagnostics;
use crate::listing::linear::json::Several;
use crate::listing::linear::poles as listing;

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
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
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
    let is_sign = |&at: &usize| matches!(bytes[at], b'+' | b'-') && !matches!(bytes[at - 1], b'e' | b'E');
    let Some(at) = (1..bytes.len()).rev().find(is_sign) else {
        return Ok(c64::new(0.0, number(rest)?));
    };
    let im = rest[at..].replace(' ', "");
    Ok(c64::new(number(&rest[..at])?, number(&im)?))
}

impl Arguments {
    fn wanted(&self) -> Wanted {
        match (self.near, self.rightmost) {
            (Some(point), _) => Wanted::Near(point, usize::from(self.count)),
            (_, Some(count)) => Wanted::Rightmost(usize::from(count)),
            _ => Wanted::All,
        }
    }
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let point = &arguments.point;
    let kind = match arguments.format {
        Format::Text => Kind::Text,
        Format::Json => Kind::Json,
    };
    let place = console.place(arguments.output.output.as_deref(), kind)?;
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
        match (arguments.format, point.modes, all.first()) {
            (Format::Text, ..) => {
                let texts: Vec<String> =
                    all.iter().map(|(analysed, of)| listing::text(analysed, of)).collect();
                return out.write_all(texts.join("\n").as_bytes());
            }
            (Format::Json, false, Some((analysed, of))) => {
                serde_json::to_writer(&mut *out, &listing::document(analysed, of))?;
            }
            (Format::Json, ..) => {
                let several = Several {
                    version: 1,
                    model: all.first().map_or("", |(of, _)| of.linear.flat().model()),
                    modes: all.iter().map(|(analysed, of)| listing::document(analysed, of)).collect(),
                };
                serde_json::to_writer(&mut *out, &several)?;
            }
        }
        out.write_all(b"\n")
    })?;
    Ok(ExitCode::SUCCESS)
}
