//! From text to syntax tree.
//!
//! ```text
//! text --lex--> tokens --layout--> tokens with separators --grammar/bgm.lalrpop--> Ast
//! ```
//!
//! Each step reports what it finds wrong and goes on, so that one run shows several errors.

pub mod ast;
pub mod dump;
mod errors;
mod layout;
mod lexer;
mod parse;
pub mod print;
mod print_statement;
mod token;

pub use parse::parse;
pub use token::shorten;
