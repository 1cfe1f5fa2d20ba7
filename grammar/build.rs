//! Generates the parser from `bgm.lalrpop` into the build's output folder.

fn main() {
    println!("cargo:rerun-if-changed=grammar/bgm.lalrpop");
    if let Err(error) = lalrpop::Configuration::new()
        .set_in_dir("grammar")
        .process()
    {
        eprintln!("grammar/bgm.lalrpop: {error}");
        std::process::exit(1);
    }
}
