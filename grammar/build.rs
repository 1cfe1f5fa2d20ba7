//! Generates the parser from `bgm.lalrpop` into the build's output folder.

fn main() -> Result<(), String> {
    let mut configuration = lalrpop::Configuration::new();
    configuration
        .set_in_dir("grammar")
        .emit_rerun_directives(true);
    configuration
        .process()
        .map_err(|error| format!("grammar/bgm.lalrpop: {error}"))
}
