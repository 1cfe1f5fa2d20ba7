//! Writes an FMU: its sources are compiled for this machine, where a C compiler is at hand.
//!
//! The compiler is that of `CC`, else `cc`, `gcc` or `clang`. It works in a folder of its own, which is gone afterwards. An FMU
//! without a binary is whole: other tools compile its sources; but it is told.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::Console;
use crate::export::fmu::{Binary, Unit};

/// The platform as FMI 2.0 calls it, and how names of shared libraries end there; `None` where the standard has no name.
fn platform() -> Option<(&'static str, &'static str)> {
    let wide = cfg!(target_pointer_width = "64");
    match (std::env::consts::OS, wide) {
        ("linux", true) => Some(("linux64", "so")),
        ("linux", false) => Some(("linux32", "so")),
        ("macos", true) => Some(("darwin64", "dylib")),
        ("windows", true) => Some(("win64", "dll")),
        ("windows", false) => Some(("win32", "dll")),
        _ => None,
    }
}

/// Writes the file, and says so where it has no binary.
pub fn write(unit: &Unit, output: Option<&Path>, console: &Console) -> Result<(), String> {
    if console.is_kept() {
        return Err("an FMU has no place here".to_string());
    }
    let binary = match compiled(unit, console) {
        Ok(binary) => Some(binary),
        Err(why) => {
            console.message(&format!(
                "note: the FMU has sources only, and no binary: {why}\n"
            ));
            None
        }
    };
    let packed = unit.packed(binary.as_ref()).map_err(|refusal| refusal.0)?;
    console.result(output, |out| out.write_all(&packed))
}

fn compilers() -> Vec<String> {
    match std::env::var("CC") {
        Ok(named) if !named.trim().is_empty() => vec![named],
        _ => ["cc", "gcc", "clang"].map(str::to_string).to_vec(),
    }
}

/// The shared library, or why there is none.
fn compiled(unit: &Unit, console: &Console) -> Result<Binary, String> {
    if console.is_untrusted() {
        return Err("`--untrusted` starts no compiler".to_string());
    }
    let Some((platform, extension)) = platform() else {
        return Err("FMI 2.0 has no name for this kind of machine".to_string());
    };
    let folder = Folder::new().map_err(|error| format!("there is no place to compile: {error}"))?;
    let source = unit.source_name();
    let library = format!("{}.{extension}", unit.identifier);
    std::fs::write(folder.0.join(&source), &unit.source)
        .map_err(|error| format!("there is no place to compile: {error}"))?;
    let names = compilers();
    for name in &names {
        let Some(output) = run(name, &folder.0, &source, &library) else {
            continue;
        };
        let output = output.map_err(|error| format!("`{name}` cannot be run: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let first: Vec<&str> = said.lines().take(5).collect();
            return Err(format!("`{name}` fails:\n{}", first.join("\n")));
        }
        let bytes = std::fs::read(folder.0.join(&library))
            .map_err(|error| format!("`{name}` wrote no library: {error}"))?;
        return Ok(Binary {
            platform: platform.to_string(),
            extension: extension.to_string(),
            bytes,
        });
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    Err(format!(
        "there is no C compiler ({} not found; the variable CC names another)",
        names.join(", ")
    ))
}

/// `None` where there is no such program. A name may have arguments behind it, as in makefiles.
fn run(name: &str, folder: &Path, source: &str, library: &str) -> Option<io::Result<Output>> {
    let mut words = name.split_whitespace();
    let mut command = Command::new(words.next()?);
    command.args(words).current_dir(folder);
    command.args(["-std=c99", "-O2", "-shared"]);
    if !cfg!(windows) {
        command.args(["-fPIC", "-fvisibility=hidden"]);
    }
    match command.args(["-o", library, source, "-lm"]).output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        output => Some(output),
    }
}

/// A folder that is gone when it is no longer needed.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Folder> {
        let mut at = 0;
        loop {
            let name = format!("bgm-fmu-{}-{at}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Folder(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && at < 1000 => at += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
