//! All writing of files.
//!
//! Three rules always hold. A file that the command has read is never overwritten, under any name or link
//! ([`inputs`]). A file is complete at any moment: the old content stays until the new one is complete and on the
//! disk ([`atomic_file`]); rows of a long run grow under another name until then ([`partial_file`]). The name of a
//! file never indicates another kind ([`kinds`]). Anything that is not a regular file (a pipe, a device,
//! `/dev/stdout`) is written to directly.

pub mod atomic_file;
pub mod error_text;
pub mod inputs;
pub mod kinds;
pub mod partial_file;
pub mod temporary;

use super::signals::waiting;
use atomic_file::AtomicFile;
use inputs::Inputs;
use kinds::Kind;
use partial_file::PartialFile;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Component, Path};

/// Why something cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable {
    pub message: String,
    pub hint: Option<String>,
}

impl Unwritable {
    pub fn new(message: impl Into<String>) -> Unwritable {
        Unwritable {
            message: message.into(),
            hint: None,
        }
    }

    fn by_system(path: &Path, error: &io::Error) -> Unwritable {
        Unwritable::new(error_text::message(&path.to_string_lossy(), error))
    }
}

/// A file that is open for writing.
#[derive(Debug)]
pub enum Target {
    /// A pipe, device or other file that is not regular.
    Direct(File),
    Atomic(AtomicFile),
}

/// A file for rows.
#[derive(Debug)]
pub enum Rows {
    Direct(File),
    Partial(PartialFile),
}

/// Checks that a path may be written: it was not read, and its name suits the kind.
pub fn allowed(path: &Path, kind: Kind, inputs: &Inputs) -> Result<(), Unwritable> {
    if inputs.contains(path) {
        let shown = path.display();
        return Err(Unwritable::new(format!(
            "cannot write `{shown}`: the model was read from it; choose another file"
        )));
    }
    kind.fits(path).map_err(|misnamed| Unwritable {
        message: misnamed.message,
        hint: Some(misnamed.hint),
    })
}

/// Opens a file; its old content stays until [`Target::commit`].
pub fn open(path: &Path, kind: Kind, inputs: &Inputs) -> Result<Target, Unwritable> {
    allowed(path, kind, inputs)?;
    let opened = match is_regular(path) {
        Err(error) => Err(error),
        Ok(false) => direct(path).map(Target::Direct),
        Ok(true) => atomic_file::through_links(path)
            .and_then(|path| AtomicFile::open(&path))
            .map(Target::Atomic),
    };
    opened.map_err(|error| Unwritable::by_system(path, &error))
}

/// Opens a file for rows of a run; the notes name files that other runs have left.
pub fn open_rows(path: &Path, inputs: &Inputs) -> Result<(Rows, Vec<String>), Unwritable> {
    allowed(path, Kind::Rows, inputs)?;
    let opened = match is_regular(path) {
        Err(error) => Err(error),
        Ok(false) => direct(path).map(|file| (Rows::Direct(file), Vec::new())),
        Ok(true) => atomic_file::through_links(path)
            .and_then(|path| PartialFile::open(&path))
            .map(|(partial, notes)| (Rows::Partial(partial), notes)),
    };
    opened.map_err(|error| Unwritable::by_system(path, &error))
}

impl Target {
    /// Writes the whole content, then renames the temporary file to its final name.
    pub fn commit(
        mut self,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Unwritable> {
        let written = match &mut self {
            Target::Direct(file) => {
                let mut out = io::BufWriter::new(Waiting(file));
                write(&mut out).and_then(|()| out.flush())
            }
            Target::Atomic(atomic) => {
                let mut out = io::BufWriter::new(&atomic.file);
                write(&mut out).and_then(|()| out.flush())
            }
        };
        let done = written.and_then(|()| match self {
            Target::Direct(_) => Ok(()),
            Target::Atomic(atomic) => atomic.commit(),
        });
        match done {
            // A reader that closes its pipe is no error.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            done => done.map_err(|error| Unwritable::by_system(path, &error)),
        }
    }
}

impl Rows {
    /// Another handle on the file.
    pub fn file(&self) -> io::Result<File> {
        match self {
            Rows::Direct(file) => file.try_clone(),
            Rows::Partial(partial) => partial.file(),
        }
    }

    /// Marks the end of the header.
    pub fn end_header(&mut self) {
        if let Rows::Partial(partial) = self {
            partial.end_header();
        }
    }

    /// Gives the complete file its final name.
    pub fn commit(self, path: &Path) -> Result<(), Unwritable> {
        match self {
            Rows::Direct(_) => Ok(()),
            Rows::Partial(partial) => partial
                .commit()
                .map_err(|error| Unwritable::by_system(path, &error)),
        }
    }
}

/// Writes a atomic file at once.
pub fn write(path: &Path, kind: Kind, inputs: &Inputs, bytes: &[u8]) -> Result<(), Unwritable> {
    open(path, kind, inputs)?.commit(path, |out| out.write_all(bytes))
}

/// Appends to a file, which is nevertheless complete at any moment.
pub fn append(path: &Path, kind: Kind, inputs: &Inputs, bytes: &[u8]) -> Result<(), Unwritable> {
    let target = open(path, kind, inputs)?;
    let there = match &target {
        Target::Direct(_) => Vec::new(),
        Target::Atomic(_) => match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|error| Unwritable::by_system(path, &error))?,
        },
    };
    target.commit(path, |out| {
        out.write_all(&there)?;
        out.write_all(bytes)
    })
}

/// Returns true if a path is, or will be, a regular file. A folder is an error.
fn is_regular(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        // `/dev/stdout` and similar names may lead to a regular file that another program has opened; it must not be
        // replaced.
        Ok(found) => Ok(found.is_file() && !is_of_the_system(path)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Returns true for names of devices and of open files of the process.
fn is_of_the_system(path: &Path) -> bool {
    let mut parts = path.components();
    let is_root = parts.next() == Some(Component::RootDir);
    let (first, second) = (parts.next(), parts.next());
    let is =
        |part: Option<Component<'_>>, name: &str| part.is_some_and(|part| part.as_os_str() == name);
    let device = is(first, "dev") && !is(second, "shm");
    is_root && (device || is(first, "proc"))
}

/// Opens a file that is not regular. A pipe blocks until it has a reader.
fn direct(path: &Path) -> io::Result<File> {
    waiting(|| OpenOptions::new().append(true).open(path))
}

/// Writes a message to standard error. A failure cannot be reported anywhere.
pub fn to_standard_error(text: &str) {
    let _ = Waiting(io::stderr().lock()).write_all(text.as_bytes());
}

/// A writer that may wait for a reader.
#[derive(Debug)]
pub struct Waiting<W>(pub W);

impl<W: Write> Write for Waiting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        waiting(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        waiting(|| self.0.flush())
    }
}
