//! Reports a panic as a defect of bgm: in plain words, with all that a bug report needs.

use crate::base::diagnostics::visible::visible;
use std::backtrace::{Backtrace, BacktraceStatus};

use std::panic::{PanicHookInfo, set_hook};
use std::sync::{Mutex, PoisonError};

/// The exit code after a panic.
pub const DEFECT: u8 = 101;

/// Place and message of the first panic, on any thread.
static FIRST: Mutex<Option<String>> = Mutex::new(None);

/// Installs a panic hook that prints nothing and stores the first panic for [`report`].
pub fn record_panics() {
    set_hook(Box::new(|panic| {
        let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| describe(panic));
    }));
}

fn describe(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let message = (payload.downcast_ref::<&str>().copied())
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let place = match panic.location() {
        Some(place) => format!("{}:{}", place.file(), place.line()),
        None => "an unknown place".to_string(),
    };
    let mut text = format!("{place}: {message}");
    // The backtrace is captured only if RUST_BACKTRACE requests it.
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        text.push_str(&format!("\n{trace}"));
    }
    text
}

/// Returns true if a thread has panicked.
pub fn has_panicked() -> bool {
    (FIRST.lock().unwrap_or_else(PoisonError::into_inner)).is_some()
}

/// Prints the report for the user.
pub fn report() {
    let first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
    let what = first.as_deref().unwrap_or("an unknown place");
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| quoted(&word.to_string_lossy()))
        .collect();
    let text = format!(
        "error: this is a defect of bgm, and no mistake of yours\n  \
         please report it at {}/issues, with the lines below and, if you may, with the model\n\n  \
         bgm {} on {} {}\n  bgm {}\n  {}\n",
        env!("CARGO_PKG_REPOSITORY"),
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH,
        words.join(" "),
        what.replace('\n', "\n  "),
    );
    super::writing::to_standard_error(&visible(&text));
}

/// Quotes an argument as a shell needs it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./,:@+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Panics for tests of this file: in debug builds the variable `BGM_PANIC` names the place (see CONTRIBUTING.md).
#[cfg(debug_assertions)]
#[allow(clippy::panic)]
pub fn panic_if_requested(place: &str) {
    if std::env::var_os("BGM_PANIC").is_some_and(|wanted| wanted == place) {
        panic!("on purpose, in {place}");
    }
}

#[cfg(not(debug_assertions))]
#[inline]
pub fn panic_if_requested(_: &str) {}
