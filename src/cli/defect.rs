//! What must not happen, and happens: a panic is told in plain words, with what a report needs.

use crate::base::diagnostics::visible::visible;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::panic::{PanicHookInfo, set_hook};
use std::sync::{Mutex, PoisonError};

/// bgm itself has failed.
pub const DEFECT: u8 = 101;

/// Where, and what was said: of the first one, on whichever thread.
static FIRST: Mutex<Option<String>> = Mutex::new(None);

/// From here on a panic prints nothing, and is kept to be told.
pub fn keep_panics() {
    set_hook(Box::new(|panic| {
        let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| words(panic));
    }));
}

fn words(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let said = (payload.downcast_ref::<&str>().copied())
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("nothing was said");
    let place = match panic.location() {
        Some(place) => format!("{}:{}", place.file(), place.line()),
        None => "an unknown place".to_string(),
    };
    let mut text = format!("{place}: {said}");
    // Only where RUST_BACKTRACE asks for it.
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        text.push_str(&format!("\n{trace}"));
    }
    text
}

/// Whether there was one.
pub fn happened() -> bool {
    (FIRST.lock().unwrap_or_else(PoisonError::into_inner)).is_some()
}

/// Tells the user.
pub fn tell() {
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
    // There is no one left to tell if this fails.
    let _ = io::stderr().lock().write_all(visible(&text).as_bytes());
}

/// As it would be typed.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./,:@+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A panic on purpose, for the tests of this file: in debug builds the variable `BGM_PANIC` names the place (see CONTRIBUTING.md).
#[cfg(debug_assertions)]
#[allow(clippy::panic)]
pub fn on_purpose(place: &str) {
    if std::env::var_os("BGM_PANIC").is_some_and(|wanted| wanted == place) {
        panic!("on purpose, in {place}");
    }
}

#[cfg(not(debug_assertions))]
#[inline]
pub fn on_purpose(_: &str) {}
