//! Compiling a text without any files.

use bgm::base::diagnostics::render::render;
use bgm::compile::{LoadedFlat, Options, check, load_flat};
use bgm::flat::Flat;
use bgm::syntax::load::{Input, NoFiles};

/// As the listing commands do: the last model of the text.
pub fn compile_text(text: &str) -> LoadedFlat {
    let input = Input::Standard(text.as_bytes().to_vec());
    load_flat(&input, &Options::default(), &NoFiles)
}

/// The flat model of a text that has no errors.
pub fn flat(text: &str) -> Flat {
    let compiled = compile_text(text);
    match compiled.flat {
        Some(flat) if !compiled.diagnostics.has_errors() => flat,
        _ => {
            let said = all_diagnostics(&compiled);
            panic!("{text}\n{said}");
        }
    }
}

/// As `bgm check` does: every model of the text, and its balance. The last one is kept.
pub fn check_text(text: &str) -> LoadedFlat {
    let input = Input::Standard(text.as_bytes().to_vec());
    let mut flat = None;
    let (sources, diagnostics) = check(&input, &Options::default(), &NoFiles, |model| {
        flat = Some(model);
    });
    LoadedFlat {
        sources,
        flat,
        diagnostics,
    }
}

/// All that was said, as the terminal shows it.
pub fn all_diagnostics(compiled: &LoadedFlat) -> String {
    let mut said = String::new();
    for diagnostic in compiled.diagnostics.iter() {
        render(&compiled.sources, diagnostic, false, &mut said);
    }
    said
}
