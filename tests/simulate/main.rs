//! Runs (`program`, `simulate`): code for the register machine, integrators, columns, events, whole models.

mod columns;
mod integrate;
mod linear;
mod papers;
mod program;
mod random;
mod runs;
mod zero;

#[path = "../support/mod.rs"]
mod support;
