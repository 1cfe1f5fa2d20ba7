//! Text that is entered line by line: a model or an experiment.
//!
//! Before: the lines typed behind `-`. After: whether the text is complete, and as what it is read. It is complete when no
//! block is open and it holds what was to be entered, be it in a file that it includes: so `@rlc.dym` alone is complete and
//! `@bondgraph`, which holds types only, is not.

use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::intern::Interner;
use crate::base::source::{FileId, Origin, Sources};
use crate::syntax::ast::{Item, ModelKind};
use crate::syntax::load::bounds::Bounds;
use crate::syntax::load::{Files, Input, Loaded, load};
use crate::syntax::parse;
use std::io;
use std::path::{Path, PathBuf};

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
    pub fn file(self) -> &'static str {
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
            if models(&loaded, loaded.main).next().is_none() {
                entry.name = last_model(&loaded);
            }
        }
        entry
    }

    /// Whether there is a model in it, or in a file that it includes: types are none.
    pub fn has_model(&self, files: &dyn Files) -> bool {
        last_model(&self.load(files).0).is_some()
    }

    /// The model that is meant where none is named.
    pub fn last_model(&self, files: &dyn Files) -> Option<String> {
        let (loaded, _) = self.load(files);
        let own = models(&loaded, loaded.main).last();
        own.or_else(|| last_model(&loaded))
    }

    /// What is wrong with the text by itself.
    pub fn read(&self, files: &dyn Files) -> (Sources, Diagnostics) {
        let (loaded, said) = self.load(files);
        (loaded.sources, said)
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

/// The models of a file.
fn models(loaded: &Loaded, file: FileId) -> impl Iterator<Item = String> {
    (loaded.tree(file).items.iter()).filter_map(|item| match item {
        Item::Model(model) if model.kind == ModelKind::Model => {
            Some(loaded.interner.name(model.name.symbol).to_string())
        }
        _ => None,
    })
}

/// The last model of all files that are the user's.
fn last_model(loaded: &Loaded) -> Option<String> {
    let own = |&file: &FileId| loaded.sources.file(file).origin == Origin::User;
    let files = loaded.sources.ids().filter(own);
    files.flat_map(|file| models(loaded, file)).last()
}

/// The names of models and types that a text itself defines.
pub fn defined(text: &str) -> Vec<String> {
    let mut interner = Interner::default();
    let (tree, _) = parse(FileId(0), text, &mut interner);
    (tree.items.iter())
        .filter_map(|item| match item {
            Item::Model(model) => Some(interner.name(model.name.symbol).to_string()),
            _ => None,
        })
        .collect()
}

/// A text without models and types of these names.
pub fn without(text: &str, names: &[String]) -> String {
    let mut interner = Interner::default();
    let (tree, _) = parse(FileId(0), text, &mut interner);
    let mut out = String::new();
    let mut at = 0;
    for item in &tree.items {
        if let Item::Model(model) = item
            && names
                .iter()
                .any(|name| name == interner.name(model.name.symbol))
        {
            let range = model.span.range();
            out.push_str(text.get(at..range.start.max(at)).unwrap_or(""));
            at = range.end.max(at);
        }
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
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

    fn bounds(&self) -> Bounds {
        self.files.bounds()
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

/// Whether nothing is missing: what is named, where a name was asked for and more than a file was entered. A file that cannot be
/// read ends the text, too.
pub fn is_complete(what: What, name: Option<&str>, text: &str, files: &dyn Files) -> bool {
    if is_open(text) {
        return false;
    }
    let (loaded, said) = Entry::typed(what, text.to_string(), None).load(files);
    let lost = |code: Code| {
        matches!(
            code,
            Code::UnknownInclude
                | Code::UnreadableFile
                | Code::NotRegular
                | Code::TooMuchText
                | Code::OutsideFolders
        )
    };
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
    let main = &loaded.tree(loaded.main).items;
    let typed = main.iter().any(|item| matches!(item, Item::Model(_)));
    items.any(|item| match item {
        Item::Model(model) if what == What::Model => match name.filter(|_| typed) {
            Some(name) => loaded.interner.name(model.name.symbol) == name,
            None => model.kind == ModelKind::Model,
        },
        Item::Experiment(_) => what == What::Experiment,
        _ => false,
    })
}
