//! Listings of models, for people and for programs.

pub mod equations;
pub mod json;
mod lines;
pub mod sorted;

pub use lines::count;
