//! What of a model is watched: relations that move, samples, sines of Time.
//!
//! Before: a [`Model`] with all that it evaluates. After: each relation that something moves in is in its list, what stands
//! inside another before it, and keeps its truth between events. An input may move at any time.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Refusal;
use super::model::{Model, Sampler, Watch};
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp};
use crate::flat::{Kind, Leaf, Type};
use crate::passes::relations::WatchKind;
use crate::program::expressions;

impl Model<'_> {
    /// Finds relations and samples in all that a program evaluates.
    pub(super) fn watch(&mut self) -> Result<(), Refusal> {
        let flat = self.flat;
        let mut work: Vec<ExprId> = self.gone.values().copied().collect();
        for block in &self.solved.blocks {
            work.extend(expressions(block));
        }
        work.extend(self.inputs.iter().filter_map(|&(_, given)| given));
        work.extend(self.columns.iter().map(|column| column.value));
        for (condition, actions) in self.whens.iter().flatten() {
            work.push(*condition);
            work.extend(actions.iter().map(|action| action.value));
        }
        let mut used: FxHashSet<ExprId> = FxHashSet::default();
        while let Some(id) = work.pop() {
            if used.insert(id) {
                flat.exprs.operands(id, &mut work);
                if let Node::Leaf(leaf) = flat.exprs.node(id) {
                    work.extend(self.gone.get(&leaf));
                }
            }
        }
        let mut used: Vec<ExprId> = used.into_iter().collect();
        used.sort_unstable();
        let mut moving: FxHashMap<ExprId, bool> = FxHashMap::default();
        for id in used {
            let node = flat.exprs.node(id);
            if let Node::Leaf(leaf @ (Leaf::Init(_) | Leaf::Der(..))) = node
                && (matches!(leaf, Leaf::Init(_))
                    || flat.variable(leaf.variable()).kind == Kind::Input)
                && !self.slopes.iter().any(|&(slope, _)| slope == leaf)
            {
                return Err(self.refuse(leaf, "no program here can compute it"));
            }
            if let Node::Call(Function::Sin | Function::Cos, args) = node {
                let argument = flat.exprs.args(args)[0];
                if self.moves(argument, &mut moving) && self.is_timed(argument, &mut moving) {
                    self.sines.push(argument);
                }
            }
            if let Node::Call(Function::Sample, args) = node {
                let args = flat.exprs.args(args);
                self.samplers.push(Sampler {
                    node: id,
                    start: args[0],
                    period: args[1],
                });
                continue;
            }
            let Some(kind) = WatchKind::of(flat, id).filter(|_| self.moves(id, &mut moving)) else {
                continue;
            };
            if kind.is_momentary() {
                // What an input is, is known at once.
                if self.inputs_alone(id) {
                    continue;
                }
                let text = flat.expression(id);
                return Err(Refusal(format!(
                    "`{text}`: numbers that move are equal for a moment only, and no program here looks for it"
                )));
            }
            let (left, right) = match node {
                Node::Binary(_, a, b) => (a, Some(b)),
                Node::Call(function, args) => {
                    let args = flat.exprs.args(args);
                    (args[0], (function == Function::Mod).then(|| args[1]))
                }
                _ => continue,
            };
            self.watch_of.insert(id, self.watches.len());
            let timed = self.is_timed(left, &mut moving)
                && right.is_none_or(|right| self.is_timed(right, &mut moving));
            self.watches.push(Watch {
                kind,
                node: id,
                left,
                right,
                timed,
            });
        }
        Ok(())
    }

    /// Whether nothing moves in an expression but inputs.
    fn inputs_alone(&self, root: ExprId) -> bool {
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            match self.flat.exprs.node(id) {
                Node::Time => return false,
                Node::Leaf(leaf) => match self.gone.get(&leaf) {
                    Some(&expression) => work.push(expression),
                    None => {
                        let variable = self.flat.variable(leaf.variable());
                        if matches!(variable.kind, Kind::State | Kind::Algebraic | Kind::Output) {
                            return false;
                        }
                    }
                },
                _ => self.flat.exprs.operands(id, &mut work),
            }
        }
        true
    }

    /// Linear in Time, with coefficients that change only at events: so it is known when it reaches a value.
    pub(super) fn is_timed(&self, mut id: ExprId, moving: &mut FxHashMap<ExprId, bool>) -> bool {
        loop {
            if !self.moves(id, moving) {
                return true;
            }
            let next = match self.flat.exprs.node(id) {
                Node::Time => return true,
                Node::Leaf(leaf) => self.gone.get(&leaf).copied(),
                Node::Unary(UnaryOp::Plus | UnaryOp::Minus, a) => Some(a),
                Node::Binary(BinaryOp::Div, a, b) if !self.moves(b, moving) => Some(a),
                Node::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) => {
                    match (self.moves(a, moving), self.moves(b, moving)) {
                        (true, false) => Some(a),
                        (false, true) => Some(b),
                        _ => None,
                    }
                }
                // Its jumps are events of their own.
                Node::Call(Function::Mod, args) => {
                    let args = self.flat.exprs.args(args);
                    (!self.moves(args[1], moving)).then_some(args[0])
                }
                _ => None,
            };
            match next {
                Some(next) => id = next,
                None => return false,
            }
        }
    }

    /// Whether an expression changes between events. An input may.
    pub(super) fn moves(&self, root: ExprId, known: &mut FxHashMap<ExprId, bool>) -> bool {
        let flat = self.flat;
        let mut stack = vec![root];
        let mut operands = Vec::new();
        while let Some(&id) = stack.last() {
            if known.contains_key(&id) {
                stack.pop();
                continue;
            }
            operands.clear();
            let mut own = false;
            match flat.exprs.node(id) {
                Node::Time => own = true,
                Node::Leaf(leaf) => match (self.gone.get(&leaf), leaf) {
                    (Some(&expression), _) => operands.push(expression),
                    (None, Leaf::Var(id) | Leaf::Der(id, _)) => {
                        let variable = flat.variable(id);
                        let fixed = matches!(
                            variable.kind,
                            Kind::Parameter | Kind::Constant | Kind::Discrete
                        );
                        own = variable.ty == Type::Real && !fixed;
                    }
                    _ => {}
                },
                _ => flat.exprs.operands(id, &mut operands),
            }
            let before = stack.len();
            stack.extend(operands.iter().filter(|id| !known.contains_key(id)));
            if stack.len() == before {
                stack.pop();
                known.insert(id, own || operands.iter().any(|id| known[id]));
            }
        }
        known[&root]
    }
}
