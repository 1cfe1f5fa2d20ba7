//! From a solved model and an experiment to trajectories.
//!
//! [`program`] turns the blocks of a solved model into code for a register machine ([`machine`]),
//! [`integrate`] wraps the integrators, [`begin`] computes the start, [`events`] settles what happens
//! at events, [`run`] is the loop over steps. [`columns`] says what is recorded, [`results`] writes and
//! draws it.

pub mod begin;
pub mod columns;
pub mod defaults;
pub mod events;
pub mod halt;
pub mod integrate;
pub mod job;
pub mod point;
pub mod rates;
pub mod run;
pub mod seat;
pub mod selection;
pub mod steady;
