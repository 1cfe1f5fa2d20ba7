//! Finds the blocks that have to be evaluated for some variables.

use super::Graph;
use crate::base::cancel::glance;
use crate::expr::{ExprId, Node};
use crate::flat::Leaf;

/// The variables that are wanted, and the expressions that were visited.
#[derive(Debug)]
pub struct Needed<'g> {
    graph: &'g Graph<'g>,
    /// By slot.
    wanted: Vec<bool>,
    /// By expression.
    seen: Vec<bool>,
    work: Vec<ExprId>,
}

impl<'g> Needed<'g> {
    pub fn new(graph: &'g Graph<'g>) -> Self {
        Needed {
            wanted: vec![false; graph.slots.count()],
            seen: vec![false; graph.flat.exprs.len()],
            work: Vec::new(),
            graph,
        }
    }

    /// Adds a variable. For an eliminated one its replacement is added.
    pub fn leaf(&mut self, leaf: Leaf) {
        match self.graph.replacements.get(&leaf) {
            Some(&expression) => self.expression(expression),
            None => {
                if let Some(slot) = self.graph.slots.of(leaf) {
                    self.wanted[slot] = true;
                }
            }
        }
    }

    /// Adds all variables of an expression.
    pub fn expression(&mut self, root: ExprId) {
        let exprs = &self.graph.flat.exprs;
        let mut work = std::mem::take(&mut self.work);
        work.push(root);
        while let Some(id) = work.pop() {
            glance();
            if std::mem::replace(&mut self.seen[id.index()], true) {
                continue;
            }
            let Node::Leaf(leaf) = exprs.node(id) else {
                exprs.operands(id, &mut work);
                continue;
            };
            match self.graph.replacements.get(&leaf) {
                Some(&expression) => work.push(expression),
                None => self.leaf(leaf),
            }
        }
        self.work = work;
    }

    /// For each block whether it is needed: it computes a variable that is wanted, or one that a
    /// later needed block reads.
    pub fn blocks(mut self) -> Vec<bool> {
        let blocks = self.graph.blocks;
        let mut marks = vec![false; blocks.len()];
        for (at, block) in blocks.iter().enumerate().rev() {
            let slots = &self.graph.slots;
            let is_wanted = |leaf: Leaf| slots.of(leaf).is_some_and(|slot| self.wanted[slot]);
            marks[at] = block.targets().any(is_wanted);
            if marks[at] {
                for expression in block.expressions() {
                    self.expression(expression);
                }
            }
        }
        marks
    }
}
