//! The program of a solved model, as a stage.

use super::stages::{Product, Stage, StageObserver, done};
use crate::expr::ExprId;
use crate::passes::blocks::Solved;
use crate::program::{Program, Shared, build_in};

/// Builds it; of a mode, with what all modes `shared` have.
pub fn program(
    solved: &Solved,
    columns: &[ExprId],
    shared: Option<Shared<'_>>,
    observer: &mut dyn StageObserver,
) -> Program {
    observer.before(Stage::Program);
    let program = build_in(solved, columns, shared);
    let product = Product::Program(&program, &solved.flat);
    done(observer, Stage::Program, product);
    program
}
