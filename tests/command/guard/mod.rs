//! Models of strangers: what is read, what `--untrusted` refuses, what a terminal sees, what a golden comment and a session
//! may write. See docs/security.md.
#![cfg(unix)]

mod folder;
mod golden;
mod reading;
mod session;
mod terminal;
