//! Which expressions change between events, and which of these are linear in Time.

use rustc_hash::FxHashMap;

use crate::base::cancel::glance;
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp};
use crate::flat::{Flat, Kind, Leaf, Type};

/// How inputs behave between events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inputs {
    /// They are constant: the experiment's formulas for inputs are in the equations already.
    Stay,
    /// They may change at any time, by the user of the program.
    Move,
}

/// Results are kept, so no expression is visited twice.
#[derive(Debug)]
pub struct Moving<'f> {
    flat: &'f Flat,
    /// The expressions that replace eliminated variables.
    replacements: &'f FxHashMap<Leaf, ExprId>,
    inputs: Inputs,
    /// By expression; `None` if it has not been visited.
    known: Vec<Option<bool>>,
}

impl<'f> Moving<'f> {
    pub fn new(flat: &'f Flat, replacements: &'f FxHashMap<Leaf, ExprId>, inputs: Inputs) -> Self {
        Moving {
            flat,
            replacements,
            inputs,
            known: vec![None; flat.exprs.len()],
        }
    }

    /// Whether an expression changes between events.
    pub fn moves(&mut self, root: ExprId) -> bool {
        let mut stack = vec![root];
        let mut operands = Vec::new();
        while let Some(&id) = stack.last() {
            glance();
            if self.known[id.index()].is_some() {
                stack.pop();
                continue;
            }
            operands.clear();
            let mut own = false;
            match self.flat.exprs.node(id) {
                Node::Time => own = true,
                Node::Leaf(leaf) => match self.replacements.get(&leaf) {
                    Some(&expression) => operands.push(expression),
                    None => own = self.leaf_moves(leaf),
                },
                _ => self.flat.exprs.operands(id, &mut operands),
            }
            let before = stack.len();
            stack.extend((operands.iter()).filter(|id| self.known[id.index()].is_none()));
            if stack.len() == before {
                stack.pop();
                own |= operands
                    .iter()
                    .any(|id| self.known[id.index()] == Some(true));
                self.known[id.index()] = Some(own);
            }
        }
        self.known[root.index()] == Some(true)
    }

    /// Truths, discrete variables and values before an event do not change.
    fn leaf_moves(&self, leaf: Leaf) -> bool {
        let (Leaf::Var(id) | Leaf::Der(id, _)) = leaf else {
            return false;
        };
        let variable = self.flat.variable(id);
        let may = match variable.kind {
            Kind::Parameter | Kind::Constant | Kind::Discrete => false,
            Kind::Input => self.inputs == Inputs::Move,
            Kind::State | Kind::Algebraic | Kind::Output | Kind::Auxiliary => true,
        };
        may && variable.ty == Type::Real
    }

    /// Whether an expression is linear in Time, with coefficients that change only at events. Then it is known when it
    /// reaches a value.
    pub fn is_timed(&mut self, mut id: ExprId) -> bool {
        loop {
            if !self.moves(id) {
                return true;
            }
            let next = match self.flat.exprs.node(id) {
                Node::Time => return true,
                Node::Leaf(leaf) => self.replacements.get(&leaf).copied(),
                Node::Unary(UnaryOp::Plus | UnaryOp::Minus, a) => Some(a),
                Node::Binary(BinaryOp::Div, a, b) if !self.moves(b) => Some(a),
                Node::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) => {
                    match (self.moves(a), self.moves(b)) {
                        (true, false) => Some(a),
                        (false, true) => Some(b),
                        _ => None,
                    }
                }
                // The jumps of `mod` are events of their own.
                Node::Call(Function::Mod, args) => {
                    let args = self.flat.exprs.args(args);
                    let (a, b) = (args[0], args[1]);
                    (!self.moves(b)).then_some(a)
                }
                _ => None,
            };
            match next {
                Some(next) => id = next,
                None => return false,
            }
        }
    }

    /// Whether both sides of a relation are linear in Time.
    pub fn are_timed(&mut self, left: ExprId, right: Option<ExprId>) -> bool {
        self.is_timed(left) && right.is_none_or(|right| self.is_timed(right))
    }
}
