//! Passes over the flat model, in the order in which they run.

pub mod aliases;
pub mod blocks;
pub mod depends;
pub mod determined;
pub mod index;
pub mod known;
pub mod order;
pub mod power;
pub mod relations;
pub mod showing;
pub mod signs;
pub mod storages;
pub mod vanishing;
pub mod zeros;
