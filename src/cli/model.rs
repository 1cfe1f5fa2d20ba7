//! Loading models from files, for programs that use the library.

use std::path::Path;

use super::io::Disk;
use crate::api::{Error, Loader, Model};

impl Loader {
    /// Compiles a file and its includes.
    pub fn file(self, path: impl AsRef<Path>) -> Result<Model, Error> {
        self.through(path.as_ref(), Box::new(Disk::anywhere()))
    }
}

impl Model {
    /// Compiles a file: its last model, without an experiment.
    ///
    /// ```
    /// let model = bgm::Model::load("examples/rlc.bgm")?;
    /// assert_eq!(model.name(), "RLC");
    /// # Ok::<(), bgm::Error>(())
    /// ```
    pub fn load(path: impl AsRef<Path>) -> Result<Model, Error> {
        Loader::new().file(path)
    }
}
