//! Ideal switches and diodes wherever they may stand, against closed forms. Each file holds one kind of place.

#[path = "switches/at_point.rs"]
mod at_point;
#[allow(dead_code)]
#[path = "export/bench.rs"]
mod bench;
#[path = "switches/bridges.rs"]
mod bridges;
#[path = "switches/capacitors.rs"]
mod capacitors;
#[path = "switches/circuit.rs"]
mod circuit;
#[path = "switches/coils.rs"]
mod coils;
#[path = "switches/converters.rs"]
mod converters;
#[path = "switches/curved.rs"]
mod curved;
#[path = "switches/diodes.rs"]
mod diodes;
#[path = "switches/first.rs"]
mod first;
#[path = "switches/generated.rs"]
mod generated;
#[path = "switches/look.rs"]
mod look;
#[path = "switches/mechanics.rs"]
mod mechanics;
#[allow(dead_code)]
#[path = "residuals/oracle.rs"]
mod oracle;
#[path = "switches/programs.rs"]
mod programs;
#[allow(dead_code)]
#[path = "residuals/random.rs"]
mod random;
#[path = "switches/residuals.rs"]
mod residuals;
#[path = "switches/three_phase.rs"]
mod three_phase;
// Each crate of tests uses a part of it.
#[allow(dead_code)]
#[path = "simulation/trial.rs"]
mod trial;
