//! Modelica front ends of other people, in a Python environment of their own. The first test that needs them installs them; where
//! that cannot be done, the tests that need them say so and are skipped.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::programs::{self, Rows, bgm, stderr as said};

/// The versions that what is said in `docs/interoperability.md` was tried with.
const PACKAGES: [&str; 2] = ["pymoca==0.12.0", "rumoca==0.10.2"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder of a test, empty at first.
pub fn folder(name: &str) -> PathBuf {
    programs::folder(&format!("modelica-{name}"))
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

/// The class of a model, in a file; what was said.
pub fn exported(model: &str, file: &Path, options: &[&str]) -> String {
    let mut arguments = vec!["export", model, "--to", "modelica", "-o", text(file)];
    arguments.extend(options);
    let output = bgm(&arguments);
    assert!(output.status.success(), "{model}: {}", said(&output));
    said(&output)
}

/// Rows of the simulator, in a file.
pub fn simulated(model: &str, file: &Path, options: &[&str]) {
    let mut arguments = vec!["simulate", model, "-o", text(file), "--tolerance", "1e-10"];
    arguments.extend(options);
    let output = bgm(&arguments);
    assert!(output.status.success(), "{model}: {}", said(&output));
}

/// The Python that has the front ends; `None` where there is none, which is told past the harness that hides what tests print.
fn python() -> Option<&'static Path> {
    static PLACE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let place = PLACE.get_or_init(|| {
        let made = install();
        if let Err(why) = &made {
            let _ = writeln!(
                std::io::stderr(),
                "note: skipped, there are no Modelica front ends: {why}"
            );
        }
        made.ok()
    });
    place.as_deref()
}

fn install() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("modelica-front-ends");
    let python = folder.join("bin").join("python3");
    // Written last: an installation that was broken off is made again.
    let done = folder.join("done");
    let wanted = PACKAGES.join("\n");
    if std::fs::read_to_string(&done).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    let _ = std::fs::remove_dir_all(&folder);
    succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let mut pip = Command::new(&python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    succeeds(pip.args(PACKAGES))?;
    std::fs::write(&done, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(said(&output).lines().last().unwrap_or_default().to_string()),
    }
}

/// What `judge.py` prints; `None` where the front ends are missing.
pub fn judge(arguments: &[&str]) -> Option<String> {
    let output = Command::new(python()?)
        .arg(root().join("tests/modelica/judge.py"))
        .args(arguments)
        .output()
        .expect("python runs");
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    Some(String::from_utf8(output.stdout).expect("text"))
}

pub fn rows(text: &str) -> Rows {
    let mut lines = text.lines().map(|line| line.split(','));
    let head = lines.next().expect("a head");
    let names = head.map(|name| name.trim_matches('"').to_string());
    let names = names.collect();
    let number = |text: &str| {
        text.parse()
            .unwrap_or_else(|_| panic!("`{text}` is no number"))
    };
    let rows = lines.map(|line| line.map(number).collect()).collect();
    (names, rows)
}

/// Both have the same rows, but for a part of the largest value of each column; gives the number of columns.
pub fn agree(title: &str, wanted: &Rows, found: &Rows, part: f64) -> usize {
    assert_eq!(wanted.1.len(), found.1.len(), "{title}: rows");
    let mut compared = 0;
    for (there, name) in found.0.iter().enumerate().skip(1) {
        let at = (wanted.0.iter().position(|other| other == name)).expect("a column of both");
        let scale = (wanted.1.iter()).fold(0.0_f64, |most, row| most.max(row[at].abs()));
        for (row, other) in wanted.1.iter().zip(&found.1) {
            let off = (row[at] - other[there]).abs();
            assert!(
                off <= part * scale.max(1e-3),
                "{title}: `{name}` is {} at Time = {}, and {} in rumoca",
                row[at],
                row[0],
                other[there]
            );
        }
        compared += 1;
    }
    compared
}
