//! The program as its users and their files see it (`cli`, `session`, `picture`, `listing`), and the rules of this repository.

mod docs;
mod dumps;
mod golden;
mod guard;
mod json;
mod layers;
mod mutations;
mod package;
mod results;
mod session;
mod simulate;
mod solved_json;
mod tidy;

#[path = "../support/mod.rs"]
mod support;
