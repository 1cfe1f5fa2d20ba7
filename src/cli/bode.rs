//! `bgm bode`: the frequency response from one variable to another.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::linear::{Point, number};
use super::poles::picture_bytes;
use super::writing::kinds::{Kind, ending};
use super::{Console, FAILED, Fault, Output};
use crate::analyse::Analysed;
use crate::analyse::bode::{Bode, Span, bode};
use crate::analyse::matrices::matrices;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::source::Sources;
use crate::listing::linear::bode::Shown;
use crate::listing::linear::json::Several;
use crate::picture::chart::svg;
use crate::picture::terminal;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    point: Point,
    #[command(flatten)]
    output: Output,
    /// The input: a variable; default: the only one that is declared
    #[arg(long, value_name = "NAME", conflicts_with = "inputs")]
    from: Option<String>,
    /// The output: a variable; default: the only one that is declared
    #[arg(long, value_name = "NAME", conflicts_with = "outputs")]
    to: Option<String>,
    /// Frequencies in Hz from the first to the last: 10..1e6; default: around the poles and zeros
    #[arg(long, value_name = "LOW..HIGH", value_parser = range)]
    range: Option<(f64, f64)>,
    /// Exactly so many frequencies; default: 200, and more where the phase turns fast
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    points: Option<u32>,
    /// Draw a picture: SVG, or PNG if its name ends so
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Default: what the name behind `-o` says, else text
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A plot on a terminal, and a summary
    Text,
    Json,
    /// frequency,magnitude_db,phase_deg
    Csv,
    /// Magnitude and phase, with margins
    Svg,
    #[value(hide = true)]
    Png,
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let wrong = || "two frequencies above zero are wanted, such as 10..1e6".to_string();
    let (low, high) = text.split_once("..").ok_or_else(wrong)?;
    let (low, high) = (number(low)?, number(high)?);
    match 0.0 < low && low < high {
        true => Ok((low, high)),
        false => Err(wrong()),
    }
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
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let (point, format) = (&arguments.point, arguments.format());
    let table = !matches!(format, Format::Text | Format::Json);
    if point.modes && (table || arguments.plot.is_some()) {
        return Err("`--modes` has `--format text` and `--format json`, and no picture".into());
    }
    let kind = match format {
        Format::Text => Kind::Text,
        Format::Json => Kind::Json,
        Format::Csv => Kind::Rows,
        Format::Svg => Kind::Svg,
        Format::Png => Kind::Png,
    };
    let place = console.place(arguments.output.output.as_deref(), kind)?;
    let picture = match &arguments.plot {
        None => None,
        Some(path) => {
            let kind = Kind::of_picture(Some(path));
            Some((console.place(Some(path), kind)?, kind))
        }
    };
    let mut wishes = point.wishes();
    if let Some(from) = &arguments.from {
        wishes.inputs = Some(vec![from.clone()]);
    }
    if let Some(to) = &arguments.to {
        wishes.outputs = Some(vec![to.clone()]);
    }
    let found = point.linearised(&wishes, console, one_of_each)?;
    let (sources, analysed) = match found {
        Ok(found) => found,
        Err(code) => return Ok(code),
    };
    let span = Span {
        range: arguments.range,
        points: arguments.points.map(|points| points as usize),
    };
    let mut bodes = Vec::new();
    for of in &analysed {
        match response(of, span) {
            Ok(found) => bodes.push(found),
            Err(diagnostic) => return Ok(failed(*diagnostic, &sources, console)),
        }
    }
    let shown: Vec<Shown<'_>> = (analysed.iter().zip(&bodes))
        .map(|(analysed, bode)| {
            let linear = &analysed.linear;
            Shown {
                analysed,
                bode,
                from: linear.name(linear.inputs[0]),
                to: linear.name(linear.outputs[0]),
            }
        })
        .collect();
    let Some(first) = shown.first() else {
        return Ok(ExitCode::from(FAILED));
    };
    if let Some((place, kind)) = picture {
        let bytes = drawn(first, kind)?;
        place.write(|out| out.write_all(&bytes))?;
        if arguments.output.output.is_none() && arguments.format.is_none() {
            for shown in &shown {
                console.message(&shown.summary());
            }
            return Ok(ExitCode::SUCCESS);
        }
    }
    let terminal = arguments.output.output.is_none()
        && std::io::stdout().is_terminal()
        && !console.is_captured();
    if format == Format::Text && terminal {
        for shown in &shown {
            plot(shown, console)?;
        }
    }
    let picture = match format {
        Format::Svg | Format::Png => drawn(first, kind)?,
        _ => Vec::new(),
    };
    place.write(|out| match format {
        Format::Text => {
            let texts: Vec<String> = shown.iter().map(Shown::summary).collect();
            out.write_all(texts.join("\n").as_bytes())
        }
        Format::Csv => out.write_all(first.csv().as_bytes()),
        Format::Svg | Format::Png => out.write_all(&picture),
        Format::Json => {
            match point.modes {
                false => serde_json::to_writer(&mut *out, &first.document())?,
                true => {
                    let several = Several {
                        version: 1,
                        model: first.analysed.linear.flat().model(),
                        modes: shown.iter().map(Shown::document).collect(),
                    };
                    serde_json::to_writer(&mut *out, &several)?;
                }
            }
            out.write_all(b"\n")
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

fn failed(diagnostic: Diagnostic, sources: &Sources, console: &Console) -> ExitCode {
    let mut said = Diagnostics::default();
    said.push(diagnostic);
    console.diagnostics(sources, &said);
    ExitCode::from(FAILED)
}

fn response(of: &Analysed, span: Span) -> Result<Bode, Box<Diagnostic>> {
    let linear = &of.linear;
    let matrices = matrices(linear)?;
    bode(linear, &matrices, (0, 0), span).ok_or_else(|| {
        let flat = linear.flat();
        let message = format!("`{}` has no frequency response at this point", flat.model());
        let diagnostic = Diagnostic::new(Code::NoSlope, message);
        Box::new(
            diagnostic
                .at(flat.instances[0].class_span, "in this model")
                .hint(
                    "its equations are singular at these frequencies: choose others by `--range`",
                ),
        )
    })
}

fn drawn(shown: &Shown<'_>, kind: Kind) -> Result<Vec<u8>, Fault> {
    picture_bytes(&svg(&shown.chart()), kind)
}

fn plot(shown: &Shown<'_>, console: &Console) -> Result<(), Fault> {
    let (width, height) = console.size();
    let height = (height.saturating_sub(8) / 2).clamp(8, 14);
    for (title, data) in shown.panels() {
        let axis = Some("log10 of the frequency in Hz");
        let size = (width, height);
        let text = terminal::plot_over(axis, &title, &data, &[0], size, console.has_colour());
        console.result_as_is(&text)?;
    }
    Ok(())
}

/// One input and one output are wanted.
fn one_of_each(analysed: &[Analysed], diagnostics: &mut Diagnostics) {
    let Some(linear) = analysed.first().map(|first| &first.linear) else {
        return;
    };
    let flat = linear.flat();
    let ends = [
        ("input", "--from", "input u", &linear.inputs),
        ("output", "--to", "output y", &linear.outputs),
    ];
    for (what, option, declared, leaves) in ends {
        let names = linear.names(leaves);
        let message = match leaves.len() {
            1 => continue,
            0 => format!("`{}` declares no {what}", flat.model()),
            _ => format!(
                "`{}` declares several {what}s: {}",
                flat.model(),
                names.join(", ")
            ),
        };
        let cure = match names.first() {
            None => format!("choose a variable: `{option} NAME`; or declare one: `{declared}`"),
            Some(first) => format!("choose one: `{option} {first}`"),
        };
        diagnostics.push(
            Diagnostic::new(Code::NoSignals, message)
                .at(flat.instances[0].class_span, "in this model")
                .hint(cure),
        );
    }
}
