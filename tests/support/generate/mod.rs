//! Random models, a file a family: what they are made of is written down, and that they can be solved.

pub mod bonds;
pub mod circuits;
pub mod diodes;
pub mod linear;
pub mod logic;
pub mod mechanics;
pub mod model;
pub mod planar;
pub mod released;
pub mod signals;
pub mod storages;
pub mod types;
pub mod wild;
