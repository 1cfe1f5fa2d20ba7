//! Text that is entered line by line: a model or an experiment.
//!
//! Before: the lines typed after the prompt `-`. After: a decision whether the text is complete, and the text as an
//! input of the loader. The text is complete when no block is open and it contains, itself or in an included file,
//! what was to be entered. So `@rlc.dym` alone is complete; `@bondgraph` is not, because it contains only types.

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
pub enum EntryKind {
    Model,
    Experiment,
}

impl EntryKind {
    pub fn text(self) -> &'static str {
        match self {
            EntryKind::Model => "model",
            EntryKind::Experiment => "experiment",
        }
    }

    /// The file name that messages show for typed text. No file has this name.
    pub fn file(self) -> &'static str {
        match self {
            EntryKind::Model => "<model>",
            EntryKind::Experiment => "<experiment>",
        }
    }
}

/// A text that was entered, or the file that it names.
#[derive(Clone, Debug)]
pub struct EnteredText {
    /// The file; for typed text a placeholder name that no file has.
    pub path: PathBuf,
    pub text: String,
    /// True: `text` is used, not the file.
    pub typed: bool,
    /// The requested model or experiment, or the one that an included file contains.
    pub name: Option<String>,
}

impl EnteredText {
    /// Makes an entry from typed text.
    pub fn typed(what: EntryKind, text: String, name: Option<String>) -> EnteredText {
        EnteredText {
            path: PathBuf::from(what.file()),
            text,
            typed: true,
            name,
        }
    }

    /// If the text is a single include, the entry is the included file, so that messages show its name.
    pub fn new(
        what: EntryKind,
        text: String,
        name: Option<String>,
        files: &dyn Files,
    ) -> EnteredText {
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
                return EnteredText {
                    path,
                    text: String::from_utf8_lossy(&bytes).into_owned(),
                    typed: false,
                    name,
                };
            }
        }
        let mut entry = EnteredText::typed(what, text, name);
        if what == EntryKind::Model && entry.name.is_none() {
            let (loaded, _) = entry.load(files);
            if models(&loaded, loaded.main).next().is_none() {
                entry.name = last_model(&loaded);
            }
        }
        entry
    }

    /// Returns true if the text or a file that it includes contains a model; types do not count.
    pub fn has_model(&self, files: &dyn Files) -> bool {
        last_model(&self.load(files).0).is_some()
    }

    /// Returns the model that is used if none is named: the last one.
    pub fn last_model(&self, files: &dyn Files) -> Option<String> {
        let (loaded, _) = self.load(files);
        let own = models(&loaded, loaded.main).last();
        own.or_else(|| last_model(&loaded))
    }

    /// Parses the text and its includes, without a model around it.
    pub fn read(&self, files: &dyn Files) -> (Sources, Diagnostics) {
        let (loaded, diagnostics) = self.load(files);
        (loaded.sources, diagnostics)
    }

    pub fn input(&self) -> Input {
        Input::File(self.path.clone())
    }

    fn load(&self, files: &dyn Files) -> (Loaded, Diagnostics) {
        let mut diagnostics = Diagnostics::default();
        let with = SessionFiles {
            entries: vec![self],
            files,
        };
        let loaded = load(&self.input(), None, &[], &with, &mut diagnostics);
        (loaded, diagnostics)
    }
}

/// Returns the names of the models in a file.
fn models(loaded: &Loaded, file: FileId) -> impl Iterator<Item = String> {
    (loaded.tree(file).items.iter()).filter_map(|item| match item {
        Item::Model(model) if model.kind == ModelKind::Model => {
            Some(loaded.interner.name(model.name.symbol).to_string())
        }
        _ => None,
    })
}

/// Returns the last model in all files of the user; library files do not count.
fn last_model(loaded: &Loaded) -> Option<String> {
    let own = |&file: &FileId| loaded.sources.file(file).origin == Origin::User;
    let files = loaded.sources.ids().filter(own);
    files.flat_map(|file| models(loaded, file)).last()
}

/// Returns the names of the models and types that the text itself defines.
pub fn defined_names(text: &str) -> Vec<String> {
    let mut interner = Interner::default();
    let (tree, _) = parse(FileId(0), text, &mut interner);
    (tree.items.iter())
        .filter_map(|item| match item {
            Item::Model(model) => Some(interner.name(model.name.symbol).to_string()),
            _ => None,
        })
        .collect()
}

/// Returns the text without the models and types of these names.
pub fn remove_definitions(text: &str, names: &[String]) -> String {
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

/// The files that the loader sees: typed texts under their placeholder names, and the files of the machine.
pub struct SessionFiles<'s> {
    pub entries: Vec<&'s EnteredText>,
    pub files: &'s dyn Files,
}

impl Files for SessionFiles<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let typed = |entry: &&&EnteredText| entry.typed && entry.path == path;
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

/// Returns true if the line can complete a text: it contains `end` or is an include. This test avoids a parse after
/// every line.
pub fn can_end(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('@')
        || line
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word == "end")
}

/// Returns true if a block or a comment is still open.
pub fn is_open(text: &str) -> bool {
    let (_, found) = parse(FileId(0), text, &mut Interner::default());
    let open = |code: Code| matches!(code, Code::MissingEnd | Code::UnclosedComment);
    found.iter().any(|diagnostic| open(diagnostic.code))
}

/// Returns true if the text is complete. If a name was requested and more than an include was typed, the text must
/// define this name. A file that cannot be read also ends the entry.
pub fn is_complete(what: EntryKind, name: Option<&str>, text: &str, files: &dyn Files) -> bool {
    if is_open(text) {
        return false;
    }
    let (loaded, diagnostics) = EnteredText::typed(what, text.to_string(), None).load(files);
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
    if diagnostics.iter().any(|diagnostic| lost(diagnostic.code)) {
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
        Item::Model(model) if what == EntryKind::Model => match name.filter(|_| typed) {
            Some(name) => loaded.interner.name(model.name.symbol) == name,
            None => model.kind == ModelKind::Model,
        },
        Item::Experiment(_) => what == EntryKind::Experiment,
        _ => false,
    })
}
