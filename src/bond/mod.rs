//! The bond-graph view: a graph recovered from the flat model, its causality, its picture.
//!
//! A view, not a second compiler: it reads the flat model and its sorted equations and changes neither.

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
