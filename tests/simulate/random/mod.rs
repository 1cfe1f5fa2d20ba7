//! Random models by family, each judged by something that shares no code with bgm: closed forms, transforms, other
//! solvers. Small here; docs/robustness.md tells how many were tried at once, and how they came out.

mod balls;
mod diodes;
mod linear;
mod logic;
mod released;
