//! Reading files: regular ones only, up to a size, and with `--untrusted` only in some folders.
//!
//! A pipe would be waited for without end, a device can give bytes without end, and a link can lead anywhere. A path is
//! therefore looked at before the file is opened, and the open file once more: another file may have come in between.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::syntax::load::bounds::Refusal;

/// The folders that may be read, and files that the command line itself names.
#[derive(Clone, Debug, Default)]
pub struct Fence {
    /// As they were given, for messages.
    shown: Vec<PathBuf>,
    /// Without `.` and `..`, links as they are.
    plain: Vec<PathBuf>,
    /// Where they really are.
    real: Vec<PathBuf>,
    /// Single files, where they really are.
    files: Vec<PathBuf>,
}

impl Fence {
    /// Files may lie in the folders, at any depth.
    pub fn around<'p>(folders: impl IntoIterator<Item = &'p Path>) -> Fence {
        let mut fence = Fence::default();
        for folder in folders {
            if !fence.shown.iter().any(|known| known == folder) {
                fence.shown.push(folder.to_path_buf());
                fence.plain.extend(plain(folder));
                fence.real.extend(here(folder).canonicalize());
            }
        }
        fence
    }

    /// One file more, which lies where its name says: not a link that leads elsewhere.
    pub fn with_file(mut self, file: &Path) -> Fence {
        let folder = here(file.parent().unwrap_or(Path::new(""))).canonicalize();
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

    fn holds(&self, real: &Path) -> bool {
        self.real.iter().any(|folder| real.starts_with(folder))
            || self.files.iter().any(|file| file == real)
    }

    /// Where a path inside really is. What lies outside is refused the same way whether it exists or not.
    pub fn real(&self, path: &Path) -> io::Result<PathBuf> {
        let is_named = |path: &Path| {
            path.canonicalize()
                .is_ok_and(|real| self.files.contains(&real))
        };
        let inside = plain(path).is_some_and(|path| {
            let mut folders = self.plain.iter().chain(&self.real);
            folders.any(|folder| path.starts_with(folder))
        });
        if !inside && !is_named(path) {
            return Err(self.refused());
        }
        match path.canonicalize() {
            Ok(real) if self.holds(&real) => Ok(real),
            Ok(_) => Err(self.refused()),
            Err(error) => match self.holds(&nearest_real(path)) {
                true => Err(error),
                false => Err(self.refused()),
            },
        }
    }
}

/// The current folder has a name.
fn here(folder: &Path) -> &Path {
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

/// An absolute path without `.` and `..`, by its text alone; none where there is no current folder.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in std::path::absolute(here(path)).ok()?.components() {
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

/// Where the last part of a path that exists really is. A link that leads to nothing is taken for the whole machine.
fn nearest_real(path: &Path) -> PathBuf {
    for part in path.ancestors() {
        let part = here(part);
        if let Ok(real) = part.canonicalize() {
            return real;
        }
        if fs::symlink_metadata(part).is_ok_and(|found| found.is_symlink()) {
            break;
        }
    }
    PathBuf::from("/")
}

/// The bytes of a regular file of at most `limit` bytes, inside the fence if there is one.
pub fn read(path: &Path, limit: u64, fence: Option<&Fence>) -> io::Result<Vec<u8>> {
    let real = fence.map(|fence| fence.real(path)).transpose()?;
    let path = real.as_deref().unwrap_or(path);
    regular(&fs::metadata(path)?)?;
    let file = open(path)?;
    let found = file.metadata()?;
    regular(&found)?;
    if let Some(fence) = fence {
        // A folder on the way may have become a link since.
        let again = fence.real(path)?;
        if !is_same(&fs::metadata(again)?, &found) {
            return Err(fence.refused());
        }
    }
    if found.len() > limit {
        return Err(Refusal::TooLarge(limit).into());
    }
    // Files of the system have no size, others grow while they are read.
    all(file, limit)
}

/// All bytes, or one more than `limit`, which is too many.
pub fn some(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// All bytes, if there are no more than `limit`.
fn all(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let bytes = some(from, limit)?;
    match bytes.len() as u64 > limit {
        true => Err(Refusal::TooLarge(limit).into()),
        false => Ok(bytes),
    }
}

/// Does not wait for the other end of a pipe, and makes no terminal that of the program.
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

fn regular(found: &Metadata) -> io::Result<()> {
    match found {
        _ if found.is_file() => Ok(()),
        _ if found.is_dir() => Err(folder()),
        _ => Err(Refusal::NotRegular(kind(found)).into()),
    }
}

/// What the system says where a folder is read.
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

/// Whether both are one file; where that cannot be known, its path has to do.
#[cfg(unix)]
pub fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
pub fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}
