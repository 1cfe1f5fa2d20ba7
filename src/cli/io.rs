//! Files and the terminal.

use std::cell::RefCell;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use crate::base::diagnostics::Diagnostics;
use crate::base::diagnostics::render::render_all;
use crate::base::source::Sources;
use crate::syntax::load::{Files, Input};

/// The files of the machine, seen from a folder; an empty path is the current one.
#[derive(Debug)]
pub struct Disk {
    base: PathBuf,
}

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(self.base.join(path))
    }

    fn identity(&self, path: &Path) -> PathBuf {
        let path = self.base.join(path);
        path.canonicalize().unwrap_or(path)
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        list(&self.base.join(folder))
    }
}

/// Names of what lies in a folder, in order; none where it cannot be read.
pub fn list(folder: &Path) -> Vec<String> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}

/// Standard input, output and error; or a text that stands for them.
#[derive(Debug)]
pub struct Console {
    color: bool,
    /// The folder that paths are seen from; empty for the current one.
    base: PathBuf,
    /// All that a command says, where it is kept instead of shown.
    kept: Option<RefCell<Vec<u8>>>,
}

impl Console {
    /// `None`: colors where messages go to a terminal that wants them.
    pub fn new(color: Option<bool>) -> Self {
        let wanted = || {
            io::stderr().is_terminal()
                && std::env::var_os("NO_COLOR").is_none()
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        };
        Console {
            color: color.unwrap_or_else(wanted),
            base: PathBuf::new(),
            kept: None,
        }
    }

    /// Keeps what a command says, as if it ran in the folder `base`: messages and result in the
    /// order in which they come. It reads no standard input and writes no files.
    pub fn keeping(base: &Path) -> Self {
        Console {
            color: false,
            base: base.to_path_buf(),
            kept: Some(RefCell::default()),
        }
    }

    /// What a command says is kept instead of shown.
    pub fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    pub fn has_colour(&self) -> bool {
        self.color
    }

    /// Long runs tell how far they are, on a terminal.
    pub fn shows_progress(&self) -> bool {
        self.kept.is_none() && io::stderr().is_terminal()
    }

    /// Columns and lines of the terminal.
    pub fn size(&self) -> (usize, usize) {
        match terminal_size::terminal_size() {
            Some((columns, lines)) => (usize::from(columns.0), usize::from(lines.0)),
            None => (80, 24),
        }
    }

    /// What was kept.
    pub fn into_text(self) -> String {
        let bytes = self.kept.map(RefCell::into_inner).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub fn files(&self) -> Disk {
        Disk {
            base: self.base.clone(),
        }
    }

    /// What a command is to compile.
    pub fn input(&self, file: &Path) -> Result<Input, String> {
        if file != Path::new("-") {
            return Ok(Input::File(file.to_path_buf()));
        }
        if self.kept.is_some() {
            return Err("standard input cannot be read here".to_string());
        }
        let mut bytes = Vec::new();
        io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| format!("cannot read standard input: {error}"))?;
        Ok(Input::Standard(bytes))
    }

    /// The text of a file that is to be changed.
    pub fn text(&self, file: &Path) -> Result<String, String> {
        let bytes = match self.input(file)? {
            Input::Standard(bytes) => bytes,
            _ => (self.files().read(file))
                .map_err(|error| format!("cannot read `{}`: {error}", file.display()))?,
        };
        String::from_utf8(bytes).map_err(|_| format!("`{}` is not UTF-8 text", file.display()))
    }

    /// Writes a result to a file, or to standard output. A reader that went away is no error.
    pub fn result(
        &self,
        file: Option<&Path>,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), String> {
        match (file, &self.kept) {
            (Some(_), Some(_)) => Err("`-o` has no place here".to_string()),
            (None, Some(kept)) => write(&mut *kept.borrow_mut()).map_err(|error| error.to_string()),
            (Some(path), None) => {
                let failed =
                    |error: io::Error| format!("cannot write `{}`: {error}", path.display());
                let file = std::fs::File::create(path).map_err(failed)?;
                let mut out = io::BufWriter::new(file);
                write(&mut out).and_then(|()| out.flush()).map_err(failed)
            }
            (None, None) => {
                let mut out = io::BufWriter::new(io::stdout().lock());
                match write(&mut out).and_then(|()| out.flush()) {
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                        Err(format!("cannot write to standard output: {error}"))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// Something for the user, beside the result.
    pub fn message(&self, text: &str) {
        if let Some(kept) = &self.kept {
            kept.borrow_mut().extend_from_slice(text.as_bytes());
            return;
        }
        // There is no one left to tell if this fails.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// All diagnostics, errors and warnings.
    pub fn diagnostics(&self, sources: &Sources, found: &Diagnostics) {
        self.message(&render_all(sources, found, self.color));
    }
}
