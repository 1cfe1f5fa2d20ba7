//! A file that is whole at any moment: what was there before, until all of the new one is on the disk.
//!
//! The new text goes to a [`Temporary`] beside the target, which then takes its name. What the target links to is
//! what is replaced, and the link stays. The new file has the permissions of the old one, which has to be one that may be written.

use super::temporary::Temporary;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A file that is being written.
#[derive(Debug)]
pub struct Whole {
    pub file: File,
    temporary: Temporary,
    target: PathBuf,
}

impl Whole {
    /// `target` is a regular file or not there yet, and no link.
    pub fn open(target: &Path) -> io::Result<Whole> {
        let old = may_replace(target)?;
        let (temporary, file) = Temporary::beside(target, old.is_some())?;
        if let Some(old) = &old {
            take_after(&file, old)?;
        }
        Ok(Whole {
            file,
            temporary,
            target: target.to_path_buf(),
        })
    }

    /// The new file takes the place of the old one.
    pub fn commit(self) -> io::Result<()> {
        sync(&self.file)?;
        drop(self.file);
        rename(self.temporary.path(), &self.target)?;
        self.temporary.keep();
        Ok(())
    }
}

/// The bytes are on the disk, where the system can say so.
pub fn sync(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::Unsupported | ErrorKind::InvalidInput
            ) =>
        {
            Ok(())
        }
        done => done,
    }
}

/// Gives a file its name; what had it is gone.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    // The name is on the disk, too, where folders can be asked for that.
    if let Ok(folder) = File::open(folder(to)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// The old file, if there is one: it may be written, so that it may be replaced.
pub fn may_replace(target: &Path) -> io::Result<Option<Metadata>> {
    if target.as_os_str().is_empty() {
        return Err(ErrorKind::NotFound.into());
    }
    match OpenOptions::new().write(true).open(target) {
        Ok(file) => file.metadata().map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives a new file the permissions of an old one, and its owner where that is allowed.
pub fn take_after(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            let _ = fchown(file, Some(old.uid()), Some(old.gid()));
        }
    }
    file.set_permissions(old.permissions())
}

/// The folder of a file; the current one has a name.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Where a path leads: its links followed, also to what is not there yet.
pub fn through_links(path: &Path) -> io::Result<PathBuf> {
    /// As many as systems follow.
    const MOST: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST {
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                let to = fs::read_link(&path)?;
                path = folder(&path).join(to);
            }
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many links lead to each other"))
}
