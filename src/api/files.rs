//! A cache of files, so that a model that is compiled again for another run does not change.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::syntax::load::Files;
use crate::syntax::load::bounds::Bounds;

pub(super) struct CachedFiles {
    inner: Box<dyn Files>,
    known: RefCell<HashMap<PathBuf, Vec<u8>>>,
}

impl CachedFiles {
    pub(super) fn new(inner: Box<dyn Files>) -> CachedFiles {
        CachedFiles {
            inner,
            known: RefCell::default(),
        }
    }
}

impl fmt::Debug for CachedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedFiles").finish_non_exhaustive()
    }
}

impl Files for CachedFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if let Some(bytes) = self.known.borrow().get(path) {
            return Ok(bytes.clone());
        }
        let bytes = self.inner.read(path)?;
        (self.known.borrow_mut()).insert(path.to_path_buf(), bytes.clone());
        Ok(bytes)
    }

    fn identity(&self, path: &Path) -> PathBuf {
        self.inner.identity(path)
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        self.inner.list(folder)
    }

    fn bounds(&self) -> Bounds {
        self.inner.bounds()
    }
}
