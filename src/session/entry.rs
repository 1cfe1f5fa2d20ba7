//! Text that is entered line by line: a model or an experiment.
//!
//! Before: the lines typed behind `-`. After: whether the text is complete, and as what it is read. It is complete when no
//! block is open and it holds what was to be entered, be it in a file that it includes: so `@rlc.dym` alone is complete and
//! `@bondgraph`, which holds types only, is not.

use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostics::{Code, Diagnostics};
use crate::intern::Interner;
use crate::load::{Files, Input, Loaded, load};
use crate::source::{FileId, Origin};
use crate::syntax::ast::{Item, ModelKind};
use crate::syntax::parse;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Model,
    Experiment,
}

impl What {
    pub fn text(self) -> &'static str {
        match self {
            What::Model => "model",
            What::Experiment => "experiment",
        }
    }

    /// The name of typed text in messages; no file has it.
    fn file(self) -> &'static str {
        match self {
            What::Model => "<model>",
            What::Experiment => "<experiment>",
        }
    }
}

/// A text that was entered.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where it is read from: a file, or the text itself under a name that no file has.
    pub path: PathBuf,
    pub text: String,
    /// The text counts, not the file.
    pub typed: bool,
    /// The model or experiment of the text that was asked for, or that is in an included file.
    pub name: Option<String>,
}

impl Entry {
    /// A text that is not in a file.
    pub fn typed(what: What, text: String, name: Option<String>) -> Entry {
        Entry {
            path: PathBuf::from(what.file()),
            text,
            typed: true,
            name,
        }
    }

    /// One include alone is the file itself, so that messages name it.
    pub fn new(what: What, text: String, name: Option<String>, files: &dyn Files) -> Entry {
        let mut words = text.split_whitespace();
        let alone = match (words.next(), words.next()) {
            (Some(word), None) => word.strip_prefix('@'),
            _ => None,
        };
        let found = alone.into_iter().flat_map(|name| {
            let name = name.trim_matches('"');
            [PathBuf::from(name), PathBuf::from(format!("{name}.bgm"))]
        });
        for path in found {
            if let Ok(bytes) = files.read(&path) {
                return Entry {
                    path,
                    text: String::from_utf8_lossy(&bytes).into_owned(),
                    typed: false,
                    name,
                };
            }
        }
        let mut entry = Entry::typed(what, text, name);
        if what == What::Model && entry.name.is_none() {
            let (loaded, _) = entry.load(files);
            entry.name = included_model(&loaded);
        }
        entry
    }

    pub fn input(&self) -> Input {
        Input::File(self.path.clone())
    }

    fn load(&self, files: &dyn Files) -> (Loaded, Diagnostics) {
        let mut said = Diagnostics::default();
        let with = With {
            entries: vec![self],
            files,
        };
        let loaded = load(&self.input(), None, &[], &with, &mut said);
        (loaded, said)
    }
}

/// The last model of the included files, where the text itself has none.
fn included_model(loaded: &Loaded) -> Option<String> {
    let models = |file: FileId| {
        (loaded.tree(file).items.iter()).filter_map(|item| match item {
            Item::Model(model) if model.kind == ModelKind::Model => Some(model.name.symbol),
            _ => None,
        })
    };
    if models(loaded.main).next().is_some() {
        return None;
    }
    let own = |&file: &FileId| loaded.sources.file(file).origin == Origin::User;
    let last = loaded.sources.ids().filter(own).flat_map(models).last()?;
    Some(loaded.interner.name(last).to_string())
}

/// The files of a session: typed texts, and those of the machine.
pub struct With<'s> {
    pub entries: Vec<&'s Entry>,
    pub files: &'s dyn Files,
}

impl Files for With<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let typed = |entry: &&&Entry| entry.typed && entry.path == path;
        match self.entries.iter().find(typed) {
            Some(entry) => Ok(entry.text.clone().into_bytes()),
            None => self.files.read(path),
        }
    }

    fn identity(&self, path: &Path) -> PathBuf {
        self.files.identity(path)
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        self.files.list(folder)
    }
}

/// Only such a line can complete a text.
pub fn can_end(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('@')
        || line
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word == "end")
}

/// A block or a comment is open.
pub fn is_open(text: &str) -> bool {
    let (_, found) = parse(FileId(0), text, &mut Interner::default());
    let open = |code: Code| matches!(code, Code::MissingEnd | Code::UnclosedComment);
    found.iter().any(|diagnostic| open(diagnostic.code))
}

/// Whether nothing is missing; a file that cannot be read ends the text, too.
pub fn is_complete(what: What, text: &str, files: &dyn Files) -> bool {
    if is_open(text) {
        return false;
    }
    let (loaded, said) = Entry::typed(what, text.to_string(), None).load(files);
    let lost = |code: Code| matches!(code, Code::UnknownInclude | Code::UnreadableFile);
    if said.iter().any(|diagnostic| lost(diagnostic.code)) {
        return true;
    }
    let own = |&file: &FileId| loaded.sources.file(file).origin == Origin::User;
    let trees = loaded
        .sources
        .ids()
        .filter(own)
        .map(|file| loaded.tree(file));
    let mut items = trees.flat_map(|tree| &tree.items);
    items.any(|item| match item {
        Item::Model(model) => what == What::Model && model.kind == ModelKind::Model,
        Item::Experiment(_) => what == What::Experiment,
        _ => false,
    })
}
