//! Loops that are not linear: torn into iteration variables, inner assignments and residuals. If R-fields suggest fewer
//! iteration variables than tearing finds, and all other unknowns follow from these, the suggestion is taken.

use rustc_hash::FxHashMap;

use super::{Assignment, Block, Guess, Nonlinear, Solver};
use crate::expr::isolate::isolate;
use crate::expr::{ExprId, Node};
use crate::flat::{EqId, InstanceId, Leaf};
use crate::passes::vanishing::Vanishing;
use crate::structure::{Incidence, Torn, tear, torn_at};

/// Inner assignments that build on each other lose digits if they are badly conditioned (a ladder of equal resistors
/// loses 16 digits in 38 stages). One more iteration variable cuts a chain that is longer than this.
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
        let mut torn = cut_chains(tear(&pattern, EXPLICIT), &pattern, &|_| 1);
        let by_field = torn.iteration.len() > 1
            && (self.suggested(&equations, &unknowns, &pattern))
                .filter(|other| other.iteration.len() < torn.iteration.len())
                .map(|better| torn = better)
                .is_some();
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
            by_field,
        }))
    }

    /// Tears the loop as R-fields suggest, if all unknowns follow then. Sums only add known values, so they do not
    /// count in the length of a chain.
    fn suggested(
        &mut self,
        equations: &[EqId],
        unknowns: &[Leaf],
        pattern: &Incidence,
    ) -> Option<Torn> {
        if self.guesses.is_none() {
            let mut guesses = (self.suggest)();
            self.rename(&mut guesses);
            let first = |guess: Guess| Some((*guess.iteration.first()?, guess));
            self.guesses = Some(guesses.into_iter().filter_map(first).collect());
        }
        let guesses = self.guesses.as_ref()?;
        let inside = |leaf: &Leaf| self.columns.get(leaf).copied();
        let mut guessed: Vec<u32> = Vec::new();
        let mut inputs: FxHashMap<InstanceId, Vec<u32>> = FxHashMap::default();
        for guess in unknowns.iter().filter_map(|leaf| guesses.get(leaf)) {
            let columns: Option<Vec<u32>> = guess.iteration.iter().map(inside).collect();
            guessed.extend(columns.into_iter().flatten());
            for (instance, leaf) in &guess.inputs {
                let own = inputs.entry(*instance).or_default();
                own.extend(inside(leaf));
            }
        }
        if guessed.is_empty() {
            return None;
        }
        let sums: Vec<bool> = equations.iter().map(|&id| self.flat.is_sum(id)).collect();
        let mut turned = Incidence::new(pattern.columns());
        for (row, &id) in equations.iter().enumerate() {
            let own = inputs.get(&self.flat.equations[id.index()].origin);
            let own = own.filter(|_| !sums[row]).map_or(&[][..], |own| &own[..]);
            let entries = pattern.row(row as u32).iter();
            turned.push_row(entries.map(|&(column, grade)| match own.contains(&column) {
                true => (column, IMPLICIT),
                false => (column, grade),
            }));
        }
        let torn = torn_at(&turned, EXPLICIT, &guessed)?;
        let steps = |row: u32| u32::from(!sums[row as usize]);
        Some(cut_chains(torn, pattern, &steps))
    }

    /// Replaces eliminated variables by their survivors.
    fn rename(&self, guesses: &mut [Guess]) {
        if guesses.is_empty() {
            return;
        }
        let exprs = &self.flat.exprs;
        let names: FxHashMap<Leaf, Leaf> = (self.flat.eliminated.iter())
            .filter_map(|alias| {
                let stands = exprs.negated(alias.expression).unwrap_or(alias.expression);
                match exprs.node(stands) {
                    Node::Leaf(leaf) => Some((alias.leaf, leaf)),
                    _ => None,
                }
            })
            .collect();
        for guess in guesses {
            let all = guess.iteration.iter_mut();
            for leaf in all.chain(guess.inputs.iter_mut().map(|(_, leaf)| leaf)) {
                *leaf = names.get(leaf).copied().unwrap_or(*leaf);
            }
        }
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
        // An inverse function is used only in a block of one equation. Iterating through it easily fails: v = ln(1 +
        // i/Is) has no value for most i.
        (safe && isolated.linear).then_some(isolated.value)
    }
}

/// Cuts long chains. `steps` says how much a row adds to the length of a chain.
fn cut_chains(torn: Torn, pattern: &Incidence, steps: &dyn Fn(u32) -> u32) -> Torn {
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
        let here = deepest.map_or(0, |deepest| deepest + steps(row));
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
