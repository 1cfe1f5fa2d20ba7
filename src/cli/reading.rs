//! Reads regular files up to a size, and with `--untrusted` only from some folders.
//!
//! A pipe can block forever, a device can deliver bytes without end, and a link can lead anywhere. So the path is
//! examined before the file is opened, and the open file is examined again, because another file may have taken its
//! place in between.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::syntax::load::bounds::Refusal;

/// The folders that may be read, and single files that the command line names.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    /// The folders as given, for messages.
    shown: Vec<PathBuf>,
    /// The folders without `.` and `..`; links are not resolved.
    plain: Vec<PathBuf>,
    /// The folders with links resolved.
    real: Vec<PathBuf>,
    /// Single files, with links resolved.
    files: Vec<PathBuf>,
}

impl Sandbox {
    /// Allows files in these folders, at any depth.
    pub fn of_folders<'p>(folders: impl IntoIterator<Item = &'p Path>) -> Sandbox {
        let mut sandbox = Sandbox::default();
        for folder in folders {
            if !sandbox.shown.iter().any(|known| known == folder) {
                sandbox.shown.push(folder.to_path_buf());
                sandbox.plain.extend(normalized(folder));
                sandbox.real.extend(non_empty(folder).canonicalize());
            }
        }
        sandbox
    }

    /// Allows one further file, unless it is a link that leads to another folder.
    pub fn with_file(mut self, file: &Path) -> Sandbox {
        let folder = non_empty(file.parent().unwrap_or(Path::new(""))).canonicalize();
        if let (Ok(folder), Ok(file)) = (folder, file.canonicalize())
            && file.starts_with(folder)
        {
            self.files.push(file);
        }
        self
    }

    fn refused(&self) -> io::Error {
        Refusal::Outside(self.shown.clone()).into()
    }

    fn contains(&self, real: &Path) -> bool {
        self.real.iter().any(|folder| real.starts_with(folder))
            || self.files.iter().any(|file| file == real)
    }

    /// Returns the path with links resolved. A path outside is refused in the same way whether it exists or not.
    pub fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let is_named = |path: &Path| {
            path.canonicalize()
                .is_ok_and(|real| self.files.contains(&real))
        };
        let inside = normalized(path).is_some_and(|path| {
            let mut folders = self.plain.iter().chain(&self.real);
            folders.any(|folder| path.starts_with(folder))
        });
        if !inside && !is_named(path) {
            return Err(self.refused());
        }
        match path.canonicalize() {
            Ok(real) if self.contains(&real) => Ok(real),
            Ok(_) => Err(self.refused()),
            Err(error) => match self.contains(&resolve_existing_part(path)) {
                true => Err(error),
                false => Err(self.refused()),
            },
        }
    }
}

/// Replaces an empty path by `.`.
fn non_empty(folder: &Path) -> &Path {
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

/// Returns an absolute path without `.` and `..`, from its text alone; `None` if there is no current folder.
fn normalized(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in std::path::absolute(non_empty(path)).ok()?.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    Some(plain)
}

/// Returns the longest existing part of a path, with links resolved. A dangling link counts as the root folder, so
/// that it is refused.
fn resolve_existing_part(path: &Path) -> PathBuf {
    for part in path.ancestors() {
        let part = non_empty(part);
        if let Ok(real) = part.canonicalize() {
            return real;
        }
        if fs::symlink_metadata(part).is_ok_and(|found| found.is_symlink()) {
            break;
        }
    }
    PathBuf::from("/")
}

/// Reads a regular file of at most `limit` bytes, inside the sandbox if there is one.
pub fn read(path: &Path, limit: u64, sandbox: Option<&Sandbox>) -> io::Result<Vec<u8>> {
    let real = sandbox.map(|sandbox| sandbox.resolve(path)).transpose()?;
    let path = real.as_deref().unwrap_or(path);
    check_regular(&fs::metadata(path)?)?;
    let file = open(path)?;
    let found = file.metadata()?;
    check_regular(&found)?;
    if let Some(sandbox) = sandbox {
        // A folder of the path may have been replaced by a link in the meantime.
        let again = sandbox.resolve(path)?;
        if !is_same(&fs::metadata(again)?, &found) {
            return Err(sandbox.refused());
        }
    }
    if found.len() > limit {
        return Err(Refusal::TooLarge(limit).into());
    }
    // System files report the size 0, and other files can grow while they are read.
    read_limited(file, limit)
}

/// Reads all bytes, but at most `limit + 1`, which shows that there are too many.
pub fn read_up_to(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads all bytes; an error if there are more than `limit`.
fn read_limited(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let bytes = read_up_to(from, limit)?;
    match bytes.len() as u64 > limit {
        true => Err(Refusal::TooLarge(limit).into()),
        false => Ok(bytes),
    }
}

/// Opens a file without waiting for the other end of a pipe, and without making a terminal the controlling one.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

fn check_regular(found: &Metadata) -> io::Result<()> {
    match found {
        _ if found.is_file() => Ok(()),
        _ if found.is_dir() => Err(folder()),
        _ => Err(Refusal::NotRegular(kind(found)).into()),
    }
}

/// The error of the system for reading a folder.
fn folder() -> io::Error {
    #[cfg(unix)]
    return io::Error::from_raw_os_error(libc::EISDIR);
    #[cfg(not(unix))]
    return io::ErrorKind::IsADirectory.into();
}

#[cfg(unix)]
fn kind(found: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match found.file_type() {
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_char_device() || kind.is_block_device() => "a device",
        _ => "something else",
    }
}

#[cfg(not(unix))]
fn kind(_: &Metadata) -> &'static str {
    "something else"
}

/// Returns true if both are the same file. On systems without file identity the caller compares paths.
#[cfg(unix)]
pub fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
pub fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}
