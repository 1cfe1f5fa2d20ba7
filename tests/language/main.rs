//! From text to what it means (`syntax`, `model`, `experiment`), and what is said of mistakes (`base::diagnostics`).

mod diagnostics;
mod experiment;
mod robustness;
mod syntax;

#[path = "../support/mod.rs"]
mod support;
