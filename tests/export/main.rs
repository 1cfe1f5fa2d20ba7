//! Models in other languages (`export`, `listing::latex`), run by those who know them.

mod classic;
mod fmu;
mod latex;
mod modelica;
mod programs;

#[path = "../support/mod.rs"]
mod support;
