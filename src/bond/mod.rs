//! The bond graph of a model: recovered from the flat model, with its causality, its fields and
//! what a picture of it shows.
//!
//! This room is a view, not a second compiler. It reads the flat model and its sorted equations and
//! does not change the pipeline.

mod bond_graph;
pub mod causality;
pub mod classify;
pub mod dump;
pub mod fields;
pub mod graph;
pub mod net;
pub mod order;
pub mod recover;
mod signals;
pub mod sketch;
pub mod strokes;
pub mod verify;
pub mod view;

pub use bond_graph::{BondGraph, causality_with};
