//! The pipeline: from text to the flat model ([`text`]), from there to what is wanted ([`lower`]).
//!
//! [`watch`] names the stages, and verifies what each has made. [`switched`] asks for what a model with switches needs, [`modes`] keeps what came of its
//! modes, [`bond_graph`] asks for a bond graph.

mod bond_graph;
pub mod leaky_switches;
mod lower;
mod modes;
pub mod place;
mod program;
mod refused;
mod switched;
mod text;
mod watch;

pub use bond_graph::{bond_graph, bond_graph_with};
pub use lower::{Aliases, Goal, Lowered, Model, Notes, Request, Starts, determine, lower};
pub use modes::{CompiledMode, LISTED, Modes, Shapes, Table, mode_with};
pub use program::program;
pub use refused::{Cause, Refused};
pub use switched::{
    Form, Listed, Paper, Presented, Solution, in_mode, listed, presented, reduced, shown, solved,
    solved_with, sorted, sorted_somewhere, uses_modes, why_not,
};
pub use text::{
    Compiled, Options, Prepared, check, compile, compile_loaded, compile_with, prepare,
    prepare_with,
};
pub use watch::{Product, Stage, Unwatched, Watch};
