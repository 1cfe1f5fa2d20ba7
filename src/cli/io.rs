//! Files and the terminal.

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use crate::diagnostics::render::render;
use crate::diagnostics::{Diagnostics, Severity};
use crate::load::{Files, Input};
use crate::source::Sources;

/// The files of the machine.
#[derive(Debug)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn identity(&self, path: &Path) -> PathBuf {
        path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        names
    }
}

/// More diagnostics than this nobody reads.
const MOST_SHOWN: usize = 50;

/// Standard input, output and error.
#[derive(Debug)]
pub struct Console {
    color: bool,
}

impl Console {
    /// `None`: colors where messages go to a terminal that wants them.
    pub fn new(color: Option<bool>) -> Self {
        let wanted = || {
            io::stderr().is_terminal()
                && std::env::var_os("NO_COLOR").is_none()
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        };
        Console {
            color: color.unwrap_or_else(wanted),
        }
    }

    /// What a command is to compile.
    pub fn input(&self, file: &Path) -> Result<Input, String> {
        if file != Path::new("-") {
            return Ok(Input::File(file.to_path_buf()));
        }
        let mut bytes = Vec::new();
        io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| format!("cannot read standard input: {error}"))?;
        Ok(Input::Standard(bytes))
    }

    /// Writes a result to a file, or to standard output. A reader that went away is no error.
    pub fn result(
        &self,
        file: Option<&Path>,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), String> {
        match file {
            Some(path) => {
                let failed =
                    |error: io::Error| format!("cannot write `{}`: {error}", path.display());
                let file = std::fs::File::create(path).map_err(failed)?;
                let mut out = io::BufWriter::new(file);
                write(&mut out).and_then(|()| out.flush()).map_err(failed)
            }
            None => {
                let mut out = io::BufWriter::new(io::stdout().lock());
                match write(&mut out).and_then(|()| out.flush()) {
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                        Err(format!("cannot write to standard output: {error}"))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// Something for the user, beside the result.
    pub fn message(&self, text: &str) {
        // There is no one left to tell if this fails.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// All diagnostics, errors and warnings.
    /// Where there are too many to show, errors come before warnings.
    pub fn diagnostics(&self, sources: &Sources, found: &Diagnostics) {
        let mut errors = found.errors().min(MOST_SHOWN);
        let mut warnings = found.warnings().min(MOST_SHOWN - errors);
        let more = found.errors() + found.warnings() - errors - warnings;
        let mut text = String::new();
        for diagnostic in found.iter() {
            let left = match diagnostic.severity() {
                Severity::Error => &mut errors,
                Severity::Warning => &mut warnings,
            };
            if *left > 0 {
                *left -= 1;
                render(sources, diagnostic, self.color, &mut text);
            }
        }
        if more > 0 {
            text.push_str(&format!(
                "... and {more} more; `bgm check --format json` tells all\n\n"
            ));
        }
        self.message(&text);
    }
}
