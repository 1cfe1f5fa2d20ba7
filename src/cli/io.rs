//! Access to files and the terminal. All commands read and write through [`Disk`] and [`Console`].

use super::Fault;
use super::defect;
use super::reading::{self, Sandbox};
use super::signals::waiting;
use super::writing::error_text::STANDARD;
use super::writing::inputs::Inputs;
use super::writing::kinds::Kind;
use super::writing::{self, Rows, Target, Unwritable, Waiting};
use crate::base::diagnostics::render::render_all;
use crate::base::diagnostics::visible::visible;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::source::Sources;
use crate::syntax::load::bounds::{Bounds, Refusal, unreadable};
use crate::syntax::load::{Files, Input};
use std::cell::{Ref, RefCell};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The files of the machine, relative to a folder; an empty path is the current folder.
#[derive(Debug)]
pub struct Disk {
    base: PathBuf,
    bounds: Bounds,
    /// The folders that files must be in; `None`: any folder.
    sandbox: Option<Sandbox>,
    inputs: Rc<RefCell<Inputs>>,
}

impl Disk {
    /// Gives access to all files, for trusted models.
    pub fn anywhere() -> Disk {
        Disk {
            base: PathBuf::new(),
            bounds: Bounds::default(),
            sandbox: None,
            inputs: Rc::default(),
        }
    }
}

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = self.base.join(path);
        let bytes = reading::read(&path, self.bounds.file, self.sandbox.as_ref())?;
        self.inputs.borrow_mut().add(&path);
        Ok(bytes)
    }

    fn identity(&self, path: &Path) -> PathBuf {
        let path = self.base.join(path);
        path.canonicalize().unwrap_or(path)
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        let folder = self.base.join(folder);
        match &self.sandbox {
            Some(sandbox) if sandbox.resolve(&folder).is_err() => Vec::new(),
            _ => list(&folder),
        }
    }

    fn bounds(&self) -> Bounds {
        self.bounds
    }
}

/// Returns the sorted names in a folder; none if it cannot be read.
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

/// Standard input, output and error; or a buffer that replaces them.
#[derive(Debug)]
pub struct Console {
    color: bool,
    /// True with `--untrusted`.
    untrusted: bool,
    /// The folder that paths are relative to; empty for the current one.
    base: PathBuf,
    /// The output of a command, if it is captured instead of printed.
    captured: Option<RefCell<Vec<u8>>>,
    /// The files that were read. They are never overwritten.
    inputs: Rc<RefCell<Inputs>>,
}

impl Console {
    /// `None`: colors are used if messages go to a terminal that supports them.
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
            captured: None,
            inputs: Rc::default(),
        }
    }

    /// Makes a console that captures messages and results in their order, for a command that runs in the folder
    /// `base`. Such a command reads no standard input, writes no files and starts no programs. Files that it reads
    /// are not overwritten by `self` either.
    pub fn capturing(&self, base: &Path, untrusted: bool) -> Self {
        Console {
            color: false,
            untrusted,
            base: base.to_path_buf(),
            captured: Some(RefCell::default()),
            inputs: Rc::clone(&self.inputs),
        }
    }

    /// Returns true if output is captured instead of printed.
    pub fn is_captured(&self) -> bool {
        self.captured.is_some()
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

    /// Progress of long runs is shown on a terminal only.
    pub fn shows_progress(&self) -> bool {
        self.captured.is_none() && io::stderr().is_terminal()
    }

    /// Columns and lines of the terminal.
    pub fn size(&self) -> (usize, usize) {
        match terminal_size::terminal_size() {
            Some((columns, lines)) => (usize::from(columns.0), usize::from(lines.0)),
            None => (80, 24),
        }
    }

    /// Returns the captured output.
    pub fn into_text(self) -> String {
        let bytes = self.captured.map(RefCell::into_inner).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the files that a model may be read from: with `--untrusted` those in the folders, and one single file.
    pub fn files<'p>(
        &self,
        folders: impl IntoIterator<Item = &'p Path>,
        besides: Option<&Path>,
    ) -> Disk {
        let sandbox = || match self.captured {
            // The command comes from the text of a model, so its options open no further folder.
            Some(_) => Sandbox::of_folders([self.base.as_path()]),
            None => besides
                .into_iter()
                .fold(Sandbox::of_folders(folders), Sandbox::with_file),
        };
        Disk {
            base: self.base.clone(),
            bounds: self.bounds(),
            sandbox: self.untrusted.then(sandbox),
            inputs: Rc::clone(&self.inputs),
        }
    }

    /// Warns of folders of `-I` that do not exist or are files.
    pub fn check_folders(&self, folders: &[PathBuf]) {
        for folder in folders {
            let shown = folder.display();
            match std::fs::metadata(self.base.join(folder)) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => self.message(&format!("warning: `-I {shown}` is not a folder\n")),
                Err(error) => self.message(&format!(
                    "warning: `-I {shown}`: {}\n",
                    writing::error_text::reason(&error)
                )),
            }
        }
    }

    /// Returns the input that a command compiles; `-` is standard input.
    pub fn input(&self, file: &Path) -> Result<Input, String> {
        if file != Path::new("-") {
            return Ok(Input::File(file.to_path_buf()));
        }
        if self.captured.is_some() {
            return Err("standard input cannot be read here".to_string());
        }
        // Input beyond the limit is reported when the model is loaded.
        self.inputs.borrow_mut().add_standard();
        let bytes = waiting(|| reading::read_up_to(io::stdin().lock(), self.bounds().file))
            .map_err(|error| format!("cannot read standard input: {error}"))?;
        Ok(Input::Standard(bytes))
    }

    /// Reads the text of a file that is to be changed. A file that cannot be read is a diagnostic.
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
            Ok(bytes) => Ok(String::from_utf8(bytes).map_err(|_| {
                Diagnostic::new(Code::NotUtf8, format!("`{shown}` is not UTF-8 text"))
                    .hint("save the file with the encoding UTF-8")
            })),
            Err(error) => Ok(Err(unreadable(&format!("`{shown}`"), &error))),
        }
    }

    /// The files that were read so far.
    pub fn inputs(&self) -> Ref<'_, Inputs> {
        self.inputs.borrow()
    }

    /// Adds standard input to the files that were read: it can be a script in a file.
    pub fn add_standard_input(&self) {
        self.inputs.borrow_mut().add_standard();
    }

    /// Adds a file that was read without [`Console::files`].
    pub fn add_input(&self, path: &Path) {
        self.inputs.borrow_mut().add(path);
    }

    /// Opens the destination of a result: a file, or standard output. An error of the file is known before the work.
    /// All files of the command have been read by then.
    pub fn place<'c>(
        &'c self,
        file: Option<&'c Path>,
        kind: Kind,
    ) -> Result<OutputSink<'c>, Fault> {
        let to = match (file, &self.captured) {
            (Some(_), Some(_)) => return Err("`-o` has no place here".into()),
            (None, Some(_)) if kind.is_binary() => {
                return Err("what is no text has no place here".into());
            }
            (None, Some(captured)) => To::Captured(captured),
            (Some(path), None) if path != Path::new(STANDARD) => {
                To::File(path, writing::open(path, kind, &self.inputs())?)
            }
            _ if kind.is_binary() && io::stdout().is_terminal() => {
                return Err("this is no text for a terminal: give a file with `-o`".into());
            }
            _ => To::Standard,
        };
        Ok(OutputSink { to })
    }

    /// Opens a file for rows; `None` for `-`, which is standard output.
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

    /// Writes text with color codes to standard output. The caller has already made it safe with [`visible`].
    pub fn result_as_is(&self, text: &str) -> Result<(), Fault> {
        match &self.captured {
            Some(captured) => captured.borrow_mut().extend_from_slice(text.as_bytes()),
            None => standard(
                |out| out.write_all(text.as_bytes()),
                Waiting(io::stdout().lock()),
            )?,
        }
        Ok(())
    }

    /// Prints a message for the user on standard error.
    pub fn message(&self, text: &str) {
        self.message_as_is(&visible(text));
    }

    /// Prints a message with color codes. The caller has already made it safe with [`visible`].
    pub fn message_as_is(&self, text: &str) {
        if let Some(captured) = &self.captured {
            captured.borrow_mut().extend_from_slice(text.as_bytes());
            return;
        }
        writing::to_standard_error(text);
    }

    /// Prints diagnostics, errors and warnings.
    pub fn diagnostics(&self, sources: &Sources, found: &Diagnostics) {
        self.message_as_is(&render_all(sources, found, self.color));
    }
}

/// An open destination of a result.
#[derive(Debug)]
pub struct OutputSink<'c> {
    to: To<'c>,
}

#[derive(Debug)]
enum To<'c> {
    Standard,
    Captured(&'c RefCell<Vec<u8>>),
    File(&'c Path, Target),
}

impl OutputSink<'_> {
    /// Writes the result. A reader that closes its pipe is no error.
    pub fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Fault> {
        match self.to {
            To::Standard => standard(write, Standard::default()),
            To::Captured(captured) => {
                let mut text = Vec::new();
                let written = write(&mut text);
                captured.borrow_mut().extend_from_slice(&text);
                written.map_err(|error| Fault::from(error.to_string()))
            }
            To::File(path, target) => {
                defect::panic_if_requested("writing");
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
            Err(Unwritable::new(writing::error_text::message(STANDARD, &error)).into())
        }
        _ => Ok(()),
    }
}

/// Standard output. A terminal receives text as [`visible`] shows it, a file or a pipe every byte unchanged.
#[derive(Default)]
struct Standard {
    /// The first bytes of a character whose other bytes follow in the next call.
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
