//! Exports a model, runs what was written, and reads the rows of both.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Names of columns, and rows.
pub type Rows = (Vec<String>, Vec<Vec<f64>>);

/// A folder of a test, empty at first.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("export-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

pub fn bgm(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bgm"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(arguments).output().expect("bgm runs")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// Whether a program is there; a test that needs it says so where it is not, past the harness that hides what tests print.
pub fn has(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        let _ = writeln!(std::io::stderr(), "note: skipped, there is no `{program}`");
    }
    there
}

pub fn rows(text: &str) -> Rows {
    let mut lines = text.lines().map(|line| line.split(','));
    let names = lines.next().expect("a head").map(str::to_string).collect();
    let number = |text: &str| match text {
        "true" => 1.0,
        "false" => 0.0,
        _ => text
            .parse()
            .unwrap_or_else(|_| panic!("`{text}` is no number")),
    };
    (
        names,
        lines.map(|line| line.map(number).collect()).collect(),
    )
}

/// What the simulator says.
pub fn simulated(model: &str, options: &[&str]) -> Rows {
    let mut arguments = vec!["simulate", model, "-o", "-", "--tolerance", "1e-10"];
    arguments.extend(options);
    let output = bgm(&arguments);
    assert!(output.status.success(), "{model}: {}", stderr(&output));
    rows(&stdout(&output))
}

/// Exports to a file.
pub fn exported(model: &str, target: &str, file: &Path, options: &[&str]) {
    let place = file.to_str().expect("a path that is text");
    let mut arguments = vec!["export", model, "--to", target, "-o", place];
    arguments.extend(options);
    let output = bgm(&arguments);
    assert!(output.status.success(), "{model}: {}", stderr(&output));
}

/// Compiles a C program without a warning.
pub fn compiled(file: &Path, model: &str) -> PathBuf {
    let program = file.with_extension("out");
    let output = Command::new("cc")
        .args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-O1",
        ])
        .arg(format!("-D{model}_MAIN"))
        .arg(file)
        .arg("-o")
        .arg(&program)
        .arg("-lm")
        .output()
        .expect("cc runs");
    assert!(
        output.status.success(),
        "{}:\n{}",
        file.display(),
        stderr(&output)
    );
    program
}

pub fn run(command: &mut Command) -> Rows {
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    rows(&stdout(&output))
}

/// Rows are the same, but for a part of the largest value of each column.
pub fn agree(title: &str, wanted: &Rows, found: &Rows, part: f64) {
    assert_eq!(wanted.1.len(), found.1.len(), "{title}: rows");
    for (at, name) in wanted.0.iter().enumerate() {
        let there = found.0.iter().position(|other| other == name);
        let there = there.unwrap_or_else(|| panic!("{title}: no column `{name}`"));
        let scale = (wanted.1.iter()).fold(0.0_f64, |most, row| most.max(row[at].abs()));
        for (row, other) in wanted.1.iter().zip(&found.1) {
            let off = (row[at] - other[there]).abs();
            assert!(
                off <= part * scale.max(1e-3),
                "{title}: `{name}` is {} at Time = {}, and {} in the program",
                row[at],
                row[0],
                other[there]
            );
        }
    }
}
