//! Files and the terminal.

use super::reading::{self, Fence};
use crate::base::diagnostics::render::render_all;
use crate::base::diagnostics::visible::visible;
use crate::base::diagnostics::{Diagnostic, Diagnostics};
use crate::base::source::Sources;
use crate::syntax::load::bounds::{Bounds, Refusal, refusal, unreadable};
use crate::syntax::load::{Files, Input};
use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The files of the machine, seen from a folder; an empty path is the current one.
#[derive(Debug)]
pub struct Disk {
    base: PathBuf,
    bounds: Bounds,
    /// Where files have to lie; anywhere without it.
    fence: Option<Fence>,
}

impl Disk {
    /// All files, of trusted models.
    pub fn anywhere() -> Disk {
        Disk {
            base: PathBuf::new(),
            bounds: Bounds::default(),
            fence: None,
        }
    }
}

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = self.base.join(path);
        reading::read(&path, self.bounds.file, self.fence.as_ref())
    }

    fn identity(&self, path: &Path) -> PathBuf {
        let path = self.base.join(path);
        path.canonicalize().unwrap_or(path)
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        let folder = self.base.join(folder);
        match &self.fence {
            Some(fence) if fence.real(&folder).is_err() => Vec::new(),
            _ => list(&folder),
        }
    }

    fn bounds(&self) -> Bounds {
        self.bounds
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
    /// Models are those of strangers.
    untrusted: bool,
    /// The folder that paths are seen from; empty for the current one.
    base: PathBuf,
    /// All that a command says, where it is kept instead of shown.
    kept: Option<RefCell<Vec<u8>>>,
}

impl Console {
    /// `None`: colors where messages go to a terminal that wants them.
    pub fn new(color: Option<bool>, untrusted: bool) -> Self {
        let wanted = || {
            io::stderr().is_terminal()
                && std::env::var_os("NO_COLOR").is_none()
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        };
        Console {
            color: color.unwrap_or_else(wanted),
            untrusted,
            base: PathBuf::new(),
            kept: None,
        }
    }

    /// Keeps what a command says, as if it ran in the folder `base`: messages and result in the
    /// order in which they come. It reads no standard input, writes no files and starts no programs.
    pub fn keeping(base: &Path, untrusted: bool) -> Self {
        Console {
            color: false,
            untrusted,
            base: base.to_path_buf(),
            kept: Some(RefCell::default()),
        }
    }

    /// What a command says is kept instead of shown.
    pub fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    pub fn is_untrusted(&self) -> bool {
        self.untrusted
    }

    pub fn bounds(&self) -> Bounds {
        match self.untrusted {
            true => Bounds::UNTRUSTED,
            false => Bounds::default(),
        }
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

    /// The files that a model may be read from: with `--untrusted` those of the folders, and a single one besides.
    pub fn files<'p>(
        &self,
        folders: impl IntoIterator<Item = &'p Path>,
        besides: Option<&Path>,
    ) -> Disk {
        let fence = || match self.kept {
            // The words of the command come from the model: they open no folder.
            Some(_) => Fence::around([self.base.as_path()]),
            None => besides
                .into_iter()
                .fold(Fence::around(folders), Fence::with_file),
        };
        Disk {
            base: self.base.clone(),
            bounds: self.bounds(),
            fence: self.untrusted.then(fence),
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
        // Too much is told where the model is loaded.
        let bytes = reading::some(io::stdin().lock(), self.bounds().file)
            .map_err(|error| format!("cannot read standard input: {error}"))?;
        Ok(Input::Standard(bytes))
    }

    /// The text of a file that is to be changed; a diagnostic where it may not be read.
    pub fn text(&self, file: &Path, files: &Disk) -> Result<Result<String, Diagnostic>, String> {
        let bytes = match self.input(file)? {
            Input::Standard(bytes) if bytes.len() as u64 > self.bounds().file => {
                Err(Refusal::TooLarge(self.bounds().file).into())
            }
            Input::Standard(bytes) => Ok(bytes),
            _ => files.read(file),
        };
        let shown = file.display();
        match bytes {
            Ok(bytes) => (String::from_utf8(bytes).map(Ok))
                .map_err(|_| format!("`{shown}` is not UTF-8 text")),
            Err(error) if refusal(&error).is_some() => {
                Ok(Err(unreadable(&format!("`{shown}`"), &error)))
            }
            Err(error) => Err(format!("cannot read `{shown}`: {error}")),
        }
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
                let mut out = io::BufWriter::new(Standard::default());
                match write(&mut out).and_then(|()| out.flush()) {
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                        Err(format!("cannot write to standard output: {error}"))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// Text for standard output that has colours: all else in it is shown as [`visible`] does already.
    pub fn picture(&self, text: &str) -> Result<(), String> {
        match &self.kept {
            Some(kept) => kept.borrow_mut().extend_from_slice(text.as_bytes()),
            None => {
                let mut out = io::stdout().lock();
                match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                        return Err(format!("cannot write to standard output: {error}"));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Something for the user, beside the result.
    pub fn message(&self, text: &str) {
        self.message_as_is(&visible(text));
    }

    /// A message that has colours: all else in it is shown as [`visible`] does already.
    pub fn message_as_is(&self, text: &str) {
        if let Some(kept) = &self.kept {
            kept.borrow_mut().extend_from_slice(text.as_bytes());
            return;
        }
        // There is no one left to tell if this fails.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// All diagnostics, errors and warnings.
    pub fn diagnostics(&self, sources: &Sources, found: &Diagnostics) {
        self.message_as_is(&render_all(sources, found, self.color));
    }
}

/// Standard output. A terminal gets text as [`visible`] shows it, a file or a pipe every byte as it is.
#[derive(Default)]
struct Standard {
    /// The beginning of a character whose other bytes are still to come.
    begun: Vec<u8>,
}

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = io::stdout().lock();
        if !out.is_terminal() {
            return out.write(bytes);
        }
        let mut whole = std::mem::take(&mut self.begun);
        whole.extend_from_slice(bytes);
        if let Err(error) = std::str::from_utf8(&whole)
            && error.error_len().is_none()
        {
            self.begun = whole.split_off(error.valid_up_to());
        }
        let text = String::from_utf8_lossy(&whole);
        out.write_all(visible(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().lock().flush()
    }
}
