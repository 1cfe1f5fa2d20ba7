//! Runs of whole models against closed forms, published references and the flat equations.

#[path = "simulation/circuits.rs"]
mod circuits;
#[path = "simulation/discrete.rs"]
mod discrete;
#[path = "simulation/events.rs"]
mod events;
#[path = "simulation/examples.rs"]
mod examples;
#[path = "simulation/found.rs"]
mod found;
#[path = "simulation/mechanics.rs"]
mod mechanics;
#[path = "simulation/methods.rs"]
mod methods;
// The walk is used here, not all that is built on it.
#[allow(dead_code)]
#[path = "residuals/oracle.rs"]
mod oracle;
#[path = "simulation/program.rs"]
mod program;
#[path = "simulation/steady.rs"]
mod steady;
#[path = "simulation/stiff.rs"]
mod stiff;
#[path = "simulation/trial.rs"]
mod trial;
