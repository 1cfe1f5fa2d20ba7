//! Solved blocks as lines, in the order of evaluation.
//!
//! ```text
//! b0 q4 v5 R1.f = e12 R1.e/R1.R
//! b1 linear formulas [v4 v5] from [q2, q3]
//!   v9 Q101 = e20 R1.R + R2.R
//! b2 torn [v6 v7] from [q5, q6] iterate [v6]
//!   q5 v7 i = e31 ...
//!   q6 residual e35 ...
//! ```

use std::fmt::Write;

use super::{Assignment, Block, Method, Residual, Solved};
use crate::expr::ExprId;
use crate::flat::Kind;
use crate::flat::dump::{self, Shown, shown};
use crate::passes::order::verify::BlockId;

pub fn dump(solved: &Solved) -> String {
    let flat = &solved.flat;
    let mut out = format!("solved {}: {} blocks\n", flat.model(), solved.blocks.len());
    for id in flat.variable_ids() {
        if flat.variable(id).kind == Kind::Auxiliary {
            dump::variable(flat, id, &mut out);
        }
    }
    let roots: Vec<ExprId> = solved.blocks.iter().flat_map(roots).collect();
    dump::expressions(flat, roots, &mut out);
    let mut dumper = Dumper { solved, out };
    for (at, block) in solved.blocks.iter().enumerate() {
        dumper.block(BlockId(at as u32), block);
    }
    let Dumper { mut out, .. } = dumper;
    for &zero in &solved.zeros {
        let _ = writeln!(out, "zero {zero:?} {}", flat.expression(zero));
    }
    for &(leaf, divisor) in &solved.divisors {
        let text = flat.expression(divisor);
        let _ = writeln!(out, "divisor {divisor:?} {text} of {}", Shown(leaf));
    }
    out
}

/// The expressions that a block computes.
fn roots(block: &Block) -> Vec<ExprId> {
    let assigned = |all: &[Assignment]| -> Vec<ExprId> {
        let all = all.iter();
        all.flat_map(|one| [Some(one.value), one.guard])
            .flatten()
            .collect()
    };
    let residuals = |all: &[Residual]| -> Vec<ExprId> { all.iter().map(|one| one.value).collect() };
    match block {
        Block::Assignment(assignment) => assigned(std::slice::from_ref(assignment)),
        Block::Linear(linear) => match &linear.method {
            Method::Formulas(assignments) => assigned(assignments),
            Method::System { matrix, right } => {
                let entries = matrix.iter().map(|entry| entry.value);
                entries.chain(right.iter().copied()).collect()
            }
        },
        Block::Nonlinear(nonlinear) => {
            let mut all = assigned(&nonlinear.inner);
            all.extend(residuals(&nonlinear.residuals));
            all
        }
        Block::Selected(selected) => residuals(&selected.residuals),
        Block::When(_) => Vec::new(),
    }
}

struct Dumper<'s> {
    solved: &'s Solved,
    out: String,
}

impl Dumper<'_> {
    fn block(&mut self, id: BlockId, block: &Block) {
        let _ = write!(self.out, "{id:?} ");
        let (unknowns, equations) = (shown(block.unknowns()), block.equations());
        match block {
            Block::Assignment(assignment) => self.assignment(assignment),
            Block::Linear(linear) => {
                let how = match linear.method {
                    Method::Formulas(_) => "formulas",
                    Method::System { .. } => "system",
                };
                let _ = writeln!(self.out, "linear {how} [{unknowns}] from {equations:?}");
                match &linear.method {
                    Method::Formulas(assignments) => self.inner(assignments),
                    Method::System { matrix, right } => {
                        for entry in matrix {
                            let place = format!("A[{}, {}]", entry.row, entry.column);
                            self.expression(&place, entry.value);
                        }
                        for (row, &value) in right.iter().enumerate() {
                            self.expression(&format!("b[{row}]"), value);
                        }
                    }
                }
            }
            Block::Nonlinear(nonlinear) => {
                let iteration = shown(&nonlinear.iteration);
                let field = if nonlinear.by_field { " by field" } else { "" };
                let _ = writeln!(
                    self.out,
                    "torn [{unknowns}] from {equations:?} iterate [{iteration}]{field}"
                );
                self.inner(&nonlinear.inner);
                self.residuals(&nonlinear.residuals);
            }
            Block::Selected(selected) => {
                let of = &selected.selections;
                let _ = writeln!(
                    self.out,
                    "selected [{unknowns}] from {equations:?} selections {of:?}"
                );
                self.residuals(&selected.residuals);
            }
            Block::When(when) => {
                let (id, target) = (when.when, Shown(when.target));
                let name = self.solved.flat.leaf_name(when.target);
                let _ = writeln!(self.out, "{id:?} {equations:?} sets {target} {name}");
            }
        }
    }

    fn inner(&mut self, assignments: &[Assignment]) {
        for assignment in assignments {
            self.out.push_str("  ");
            self.assignment(assignment);
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        let flat = &self.solved.flat;
        if let Some(id) = assignment.equation {
            let _ = write!(self.out, "{id:?} ");
        }
        let (target, value) = (assignment.target, assignment.value);
        let (name, text) = (flat.leaf_name(target), flat.expression(value));
        let target = Shown(target);
        let _ = write!(self.out, "{target} {name} = {value:?} {text}");
        if let Some(guard) = assignment.guard {
            let _ = write!(self.out, " guard {guard:?} {}", flat.expression(guard));
        }
        self.out.push('\n');
    }

    fn residuals(&mut self, residuals: &[Residual]) {
        for residual in residuals {
            let place = format!("{:?} residual", residual.equation);
            self.expression(&place, residual.value);
        }
    }

    fn expression(&mut self, place: &str, id: ExprId) {
        let text = self.solved.flat.expression(id);
        let _ = writeln!(self.out, "  {place} {id:?} {text}");
    }
}
