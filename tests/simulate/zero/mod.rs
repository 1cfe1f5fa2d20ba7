//! What counts as zero: loops at rest, parts without current, multiple roots, ties of relations. Random models are judged by
//! solvers that are written here.
//!
//! `BGM_CASES=1000` makes so many, `BGM_FIRST` is the first one.

mod diodes;
mod single;

/// The seeds to be tried.
pub fn seeds(usual: u64) -> std::ops::Range<u64> {
    let read = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = read("BGM_FIRST").unwrap_or(0);
    first..first + read("BGM_CASES").unwrap_or(usual)
}
