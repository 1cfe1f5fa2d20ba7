//! Ideal switches and diodes wherever they may stand, against closed forms. Each file holds one kind of place.

mod at_point;
mod brakes;
mod bridges;
mod capacitors;
mod circuit;
mod coils;
mod complementarity;
mod converters;
mod curved;
mod diodes;
mod first;
mod generated;
mod impulses;
mod impulses_random;
mod look;
#[cfg(debug_assertions)]
mod lowered;
mod mechanics;
mod programs;
mod released;
mod residuals;
mod three_phase;
mod ties;
mod trains;

#[path = "../support/mod.rs"]
mod support;
