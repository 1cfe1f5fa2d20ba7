//! `bgm linearize`: A, B, C and D of a model at a point.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::io::OutputSink;
use super::linear::{Point, open_ends};
use super::writing::kinds::Kind;
use super::{Console, FAILED, Fault, Output};
use crate::analyse::Analysed;
use crate::analyse::matrices::{Matrices, matrices};
use crate::analyse::symbolic::formulas;
use crate::analyse::symbolic::transfer::transfers;
use crate::base::diagnostics::Diagnostics;
use crate::listing::linear::json::Several;
use crate::listing::linear::symbolic::Shown;
use crate::listing::linear::{formats, matrices as listing};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    point: Point,
    #[command(flatten)]
    output: Output,
    /// Matrices by their entries that are not zero
    #[arg(long)]
    sparse: bool,
    /// Matrices as formulas in the parameters, and transfer functions of models with up to 4 states
    #[arg(long, conflicts_with_all = ["sparse", "modes"])]
    symbolic: bool,
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    /// A line for each entry that is not zero
    Csv,
    /// A document to be typeset
    Latex,
    /// A script for Octave and Matlab
    M,
}

impl Format {
    fn kind(self) -> Kind {
        match self {
            Format::Text => Kind::Text,
            Format::Json => Kind::Json,
            Format::Csv => Kind::Rows,
            Format::Latex => Kind::Latex,
            Format::M => Kind::Script,
        }
    }
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let Arguments { point, format, .. } = arguments;
    if point.modes && !matches!(format, Format::Text | Format::Json) {
        return Err("`--modes` has `--format text` and `--format json`".into());
    }
    if arguments.symbolic && matches!(format, Format::Csv | Format::M) {
        return Err(
            "`--symbolic` has `--format text`, `--format json` and `--format latex`".into(),
        );
    }
    let place = console.place(arguments.output.output.as_deref(), format.kind())?;
    let found = point.linearised(&point.wishes(), console, open_ends)?;
    let (sources, mut analysed) = match found {
        Ok(found) => found,
        Err(code) => return Ok(code),
    };
    if arguments.symbolic {
        return symbolic(&mut analysed, *format, place);
    }
    let mut all: Vec<(&Analysed, Matrices)> = Vec::new();
    for analysed in &analysed {
        match matrices(&analysed.linear) {
            Ok(of) => all.push((analysed, of)),
            Err(diagnostic) => {
                let mut said = Diagnostics::default();
                said.push(*diagnostic);
                console.diagnostics(&sources, &said);
                return Ok(ExitCode::from(FAILED));
            }
        }
    }
    let sparse = arguments.sparse;
    place.write(|out| {
        if *format == Format::Json {
            let documents =
                (all.iter()).map(|(analysed, of)| listing::document(analysed, of, sparse));
            let mut documents: Vec<_> = documents.collect();
            match (point.modes, documents.pop()) {
                (false, Some(document)) => serde_json::to_writer(&mut *out, &document)?,
                (_, last) => {
                    documents.extend(last);
                    let model = analysed.first().map_or("", |of| of.linear.flat().model());
                    let several = Several {
                        version: 1,
                        model,
                        modes: documents,
                    };
                    serde_json::to_writer(&mut *out, &several)?;
                }
            }
            return out.write_all(b"\n");
        }
        for (at, (analysed, of)) in all.iter().enumerate() {
            if at > 0 {
                out.write_all(b"\n")?;
            }
            let text = match format {
                Format::Csv => listing::csv(analysed, of),
                Format::Latex => formats::latex(analysed, of),
                Format::M => formats::script(analysed, of, sparse),
                Format::Text | Format::Json => listing::text(analysed, of, sparse),
            };
            out.write_all(text.as_bytes())?;
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

fn symbolic(
    analysed: &mut [Analysed],
    format: Format,
    place: OutputSink<'_>,
) -> Result<ExitCode, Fault> {
    let Some(analysed) = analysed.first_mut() else {
        return Ok(ExitCode::from(FAILED));
    };
    let Ok(formulas) = formulas(&mut analysed.linear) else {
        let model = analysed.linear.flat().model();
        return Err(Fault::Input(format!(
            "the formulas of `{model}` become too long\n  `bgm linearize` without `--symbolic` computes numbers"
        )));
    };
    let transfers = transfers(&formulas);
    let shown = Shown {
        analysed,
        formulas: &formulas,
        transfers: transfers.as_deref(),
    };
    place.write(|out| match format {
        Format::Json => {
            serde_json::to_writer(&mut *out, &shown.document())?;
            out.write_all(b"\n")
        }
        Format::Latex => out.write_all(shown.latex().as_bytes()),
        _ => out.write_all(shown.text().as_bytes()),
    })?;
    Ok(ExitCode::SUCCESS)
}
