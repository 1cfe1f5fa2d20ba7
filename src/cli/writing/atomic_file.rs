//! A file that is complete at any moment: it has the old content until the whole new content is on the disk.
//!
//! The new text is written to a [`Temporary`] beside the target, which is then renamed. If the target is a link, the
//! file that it leads to is replaced, and the link stays. The new file has the permissions of the old one, which must
//! be writable.

use super::temporary::Temporary;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A file that is being written.
#[derive(Debug)]
pub struct AtomicFile {
    pub file: File,
    temporary: Temporary,
    target: PathBuf,
}

impl AtomicFile {
    /// `target` is a regular file or does not exist, and is no link.
    pub fn open(target: &Path) -> io::Result<AtomicFile> {
        let old = check_replaceable(target)?;
        let (temporary, file) = Temporary::beside(target, old.is_some())?;
        if let Some(old) = &old {
            copy_permissions(&file, old)?;
        }
        Ok(AtomicFile {
            file,
            temporary,
            target: target.to_path_buf(),
        })
    }

    /// Replaces the old file by the new one.
    pub fn commit(self) -> io::Result<()> {
        sync(&self.file)?;
        drop(self.file);
        rename(self.temporary.path(), &self.target)?;
        self.temporary.persist();
        Ok(())
    }
}

/// Waits until the bytes are on the disk, if the system supports this.
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

/// Renames a file; an existing file of the new name is replaced.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    // The folder is synchronized as well, where the system supports this.
    if let Ok(folder) = File::open(folder(to)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Returns the metadata of the old file, if it exists. A file that may not be written may not be replaced.
pub fn check_replaceable(target: &Path) -> io::Result<Option<Metadata>> {
    if target.as_os_str().is_empty() {
        return Err(ErrorKind::NotFound.into());
    }
    match OpenOptions::new().write(true).open(target) {
        Ok(file) => file.metadata().map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Copies the permissions of the old file to the new one, and its owner if that is allowed.
pub fn copy_permissions(file: &File, old: &Metadata) -> io::Result<()> {
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

/// Returns the folder of a file; the current folder is `.`.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Follows the links of a path, also to a file that does not exist.
pub fn through_links(path: &Path) -> io::Result<PathBuf> {
    /// The limit that most systems have.
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
