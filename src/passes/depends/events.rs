//! On which columns variables depend if events are counted.
//!
//! Before: a graph, the columns, and the expressions that decide the next value of each discrete variable. After: for
//! every variable the columns that it may depend on, also through relations and through earlier events. Discrete
//! variables depend on each other in cycles: each is a column of its own at first, then the variables of a cycle get
//! one common list.

use super::{Depends, Graph, List, Relations};
use crate::expr::ExprId;
use crate::flat::{Leaf, VarId};
use crate::structure::{Incidence, Matching, blocks};

/// The most numbers in all lists together.
const MOST: usize = 20_000_000;

#[derive(Debug)]
pub struct AtEvents<'g> {
    depends: Depends<'g>,
    /// The columns from here on are discrete variables.
    first: u32,
    /// For each discrete variable the columns that it depends on; `None` if there are too many.
    through: Vec<Option<Vec<u32>>>,
}

impl<'g> AtEvents<'g> {
    /// The columns are `leaves` in their order, then Time. A discrete variable is given with the expressions in `when`s
    /// that decide it.
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

    /// Adds the columns of a list, and those of the discrete variables in it.
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

/// Cycles of discrete variables that depend on each other, in an order in which each cycle follows those that it
/// depends on.
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
