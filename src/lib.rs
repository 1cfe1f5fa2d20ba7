//! bgm: a compiler for acausal models of physical systems.
//!
//! ```text
//! text --syntax--> Ast --model--> classes, instances --> Flat
//! Flat --balance, reference, reduce, alias, sort--> Sorted --solve--> Solved --evaluate--> values
//! listings of Flat, Sorted and Solved: text, json, LaTeX
//! Flat --bond--> Graph, causality --> listing, json, SVG, DOT
//! ```
//!
//! [`compile`] shows the stages in order. Everything behind [`load`] is free of input and output;
//! [`cli`] is the edge. Representations are flat arenas with typed ids: nothing recurses as deep as
//! a model, and nothing depends on hash order. docs/architecture.md tells more.

pub mod base;
pub mod bond;
pub mod cli;
pub mod compile;
pub mod evaluate;
pub mod experiment;
pub mod export;
pub mod expr;
pub mod flat;
pub mod listing;
pub mod model;
pub mod numeric;
pub mod passes;
pub mod picture;
pub mod positions;
pub mod program;
pub mod revise;
pub mod session;
pub mod simulate;
pub mod start;
pub mod structure;
pub mod syntax;
