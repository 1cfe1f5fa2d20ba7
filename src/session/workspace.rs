//! The models and types that were entered in a session.
//!
//! Before: a new text, and the earlier ones. After: the model of the text is loaded, with the types of earlier texts
//! that it needs. A text with types only is stored until a model uses it. A new definition replaces the old one of
//! the same name; definitions in files do not change.

use std::path::PathBuf;

use super::command::list;
use super::entry::{EnteredText, EntryKind, SessionFiles, defined_names, remove_definitions};
use super::{Experiment, Model, Reply, Session};
use crate::base::source::Origin;
use crate::compile::{LoadedFlat, Options, load_flat};
use crate::syntax::load::Files;

/// The texts of a session: as typed, or an include of the file that was entered.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    texts: Vec<String>,
}

impl Workspace {
    /// Returns the text, followed by the definitions of all other texts.
    fn with_definitions(&self, text: &str) -> String {
        let names = defined_names(text);
        let mut whole = text.to_string();
        for other in &self.texts {
            whole.push('\n');
            whole.push_str(&remove_definitions(other, &names));
        }
        whole
    }

    /// Stores a text. Definitions that it replaces are removed from the other texts.
    fn store(&mut self, text: String) {
        let names = defined_names(&text);
        for other in &mut self.texts {
            *other = remove_definitions(other, &names);
        }
        let text = text.trim().to_string();
        self.texts
            .retain(|other| !other.trim().is_empty() && *other != text);
        self.texts.push(text);
    }

    /// Returns the names of all stored models and types.
    pub fn names(&self) -> Vec<String> {
        self.texts
            .iter()
            .flat_map(|text| defined_names(text))
            .collect()
    }
}

fn compiled(entry: &EnteredText, files: &dyn Files) -> LoadedFlat {
    let options = Options {
        model: entry.name.clone(),
        ..Options::default()
    };
    let with = SessionFiles {
        entries: vec![entry],
        files,
    };
    load_flat(&entry.input(), &options, &with)
}

/// Returns source text that brings the entry into another text: its own text if it was typed, else an include. `None`
/// if the path cannot be written in an include.
fn source_text(entry: &EnteredText) -> Option<String> {
    if entry.typed {
        return Some(entry.text.clone());
    }
    let path = entry.path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    path.chars().all(plain).then(|| format!("@{path}\n"))
}

impl Session {
    /// Loads a model in place of the current one, or stores types for later models.
    pub(super) fn load(&mut self, entry: EnteredText, files: &dyn Files) -> Reply {
        if entry.typed && !entry.has_model(files) {
            return self.add_types(entry, files);
        }
        let alone = compiled(&entry, files);
        if alone.flat.is_some() || self.workspace.texts.is_empty() {
            return self.install(entry.clone(), entry, alone, files);
        }
        // Missing types may be defined in earlier texts.
        let together = source_text(&entry).map(|text| EnteredText {
            path: PathBuf::from(EntryKind::Model.file()),
            text: self.workspace.with_definitions(&text),
            typed: true,
            name: entry.name.clone().or_else(|| entry.last_model(files)),
        });
        match together.map(|one| (compiled(&one, files), one)) {
            Some((found, one))
                if found.flat.is_some()
                    || found.diagnostics.errors() <= alone.diagnostics.errors() =>
            {
                self.install(one, entry, found, files)
            }
            _ => self.install(entry.clone(), entry, alone, files),
        }
    }

    /// Makes a compiled model the current one if it has no errors. All choices that concerned the old model are reset.
    fn install(
        &mut self,
        entry: EnteredText,
        own: EnteredText,
        compiled: LoadedFlat,
        files: &dyn Files,
    ) -> Reply {
        let reply = self.report(&compiled.sources, &compiled.diagnostics);
        if let Some(flat) = compiled.flat {
            let read = (compiled.sources.ids())
                .map(|id| compiled.sources.file(id))
                .filter(|file| file.origin == Origin::User)
                .map(|file| files.identity(file.name.as_ref()));
            self.read = read.collect();
            if let Some(text) = source_text(&own) {
                self.workspace.store(text);
            }
            self.model = Some(Model {
                entry,
                own,
                sources: compiled.sources,
                flat,
            });
            self.experiment = Experiment::Own;
            self.partition = None;
            self.differentiated = false;
            self.preferences.clear();
            self.results = None;
        }
        reply
    }

    /// Stores types without a model. If the current model uses one of them, it is loaded again.
    fn add_types(&mut self, entry: EnteredText, files: &dyn Files) -> Reply {
        let names = defined_names(&entry.text);
        let (sources, diagnostics) = entry.read(files);
        let mut reply = self.report(&sources, &diagnostics);
        if reply.failed {
            return reply;
        }
        let other = entry
            .name
            .as_ref()
            .is_some_and(|name| !names.contains(name));
        if names.is_empty() || other {
            // This reports that there is no such model.
            let alone = compiled(&entry, files);
            return self.install(entry.clone(), entry, alone, files);
        }
        self.workspace.store(entry.text);
        let quoted: Vec<&str> = names.iter().map(String::as_str).collect();
        let quoted = list(&quoted);
        let uses = |model: &&Model| {
            let had = defined_names(&model.entry.text);
            model.entry.typed && had.iter().any(|name| names.contains(name))
        };
        let Some(model) = self.model.as_ref().filter(uses) else {
            reply.messages.push_str(&format!(
                "note: {quoted} can be used by a model that is entered now\n"
            ));
            return reply;
        };
        let name = model.flat.model().to_string();
        let own = EnteredText {
            text: remove_definitions(&model.own.text, &names),
            ..model.own.clone()
        };
        let experiment = self.experiment.clone();
        let mut again = self.load(own, files);
        match again.failed {
            true => again.messages.push_str(&format!(
                "note: {quoted} is kept, and `{name}` stays as it was: with it, it has errors\n"
            )),
            false => {
                self.experiment = experiment;
                again
                    .messages
                    .push_str(&format!("note: `{name}` is read again, with {quoted}\n"));
            }
        }
        again
    }
}
