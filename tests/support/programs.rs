//! Exports a model, runs what was written, and reads the rows of both.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::campaign::Verdict;

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

/// A C compiler for which a warning is an error.
pub fn strict_compiler() -> Command {
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
    command
}

/// Compiles a C program without a warning.
pub fn compiled(file: &Path, model: &str) -> PathBuf {
    let program = file.with_extension("out");
    let output = strict_compiler()
        .arg("-O1")
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

/// What differs, if anything does.
fn differs(wanted: &Rows, found: &Rows, part: f64) -> Option<String> {
    let largest = |column: usize| {
        let all = wanted.1.iter().map(|row| row[column].abs());
        all.fold(1e-3_f64, f64::max)
    };
    // A diode without voltage and current may be either: what tells are the states, where there are any.
    let is_truth = |name: &String| name.ends_with("OpenSwitch");
    let stateless = wanted.0.iter().skip(1).all(is_truth);
    for (at, name) in wanted.0.iter().enumerate() {
        let scale = largest(at);
        if is_truth(name) && !stateless {
            continue;
        }
        for (row, other) in wanted.1.iter().zip(&found.1) {
            if !((row[at] - other[at]).abs() <= part * scale) {
                return Some(format!(
                    "`{name}` is {} at Time = {}, and {} in the program",
                    row[at], row[0], other[at]
                ));
            }
        }
    }
    (wanted.1.len() != found.1.len()).then(|| "other rows".to_string())
}

/// A model, its run, and the targets whose programs are compared with it.
#[derive(Clone, Copy, Debug)]
pub struct Tried<'a> {
    pub name: &'a str,
    pub text: &'a str,
    /// Options of both commands.
    pub run: &'a [&'a str],
    pub python: bool,
    /// Rows may differ by this part of the largest value of a column.
    pub part: f64,
}

/// Runs a model and its programs; rows have to be the same.
pub fn compared(tried: Tried<'_>) -> Verdict {
    let folder = folder(tried.name);
    let place = |name: &str| folder.join(name).to_str().expect("text").to_string();
    let model = place("m.bgm");
    std::fs::write(&model, tried.text).expect("a file can be written");
    let mut simulate = vec!["simulate", &model, "-o", "-", "--tolerance", "1e-9"];
    simulate.extend(tried.run);
    let wanted = bgm(&simulate);
    if !wanted.status.success() {
        return Verdict::Open("no run");
    }
    let wanted = rows(&stdout(&wanted));
    let mut targets = vec![("c", place("m.c"))];
    if tried.python {
        targets.push(("python", place("m.py")));
    }
    for (target, file) in &targets {
        let mut export = vec!["export", &model, "--to", target, "-o", file];
        export.extend(["--tolerance", "1e-9"]);
        export.extend(tried.run);
        let output = bgm(&export);
        if !output.status.success() {
            let said = stderr(&output);
            return match said.contains("cannot be exported") {
                true => Verdict::Refused("by name".into(), said),
                false => Verdict::Wrong(format!("no program: {said}")),
            };
        }
        let output = match *target {
            "c" => Command::new(compiled(file.as_ref(), "M")).output(),
            _ => Command::new("python3").arg(file).output(),
        };
        let output = output.expect("the program runs");
        if !output.status.success() {
            return Verdict::Wrong(format!("{target} fails: {}", stderr(&output)));
        }
        let found = rows(&stdout(&output));
        if let Some(why) = differs(&wanted, &found, tried.part) {
            return Verdict::Wrong(format!("{target}: {why}"));
        }
    }
    let _ = std::fs::remove_dir_all(folder);
    Verdict::Agrees
}
