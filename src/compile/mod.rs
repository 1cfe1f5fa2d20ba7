//! The pipeline: from text to the flat model ([`text`]), from there to what is wanted ([`lower`]).
//!
//! [`watch`] names the stages, and verifies what each has made. [`switched`] asks for the modes of a model with switches, [`bond_graph`] for a bond graph.

mod bond_graph;
pub mod leaky_switches;
mod lower;
pub mod place;
mod refused;
mod switched;
mod text;
mod watch;

pub use bond_graph::bond_graph;
pub use lower::{Aliases, Goal, Lowered, Model, Notes, Request, Starts, lower};
pub use refused::{Cause, Refused};
pub use switched::{
    CompiledMode, Form, Presented, Solution, mode, mode_with, paper_form, presented,
    presented_with, reduced, shapes, shown, solved, solved_in, solved_with, sorted,
    sorted_somewhere, uses_modes, why_not,
};
pub use text::{Compiled, Options, Prepared, check, compile, compile_with, prepare, prepare_with};
pub use watch::{Product, Stage, Unwatched, Watch};
