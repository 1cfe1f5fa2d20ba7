//! The public interface of the library.
//!
//! [`Model`] is a compiled model; a [`Loader`] makes it from text or files. A model can be listed, evaluated at a
//! point ([`Values`]) and run ([`Run`], [`Trajectory`]). Failures are an [`Error`] with the messages that the command
//! line shows. All functions use the same stages as the commands.

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
