//! Programs in other languages.

use super::runs::PreparedModel;
use super::words::in_session;
use super::{Reply, Session};
use crate::export::{Target, export};
use crate::syntax::load::Files;

/// The names of the export targets whose result is text.
pub(super) fn languages() -> Vec<&'static str> {
    let texts = Target::ALL.iter().filter(|&&target| target != Target::Fmu);
    texts.map(|target| target.name()).collect()
}

impl Session {
    /// Returns the text of a program, and a reply with the messages. `Reply::failed` is set if there was an error.
    pub(super) fn program(
        &self,
        language: &str,
        files: &dyn Files,
    ) -> Result<(String, Reply), String> {
        let target = Target::from_name(language)
            .ok_or_else(|| format!("there are no programs in `{language}`"))?;
        let PreparedModel {
            sources,
            mut diagnostics,
            model,
        } = self.prepared_model(files)?;
        let Some((flat, experiment)) = model else {
            let reply = self.report(&sources, &diagnostics);
            return Ok((String::new(), reply));
        };
        let name = flat.model().to_string();
        let stem = match self.outfile.as_ref().and_then(|path| path.file_stem()) {
            Some(stem) => stem.to_string_lossy().into_owned(),
            None => name.to_lowercase(),
        };
        let made = export(flat, &experiment, target, &stem, &mut diagnostics);
        let mut reply = self.report(&sources, &diagnostics);
        match made {
            Ok(Some(exported)) => {
                for note in &exported.notes {
                    let note = in_session(note);
                    reply.messages.push_str(&format!("note: {note}\n"));
                }
                Ok((exported.text, reply))
            }
            Ok(None) => {
                reply.failed = true;
                Ok((String::new(), reply))
            }
            Err(refusal) => Err(format!(
                "`{name}` cannot be exported to {language}: {}",
                refusal.0
            )),
        }
    }
}
