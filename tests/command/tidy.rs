//! The rules of this repository, as a test.

use super::layers::{mentioned, module_of};
use std::path::{Path, PathBuf};

/// A file this long holds more than one idea.
const LONGEST: usize = 500;

pub fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut work = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = work.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder can be listed") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() {
                work.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a source file can be read")
}

#[test]
fn source_files_say_what_they_hold_and_hold_one_idea() {
    for path in files("src", "rs") {
        let text = read(&path);
        let name = path.display();
        if !path.ends_with("main.rs") {
            assert!(text.starts_with("//!"), "{name} does not say what it holds");
        }
        let lines = text.lines().count();
        assert!(
            lines <= LONGEST,
            "{name} has {lines} lines, more than {LONGEST}"
        );
        for word in ["todo!(", "unimplemented!(", "dbg!("] {
            assert!(!text.contains(word), "{name} contains {word}");
        }
    }
}

#[test]
fn no_file_names_a_place_on_a_machine() {
    let all = [
        files("src", "rs"),
        files("tests", "rs"),
        files("docs", "md"),
        files("stdlib", "bgm"),
        files("examples", "bgm"),
        files("tests", "snap"),
    ];
    for path in all.into_iter().flatten() {
        let text = read(&path);
        for place in ["/work", "/root", "/home", "/farm"] {
            let there = text.match_indices(&format!("{place}/")).any(|(at, _)| {
                let before = text[..at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || c == '.')
            });
            assert!(!there, "{} names {place}", path.display());
        }
    }
}

#[test]
fn every_library_type_is_documented() {
    for entry in bgm::syntax::library::entries() {
        assert!(!entry.doc.is_empty(), "{} has no `##` line", entry.name);
    }
}

/// Every type of the library compiles, its own cuts left open: names and connections are right.
#[test]
fn every_library_type_is_sound() {
    use bgm::compile::{Options, load_flat};
    use bgm::syntax::load::{Input, NoFiles};

    for entry in bgm::syntax::library::entries() {
        let stem = entry.file.strip_suffix(".bgm").unwrap_or(entry.file);
        let text = format!("@{stem}\nmodel M\nend\n");
        let options = Options {
            model: Some(entry.name.to_string()),
            ..Options::default()
        };
        let input = Input::Standard(text.into_bytes());
        let compiled = load_flat(&input, &options, &NoFiles);
        for diagnostic in compiled.diagnostics.iter() {
            // A type by itself may lack the values that its users give it.
            let code = diagnostic.code.text();
            assert_eq!(code, "E0503", "{}: {}", entry.name, diagnostic.message);
        }
    }
}

/// The rooms in the order of the table in docs/architecture.md.
fn rooms() -> Vec<String> {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md");
    let text = read(&manual);
    let (_, section) = text.split_once("## Rooms").expect("a section of rooms");
    (section.lines())
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            line.split('`')
                .nth(1)
                .expect("a room in quotes")
                .to_string()
        })
        .collect()
}

#[test]
fn rooms_use_only_rooms_before_them() {
    let rooms = rooms();
    let place = |room: &str| rooms.iter().position(|known| known == room);
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = vec![false; rooms.len()];
    let mut against = Vec::new();
    for path in files("src", "rs") {
        let inside = path.strip_prefix(&src).expect("a file of src");
        let first = inside.iter().next().and_then(|part| part.to_str());
        let first = first.expect("a name").trim_end_matches(".rs").to_string();
        if matches!(first.as_str(), "lib" | "main") {
            continue;
        }
        let Some(own) = place(&first) else {
            panic!("{} lies in no room of docs/architecture.md", path.display());
        };
        seen[own] = true;
        for other in mentioned(&read(&path), &module_of(inside)) {
            match place(&other) {
                Some(at) if at <= own => {}
                _ => against.push(format!("{}: {first} uses {other}", inside.display())),
            }
        }
    }
    assert!(
        against.is_empty(),
        "against the layers:\n{}",
        against.join("\n")
    );
    let empty: Vec<&String> = (rooms.iter().zip(&seen))
        .filter(|(_, seen)| !**seen)
        .map(|(room, _)| room)
        .collect();
    assert!(empty.is_empty(), "rooms without files: {empty:?}");
}

/// A module with parts is `x/mod.rs`; one without is `x.rs`.
#[test]
fn modules_with_parts_are_folders() {
    for path in files("src", "rs") {
        let folder = path.with_extension("");
        assert!(!folder.is_dir(), "{} has parts beside it", path.display());
    }
}
