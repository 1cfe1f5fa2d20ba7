//! Models that are singular because signs cancel, although their structure is regular.

pub(crate) mod hidden;
pub mod reference;
