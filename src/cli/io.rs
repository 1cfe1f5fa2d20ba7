//! Files and the terminal.

use super::Fault;
use super::defect;
use super::reading::{self, Fence};
use super::signals::waiting;
use super::writing::inputs::Inputs;
use super::writing::kinds::Kind;
use super::writing::trouble::STANDARD;
use super::writing::{self, Rows, Target, Unwritable};
use crate::base::diagnostics::render::render_all;
use crate::base::diagnostics::visible::visible;
use crate::base::diagnostics::{Diagnostic, Diagnostics};
use crate::base::source::Sources;
use crate::syntax::load::bounds::{Bounds, Refusal, refusal, unreadable};
use crate::syntax::load::{Files, Input};
use std::cell::{Ref, RefCell};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The files of the machine, seen from a folder; an empty path is the current one.
#[derive(Debug)]
pub struct Disk {
    base: PathBuf,
    bounds: Bounds,
    /// Where files have to lie; anywhere without it.
    fence: Option<Fence>,
    inputs: Rc<RefCell<Inputs>>,
}

impl Disk {
    /// All files, of trusted models.
    pub fn anywhere() -> Disk {
        Disk {
            base: PathBuf::new(),
            bounds: Bounds::default(),
            fence: None,
            inputs: Rc::default(),
        }
    }
}

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = self.base.join(path);
        let bytes = reading::read(&path, self.bounds.file, self.fence.as_ref())?;
        self.inputs.borrow_mut().add(&path);
        Ok(bytes)
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
    /// What was read, and is not written over.
    inputs: Rc<RefCell<Inputs>>,
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
            inputs: Rc::default(),
        }
    }

    /// Keeps what a command says, as if it ran in the folder `base`: messages and result in the
    /// order in which they come. It reads no standard input, writes no files and starts no programs.
    /// What it reads, this one does not write over.
    pub fn keeping(&self, base: &Path, untrusted: bool) -> Self {
        Console {
            color: false,
            untrusted,
            base: base.to_path_buf(),
            kept: Some(RefCell::default()),
            inputs: Rc::clone(&self.inputs),
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
            inputs: Rc::clone(&self.inputs),
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
        self.inputs.borrow_mut().add_standard();
        let bytes = waiting(|| reading::some(io::stdin().lock(), self.bounds().file))
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

    /// What was read so far.
    pub fn inputs(&self) -> Ref<'_, Inputs> {
        self.inputs.borrow()
    }

    /// Remembers what standard input is: a script may come from there that is a file.
    pub fn reads_standard_input(&self) {
        self.inputs.borrow_mut().add_standard();
    }

    /// Remembers a file that was read by other ways than [`Console::files`].
    pub fn was_read(&self, path: &Path) {
        self.inputs.borrow_mut().add(path);
    }

    /// Opens the place where a result goes: a file, or standard output. What is wrong with it is known before
    /// the work. All files of the command have been read by then.
    pub fn place<'c>(&'c self, file: Option<&'c Path>, kind: Kind) -> Result<Place<'c>, Fault> {
        let to = match (file, &self.kept) {
            (Some(_), Some(_)) => return Err("`-o` has no place here".into()),
            (None, Some(_)) if kind.is_binary() => {
                return Err("what is no text has no place here".into());
            }
            (None, Some(kept)) => To::Kept(kept),
            (Some(path), None) if path != Path::new(STANDARD) => {
                To::File(path, writing::open(path, kind, &self.inputs())?)
            }
            _ if kind.is_binary() && io::stdout().is_terminal() => {
                return Err("this is no text for a terminal: give a file with `-o`".into());
            }
            _ => To::Standard,
        };
        Ok(Place { to })
    }

    /// Opens a file for rows; `-` is standard output, for which there is none.
    pub fn rows(&self, path: &Path) -> Result<Option<Rows>, Fault> {
        if path == Path::new(STANDARD) {
            return Ok(None);
        }
        let (rows, notes) = writing::open_rows(path, &self.inputs())?;
        for note in notes {
            self.message(&format!("note: {note}\n"));
        }
        Ok(Some(rows))
    }

    /// Writes a text to standard output.
    pub fn result(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Fault> {
        self.place(None, Kind::Text)?.write(write)
    }

    /// Text for standard output that has colours: all else in it is shown as [`visible`] does already.
    pub fn picture(&self, text: &str) -> Result<(), Fault> {
        match &self.kept {
            Some(kept) => kept.borrow_mut().extend_from_slice(text.as_bytes()),
            None => standard(|out| out.write_all(text.as_bytes()), io::stdout().lock())?,
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

/// Where a result goes, open.
#[derive(Debug)]
pub struct Place<'c> {
    to: To<'c>,
}

#[derive(Debug)]
enum To<'c> {
    Standard,
    Kept(&'c RefCell<Vec<u8>>),
    File(&'c Path, Target),
}

impl Place<'_> {
    /// Writes the result. A reader that went away is no error.
    pub fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Fault> {
        match self.to {
            To::Standard => standard(write, Standard::default()),
            To::Kept(kept) => {
                let mut text = Vec::new();
                let written = write(&mut text);
                kept.borrow_mut().extend_from_slice(&text);
                written.map_err(|error| Fault::from(error.to_string()))
            }
            To::File(path, target) => {
                defect::on_purpose("writing");
                Ok(target.commit(path, write)?)
            }
        }
    }
}

/// Writes to standard output.
fn standard(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    out: impl Write,
) -> Result<(), Fault> {
    let mut out = io::BufWriter::new(out);
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Unwritable::new(writing::trouble::message(STANDARD, &error)).into())
        }
        _ => Ok(()),
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
            return waiting(|| out.write(bytes));
        }
        let mut whole = std::mem::take(&mut self.begun);
        whole.extend_from_slice(bytes);
        if let Err(error) = std::str::from_utf8(&whole)
            && error.error_len().is_none()
        {
            self.begun = whole.split_off(error.valid_up_to());
        }
        let text = String::from_utf8_lossy(&whole);
        waiting(|| out.write_all(visible(&text).as_bytes()))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        waiting(|| io::stdout().lock().flush())
    }
}
