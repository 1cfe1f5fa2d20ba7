//! The pipeline: from text to the flat model ([`text`]), from there to what is wanted ([`lower`]).
//!
//! [`switched`] asks for the modes of a model with switches, [`bond_graph`] for a bond graph.

mod bond_graph;
pub mod leaky_switches;
mod lower;
pub mod place;
mod refused;
mod switched;
mod text;

pub use bond_graph::bond_graph;
pub use lower::{
    Aliases, Goal, Lowered, Model, Notes, Product, Request, Stage, Starts, Unwatched, Watch, lower,
};
pub use refused::{Cause, Refused};
pub use switched::{
    CompiledMode, Presented, Solution, mode, paper_form, presented, reduced, shapes, solved,
    solved_in, solved_with, sorted, sorted_somewhere, uses_modes, why_not,
};
pub use text::{Compiled, Options, Prepared, check, compile, prepare};
