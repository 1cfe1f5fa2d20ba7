//! fmpy, the judge: installed once into an environment of its own below the build folder.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const PACKAGE: &str = "fmpy==0.3.32";

fn note(text: &str) {
    // Past the harness, which hides what tests print.
    let _ = writeln!(std::io::stderr(), "note: {text}");
}

/// The folder of its programs; `None` with a visible note where there is no Python, or nothing to install it from. In CI the
/// latter is a failure: what cannot be judged there is judged nowhere.
pub fn judge() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(install).as_deref()
}

fn install() -> Option<PathBuf> {
    if Command::new("python3").arg("--version").output().is_err() {
        note("FMUs are not judged: there is no `python3`");
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fmpy");
    let programs = folder.join("bin");
    // Written last: an environment without it is half made.
    let mark = folder.join(PACKAGE);
    if mark.exists() {
        return Some(programs);
    }
    let _ = std::fs::remove_dir_all(&folder);
    let made = Command::new("python3")
        .args(["-m", "venv"])
        .arg(&folder)
        .output();
    let made = made.and_then(|output| match output.status.success() {
        true => Command::new(programs.join("python"))
            .args(["-m", "pip", "install", "--quiet", PACKAGE])
            .output(),
        false => Ok(output),
    });
    let said = match made {
        Ok(output) if output.status.success() => {
            std::fs::write(mark, "").expect("a file can be written");
            return Some(programs);
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    assert!(
        std::env::var_os("CI").is_none(),
        "{PACKAGE} cannot be installed: {said}"
    );
    note(&format!(
        "FMUs are not judged: {PACKAGE} cannot be installed: {said}"
    ));
    None
}

/// Runs a program of the environment, which comes first in the path.
pub fn run(programs: &Path, program: &str, arguments: &[&str]) -> Output {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = vec![programs.to_path_buf()];
    all.extend(std::env::split_paths(&path));
    let path = std::env::join_paths(all).expect("a path");
    (Command::new(programs.join(program)).env("PATH", path))
        .args(arguments)
        .output()
        .expect("it runs")
}
