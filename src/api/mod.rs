//! The library's face: what a program that uses bgm needs, in few words.
//!
//! [`Model`] is a compiled model; a [`Loader`] makes it from text or files. It lists itself, is evaluated at a point
//! ([`Values`]) and runs ([`Run`], [`Trajectory`]). What is wrong comes as an [`Error`] with the messages that the
//! command line shows. Everything here is made of the same stages that the commands use.

mod error;
mod files;
mod listings;
mod model;
mod point;
mod run;

pub use error::{Error, Message, Place};
pub use model::{Loader, Model, Variable};
pub use point::Values;
pub(crate) use run::series;
pub use run::{Run, Trajectory};
