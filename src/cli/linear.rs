//! What `bgm linearize`, `bgm poles` and `bgm bode` share: the point, inputs and outputs, and the linearised model.

use std::process::ExitCode;

use clap::Args;

use super::clock::clock;
use super::signals::exit_code;
use super::{Console, FAILED, Fault, Source};
use crate::analyse::{Analysed, Place, Refusal, Wishes, analyse};
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::source::Sources;
use crate::compile::{NoObserver, Prepared, prepare_with};
use crate::experiment::Experiment;
use crate::flat::Flat;

/// Where a model is linearised, and between which variables.
#[derive(Debug, Args)]
pub struct Point {
    #[command(flatten)]
    pub source: Source,
    /// At values of states, inputs, parameters, discrete variables and Time, instead of the start
    #[arg(long, value_name = "X=1,Y=2", conflicts_with_all = ["at_time", "steady"])]
    at: Option<String>,
    /// At this time of a run
    #[arg(long, value_name = "TIME", value_parser = number, allow_negative_numbers = true, conflicts_with = "steady")]
    at_time: Option<f64>,
    /// Where nothing moves
    #[arg(long)]
    steady: bool,
    /// In every mode of the switches that the run visits, with the last values there
    #[arg(long, conflicts_with_all = ["at", "steady"])]
    pub modes: bool,
    /// The inputs; default: those that the model declares
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub inputs: Option<Vec<String>>,
    /// The outputs; default: those that the model declares
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub outputs: Option<Vec<String>>,
}

pub fn number(text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.parse().ok();
    (value.filter(|value| value.is_finite())).ok_or_else(|| "not a number".to_string())
}

/// A model that was prepared, before it is linearised; more than once for a root locus.
pub struct Prepare {
    pub sources: Sources,
    pub diagnostics: Diagnostics,
    pub model: Option<(Flat, Experiment)>,
}

impl Point {
    /// `sweep`: of a parameter, as text.
    pub fn prepare(&self, sweep: Option<&String>, console: &Console) -> Result<Prepare, Fault> {
        let input = console.input(&self.source.file)?;
        let mut options = self.source.options();
        options.request.sweep.extend(sweep.cloned());
        let files = self.source.files(&options, console);
        let Prepared {
            sources,
            model,
            diagnostics,
        } = prepare_with(&input, &options, &files, &mut NoObserver);
        Ok(Prepare {
            sources,
            diagnostics,
            model,
        })
    }

    pub fn wishes(&self) -> Wishes {
        Wishes {
            place: match (&self.at, self.at_time) {
                (Some(text), _) => Place::At(text.clone()),
                (_, Some(time)) => Place::Time(time),
                _ if self.steady => Place::Steady,
                _ => Place::Start,
            },
            modes: self.modes,
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            clock: clock(),
        }
    }

    /// Compiles and linearises; messages are shown. `Err` in the result: the exit code.
    pub fn linearised(
        &self,
        wishes: &Wishes,
        console: &Console,
        examine: impl FnOnce(&[Analysed], &mut Diagnostics),
    ) -> Result<Result<(Sources, Vec<Analysed>), ExitCode>, Fault> {
        let Prepare {
            sources,
            mut diagnostics,
            model,
        } = self.prepare(None, console)?;
        let Some((flat, experiment)) = model else {
            console.diagnostics(&sources, &diagnostics);
            return Ok(Err(ExitCode::from(FAILED)));
        };
        let mut notes = Vec::new();
        let said = (&mut diagnostics, &mut notes);
        let found = analyse(flat, &experiment, wishes, &mut NoObserver, said);
        let found = match found {
            Ok(found) => {
                for analysed in &found {
                    for tie in analysed.linear.ties() {
                        diagnostics.push(tie);
                    }
                }
                examine(&found, &mut diagnostics);
                Ok(found)
            }
            Err(refusal) => Err(refused(refusal, &mut diagnostics)),
        };
        console.diagnostics(&sources, &diagnostics);
        for note in notes {
            console.message(&format!("note: {note}\n"));
        }
        match found {
            Ok(_) if diagnostics.has_errors() => Ok(Err(ExitCode::from(FAILED))),
            Ok(found) => Ok(Ok((sources, found))),
            Err(fault) => fault.map(Err),
        }
    }
}

/// Puts why there is no analysis among the diagnostics; the exit code, or a fault of the command line.
pub fn refused(refusal: Refusal, diagnostics: &mut Diagnostics) -> Result<ExitCode, Fault> {
    match refusal {
        Refusal::Request(message) => return Err(Fault::Usage(message)),
        Refusal::Diagnostic(diagnostic) => diagnostics.push(*diagnostic),
        Refusal::Refused(refused) => refused.report(diagnostics),
        Refusal::Reported => {}
        Refusal::Stopped => return Ok(ExitCode::from(exit_code())),
    }
    Ok(ExitCode::from(FAILED))
}

/// Warns of an analysis without inputs or outputs.
pub fn open_ends(analysed: &[Analysed], diagnostics: &mut Diagnostics) {
    let Some(linear) = analysed.first().map(|first| &first.linear) else {
        return;
    };
    let flat = linear.flat();
    if linear.states.is_empty() {
        let message = format!(
            "`{}` has no states: it has no A, B and C, only D",
            flat.model()
        );
        let diagnostic = Diagnostic::new(Code::NoDynamics, message);
        diagnostics.push(diagnostic.at(flat.instances[0].class_span, "nothing is differentiated"));
    }
    let (missing, matrices, option) = match (linear.inputs.is_empty(), linear.outputs.is_empty()) {
        (true, true) => (
            "inputs and no outputs",
            "B, C and D are",
            "`--inputs` and `--outputs`",
        ),
        (true, false) => ("inputs", "B and D are", "`--inputs`"),
        (false, true) => ("outputs", "C and D are", "`--outputs`"),
        (false, false) => return,
    };
    let message = format!("`{}` has no {missing}: {matrices} empty", flat.model());
    diagnostics.push(
        Diagnostic::new(Code::OpenEnds, message)
            .at(flat.instances[0].class_span, "in this model")
            .hint(format!(
                "name variables by {option}, or declare them: `input u`, `output y`"
            )),
    );
}
