//! What is safe whatever happens: what is read of strangers' models, what `--untrusted` refuses, what a terminal sees, what a
//! golden comment and a session may write (docs/security.md); that no file is lost or half written; how work ends that nobody wants
//! any more; what becomes of a defect.
#![cfg(unix)]

mod codes;
mod defect;
mod folder;
mod golden;
mod inputs;
mod interrupt;
mod kinds;
mod reading;
mod session;
mod terminal;
mod torn;
