//! What variables depend on once events are counted.
//!
//! Before: a graph, the columns that are asked for, and what decides the next value of each discrete variable. After: of every variable
//! the columns that it may depend on, also through relations and through what events have done before. Discrete variables depend on each
//! other in circles, so each is a column of its own first; then circles of them are put together.

use super::{Depends, Graph, List, Relations};
use crate::expr::ExprId;
use crate::flat::{Leaf, VarId};
use crate::structure::{Incidence, Matching, blocks};

/// Numbers in all lists together.
const MOST: usize = 20_000_000;

#[derive(Debug)]
pub struct AtEvents<'g> {
    depends: Depends<'g>,
    /// Columns from here on are discrete variables.
    first: u32,
    /// By discrete variable, the columns before those; `None` if there are too many.
    through: Vec<Option<Vec<u32>>>,
}

impl<'g> AtEvents<'g> {
    /// Columns are the leaves in their order, then Time. A discrete variable comes with the expressions in `when`s that decide it.
    pub fn new(graph: &'g Graph<'g>, leaves: &[Leaf], discretes: &[(VarId, Vec<ExprId>)]) -> Self {
        let time = leaves.len() as u32;
        let first = time + 1;
        let mut depends = Depends::new(
            graph,
            Relations::Decided,
            first as usize + discretes.len(),
            MOST,
        );
        let own = discretes.iter().map(|&(id, _)| Leaf::Var(id));
        for (leaf, column) in leaves.iter().copied().zip(0..).chain(own.zip(first..)) {
            depends.column(leaf, column);
        }
        depends.time(time);
        depends.follow(|_| true);
        let lists: Vec<List> = (discretes.iter())
            .map(|(id, set)| {
                let mut lists = vec![depends.leaf(Leaf::New(*id))];
                lists.push(depends.expressions(set.iter().copied()));
                depends.lists.merge(&mut lists, 0)
            })
            .collect();
        let mut all = AtEvents {
            depends,
            first,
            through: vec![Some(Vec::new()); lists.len()],
        };
        for circle in circles(&all.depends, first, &lists) {
            let mut found = Some(Vec::new());
            for &member in &circle {
                found = all.add(found, lists[member as usize]);
            }
            for member in circle {
                all.through[member as usize].clone_from(&found);
            }
        }
        all
    }

    /// Columns that a variable depends on, ascending; `None` if there are too many to be listed.
    pub fn of(&mut self, leaf: Leaf) -> Option<Vec<u32>> {
        let list = self.depends.leaf(leaf);
        self.add(Some(Vec::new()), list)
    }

    /// Adds a list and what its discrete variables depend on.
    fn add(&self, to: Option<Vec<u32>>, list: List) -> Option<Vec<u32>> {
        let lists = self.depends.lists();
        if lists.is_given_up(list) {
            return None;
        }
        let mut found = to?;
        for &column in lists.of(list) {
            match column.checked_sub(self.first) {
                None => found.push(column),
                Some(discrete) => found.extend(self.through[discrete as usize].as_deref()?),
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }
}

/// Discrete variables that depend on each other, after those that they depend on.
fn circles(depends: &Depends<'_>, first: u32, lists: &[List]) -> Vec<Vec<u32>> {
    let mut incidence = Incidence::new(lists.len());
    for &list in lists {
        let columns = depends.lists().of(list).iter();
        incidence.push_row(columns.filter_map(|column| Some((column.checked_sub(first)?, 0))));
    }
    let each: Vec<u32> = (0..lists.len() as u32).collect();
    let matching = Matching {
        column_of: each.clone(),
        row_of: each,
    };
    blocks(&incidence, &matching)
}
