//! Linear analysis: how a model behaves near a point.
//!
//! [`job`] leads from a flat model to its [`Linearised`] equations at a point ([`place`]), with inputs that are free ([`signals`]).
//! From these follow A, B, C and D ([`matrices`]), frequency responses ([`response`]), poles and zeros ([`poles`], [`zeros`]), and
//! formulas ([`symbolic`]).
//!
//! Everything starts from the derivatives of the equations themselves, not of their solution: the equations after index
//! reduction, with states, inputs and derivatives of inputs as what is known. One sparse matrix serves matrices, responses and
//! eigenvalues, however loops are solved (decision 0070).

pub mod bode;
pub mod dynamics;
pub mod job;
pub mod linearised;
pub mod locus;
pub mod matrices;
pub mod place;
pub mod poles;
pub mod reach;
pub mod response;
pub mod sensitivities;
pub mod signals;
pub mod symbolic;
mod ties;
pub mod zeros;

pub use job::{Analysed, Place, Refusal, Wishes, analyse};
pub use linearised::{Linearised, Row};
