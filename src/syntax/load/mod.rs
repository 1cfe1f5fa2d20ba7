//! Loads a file and all its includes.
//!
//! Before: a path, or a text from standard input. After: every source text is read once and parsed, and the types of
//! the library that the includes name are visible. Reading goes through [`Files`], so everything after this module is
//! free of input and output.

pub mod bounds;

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use crate::base::diagnostics::{Code, Diagnostic, Diagnostics, nearest};
use crate::base::intern::{Interner, Symbol};
use crate::base::source::{FileId, Origin, Sources, Span};
use crate::syntax::ast::{Ast, Include, Item};
use crate::syntax::library;
use crate::syntax::parse;
use bounds::{Bounds, Refusal, refusal, unreadable};

/// The place where source texts come from.
pub trait Files {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// A path that is the same for all paths to one file.
    fn identity(&self, path: &Path) -> PathBuf;
    /// The names of the files in a folder, for suggestions; empty if there are none.
    fn list(&self, folder: &Path) -> Vec<String>;
    /// The limits on what may be read and made of it.
    fn bounds(&self) -> Bounds {
        Bounds::default()
    }
}

/// No files: only the embedded library can be included.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn identity(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }

    fn list(&self, _: &Path) -> Vec<String> {
        Vec::new()
    }
}

/// What is to be compiled.
#[derive(Clone, Debug)]
pub enum Input {
    File(PathBuf),
    /// Text read from standard input; includes are looked up in the current folder.
    Standard(Vec<u8>),
    /// A file with another text, which is used instead of its content. Includes are looked up beside the file.
    Revised(PathBuf, String),
}

/// The outcome: one tree for each file of `sources`, in the same order.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub sources: Sources,
    pub interner: Interner,
    pub trees: Vec<Ast>,
    pub main: FileId,
    /// The file that was named as the experiment.
    pub experiment: Option<FileId>,
    /// Library files that were included, whole or one type at a time.
    pub library: Vec<(FileId, Option<Symbol>)>,
}

impl Loaded {
    pub fn tree(&self, file: FileId) -> &Ast {
        &self.trees[file.0 as usize]
    }
}

/// Replaces the text of the main file, without reading or parsing anything else. `None` if the new text includes files
/// or contains nothing. `loaded` must have no diagnostics and no experiment.
pub fn reload(loaded: &Loaded, text: &str, diagnostics: &mut Diagnostics) -> Option<Loaded> {
    let mut interner = loaded.interner.clone();
    let (tree, found) = parse(loaded.main, text, &mut interner);
    let names = |tree: &Ast| -> Vec<String> {
        let includes = tree.items.iter().filter_map(|item| match item {
            Item::Include(include) => Some(include.name.clone()),
            _ => None,
        });
        includes.collect()
    };
    if tree.items.is_empty() || names(&tree) != names(loaded.tree(loaded.main)) {
        return None;
    }
    diagnostics.extend(found);
    let mut again = Loaded {
        interner,
        ..loaded.clone()
    };
    again.sources.replace(again.main, text.to_string());
    again.trees[again.main.0 as usize] = tree;
    Some(again)
}

struct Loader<'a> {
    files: &'a dyn Files,
    folders: &'a [PathBuf],
    diagnostics: &'a mut Diagnostics,
    loaded: Loaded,
    /// The path of each user file: its includes are looked up relative to it.
    paths: Vec<PathBuf>,
    known: FxHashMap<PathBuf, FileId>,
    known_library: FxHashMap<&'static str, FileId>,
    queue: VecDeque<FileId>,
    /// The numbers of files and bytes that were read, without the library.
    read: (usize, u64),
    /// A limit was reached, so nothing more is read.
    exhausted: bool,
}

/// Reads `input`, a file with an experiment if there is one, and their includes, also from the folders given with `-I`.
pub fn load(
    input: &Input,
    experiment: Option<&Path>,
    folders: &[PathBuf],
    files: &dyn Files,
    diagnostics: &mut Diagnostics,
) -> Loaded {
    let mut loader = Loader {
        files,
        folders,
        diagnostics,
        loaded: Loaded {
            sources: Sources::default(),
            interner: Interner::default(),
            trees: Vec::new(),
            main: FileId(0),
            experiment: None,
            library: Vec::new(),
        },
        paths: Vec::new(),
        known: FxHashMap::default(),
        known_library: FxHashMap::default(),
        queue: VecDeque::new(),
        read: (0, 0),
        exhausted: false,
    };
    loader.load_main(input);
    if let Some(path) = experiment {
        loader.load_experiment(path);
    }
    while let Some(file) = loader.queue.pop_front() {
        let includes: Vec<Include> = loader.loaded.trees[file.0 as usize]
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Include(include) => Some(Include {
                    name: include.name.clone(),
                    span: include.span,
                }),
                _ => None,
            })
            .collect();
        for include in includes {
            if !loader.exhausted {
                loader.include(file, &include);
            }
        }
    }
    loader.loaded
}

impl Loader<'_> {
    fn load_main(&mut self, input: &Input) {
        let (name, path, bytes) = match input {
            Input::Standard(bytes) => {
                let limit = self.files.bounds().file;
                let bytes = match bytes.len() as u64 > limit {
                    true => Err(Refusal::TooLarge(limit).into()),
                    false => Ok(bytes.clone()),
                };
                ("<stdin>".to_string(), PathBuf::new(), bytes)
            }
            Input::File(path) => {
                let bytes = self.files.read(path);
                (path.display().to_string(), path.clone(), bytes)
            }
            Input::Revised(path, text) => {
                let bytes = Ok(text.clone().into_bytes());
                (path.display().to_string(), path.clone(), bytes)
            }
        };
        if let Input::File(path) | Input::Revised(path, _) = input {
            self.known.insert(self.files.identity(path), FileId(0));
        }
        match bytes {
            Ok(bytes) => {
                self.add(name, path, bytes, Origin::User);
            }
            Err(error) => {
                let mut diagnostic = unreadable(&format!("`{name}`"), &error);
                if error.kind() == io::ErrorKind::NotFound {
                    diagnostic = self.suggest_file(diagnostic, &path);
                }
                self.diagnostics.push(diagnostic);
                self.add(name, path, Vec::new(), Origin::User);
                return;
            }
        }
        let nothing_but_blanks = self.loaded.trees[0].items.is_empty();
        if nothing_but_blanks && !self.diagnostics.has_errors() {
            let file = self.loaded.sources.file(FileId(0));
            let what = match file.text.trim().is_empty() {
                true => "is empty",
                false => "holds nothing but comments",
            };
            self.diagnostics.push(
                Diagnostic::new(Code::EmptyFile, format!("`{}` {what}", file.name))
                    .hint("a model begins with `model NAME` and ends with `end`"),
            );
        }
    }

    fn load_experiment(&mut self, path: &Path) {
        let identity = self.files.identity(path);
        if let Some(&file) = self.known.get(&identity) {
            self.loaded.experiment = Some(file);
            return;
        }
        let name = path.display().to_string();
        match self.files.read(path) {
            Ok(bytes) => {
                let file = self.add(name, path.to_path_buf(), bytes, Origin::User);
                self.known.insert(identity, file);
                self.loaded.experiment = Some(file);
            }
            Err(error) => {
                let mut diagnostic = unreadable(&format!("the experiment `{name}`"), &error);
                if refusal(&error).is_none() {
                    diagnostic = self.suggest_file(diagnostic, path);
                }
                self.diagnostics.push(diagnostic);
            }
        }
    }

    fn suggest_file(&self, diagnostic: Diagnostic, path: &Path) -> Diagnostic {
        let folder = path.parent().unwrap_or(Path::new(""));
        let Some(wrong) = path.file_name().and_then(|name| name.to_str()) else {
            return diagnostic;
        };
        let there = self.files.list(folder);
        match nearest(wrong, there.iter().map(String::as_str)) {
            Some(name) => {
                diagnostic.hint(format!("did you mean `{}`?", folder.join(name).display()))
            }
            None => diagnostic,
        }
    }

    /// Decodes, parses and keeps a source text.
    fn add(&mut self, name: String, path: PathBuf, bytes: Vec<u8>, origin: Origin) -> FileId {
        let mut fault = None;
        let text = if bytes.len() >= u32::MAX as usize {
            fault = Some(Diagnostic::new(
                Code::UnreadableFile,
                format!("`{name}` is too large: {} bytes", bytes.len()),
            ));
            String::new()
        } else {
            String::from_utf8(bytes).unwrap_or_else(|error| {
                let valid = error.utf8_error().valid_up_to();
                let bytes = error.into_bytes();
                let before = &bytes[..valid];
                let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
                let column = valid
                    - before
                        .iter()
                        .rposition(|&b| b == b'\n')
                        .map_or(0, |p| p + 1);
                fault = Some(
                    Diagnostic::new(Code::NotUtf8, format!("`{name}` is not UTF-8 text"))
                        .note(format!(
                            "the byte 0x{:02x} at {name}:{line}:{} cannot be read",
                            bytes[valid],
                            column + 1
                        ))
                        .hint("save the file with the encoding UTF-8"),
                );
                String::new()
            })
        };
        let readable = fault.is_none();
        self.diagnostics.extend(fault);
        let id = self.loaded.sources.add(name, text, origin);
        let text = &self.loaded.sources.file(id).text;
        let (tree, found) = parse(id, text, &mut self.loaded.interner);
        if readable {
            self.diagnostics.extend(found);
        }
        self.loaded.trees.push(tree);
        self.paths.push(path);
        self.queue.push_back(id);
        id
    }

    fn include(&mut self, from: FileId, include: &Include) {
        let name = include.name.as_str();
        if name.is_empty() {
            self.diagnostics.push(
                Diagnostic::new(Code::UnknownInclude, "`@` names no file")
                    .at(include.span, "a name is wanted right behind it"),
            );
            return;
        }
        let mut places = Vec::new();
        let mut outside = None;
        if self.loaded.sources.file(from).origin == Origin::User {
            let beside = self.paths[from.0 as usize]
                .parent()
                .unwrap_or(Path::new(""))
                .to_path_buf();
            let folders: Vec<PathBuf> = std::iter::once(beside)
                .chain(self.folders.iter().cloned())
                .collect();
            for folder in folders {
                let mut names = vec![name.to_string()];
                if !name.ends_with(".bgm") {
                    names.push(format!("{name}.bgm"));
                }
                for name in names {
                    let path = folder.join(&name);
                    match self.include_file(&path, include.span) {
                        Ok(()) => return,
                        Err(Some(refused)) => outside = outside.or(Some(refused)),
                        Err(None) => places.push(path.display().to_string()),
                    }
                }
            }
        }
        if let Some(entry) = library::find(name) {
            let file = match self.known_library.get(entry.file) {
                Some(&file) => file,
                None => {
                    let shown = format!("library:{}", entry.file);
                    let bytes = entry.text.as_bytes().to_vec();
                    let file = self.add(shown, PathBuf::new(), bytes, Origin::Library);
                    self.known_library.insert(entry.file, file);
                    file
                }
            };
            let only = entry.only.map(|name| self.loaded.interner.intern(name));
            if !self.loaded.library.contains(&(file, only)) {
                self.loaded.library.push((file, only));
            }
            return;
        }
        match outside {
            Some(refused) => self.diagnostics.push(refused),
            None => self.unknown_include(from, include, &places),
        }
    }

    /// Succeeds if the file exists, even if it cannot be read. A diagnostic about a file that may not be read is
    /// returned, because the name may be found in another folder.
    fn include_file(&mut self, path: &Path, span: Span) -> Result<(), Option<Diagnostic>> {
        let identity = self.files.identity(path);
        if self.known.contains_key(&identity) {
            return Ok(());
        }
        match self.files.read(path) {
            Ok(bytes) => {
                if !self.within_bounds(&bytes, span) {
                    return Ok(());
                }
                let id = self.add(
                    path.display().to_string(),
                    path.to_path_buf(),
                    bytes,
                    Origin::User,
                );
                self.known.insert(identity, id);
                Ok(())
            }
            // A folder with this name is not the file.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::IsADirectory
                        | io::ErrorKind::NotADirectory
                ) =>
            {
                Err(None)
            }
            Err(error) => {
                let shown = format!("`{}`", path.display());
                let diagnostic = unreadable(&shown, &error).at(span, "included here");
                if matches!(refusal(&error), Some(Refusal::Outside(_))) {
                    return Err(Some(diagnostic));
                }
                self.diagnostics.push(diagnostic);
                Ok(())
            }
        }
    }

    /// Whether one more file may be read.
    fn within_bounds(&mut self, bytes: &[u8], span: Span) -> bool {
        let bounds = self.files.bounds();
        self.read.0 += 1;
        self.read.1 += bytes.len() as u64;
        // The count contains the model itself.
        let what = match self.read {
            (files, _) if files >= bounds.files => format!("more than {} files", bounds.files),
            (_, text) if text > bounds.text => {
                format!("more than {} MB of text", bounds.text >> 20)
            }
            _ => return true,
        };
        self.exhausted = true;
        self.diagnostics.push(
            Diagnostic::new(Code::TooMuchText, format!("the model includes {what}"))
                .at(span, "reached here")
                .hint("`--untrusted` sets this limit: put what belongs together into one file"),
        );
        false
    }

    fn unknown_include(&mut self, from: FileId, include: &Include, places: &[String]) {
        let name = include.name.as_str();
        let beside = self.paths[from.0 as usize]
            .parent()
            .unwrap_or(Path::new(""));
        let mut known: Vec<String> = self.files.list(beside);
        for folder in self.folders {
            known.extend(self.files.list(folder));
        }
        known.retain(|name| name.ends_with(".bgm"));
        known.extend(library::FILES.iter().map(|(file, _)| file.to_string()));
        if name.to_lowercase().ends_with(".bnd") {
            let types = library::types().map(|(_, _, name)| format!("{}.bnd", name.to_lowercase()));
            known = types.collect();
        }
        let stems: Vec<&str> = known
            .iter()
            .map(|name| name.strip_suffix(".bgm").unwrap_or(name))
            .chain(known.iter().map(String::as_str))
            .collect();
        let mut diagnostic = Diagnostic::new(
            Code::UnknownInclude,
            format!("the include `{name}` is not found"),
        )
        .at(include.span, "no such file");
        for place in places {
            diagnostic = diagnostic.note(format!("looked for {place}"));
        }
        let library: Vec<&str> = library::FILES.iter().map(|(file, _)| *file).collect();
        diagnostic = diagnostic.note(format!(
            "looked in the standard library: {}, and its types as NAME.bnd",
            library.join(", ")
        ));
        self.diagnostics
            .push(diagnostic.suggest(name, stems.iter().copied()));
    }
}
