//! What is done to flat models (`passes`, `start`, `evaluate`): signs, sorting, index reduction, solving, and whether the
//! values of solved models satisfy the equations as they were written.

mod depends;
mod evaluate;
mod hidden;
mod pencil;
mod physics;
mod reduction;
mod residuals;
mod signs;
mod solving;
mod sorting;
mod storages;
mod verify;

#[path = "../support/mod.rs"]
mod support;
