//! Writing files: all of it happens here.
//!
//! Three things hold whatever is written. No file that the command has read is written over, by whatever name or link
//! ([`inputs`]). A file is whole at any moment: what was there stays until the new one is complete and on the disk ([`whole`]); rows of a
//! long run grow under a name of their own until then ([`growing`]). And no name says that a file is something
//! else ([`kinds`]). What is no regular file (a pipe, a device, `/dev/stdout`) is written into as it is.

pub mod growing;
pub mod inputs;
pub mod kinds;
pub mod temporary;
pub mod trouble;
pub mod whole;

use super::signals::waiting;
use growing::Growing;
use inputs::Inputs;
use kinds::Kind;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Component, Path};
use whole::Whole;

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
        Unwritable::new(trouble::message(&path.to_string_lossy(), error))
    }
}

/// A file that is opened to be written.
#[derive(Debug)]
pub enum Target {
    /// What is no regular file.
    Direct(File),
    Whole(Whole),
}

/// A file for rows.
#[derive(Debug)]
pub enum Rows {
    Direct(File),
    Growing(Growing),
}

/// Whether something may be written to a path: not over what was read, and under a name that fits.
pub fn allowed(path: &Path, kind: Kind, inputs: &Inputs) -> Result<(), Unwritable> {
    if inputs.hold(path) {
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

/// Opens a file; what stands there stays until [`Target::commit`].
pub fn open(path: &Path, kind: Kind, inputs: &Inputs) -> Result<Target, Unwritable> {
    allowed(path, kind, inputs)?;
    let opened = match is_regular(path) {
        Err(error) => Err(error),
        Ok(false) => direct(path).map(Target::Direct),
        Ok(true) => whole::through_links(path)
            .and_then(|path| Whole::open(&path))
            .map(Target::Whole),
    };
    opened.map_err(|error| Unwritable::by_system(path, &error))
}

/// Opens a file for rows that come one by one; notes tell what others have left.
pub fn open_rows(path: &Path, inputs: &Inputs) -> Result<(Rows, Vec<String>), Unwritable> {
    allowed(path, Kind::Rows, inputs)?;
    let opened = match is_regular(path) {
        Err(error) => Err(error),
        Ok(false) => direct(path).map(|file| (Rows::Direct(file), Vec::new())),
        Ok(true) => whole::through_links(path)
            .and_then(|path| Growing::open(&path))
            .map(|(growing, notes)| (Rows::Growing(growing), notes)),
    };
    opened.map_err(|error| Unwritable::by_system(path, &error))
}

impl Target {
    /// Writes all of it, and gives it its name.
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
            Target::Whole(whole) => {
                let mut out = io::BufWriter::new(&whole.file);
                write(&mut out).and_then(|()| out.flush())
            }
        };
        let done = written.and_then(|()| match self {
            Target::Direct(_) => Ok(()),
            Target::Whole(whole) => whole.commit(),
        });
        match done {
            // A reader that went away is no error.
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
            Rows::Growing(growing) => growing.file(),
        }
    }

    /// What stands there now are no rows.
    pub fn begin_here(&mut self) {
        if let Rows::Growing(growing) = self {
            growing.begins_here();
        }
    }

    /// All rows are there.
    pub fn commit(self, path: &Path) -> Result<(), Unwritable> {
        match self {
            Rows::Direct(_) => Ok(()),
            Rows::Growing(growing) => growing
                .commit()
                .map_err(|error| Unwritable::by_system(path, &error)),
        }
    }
}

/// Writes a whole file at once.
pub fn write(path: &Path, kind: Kind, inputs: &Inputs, bytes: &[u8]) -> Result<(), Unwritable> {
    open(path, kind, inputs)?.commit(path, |out| out.write_all(bytes))
}

/// Writes behind what is there; a file is whole at any moment all the same.
pub fn append(path: &Path, kind: Kind, inputs: &Inputs, bytes: &[u8]) -> Result<(), Unwritable> {
    let target = open(path, kind, inputs)?;
    let there = match &target {
        Target::Direct(_) => Vec::new(),
        Target::Whole(_) => match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|error| Unwritable::by_system(path, &error))?,
        },
    };
    target.commit(path, |out| {
        out.write_all(&there)?;
        out.write_all(bytes)
    })
}

/// Whether a path is, or will be, a regular file. A folder cannot be written.
fn is_regular(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        // What stands behind an open file of this program is not ours to replace: `/dev/stdout`.
        Ok(found) => Ok(found.is_file() && !is_of_the_system(path)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Names for what is open already.
fn is_of_the_system(path: &Path) -> bool {
    let mut parts = path.components();
    let is_root = parts.next() == Some(Component::RootDir);
    let (first, second) = (parts.next(), parts.next());
    let is =
        |part: Option<Component<'_>>, name: &str| part.is_some_and(|part| part.as_os_str() == name);
    let device = is(first, "dev") && !is(second, "shm");
    is_root && (device || is(first, "proc"))
}

/// Opens what is no regular file. A pipe is waited for until somebody reads it.
fn direct(path: &Path) -> io::Result<File> {
    waiting(|| OpenOptions::new().append(true).open(path))
}

/// May wait for a reader.
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
