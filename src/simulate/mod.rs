//! From a solved model and an experiment to trajectories.
//!
//! [`job`] prepares a run: columns, program, plan. [`begin`] computes consistent values at the start, [`steady`] the steady
//! state. [`integrate`] wraps the integrators, [`events`] decides what changes at events, and [`run`] is the loop over steps.
//! [`columns`] are the recorded quantities. [`run_error`] words why a run ended before its time.

pub mod begin;
pub mod columns;
pub mod defaults;
pub mod events;
pub mod integrate;
pub mod job;
pub mod mode_instance;
pub mod point;
pub mod rates;
pub mod run;
pub mod run_error;
pub mod selection;
pub mod stable_arena;
pub mod steady;
