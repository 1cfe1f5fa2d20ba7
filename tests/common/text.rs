//! Compiling a text without any files.

use bgm::compile::{Compiled, Options, compile};
use bgm::diagnostics::render::render;
use bgm::load::{Input, NoFiles};

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
