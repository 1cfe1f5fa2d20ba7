//! Files that are not what anybody asked for, and are gone when the program ends, however it ends.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All that are there: a program that is ended at once has no time to leave its functions one by one.
static THERE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn there() -> MutexGuard<'static, Vec<PathBuf>> {
    THERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file or folder that is gone when it is no longer needed.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// A file beside another, under a name that nobody can foresee.
    pub fn beside(target: &Path, private: bool) -> io::Result<(Temporary, File)> {
        let folder = super::whole::folder(target);
        Temporary::new(|| folder.join(name(target)), |path| open_new(path, private))
    }

    /// A folder for files that only a program needs.
    pub fn folder() -> io::Result<Temporary> {
        let name = || std::env::temp_dir().join(format!("bgm-{:016x}", number()));
        Temporary::new(name, |path| fs::create_dir(path)).map(|(folder, ())| folder)
    }

    fn new<T>(
        name: impl Fn() -> PathBuf,
        make: impl Fn(&Path) -> io::Result<T>,
    ) -> io::Result<(Temporary, T)> {
        /// Names of 64 bits meet never; somebody may have foreseen one all the same.
        const TRIES: usize = 100;
        let mut tries = 0;
        loop {
            let path = name();
            // Known before it is there: a signal may come in between.
            let temporary = Temporary(path.clone());
            there().push(path.clone());
            match make(&path) {
                Ok(made) => return Ok((temporary, made)),
                Err(error) => {
                    // What stands there is not ours.
                    temporary.keep();
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

    /// It is what was asked for, now, or has another name.
    pub fn keep(self) {
        there().retain(|path| *path != self.0);
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut there = there();
        let count = there.len();
        there.retain(|path| *path != self.0);
        if there.len() < count {
            remove(&self.0);
        }
    }
}

/// What cannot be removed is left to the system.
fn remove(path: &Path) {
    let _ = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
}

/// Removes all: the program ends.
pub fn remove_all() {
    for path in std::mem::take(&mut *there()) {
        remove(&path);
    }
}

/// Another number each time, also in another process.
fn number() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// `.r.csv.0123456789abcdef.tmp`: hidden, and it says what it belongs to.
fn name(target: &Path) -> OsString {
    /// Names have at most 255 bytes nearly everywhere.
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
