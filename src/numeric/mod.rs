//! Numeric kernels: sparse matrices, their patterns and colourings, LU factors, eigenvalues.
//! They know nothing of models.

pub mod arnoldi;
mod coloring;
pub mod eigen;
pub mod lu;
mod pattern;
pub mod pencil;
#[cfg(test)]
mod tests;
pub mod zero;

pub use coloring::{Coloring, color};
pub use pattern::{Pattern, by_rows, for_faer, numbered};
