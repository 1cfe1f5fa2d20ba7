//! Numeric kernels: sparse matrices, their patterns and colourings, LU factors. They know nothing
//! of models.

mod coloring;
pub mod lu;
mod pattern;
#[cfg(test)]
mod tests;
pub mod zero;

pub use coloring::{Coloring, color};
pub use pattern::{Pattern, by_rows, for_faer, numbered};
