//! A panic is told in plain words, with code 101, and leaves no half-written file. Debug builds can be made to panic: CONTRIBUTING.md.
#![cfg(debug_assertions)]

use super::folder::{Folder, Said, ended};

const MODEL: &str = "model M\n  parameter k = 1\n  local x\n  der(x) = -k*x\n  init(x) = 1\nend\n";

fn panics(folder: &Folder, place: &str, words: &[&str]) -> Said {
    let mut command = folder.command(words);
    let child = command
        .env("BGM_PANIC", place)
        .env_remove("RUST_BACKTRACE")
        .spawn();
    let said = ended(child.expect("bgm runs"), words);
    said.fails(
        101,
        "error: this is a defect of bgm, and no mistake of yours",
    );
    let version = concat!("bgm ", env!("CARGO_PKG_VERSION"));
    for part in [
        version,
        "/issues",
        "defect.rs:",
        &format!("on purpose, in {place}"),
        words[0],
    ] {
        assert!(said.err.contains(part), "no `{part}` in\n{}", said.err);
    }
    assert!(!said.err.contains("panicked at"), "{}", said.err);
    assert_eq!(folder.litter(), [""; 0]);
    said
}

#[test]
fn a_panic_is_told() {
    let folder = Folder::new("defect");
    folder.write("in/m.bgm", MODEL);
    let said = panics(&folder, "command", &["solve", "m.bgm", "--set", "k = 2"]);
    assert!(
        said.err.contains("bgm solve m.bgm --set 'k = 2'"),
        "{}",
        said.err
    );
    assert_eq!(said.out, "");
    // Without the variable nothing happens.
    folder.run(&["solve", "m.bgm"]).succeeds();
}

#[test]
fn a_panic_leaves_the_old_file() {
    let folder = Folder::new("defect_writing");
    folder.write("in/m.bgm", MODEL);
    folder.write("in/r.txt", "old\n");
    panics(&folder, "writing", &["solve", "m.bgm", "-o", "r.txt"]);
    assert_eq!(folder.read("in/r.txt"), "old\n");
}

#[test]
fn a_panic_on_another_thread_is_told() {
    let folder = Folder::new("defect_thread");
    folder.write("in/m.bgm", MODEL);
    folder.write("in/r.csv", "old\n");
    let words = [
        "simulate", "m.bgm", "--until", "1", "--sweep", "k=1,2,3", "-o", "r.csv",
    ];
    panics(&folder, "sweep", &words);
    assert_eq!(folder.read("in/r.csv"), "old\n");
}
