//! From text to syntax tree.
//!
//! ```text
//! text --lex--> tokens --layout--> tokens with separators --grammar/bgm.lalrpop--> Ast
//! ```
//!
//! Each step reports what it finds wrong and goes on, so that one run shows several errors.

pub mod ast;
mod blocks;
mod brackets;
pub mod dump;
mod dump_statement;
mod errors;
mod hints;
mod layout;
mod lexer;
pub mod library;
pub mod load;
mod parse;
pub mod print;
mod print_statement;
mod token;
pub mod verify;
mod words;

pub use parse::parse;
pub use token::shorten;
