//! What tests of several rooms share. Each binary that needs some of it declares this module once, in its `main.rs`, and then
//! uses a part of it: what is not used there is read by the compiler, but no code is made for it.

#![allow(dead_code)]

use std::path::Path;

pub mod campaign;
pub mod files;
pub mod frequency;
pub mod generate;
pub mod hybrid;
pub mod laplace;
pub mod networks;
pub mod oracle;
pub mod programs;
pub mod random;
pub mod sequence;
pub mod text;
pub mod trial;

/// Compares a text with the file that keeps it.
pub fn kept(file: &Path, text: &str) {
    if std::env::var("INSTA_UPDATE").is_ok_and(|wish| wish == "always") {
        std::fs::write(file, text).expect("a file can be written");
    }
    let there = std::fs::read_to_string(file).unwrap_or_default();
    let name = file.display();
    assert_eq!(
        there, text,
        "{name}: accept with INSTA_UPDATE=always, after reading what changed"
    );
}

/// How many generated models a family has: `BGM_CASES`, or as many as usual.
pub fn cases(usual: u64) -> u64 {
    let asked = std::env::var("BGM_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}
