//! Walks over an expression that keep their own stack.

use rustc_hash::FxHashMap;

use super::{Arena, ExprId, Leaf, Node};

/// Makes something of an expression and of all its parts, operands first, each once. `operands` says what the parts of
/// an expression are; `make` finds in the map what was made of them.
pub fn fold<T, E>(
    root: ExprId,
    known: &mut FxHashMap<ExprId, T>,
    operands: impl Fn(ExprId, &mut Vec<ExprId>),
    mut make: impl FnMut(ExprId, &[ExprId], &FxHashMap<ExprId, T>) -> Result<T, E>,
) -> Result<(), E> {
    let mut stack = vec![root];
    let mut parts = Vec::new();
    while let Some(&id) = stack.last() {
        if known.contains_key(&id) {
            stack.pop();
            continue;
        }
        parts.clear();
        operands(id, &mut parts);
        let before = stack.len();
        stack.extend(parts.iter().filter(|part| !known.contains_key(part)));
        if stack.len() > before {
            continue;
        }
        stack.pop();
        let made = make(id, &parts, known)?;
        known.insert(id, made);
    }
    Ok(())
}

impl<L: Leaf> Arena<L> {
    /// The operands of a node, in order.
    pub fn operands(&self, id: ExprId, out: &mut Vec<ExprId>) {
        match self.node(id) {
            Node::Number(_) | Node::Bool(_) | Node::Time | Node::Leaf(_) => {}
            Node::Unary(_, a) => out.push(a),
            Node::Binary(_, a, b) => out.extend([a, b]),
            Node::If(a, b, c) => out.extend([a, b, c]),
            Node::Call(_, args) | Node::List(args) => out.extend_from_slice(self.args(args)),
        }
    }

    /// Visits the operands of a node in order, without allocating.
    pub fn each_operand(&self, id: ExprId, mut visit: impl FnMut(ExprId)) {
        match self.node(id) {
            Node::Number(_) | Node::Bool(_) | Node::Time | Node::Leaf(_) => {}
            Node::Unary(_, a) => visit(a),
            Node::Binary(_, a, b) => [a, b].into_iter().for_each(visit),
            Node::If(a, b, c) => [a, b, c].into_iter().for_each(visit),
            Node::Call(_, args) | Node::List(args) => {
                self.args(args).iter().copied().for_each(visit);
            }
        }
    }

    /// By expression of the arena: whether it is a part of these. A loop suffices, because operands come before the
    /// nodes that use them.
    pub fn reached(&self, roots: impl IntoIterator<Item = ExprId>) -> Vec<bool> {
        let mut marks = vec![false; self.len()];
        for root in roots {
            marks[root.index()] = true;
        }
        for at in (0..self.len()).rev() {
            if marks[at] {
                self.each_operand(ExprId(at as u32), |operand| marks[operand.index()] = true);
            }
        }
        marks
    }

    /// By expression of the arena: whether these roots and their parts use it not at all, once, or more often (2).
    pub fn uses(&self, roots: impl IntoIterator<Item = ExprId>) -> Vec<u8> {
        let mut uses = vec![0u8; self.len()];
        for root in roots {
            uses[root.index()] = 2.min(uses[root.index()] + 1);
        }
        for at in (0..self.len()).rev() {
            if uses[at] > 0 {
                self.each_operand(ExprId(at as u32), |operand| {
                    uses[operand.index()] = 2.min(uses[operand.index()] + 1);
                });
            }
        }
        uses
    }

    /// Visits every leaf of the expression, as often as it occurs, from left to right.
    pub fn leaves(&self, root: ExprId, mut visit: impl FnMut(L)) {
        let mut stack = vec![root];
        let mut operands = Vec::new();
        while let Some(id) = stack.pop() {
            if let Node::Leaf(leaf) = self.node(id) {
                visit(leaf);
            }
            self.operands(id, &mut operands);
            stack.extend(operands.drain(..).rev());
        }
    }

    /// The path from the root down to a leaf, and how often the leaf occurs in the expression (2 means several times).
    pub fn path(&self, root: ExprId, leaf: L) -> (Vec<ExprId>, usize) {
        let (mut found, mut count) = (Vec::new(), 0);
        let mut way: Vec<ExprId> = Vec::new();
        let mut stack = vec![(root, 0)];
        let mut operands = Vec::new();
        while let Some((id, depth)) = stack.pop() {
            way.truncate(depth);
            way.push(id);
            if self.node(id) == Node::Leaf(leaf) {
                count += 1;
                if count == 2 {
                    break;
                }
                found.clone_from(&way);
            }
            self.operands(id, &mut operands);
            stack.extend(operands.drain(..).rev().map(|operand| (operand, depth + 1)));
        }
        (found, count)
    }

    /// The number of nodes of the expression if it is written out; counting stops at `most`.
    pub fn size(&self, root: ExprId, most: usize) -> usize {
        let mut size = 0;
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            size += 1;
            if size >= most {
                break;
            }
            self.operands(id, &mut stack);
        }
        size
    }
}
