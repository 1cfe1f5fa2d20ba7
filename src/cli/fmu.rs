//! Writes an FMU and compiles its sources for this machine, if there is a C compiler.
//!
//! The compiler is the value of `CC`, else `cc`, `gcc` or `clang`. It works in a temporary folder. An FMU without a
//! binary is valid, because other tools can compile its sources; a note reports it.

use std::io;
use std::path::Path;
use std::process::{Command, Output};

use super::io::OutputSink;
use super::signals::waiting;
use super::writing::temporary::Temporary;
use super::{Console, Fault};
use crate::export::fmu::{Binary, Unit};

/// The name of the platform in FMI 2.0 and the file extension of its shared libraries. `None` if the standard has no
/// name for the platform.
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

/// Writes the file; a note reports a missing binary.
pub fn write(unit: &Unit, place: OutputSink<'_>, console: &Console) -> Result<(), Fault> {
    if console.is_captured() {
        return Err("an FMU has no place here".into());
    }
    let binary = match compile_library(unit, console) {
        Ok(binary) => Some(binary),
        Err(why) => {
            console.message(&format!(
                "note: the FMU has sources only, and no binary: {why}\n"
            ));
            None
        }
    };
    let packed = unit.packed(binary.as_ref()).map_err(|refusal| refusal.0)?;
    place.write(|out| out.write_all(&packed))
}

fn compilers() -> Vec<String> {
    match std::env::var("CC") {
        Ok(named) if !named.trim().is_empty() => vec![named],
        _ => ["cc", "gcc", "clang"].map(str::to_string).to_vec(),
    }
}

/// Compiles the shared library, or returns the reason why there is none.
fn compile_library(unit: &Unit, console: &Console) -> Result<Binary, String> {
    if console.is_untrusted() {
        return Err("`--untrusted` starts no compiler".to_string());
    }
    let Some((platform, extension)) = platform() else {
        return Err("FMI 2.0 has no name for this kind of machine".to_string());
    };
    let folder =
        Temporary::folder().map_err(|error| format!("there is no place to compile: {error}"))?;
    let source = unit.source_name();
    let library = format!("{}.{extension}", unit.identifier);
    std::fs::write(folder.path().join(&source), &unit.source)
        .map_err(|error| format!("there is no place to compile: {error}"))?;
    let names = compilers();
    for name in &names {
        let Some(output) = run(name, folder.path(), &source, &library) else {
            continue;
        };
        let output = output.map_err(|error| format!("`{name}` cannot be run: {error}"))?;
        if !output.status.success() {
            let output_text = String::from_utf8_lossy(&output.stderr).into_owned();
            let first: Vec<&str> = output_text.lines().take(5).collect();
            return Err(format!("`{name}` fails:\n{}", first.join("\n")));
        }
        let bytes = std::fs::read(folder.path().join(&library))
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

/// Runs a compiler; `None` if there is no such program. The name may contain arguments, as in makefiles.
fn run(name: &str, folder: &Path, source: &str, library: &str) -> Option<io::Result<Output>> {
    let mut words = name.split_whitespace();
    let mut command = Command::new(words.next()?);
    command.args(words).current_dir(folder);
    command.args(["-std=c99", "-O2", "-shared"]);
    if !cfg!(windows) {
        command.args(["-fPIC", "-fvisibility=hidden"]);
    }
    match waiting(|| command.args(["-o", library, source, "-lm"]).output()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        output => Some(output),
    }
}
