//! Temporary files and folders, which are removed when the program ends in any way.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All existing temporary files, for a program that is ended at once and runs no destructors.
static EXISTING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn existing() -> MutexGuard<'static, Vec<PathBuf>> {
    EXISTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file or folder that is removed when it is dropped.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Creates a file beside another one, under an unpredictable name.
    pub fn beside(target: &Path, private: bool) -> io::Result<(Temporary, File)> {
        let folder = super::atomic_file::folder(target);
        Temporary::new(|| folder.join(name(target)), |path| open_new(path, private))
    }

    /// Creates a folder for intermediate files.
    pub fn folder() -> io::Result<Temporary> {
        let name = || std::env::temp_dir().join(format!("bgm-{:016x}", number()));
        Temporary::new(name, |path| fs::create_dir(path)).map(|(folder, ())| folder)
    }

    fn new<T>(
        name: impl Fn() -> PathBuf,
        make: impl Fn(&Path) -> io::Result<T>,
    ) -> io::Result<(Temporary, T)> {
        /// Two random names of 64 bits do not collide by chance, but an attacker may have created one.
        const TRIES: usize = 100;
        let mut tries = 0;
        loop {
            let path = name();
            // The path is registered before the file is created, because a signal may come in between.
            let temporary = Temporary(path.clone());
            existing().push(path.clone());
            match make(&path) {
                Ok(made) => return Ok((temporary, made)),
                Err(error) => {
                    // The existing file belongs to someone else and is not removed.
                    temporary.persist();
                    tries += 1;
                    if error.kind() != ErrorKind::AlreadyExists || tries == TRIES {
                        return Err(error);
                    }
                }
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Keeps the file: it is the requested result now, or has been renamed.
    pub fn persist(self) {
        existing().retain(|path| *path != self.0);
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut paths = existing();
        let count = paths.len();
        paths.retain(|path| *path != self.0);
        if paths.len() < count {
            remove(&self.0);
        }
    }
}

/// Removes a file or folder; errors are ignored.
fn remove(path: &Path) {
    let _ = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
}

/// Removes all temporary files when the program is ended.
pub fn remove_all() {
    for path in std::mem::take(&mut *existing()) {
        remove(&path);
    }
}

/// Returns a random number that also differs between processes.
fn number() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Returns a hidden name that contains the name of the target: `.r.csv.0123456789abcdef.tmp`.
fn name(target: &Path) -> OsString {
    /// File names have at most 255 bytes on most systems.
    const LONGEST: usize = 200;
    let mut name = OsString::from(".");
    match target.file_name() {
        Some(own) if own.len() <= LONGEST => name.push(own),
        _ => name.push("bgm"),
    }
    name.push(format!(".{:016x}.tmp", number()));
    name
}

#[cfg(unix)]
fn open_new(path: &Path, private: bool) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if private {
        options.mode(0o600);
    }
    options.open(path)
}

#[cfg(not(unix))]
fn open_new(path: &Path, _: bool) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}
