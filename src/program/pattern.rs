//! Which rates depend on which states, and which residuals of a loop on which of its unknowns.

use std::sync::Arc;

use super::blocks::Builder;
use crate::flat::{Flat, Leaf};
use crate::numeric::{Coloring, color};
use crate::passes::blocks::{Assignment, Residual};
use crate::passes::depends::{Depends, Graph, List, Relations};

/// The pattern of the derivatives of rates by states, in the order of [`super::Program::states`] and then of the slots of
/// selections, through the blocks that rates need.
pub(super) fn of_rates(flat: &Flat, graph: &Graph<'_>, for_rates: &[bool]) -> Coloring {
    let size = flat.state_count();
    let mut depends = Depends::new(graph, Relations::Held, size, usize::MAX);
    let mut next = 0;
    for state in flat.states() {
        depends.column(state, next);
        next += 1;
    }
    for selection in flat.selections() {
        let slots = next..next + selection.states;
        next = slots.end;
        depends.candidates(&selection.candidates, slots);
    }
    depends.follow(|at| for_rates[at]);
    let mut rows: Vec<List> = Vec::with_capacity(size);
    for state in flat.states() {
        rows.push(depends.leaf(state.rate()));
    }
    for selection in flat.selections() {
        let rates = selection.candidates.iter().map(|&leaf| leaf.rate());
        let list = depends.union(rates);
        rows.extend(std::iter::repeat_n(list, selection.states as usize));
    }
    color(depends.lists().all(), &rows, size)
}

impl Builder<'_> {
    /// The pattern of a loop, which both parts have.
    pub(super) fn pattern(
        &mut self,
        block: usize,
        unknowns: &[Leaf],
        inner: &[Assignment],
        residuals: &[Residual],
    ) -> Arc<Coloring> {
        let graph = self.graph;
        let found = self.patterns.entry(block).or_insert_with(|| {
            let depends = (self.loops)
                .get_or_insert_with(|| Depends::new(graph, Relations::Held, 0, usize::MAX));
            Arc::new(depends.of_loop(unknowns, inner, residuals))
        });
        Arc::clone(found)
    }
}
