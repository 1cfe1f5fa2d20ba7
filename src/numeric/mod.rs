//! Kernels that know numbers only: sparse matrices, their patterns and colours, factors.

mod coloring;
pub mod lu;
mod pattern;
#[cfg(test)]
mod tests;

pub use coloring::{Coloring, color};
pub use pattern::{Pattern, by_rows, for_faer, numbered};
