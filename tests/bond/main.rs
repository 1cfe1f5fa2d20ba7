//! The bond graph of a flat model (`bond`, `picture::bond`) and models written anew from it (`revise`).

mod augment;
mod causal;
mod drawing;
mod field_order;
mod fields;
mod multiports;
mod reduce;
mod robust_fields;
mod strokes;

#[path = "../support/mod.rs"]
mod support;
