//! The pipeline: from text to the flat model ([`text`]), from there to the representation that a request asks for ([`lower`]).
//!
//! [`stages`] names the stages, verifies the product of each and shows it to an observer. [`switched`] compiles models with
//! switches, [`modes`] keeps the outcome of each mode, [`at_point`] evaluates a solved model at a point, [`bond_graph`] recovers a
//! bond graph, [`program`] builds the code of a solved model.

pub mod at_point;
mod bond_graph;
pub mod leaky_switches;
mod lower;
mod modes;
mod program;
mod refused;
mod stages;
mod switched;
mod text;

pub use bond_graph::{bond_graph, bond_graph_with};
pub use lower::{Aliases, Goal, Lowered, Model, Notes, Request, Starts, determine, lower};
pub use modes::{CompiledMode, LISTED, Modes, Shapes, Table, mode_with};
pub use program::program;
pub use refused::{Cause, Refused};
pub use stages::{NoObserver, Product, Stage, StageObserver};
pub use switched::{
    Form, Listed, Paper, Presented, Runnable, Solution, in_mode, listed, presented, reduced, shown,
    solved, solved_for_run, solved_with, sorted, sorted_in_some_mode, uses_modes, why_impossible,
};
pub use text::{
    LoadedFlat, Options, Prepared, check, flatten_loaded, load_flat, load_flat_with, prepare,
    prepare_with,
};
