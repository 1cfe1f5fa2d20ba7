//! Compiling a text without any files.

use std::io;
use std::path::{Path, PathBuf};

use bgm::compile::{Compiled, Options, compile};
use bgm::diagnostics::render::render;
use bgm::load::{Files, Input};

/// No files but the embedded library.
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn identity(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }

    fn list(&self, _: &Path) -> Vec<String> {
        Vec::new()
    }
}

pub fn compile_text(text: &str) -> Compiled {
    let input = Input::Standard(text.as_bytes().to_vec());
    compile(&input, &Options::default(), &NoFiles)
}

/// All that was said, as the terminal shows it.
pub fn all_diagnostics(compiled: &Compiled) -> String {
    let mut said = String::new();
    for diagnostic in compiled.diagnostics.iter() {
        render(&compiled.sources, diagnostic, false, &mut said);
    }
    said
}
