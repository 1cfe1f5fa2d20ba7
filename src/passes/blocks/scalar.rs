//! One equation, one unknown.

use super::{Assignment, Block, Nonlinear, Residual, Solver};
use crate::base::diagnostics::{Code, Diagnostic};
use crate::expr::ExprId;
use crate::expr::isolate::isolate;
use crate::flat::{EqId, Leaf, Type};
use crate::passes::showing::with_equations;
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
                    self.zero_coefficient(id, unknown, divisor);
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

    /// An equation that no formula solves is iterated on, if its unknown is a number.
    fn iterate(&mut self, id: EqId, unknown: Leaf) -> Option<Block> {
        if self.flat.variable(unknown.variable()).ty == Type::Boolean {
            let name = self.flat.leaf_name(unknown);
            let equation = &self.flat.equations[id.index()];
            self.diagnostics.push(
                Diagnostic::new(
                    Code::Unsolvable,
                    format!("the boolean `{name}` cannot be computed from its equation"),
                )
                .at(equation.span, self.flat.equation_text(id))
                .hint(format!(
                    "write the equation with `{name}` alone on one side"
                )),
            );
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

    /// The difference of the two sides.
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

    /// A loop whose determinant is zero, whatever happens.
    pub(super) fn singular_loop(&mut self, equations: &[EqId], unknowns: &[Leaf]) {
        const SHOWN: usize = 6;
        let names: Vec<String> = (unknowns.iter().take(SHOWN))
            .map(|&leaf| format!("`{}`", self.flat.leaf_name(leaf)))
            .collect();
        let message = format!(
            "the equations of {} do not determine them: with the values given they depend on each other",
            names.join(", ")
        );
        let diagnostic = Diagnostic::new(Code::ZeroCoefficient, message);
        let diagnostic = with_equations(&self.flat, equations.to_vec(), diagnostic);
        self.diagnostics.push(
            diagnostic
                .note("the determinant of this linear loop is zero")
                .hint("one of these equations follows from the others or contradicts them: change it, or a value"),
        );
    }

    pub(super) fn zero_coefficient(&mut self, id: EqId, unknown: Leaf, divisor: ExprId) {
        let name = self.flat.leaf_name(unknown);
        let text = self.flat.expression(divisor);
        let equation = &self.flat.equations[id.index()];
        let message = match text.as_str() {
            "0" => format!("`{name}` cannot be computed: it drops out of its equation"),
            _ => format!("`{name}` cannot be computed: `{text}` is zero as given"),
        };
        self.diagnostics.push(
            Diagnostic::new(Code::ZeroCoefficient, message)
                .at(equation.span, self.flat.equation_text(id))
                .note(format!(
                    "nothing else determines `{name}`, so this equation would have to be divided by zero"
                ))
                .hint("give another value, or leave the part out"),
        );
    }
}
