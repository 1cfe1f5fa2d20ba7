//! A file that grows during a long run: `r.csv.part`, which is renamed to `r.csv` when it is complete.
//!
//! So `r.csv` is complete at any moment. The rows of a run that fails, is interrupted or killed can be inspected, and
//! cannot be mistaken for a complete result. The run holds a lock on the partial file. Another run at the same time
//! uses the name `r.csv.2.part`, and a partial file of a killed run can be recognized because nothing locks it.

use super::atomic_file::{check_replaceable, copy_permissions, rename, sync};
use crate::base::diagnostics::visible::visible;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The partial files that are open. A program that is ended at once reports them.
static OPEN_PARTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A partial file. If it is dropped before [`PartialFile::commit`], it stays, and a note reports it.
#[derive(Debug)]
pub struct PartialFile {
    file: File,
    part: PathBuf,
    target: PathBuf,
    /// Length of the header. A file that is not longer is removed.
    head: u64,
    complete: bool,
}

impl PartialFile {
    /// Creates the partial file beside `target`, which is a regular file or does not exist, and is no link. The notes
    /// name files that other runs have left.
    pub fn open(target: &Path) -> io::Result<(PartialFile, Vec<String>)> {
        let old = check_replaceable(target)?;
        let mut notes = Vec::new();
        let (part, file) = first_free(target, &mut notes)?;
        let partial = PartialFile {
            file,
            part,
            target: target.to_path_buf(),
            head: 0,
            complete: false,
        };
        // If the file system has no locks, abandoned files cannot be recognized.
        let _ = partial.file.try_lock();
        let mut all = OPEN_PARTS.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(partial.part.clone());
        drop(all);
        if let Some(old) = &old {
            copy_permissions(&partial.file, old)?;
        }
        Ok((partial, notes))
    }

    /// Another handle on the file.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Marks the end of the header.
    pub fn end_header(&mut self) {
        self.head = self.file.metadata().map_or(0, |found| found.len());
    }

    /// Renames the complete file to its final name.
    pub fn commit(mut self) -> io::Result<()> {
        sync(&self.file)?;
        rename(&self.part, &self.target)?;
        self.complete = true;
        Ok(())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        let mut all = OPEN_PARTS.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Reports all open partial files when the program is ended.
pub fn report_all() {
    for part in OPEN_PARTS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
    {
        let part = part.display();
        tell(&format!("note: what was computed is in `{part}`\n"));
    }
}

fn tell(text: &str) {
    super::to_standard_error(&visible(text));
}

/// Creates the first of `r.csv.part`, `r.csv.2.part`, ... that does not exist yet.
fn first_free(target: &Path, notes: &mut Vec<String>) -> io::Result<(PathBuf, File)> {
    /// With more files than this, the user has to clean up.
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
                if is_abandoned(&path) {
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

/// Returns true if no run holds a lock on the file.
fn is_abandoned(path: &Path) -> bool {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    let opened = is_file.then(|| File::open(path).ok()).flatten();
    opened.is_some_and(|file| !matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}
