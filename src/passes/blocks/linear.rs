//! Linear loops: proved linear by their coefficients, solved by formulas while they are small.

use super::Fault;
use super::cramer::{self, Outcome};
use super::{Block, Entry, Linear, Method, Solver};
use crate::expr::linear::{Form, difference};
use crate::expr::{ExprId, Term};
use crate::flat::{EqId, Leaf};

/// One row of A x = b.
#[derive(Clone, Debug)]
pub struct LinearRow {
    /// By column, ascending.
    pub coefficients: Vec<(u32, ExprId)>,
    pub right: Option<ExprId>,
}

impl Solver<'_> {
    /// `None` if the loop is not linear; no block after an error.
    pub(super) fn linear(
        &mut self,
        equations: &[EqId],
        unknowns: &[Leaf],
    ) -> Option<Option<Block>> {
        let rows: Option<Vec<LinearRow>> =
            (equations.iter()).map(|&id| self.linear_row(id)).collect();
        let rows = rows?;
        let by_formulas = cramer::formulas(
            &mut self.flat,
            &mut self.auxiliaries,
            equations,
            unknowns,
            &rows,
        );
        let method = match by_formulas {
            Outcome::Solved {
                method,
                determinant,
            } => {
                self.depends_on_parameters(unknowns[0], determinant);
                method
            }
            Outcome::Large => self.system(&rows),
            Outcome::Singular => {
                self.faults
                    .push(Fault::Singular(equations.to_vec(), unknowns.to_vec()));
                return Some(None);
            }
        };
        Some(Some(Block::Linear(Linear {
            unknowns: unknowns.to_vec(),
            equations: equations.to_vec(),
            method,
        })))
    }

    fn linear_row(&mut self, id: EqId) -> Option<LinearRow> {
        let equation = self.flat.equations[id.index()];
        let columns = &self.columns;
        let column = |leaf: Leaf| columns.get(&leaf).copied();
        let exprs = &mut self.flat.exprs;
        // Unknowns to the left: `0 = f` is read as `f = 0`.
        let mut on_left = false;
        exprs.leaves(equation.left, |leaf| on_left |= column(leaf).is_some());
        let (left, right) = match on_left {
            true => (equation.left, equation.right),
            false => (equation.right, equation.left),
        };
        let Form { terms, rest, .. } = difference(exprs, left, right, &column)?;
        let moved: Vec<Term> = (rest.into_iter())
            .map(|(negative, term)| (!negative, term))
            .collect();
        let right = exprs.sum(&moved);
        Some(LinearRow {
            coefficients: terms,
            right: (!exprs.is_zero(right)).then_some(right),
        })
    }

    /// Keeps the loop as A x = b with expressions as entries. The run solves it.
    fn system(&mut self, rows: &[LinearRow]) -> Method {
        let zero = self.flat.exprs.number(0.0);
        let mut matrix = Vec::new();
        for (row, of) in rows.iter().enumerate() {
            matrix.extend(of.coefficients.iter().map(|&(column, value)| Entry {
                row: row as u32,
                column,
                value,
            }));
        }
        Method::System {
            matrix,
            right: rows.iter().map(|row| row.right.unwrap_or(zero)).collect(),
        }
    }
}
