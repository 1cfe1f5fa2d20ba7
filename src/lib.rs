pub mod diagnostics;
pub mod expr;
pub mod intern;
pub mod source;
pub mod syntax;
