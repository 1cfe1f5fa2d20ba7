//! Structural kernels: algorithms on integers only, namely rows, columns, and the columns of each
//! row.
//!
//! No kernel recurses: each keeps its own stack. Rows and columns are visited in the order of their
//! numbers, so the result is the same in every run.

mod covering;
mod dulmage_mendelsohn;
mod incidence;
mod integer_rows;
mod matching;
pub mod numbers;
mod pantelides;
mod scc;
pub mod signs;
pub mod subsets;
mod tearing;

pub use covering::Covering;
pub use dulmage_mendelsohn::{LEFT_OUT, Part, disputed_rows, overdetermined, underdetermined};
pub use incidence::Incidence;
pub use integer_rows::{IntegerRows, difference, sum};
#[cfg(debug_assertions)]
pub use matching::matchings_begun;
pub use matching::{Matching, grow, maximum_matching};
pub use pantelides::{Offsets, pantelides};
pub use scc::{blocks, loops};
pub use tearing::{Torn, tear, torn_at};

/// The number that stands for "no row" or "no column".
pub const NONE: u32 = u32::MAX;
