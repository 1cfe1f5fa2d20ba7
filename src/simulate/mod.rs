//! From a solved model and an experiment to trajectories.
//!
//! [`program`] turns the blocks of a solved model into code for a register machine, [`integrate`]
//! wraps the integrators, [`columns`] says what is recorded, [`results`] writes and draws it.

pub mod columns;
pub mod integrate;
mod lu;
pub mod machine;
pub mod point;
pub mod program;
pub mod rates;
pub mod selection;
pub mod results;
