//! The pipeline: from text to the flat model ([`text`]), from there to the representation that a request asks for ([`lower`]).
//!
//! [`stages`] names the stages, verifies the product of each and shows it to an observer. [`switched`] compiles the modes of a
//! model with switches, [`at_point`] evaluates a solved model at a point, [`bond_graph`] recovers a bond graph.

pub mod at_point;
mod bond_graph;
pub mod leaky_switches;
mod lower;
mod refused;
mod stages;
mod switched;
mod text;

pub use bond_graph::bond_graph;
pub use lower::{Aliases, Goal, Lowered, Model, Notes, Request, Starts, lower};
pub use refused::{Cause, Refused};
pub use stages::{NoObserver, Product, Stage, StageObserver};
pub use switched::{
    CompiledMode, Form, Presented, Solution, mode, mode_with, paper_form, presented,
    presented_with, reduced, shapes, shown, solved, solved_in, solved_with, sorted,
    sorted_in_some_mode, uses_modes, why_impossible,
};
pub use text::{
    LoadedFlat, Options, Prepared, check, load_flat, load_flat_with, prepare, prepare_with,
};
