//! Equations that are structurally fine and numerically singular, because signs cancel.

pub(crate) mod hidden;
pub mod reference;
