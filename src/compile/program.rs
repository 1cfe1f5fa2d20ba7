//! The program of a solved model, as a stage.

use super::watch::{Product, Stage, Watch, done};
use crate::expr::ExprId;
use crate::passes::blocks::Solved;
use crate::program::{Program, Shared, build_in};

/// Builds it; of a mode, with what all modes `shared` have.
pub fn program(
    solved: &Solved,
    columns: &[ExprId],
    shared: Option<Shared<'_>>,
    watch: &mut dyn Watch,
) -> Program {
    watch.before(Stage::Program);
    let program = build_in(solved, columns, shared);
    let product = Product::Program(&program, &solved.flat);
    done(watch, Stage::Program, product);
    program
}
