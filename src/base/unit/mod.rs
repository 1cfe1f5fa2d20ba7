//! Units: what a text such as `kOhm` or `J/(kg.K)` means, and how it is written.
//!
//! [`Measure`] is the meaning, for checks and conversions. [`Unit`] is the text as a product of names, for what is shown
//! of products and derivatives, whose names are to stay.

mod domain;
mod measure;
mod names;
mod power;
mod product;
mod quantity;
mod show;

pub use domain::{Domain, domain};
pub use measure::{Dimension, Measure, NotAUnit, read};
pub use names::nearest;
pub use power::Power;
pub use product::{Unit, is_energy, is_velocity, product, times_seconds};
pub use quantity::{number_end, quantity};
pub use show::{prefixed, text};
