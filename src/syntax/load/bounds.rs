//! Limits on what may be read, and reasons to refuse a file.
//!
//! [`crate::syntax::load::Files`] gives the limits; the loader and the model keep to them. A refusal is passed on as an
//! [`io::Error`]; [`unreadable`] turns it into a diagnostic with its own code.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::base::diagnostics::{Code, Diagnostic};

/// The limits of one compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of one file.
    pub file: u64,
    /// Bytes of all files together.
    pub text: u64,
    /// Files of one compilation; the library does not count.
    pub files: usize,
    /// Instances of submodels, and turns of `for`; 8 times as many variables.
    pub instances: usize,
    /// Points of output of a run.
    pub points: usize,
    /// Whether the command line cannot raise these bounds.
    pub fixed: bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            file: 64 << 20,
            text: u64::MAX,
            files: usize::MAX,
            instances: usize::MAX,
            points: usize::MAX,
            fixed: false,
        }
    }
}

impl Bounds {
    /// For models of strangers: `--untrusted`.
    pub const UNTRUSTED: Bounds = Bounds {
        file: 1 << 20,
        text: 4 << 20,
        files: 64,
        instances: 20_000,
        points: 100_000,
        fixed: true,
    };
}

/// Why a file is not read although it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is not a regular file but this.
    NotRegular(&'static str),
    /// It has more bytes than this.
    TooLarge(u64),
    /// It does not lie in one of these folders.
    Outside(Vec<PathBuf>),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotRegular(what) => write!(f, "it is {what}, and no regular file"),
            Refusal::TooLarge(limit) => {
                write!(f, "it is larger than {}", size(*limit))
            }
            Refusal::Outside(_) => f.write_str("it lies outside the folders that may be read"),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        io::Error::other(refusal)
    }
}

/// The refusal inside an error, if there is one.
pub fn refusal(error: &io::Error) -> Option<&Refusal> {
    error.get_ref()?.downcast_ref()
}

impl Refusal {
    pub fn code(&self) -> Code {
        match self {
            Refusal::NotRegular(_) => Code::NotRegular,
            Refusal::TooLarge(_) => Code::TooMuchText,
            Refusal::Outside(_) => Code::OutsideFolders,
        }
    }
}

/// The reason in one line, with its code if it has one.
pub fn told(error: &io::Error) -> String {
    match refusal(error) {
        Some(refusal) => format!("{refusal} ({})", refusal.code().text()),
        None => error.to_string(),
    }
}

/// `64 MB`, in powers of two.
fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 20 => format!("{} MB", bytes >> 20),
        _ => format!("{bytes} bytes"),
    }
}

/// A diagnostic about a file that cannot be read. `name` may say what the file is.
pub fn unreadable(name: &str, error: &io::Error) -> Diagnostic {
    let Some(refusal) = refusal(error) else {
        let message = format!("cannot read {name}: {}", plain(error));
        return Diagnostic::new(Code::UnreadableFile, message);
    };
    let hint = match refusal {
        Refusal::NotRegular(_) => {
            "give the name of a file that holds text; what comes through a pipe is read with `-`, as the model"
        }
        Refusal::TooLarge(_) => {
            "distribute the model over several files, or build what repeats with `for` and arrays"
        }
        Refusal::Outside(_) => {
            "put the file into one of these folders, or name its folder with `-I`"
        }
    };
    let mut diagnostic = Diagnostic::new(refusal.code(), format!("cannot read {name}: {refusal}"));
    if let Refusal::Outside(folders) = refusal {
        for folder in folders {
            diagnostic = diagnostic.note(format!("`--untrusted` reads in {}", shown(folder)));
        }
    }
    diagnostic.hint(hint)
}

fn shown(folder: &Path) -> String {
    match folder.as_os_str().is_empty() {
        true => "the current folder".to_string(),
        false => format!("`{}`", folder.display()),
    }
}

/// The message of the system without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_string(),
        None => text,
    }
}
