//! Replaces parts of an expression.

use rustc_hash::FxHashMap;

use super::{Arena, ExprId, Leaf, Node};

impl<L: Leaf> Arena<L> {
    /// Replaces parts of an expression; the rest stays as it was written. `replace` is called for each part before its
    /// operands, and then for the parts of the replacement. So a replacement must not contain what it replaces.
    pub fn rewrite(
        &mut self,
        root: ExprId,
        replace: &mut impl FnMut(&mut Self, ExprId) -> Option<ExprId>,
    ) -> ExprId {
        self.replaced(root, true, replace)
    }

    /// Replaces leaves. Leaves in the replacements are not replaced.
    pub fn replace_leaves(&mut self, root: ExprId, by: impl Fn(L) -> Option<ExprId>) -> ExprId {
        self.replaced(root, false, &mut |arena, id| match arena.node(id) {
            Node::Leaf(leaf) => by(leaf),
            _ => None,
        })
    }

    fn replaced(
        &mut self,
        root: ExprId,
        again: bool,
        replace: &mut impl FnMut(&mut Self, ExprId) -> Option<ExprId>,
    ) -> ExprId {
        let mut new: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let mut other: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let mut stack = vec![root];
        let mut operands = Vec::new();
        while let Some(&id) = stack.last() {
            if new.contains_key(&id) {
                stack.pop();
                continue;
            }
            if !other.contains_key(&id)
                && let Some(by) = replace(self, id)
            {
                other.insert(id, by);
            }
            if let Some(&by) = other.get(&id) {
                match if again {
                    new.get(&by).copied()
                } else {
                    Some(by)
                } {
                    Some(done) => {
                        new.insert(id, done);
                        stack.pop();
                    }
                    None => stack.push(by),
                }
                continue;
            }
            operands.clear();
            self.operands(id, &mut operands);
            let before = stack.len();
            stack.extend(operands.iter().filter(|id| !new.contains_key(id)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let result = match operands.iter().all(|id| new[id] == *id) {
                true => id,
                false => self.with_operands(id, &new),
            };
            new.insert(id, result);
        }
        new[&root]
    }

    fn with_operands(&mut self, id: ExprId, new: &FxHashMap<ExprId, ExprId>) -> ExprId {
        match self.node(id) {
            Node::Number(_) | Node::Bool(_) | Node::Time | Node::Leaf(_) => id,
            Node::Unary(op, a) => self.unary(op, new[&a]),
            Node::Binary(op, a, b) => self.binary(op, new[&a], new[&b]),
            Node::If(a, b, c) => self.if_else(new[&a], new[&b], new[&c]),
            Node::Call(function, args) => {
                let args: Vec<ExprId> = self.args(args).iter().map(|id| new[id]).collect();
                self.call(function, &args)
            }
            Node::List(args) => {
                let args: Vec<ExprId> = self.args(args).iter().map(|id| new[id]).collect();
                self.list(&args)
            }
        }
    }
}
