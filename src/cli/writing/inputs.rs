//! The files that a command has read: none of them is ever written over, by whatever name or link.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// Files that were read.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    known: Vec<Input>,
}

#[derive(Clone, Debug)]
struct Input {
    /// Without links, where that can be known.
    real: PathBuf,
    id: Option<Id>,
}

/// What tells a file from all others, whatever its names.
type Id = (u64, u64);

impl Inputs {
    /// Remembers a file that was read.
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

    /// Remembers what standard input is, if it is a file.
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

    /// Other systems do not tell.
    #[cfg(not(unix))]
    pub fn add_standard(&mut self) {}

    /// Whether a path leads to one of them.
    pub fn hold(&self, path: &Path) -> bool {
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

/// Whether two paths lead to one file, or will once it is there.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let of = |path: &Path| fs::metadata(path).ok();
    if let (Some(one), Some(other)) = (of(one), of(other))
        && let (Some(one), Some(other)) = (id(&one), id(&other))
        && one == other
    {
        return true;
    }
    match (place(one), place(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// Where a file is or will be, without links.
fn place(path: &Path) -> Option<PathBuf> {
    let path = super::whole::through_links(path).ok()?;
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let folder = super::whole::folder(&path).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}

#[cfg(unix)]
fn id(found: &Metadata) -> Option<Id> {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

/// A path has to do.
#[cfg(not(unix))]
fn id(_: &Metadata) -> Option<Id> {
    None
}
