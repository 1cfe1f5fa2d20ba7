//! A file that grows while a long run goes on: `r.csv.part`, until it is complete and becomes `r.csv`.
//!
//! So `r.csv` is whole at any moment, the rows of a run that fails, is interrupted or killed are there to be looked at,
//! and nobody takes them for all of them. A run that grows one holds a lock on it: another run at the same time takes the name `r.csv.2.part`, and
//! what a killed run has left is told from what still grows.

use super::whole::{may_replace, rename, sync, take_after};
use crate::base::diagnostics::visible::visible;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What grows now: a program that is ended at once tells of it.
static GROW: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file that grows. Dropped before it is complete it stays as far as it came, and that is told.
#[derive(Debug)]
pub struct Growing {
    file: File,
    part: PathBuf,
    target: PathBuf,
    /// Bytes without any row: less is not worth keeping.
    head: u64,
    complete: bool,
}

impl Growing {
    /// Begins beside `target`, which is a regular file or not there yet, and no link. The notes are what others have left.
    pub fn open(target: &Path) -> io::Result<(Growing, Vec<String>)> {
        let old = may_replace(target)?;
        let mut notes = Vec::new();
        let (part, file) = first_free(target, &mut notes)?;
        let growing = Growing {
            file,
            part,
            target: target.to_path_buf(),
            head: 0,
            complete: false,
        };
        // Where files cannot be locked, what is left is not told from what grows.
        let _ = growing.file.try_lock();
        let mut all = GROW.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(growing.part.clone());
        drop(all);
        if let Some(old) = &old {
            take_after(&growing.file, old)?;
        }
        Ok((growing, notes))
    }

    /// Another handle on the file.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// What stands there now are no rows.
    pub fn begins_here(&mut self) {
        self.head = self.file.metadata().map_or(0, |found| found.len());
    }

    /// It is complete, and takes its name.
    pub fn commit(mut self) -> io::Result<()> {
        sync(&self.file)?;
        rename(&self.part, &self.target)?;
        self.complete = true;
        Ok(())
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        let mut all = GROW.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|part| *part != self.part);
        drop(all);
        if self.complete {
            return;
        }
        let length = self.file.metadata().map_or(0, |found| found.len());
        if length <= self.head {
            let _ = fs::remove_file(&self.part);
            return;
        }
        let target = self.target.display();
        tell(&match self.target.exists() {
            true => format!(
                "note: what was computed is in `{}`; `{target}` is as it was\n",
                self.part.display()
            ),
            false => format!(
                "note: what was computed is in `{}`; it would be `{target}` if the run were complete\n",
                self.part.display()
            ),
        });
    }
}

/// Tells where the rows are: the program ends.
pub fn tell_all() {
    for part in GROW.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let part = part.display();
        tell(&format!("note: what was computed is in `{part}`\n"));
    }
}

fn tell(text: &str) {
    // There is no one left to tell if this fails.
    let _ = io::stderr().lock().write_all(visible(text).as_bytes());
}

/// The first of `r.csv.part`, `r.csv.2.part`, ... that is not there yet.
fn first_free(target: &Path, notes: &mut Vec<String>) -> io::Result<(PathBuf, File)> {
    /// Who has so many left has to clean up.
    const MOST: usize = 1000;
    for at in 1..=MOST {
        let mut name = target.as_os_str().to_os_string();
        name.push(match at {
            1 => ".part".to_string(),
            _ => format!(".{at}.part"),
        });
        let path = PathBuf::from(name);
        let mut options = OpenOptions::new();
        match options.read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if is_left(&path) {
                    let (path, target) = (path.display(), target.display());
                    notes.push(format!(
                        "`{path}` is what a run into `{target}` that did not end has left"
                    ));
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!(
        "{MOST} runs that did not end have left files beside it; remove them"
    )))
}

/// Whether no run holds it.
fn is_left(path: &Path) -> bool {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    let opened = is_file.then(|| File::open(path).ok()).flatten();
    opened.is_some_and(|file| !matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}
