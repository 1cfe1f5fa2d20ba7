//! What every room uses: cancellation, source texts, names, ids, diagnostics, units, words.

pub mod cancel;
pub mod clock;
pub mod diagnostics;
pub mod flaw;
pub mod ids;
pub mod intern;
pub mod source;
pub mod unit;
pub mod words;
