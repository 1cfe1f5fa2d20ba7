//! Messages about files that cannot be written: the reason and the remedy.

use std::io::{self, ErrorKind};
use std::path::Path;

/// The file name that means standard output.
pub const STANDARD: &str = "-";

/// Returns the name of a destination in messages.
pub fn shown(path: &str) -> String {
    if path == STANDARD {
        "standard output".to_string()
    } else {
        format!("`{path}`")
    }
}

/// Returns the message for an error while writing `path`.
pub fn message(path: &str, error: &io::Error) -> String {
    let shown = shown(path);
    let parent = Path::new(path)
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let why = match error.kind() {
        _ if path.is_empty() => "the name is empty; give the name of a file".to_string(),
        _ if path.ends_with(std::path::is_separator) => {
            "it is the name of a folder; give the name of a file".to_string()
        }
        ErrorKind::BrokenPipe => "what read it has ended".to_string(),
        ErrorKind::IsADirectory => "it is a folder; give the name of a file".to_string(),
        ErrorKind::NotFound => match parent {
            Some(parent) if !parent.exists() => format!(
                "the folder `{}` does not exist; create it or choose another",
                parent.display()
            ),
            _ => reason(error),
        },
        ErrorKind::NotADirectory => match parent {
            Some(parent) => format!("`{}` is not a folder", parent.display()),
            None => reason(error),
        },
        ErrorKind::PermissionDenied => {
            "no permission; choose a file or folder that you may write".to_string()
        }
        _ => reason(error),
    };
    format!("cannot write {shown}: {why}")
}

/// Returns the message of the system without the error number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}
