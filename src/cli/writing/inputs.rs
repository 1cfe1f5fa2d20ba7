//! The files that a command has read. None of them is ever overwritten, under any name or link.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// Files that were read.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    known: Vec<Input>,
}

#[derive(Clone, Debug)]
struct Input {
    /// The path with links resolved, if possible.
    real: PathBuf,
    id: Option<Id>,
}

/// Device and inode, which identify a file under any name.
type Id = (u64, u64);

impl Inputs {
    /// Adds a file that was read.
    pub fn add(&mut self, path: &Path) {
        let found = fs::metadata(path).ok();
        let input = Input {
            real: path.canonicalize().unwrap_or_else(|_| path.to_path_buf()),
            id: found.as_ref().and_then(id),
        };
        let same = |known: &Input| known.real == input.real && known.id == input.id;
        if !self.known.iter().any(same) {
            self.known.push(input);
        }
    }

    /// Adds standard input, if it is a file.
    #[cfg(unix)]
    pub fn add_standard(&mut self) {
        use std::os::fd::AsFd;
        let input = std::io::stdin().as_fd().try_clone_to_owned();
        let found = input.and_then(|input| fs::File::from(input).metadata());
        if let Ok(found) = found
            && found.is_file()
        {
            self.known.push(Input {
                real: PathBuf::new(),
                id: id(&found),
            });
        }
    }

    /// Other systems do not provide the identity of standard input.
    #[cfg(not(unix))]
    pub fn add_standard(&mut self) {}

    /// Returns true if a path leads to one of these files.
    pub fn contains(&self, path: &Path) -> bool {
        let Ok(found) = fs::metadata(path) else {
            return false;
        };
        let (id, real) = (id(&found), path.canonicalize());
        self.known.iter().any(|known| {
            let same_file = id.is_some() && known.id == id;
            same_file || real.as_ref().is_ok_and(|real| *real == known.real)
        })
    }
}

/// Returns true if two paths lead to the same file, or will when it is created.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let of = |path: &Path| fs::metadata(path).ok();
    if let (Some(one), Some(other)) = (of(one), of(other))
        && let (Some(one), Some(other)) = (id(&one), id(&other))
        && one == other
    {
        return true;
    }
    match (resolved(one), resolved(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// Returns the path of an existing or future file, with links resolved.
fn resolved(path: &Path) -> Option<PathBuf> {
    let path = super::atomic_file::through_links(path).ok()?;
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let folder = super::atomic_file::folder(&path).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}

#[cfg(unix)]
fn id(found: &Metadata) -> Option<Id> {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

/// Without file identity, paths are compared.
#[cfg(not(unix))]
fn id(_: &Metadata) -> Option<Id> {
    None
}
