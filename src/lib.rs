//! bgm: a compiler for acausal models of physical systems.
//!
//! An engineer writes reusable submodels and connects them; bgm flattens them into equations, sorts and solves these,
//! runs the model, and shows its bond graph. The language is described in docs/language.md, the command line in the README.
//! A program uses [`Model`]:
//!
//! ```
//! let model = bgm::Model::from_text("
//! @electrical
//! model Charge
//!   submodel (VoltageSource) U0
//!   submodel (Resistor) R1(R = 100)
//!   submodel (Capacitor) C1(C = 1E-6) (ic u = 2)
//!   submodel Ground
//!   input v
//!   output y
//!   connect Ground - U0 - R1 - C1 - Ground
//!   U0.E0 = v
//!   y = C1.u
//! end")?;
//! println!("{}", model.solved()?);
//! println!("{}", model.causality()?);
//!
//! let run = model.simulate(&bgm::Run::new().until(4E-4).input("v", 10))?;
//! let (times, y) = (run.times(), &run["y"]);
//! assert_eq!(times.len(), y.len());
//! # Ok::<(), bgm::Error>(())
//! ```
//!
//! What is not shown here is for the program `bgm` and its tests, and may change at any time; docs/architecture.md
//! leads through it. The feature `cli`, which is on by default, holds what needs an operating system; without it the
//! library compiles texts and runs models where there is none.

mod api;

pub use api::{Error, Loader, Message, Model, Place, Run, Trajectory, Values, Variable};

#[doc(hidden)]
pub mod analyse;
#[doc(hidden)]
pub mod base;
#[doc(hidden)]
pub mod bond;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod compile;
#[doc(hidden)]
pub mod evaluate;
#[doc(hidden)]
pub mod experiment;
#[doc(hidden)]
pub mod export;
#[doc(hidden)]
pub mod expr;
#[doc(hidden)]
pub mod flat;
#[doc(hidden)]
pub mod listing;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod numeric;
#[doc(hidden)]
pub mod passes;
#[doc(hidden)]
pub mod picture;
#[doc(hidden)]
pub mod positions;
#[doc(hidden)]
pub mod program;
#[doc(hidden)]
pub mod revise;
#[doc(hidden)]
pub mod session;
#[doc(hidden)]
pub mod simulate;
#[doc(hidden)]
pub mod start;
#[doc(hidden)]
pub mod structure;
#[doc(hidden)]
pub mod syntax;
