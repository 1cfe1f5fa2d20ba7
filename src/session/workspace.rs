//! Models that were entered one after the other.
//!
//! Before: a text that was entered, and those before it. After: the model of the text is loaded, with types of the earlier ones where it needs
//! them. Types alone wait for a model that uses them. What is entered again under a name takes the place of what had it; what
//! comes from a file stays as the file has it.

use std::path::PathBuf;

use super::command::list;
use super::entry::{Entry, What, With, defined, without};
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
    /// The text behind what it needs of the others.
    fn around(&self, text: &str) -> String {
        let names = defined(text);
        let mut whole = text.to_string();
        for other in &self.texts {
            whole.push('\n');
            whole.push_str(&without(other, &names));
        }
        whole
    }

    /// Keeps a text; what it defines anew is taken out of the others.
    fn keep(&mut self, text: String) {
        let names = defined(&text);
        for other in &mut self.texts {
            *other = without(other, &names);
        }
        let text = text.trim().to_string();
        self.texts
            .retain(|other| !other.trim().is_empty() && *other != text);
        self.texts.push(text);
    }

    /// The names of models and types that were typed.
    pub fn names(&self) -> Vec<String> {
        self.texts.iter().flat_map(|text| defined(text)).collect()
    }
}

fn compiled(entry: &Entry, files: &dyn Files) -> LoadedFlat {
    let options = Options {
        model: entry.name.clone(),
        ..Options::default()
    };
    let with = With {
        entries: vec![entry],
        files,
    };
    load_flat(&entry.input(), &options, &with)
}

/// The text that stands for an entry among others; none where an include cannot name its file.
fn text_of(entry: &Entry) -> Option<String> {
    if entry.typed {
        return Some(entry.text.clone());
    }
    let path = entry.path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    path.chars().all(plain).then(|| format!("@{path}\n"))
}

impl Session {
    /// Takes a model in place of the one before, or types that a model will use.
    pub(super) fn load(&mut self, entry: Entry, files: &dyn Files) -> Reply {
        if entry.typed && !entry.has_model(files) {
            return self.add_types(entry, files);
        }
        let alone = compiled(&entry, files);
        if alone.flat.is_some() || self.workspace.texts.is_empty() {
            return self.take(entry.clone(), entry, alone, files);
        }
        // What is missing may have been entered before.
        let together = text_of(&entry).map(|text| Entry {
            path: PathBuf::from(What::Model.file()),
            text: self.workspace.around(&text),
            typed: true,
            name: entry.name.clone().or_else(|| entry.last_model(files)),
        });
        match together.map(|one| (compiled(&one, files), one)) {
            Some((found, one))
                if found.flat.is_some()
                    || found.diagnostics.errors() <= alone.diagnostics.errors() =>
            {
                self.take(one, entry, found, files)
            }
            _ => self.take(entry.clone(), entry, alone, files),
        }
    }

    /// Takes what was compiled, if it has no errors; all that was said of the model before is forgotten.
    fn take(&mut self, entry: Entry, own: Entry, compiled: LoadedFlat, files: &dyn Files) -> Reply {
        let reply = self.told(&compiled.sources, &compiled.diagnostics);
        if let Some(flat) = compiled.flat {
            let read = (compiled.sources.ids())
                .map(|id| compiled.sources.file(id))
                .filter(|file| file.origin == Origin::User)
                .map(|file| files.identity(file.name.as_ref()));
            self.read = read.collect();
            if let Some(text) = text_of(&own) {
                self.workspace.keep(text);
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
            self.wishes.clear();
            self.results = None;
        }
        reply
    }

    /// Types without a model: kept, and the model that is loaded gets those that it uses anew.
    fn add_types(&mut self, entry: Entry, files: &dyn Files) -> Reply {
        let names = defined(&entry.text);
        let (sources, said) = entry.read(files);
        let mut reply = self.told(&sources, &said);
        if reply.failed {
            return reply;
        }
        let other = entry
            .name
            .as_ref()
            .is_some_and(|name| !names.contains(name));
        if names.is_empty() || other {
            // Says that there is no such model.
            let alone = compiled(&entry, files);
            return self.take(entry.clone(), entry, alone, files);
        }
        self.workspace.keep(entry.text);
        let quoted: Vec<&str> = names.iter().map(String::as_str).collect();
        let quoted = list(&quoted);
        let uses = |model: &&Model| {
            let had = defined(&model.entry.text);
            model.entry.typed && had.iter().any(|name| names.contains(name))
        };
        let Some(model) = self.model.as_ref().filter(uses) else {
            reply.messages.push_str(&format!(
                "note: {quoted} can be used by a model that is entered now\n"
            ));
            return reply;
        };
        let name = model.flat.model().to_string();
        let own = Entry {
            text: without(&model.own.text, &names),
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
