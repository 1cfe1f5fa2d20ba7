//! The package that `cargo package` makes: small, and whole.

use std::io::Write;
use std::process::Command;

/// More files than this are no longer what the program is built from.
const MOST: usize = 800;

fn listed() -> Option<Vec<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["package", "--list", "--allow-dirty", "--offline"])
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            let _ = writeln!(
                std::io::stderr(),
                "note: skipped, cargo cannot be run: {error}"
            );
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8_lossy(&output.stdout).replace('\\', "/");
    Some(text.lines().map(str::to_string).collect())
}

#[test]
fn the_package_is_small_and_whole() {
    let Some(files) = listed() else {
        return;
    };
    assert!(files.len() <= MOST, "{} files", files.len());
    for wanted in [
        "Cargo.toml",
        "Cargo.lock",
        "README.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "src/main.rs",
        "src/lib.rs",
    ] {
        assert!(files.iter().any(|file| file == wanted), "no {wanted}");
    }
    // Whatever the sources take in, wherever it lies.
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut taken_in = 0;
    for file in files.iter().filter(|file| file.ends_with(".rs")) {
        let text = std::fs::read_to_string(root.join(file)).expect("a source can be read");
        for (at, start) in text.match_indices("include_str!(\"") {
            let rest = &text[at + start.len()..];
            let name = &rest[..rest.find('"').expect("it ends")];
            let mut path: Vec<&str> = file.split('/').collect();
            path.pop();
            for part in name.split('/') {
                match part {
                    ".." => drop(path.pop()),
                    part => path.push(part),
                }
            }
            let path = path.join("/");
            assert!(files.contains(&path), "{file} takes in {path}");
            taken_in += 1;
        }
    }
    assert!(taken_in >= 10, "{taken_in} files are taken in");
    // Pages and pictures that the README leads to, and models that it runs.
    let readme = std::fs::read_to_string(root.join("README.md")).expect("there is one");
    let linked = readme
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    for name in linked.filter(|name| !name.starts_with("http")) {
        assert!(
            files.iter().any(|file| file == name),
            "the README leads to {name}"
        );
    }
    for file in &files {
        let stray = ["tests/", "benches/", "target/", ".ci/"];
        let is_stray = stray.iter().any(|folder| file.starts_with(folder));
        assert!(!is_stray && !file.ends_with(".snap"), "{file}");
    }
}

#[test]
fn the_licences_are_there_and_named() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).expect("it can be read");
    assert!(read("LICENSE-MIT").contains("Permission is hereby granted, free of charge"));
    assert!(read("LICENSE-APACHE").contains("Version 2.0, January 2004"));
    let manifest = read("Cargo.toml");
    for line in [
        "license = \"MIT OR Apache-2.0\"",
        "repository = ",
        "documentation = ",
    ] {
        assert!(manifest.contains(line), "no {line}");
    }
    let version = env!("CARGO_PKG_RUST_VERSION");
    assert!(
        read("README.md").contains(&format!("Rust {version}")),
        "the README names no Rust {version}"
    );
}

/// The README and CONTRIBUTING.md ask for the compiler that Cargo.toml asks for.
#[test]
fn the_version_of_rust_is_told_as_it_is() {
    let wanted = env!("CARGO_PKG_RUST_VERSION");
    let sentence = format!("Rust {wanted} or newer");
    for page in ["README.md", "CONTRIBUTING.md"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let text = std::fs::read_to_string(path).expect("a page can be read");
        assert!(text.contains(&sentence), "{page} does not say `{sentence}`");
    }
}
