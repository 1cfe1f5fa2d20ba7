//! Programs of a solved model in other languages: one file a target.

pub mod acsl;
pub mod classic;
pub mod desire;
pub mod simnon;
