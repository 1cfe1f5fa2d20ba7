//! Programs of the experiment in other languages.

use super::runs::Performed;
use super::{Reply, Session};
use crate::compile::{Aliases, Presented, presented};
use crate::experiment::Experiment;
use crate::export::classic::keep_inputs;
use crate::export::{acsl, desire, simnon};
use crate::load::Files;
use crate::solve::Solved;

/// The languages, by name.
pub const LANGUAGES: &[&str] = &["desire", "simnon", "acsl"];

pub(super) fn languages() -> Vec<&'static str> {
    LANGUAGES.to_vec()
}

impl Session {
    /// The text of a program, and what is said beside it; it failed after an error.
    pub(super) fn program(
        &self,
        language: &str,
        files: &dyn Files,
    ) -> Result<(String, Reply), String> {
        let Performed {
            sources,
            mut diagnostics,
            model,
        } = self.experimented(files)?;
        let made = model.and_then(|(mut flat, experiment)| {
            keep_inputs(&mut flat, &experiment);
            let presented = presented(flat, Aliases::Eliminate, &mut diagnostics)?;
            Some((presented, experiment))
        });
        let reply = self.told(&sources, &diagnostics);
        let Some((presented, experiment)) = made else {
            let failed = Reply {
                failed: true,
                ..reply
            };
            return Ok((String::new(), failed));
        };
        let (solved, raised) = match &presented {
            Presented::One(solved) => (solved, false),
            Presented::Paper(_, solved) => (solved, true),
            Presented::ByPosition(..) => {
                return Err(format!(
                    "a program in `{language}` has one set of equations, this model another one in each position of its switches"
                ));
            }
        };
        let text = self.write(language, (solved, raised), &experiment)?;
        Ok((text, reply))
    }

    fn write(
        &self,
        language: &str,
        (solved, raised): (&Solved, bool),
        experiment: &Experiment,
    ) -> Result<String, String> {
        match language {
            "desire" => {
                let stem = self.outfile.as_ref().and_then(|path| path.file_stem());
                let stem = match stem {
                    Some(stem) => stem.to_string_lossy().into_owned(),
                    None => solved.flat.model().to_lowercase(),
                };
                desire::program(solved, experiment, &stem, raised)
            }
            "simnon" => simnon::program(solved, experiment, raised),
            _ => acsl::program(solved, experiment, raised),
        }
    }
}
