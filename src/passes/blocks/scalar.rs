//! Blocks of one equation with one unknown.

use super::Fault;
use super::{Assignment, Block, Nonlinear, Residual, Solver};
use crate::expr::ExprId;
use crate::expr::isolate::isolate;
use crate::flat::{EqId, Leaf, Type};
use crate::passes::vanishing::Vanishing;

impl Solver<'_> {
    pub(super) fn scalar(&mut self, id: EqId, unknown: Leaf) -> Option<Block> {
        let equation = self.flat.equations[id.index()];
        let exprs = &mut self.flat.exprs;
        let Some(isolated) = isolate(exprs, equation.left, equation.right, unknown) else {
            return self.iterate(id, unknown);
        };
        let mut guard: Option<ExprId> = None;
        for divisor in isolated.divisors {
            match self.vanishing(divisor) {
                Vanishing::Never => self.depends_on_parameters(unknown, divisor),
                Vanishing::Perhaps => {
                    guard = Some(match guard {
                        None => divisor,
                        Some(other) => self.flat.exprs.tidy_mul(other, divisor),
                    });
                }
                Vanishing::Always => {
                    self.faults
                        .push(Fault::ZeroCoefficient(id, unknown, divisor));
                    return None;
                }
            }
        }
        Some(Block::Assignment(Assignment {
            target: unknown,
            value: self.flat.exprs.with_sign_inside(isolated.value),
            equation: Some(id),
            guard,
        }))
    }

    /// Makes a block of iteration for an equation that no formula solves, if its unknown is a
    /// number.
    fn iterate(&mut self, id: EqId, unknown: Leaf) -> Option<Block> {
        if self.flat.variable(unknown.variable()).ty == Type::Boolean {
            self.faults.push(Fault::Boolean(id, unknown));
            return None;
        }
        Some(Block::Nonlinear(Nonlinear {
            unknowns: vec![unknown],
            equations: vec![id],
            iteration: vec![unknown],
            inner: Vec::new(),
            residuals: vec![self.residual(id)],
            by_field: false,
        }))
    }

    /// The difference of the two sides of an equation.
    pub(super) fn residual(&mut self, id: EqId) -> Residual {
        let equation = self.flat.equations[id.index()];
        let exprs = &mut self.flat.exprs;
        let value = match exprs.is_zero(equation.left) {
            true => equation.right,
            false => exprs.tidy_sub(equation.left, equation.right),
        };
        Residual {
            equation: id,
            value,
        }
    }
}
