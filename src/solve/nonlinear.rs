//! Loops that are not linear: torn into iteration variables, inner assignments and residuals.

use super::{Assignment, Block, Nonlinear, Solver};
use crate::expr::ExprId;
use crate::expr::isolate::isolate;
use crate::flat::{EqId, Leaf};
use crate::structure::{Incidence, Torn, tear};
use crate::vanishing::Vanishing;

/// Inner assignments that build on each other lose digits where they are not well conditioned (an
/// equal-resistor ladder 16 digits in 38 stages): a longer chain is cut by one more iteration
/// variable.
const LONGEST_CHAIN: u32 = 16;

/// The row can be solved for the unknown by a formula whose divisors cannot vanish.
const EXPLICIT: u8 = 0;
const IMPLICIT: u8 = 1;

impl Solver<'_> {
    pub(super) fn nonlinear(&mut self, equations: Vec<EqId>, unknowns: Vec<Leaf>) -> Option<Block> {
        let mut pattern = Incidence::new(unknowns.len());
        for &id in &equations {
            let columns = self.unknowns_of(id);
            let entries: Vec<(u32, u8)> = (columns.into_iter())
                .map(
                    |column| match self.explicit(id, unknowns[column as usize]) {
                        Some(_) => (column, EXPLICIT),
                        None => (column, IMPLICIT),
                    },
                )
                .collect();
            pattern.push_row(entries);
        }
        let torn = cut_chains(tear(&pattern, EXPLICIT), &pattern);
        let mut inner = Vec::with_capacity(torn.inner.len());
        for &(row, column) in &torn.inner {
            let (id, target) = (equations[row as usize], unknowns[column as usize]);
            inner.push(Assignment {
                target,
                value: self.explicit(id, target)?,
                equation: Some(id),
                guard: None,
            });
        }
        let residuals = (torn.residuals.iter())
            .map(|&row| self.residual(equations[row as usize]))
            .collect();
        Some(Block::Nonlinear(Nonlinear {
            iteration: (torn.iteration.iter())
                .map(|&column| unknowns[column as usize])
                .collect(),
            inner,
            residuals,
            unknowns,
            equations,
        }))
    }

    /// Columns of the unknowns in an equation, each once.
    fn unknowns_of(&self, id: EqId) -> Vec<u32> {
        let equation = &self.flat.equations[id.index()];
        let mut found = Vec::new();
        for side in [equation.left, equation.right] {
            self.flat.exprs.leaves(side, |leaf| {
                found.extend(self.columns.get(&leaf));
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn explicit(&mut self, id: EqId, unknown: Leaf) -> Option<ExprId> {
        let equation = self.flat.equations[id.index()];
        let exprs = &mut self.flat.exprs;
        let isolated = isolate(exprs, equation.left, equation.right, unknown)?;
        let safe =
            (isolated.divisors.iter()).all(|&divisor| self.vanishing(divisor) == Vanishing::Never);
        // An inverse function is good for one equation alone; iterating through it asks for trouble:
        // v = ln(1 + i/Is) has no value for most i.
        (safe && isolated.linear).then_some(isolated.value)
    }
}

fn cut_chains(torn: Torn, pattern: &Incidence) -> Torn {
    let mut depth = vec![0u32; pattern.columns()];
    let mut cut = Torn {
        inner: Vec::with_capacity(torn.inner.len()),
        ..torn
    };
    for (row, column) in torn.inner {
        let deepest = (pattern.row(row).iter())
            .filter(|&&(other, _)| other != column)
            .map(|&(other, _)| depth[other as usize])
            .max();
        let here = deepest.map_or(0, |deepest| deepest + 1);
        if here > LONGEST_CHAIN {
            cut.iteration.push(column);
            cut.residuals.push(row);
        } else {
            depth[column as usize] = here;
            cut.inner.push((row, column));
        }
    }
    cut.iteration.sort_unstable();
    cut.residuals.sort_unstable();
    cut
}
