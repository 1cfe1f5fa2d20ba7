//! What changes between events, and what is watched for that.

use super::Level;
use super::code::Register;
use super::expressions::{NONE, Registers};
use super::watches::Watch;
use crate::base::cancel::glance;
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp};
use crate::flat::{Kind, Leaf, Type};
use crate::passes::relations::WatchKind;

impl Registers<'_> {
    /// The kind of watch a node needs, if it needs one.
    pub fn watch_kind(&mut self, id: ExprId) -> Option<WatchKind> {
        let kind = WatchKind::of(self.flat, id)?;
        self.is_moving(id).then_some(kind)
    }

    /// The register where the truth of a relation is kept.
    pub fn watch(&mut self, id: ExprId) -> Register {
        if let Some(&at) = self.watch_of.get(&id) {
            return self.watches[at].held;
        }
        let Some(kind) = self.watch_kind(id) else {
            return NONE;
        };
        let held = self.register(Level::Held);
        let (left, right) = match self.flat.exprs.node(id) {
            Node::Binary(_, a, b) => (a, Some(b)),
            Node::Call(function, args) => {
                let args = self.flat.exprs.args(args);
                (args[0], (function == Function::Mod).then(|| args[1]))
            }
            _ => return NONE,
        };
        let timed = self.is_timed(left) && right.is_none_or(|right| self.is_timed(right));
        self.watch_of.insert(id, self.watches.len());
        self.watches.push(Watch {
            kind,
            node: id,
            left,
            right,
            held,
            sides: (NONE, NONE),
            event_sides: (NONE, NONE),
            timed,
        });
        held
    }

    /// Whether an expression changes between events.
    fn is_moving(&mut self, root: ExprId) -> bool {
        let mut stack = vec![root];
        let mut operands = Vec::new();
        while let Some(&id) = stack.last() {
            glance();
            if self.moving.contains_key(&id) {
                stack.pop();
                continue;
            }
            operands.clear();
            let own = match self.flat.exprs.node(id) {
                Node::Time => true,
                Node::Leaf(leaf) => match self.gone.get(&leaf) {
                    Some(&expression) => {
                        operands.push(expression);
                        false
                    }
                    None => match leaf {
                        Leaf::New(_) | Leaf::Pre(_) | Leaf::Init(_) => false,
                        Leaf::Var(id) | Leaf::Der(id, _) => {
                            let variable = self.flat.variable(id);
                            variable.ty == Type::Real
                                && !matches!(
                                    variable.kind,
                                    Kind::Parameter | Kind::Constant | Kind::Discrete | Kind::Input
                                )
                        }
                    },
                },
                _ => {
                    self.flat.exprs.operands(id, &mut operands);
                    false
                }
            };
            let before = stack.len();
            stack.extend((operands.iter().copied()).filter(|id| !self.moving.contains_key(id)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let moving = own || operands.iter().any(|id| self.moving[id]);
            self.moving.insert(id, moving);
        }
        self.moving[&root]
    }

    /// Linear in Time with coefficients that do not change between events; so it is known when it
    /// reaches a value.
    pub(super) fn is_timed(&mut self, mut id: ExprId) -> bool {
        loop {
            if !self.is_moving(id) {
                return true;
            }
            let next = match self.flat.exprs.node(id) {
                Node::Time => return true,
                Node::Leaf(leaf) => self.gone.get(&leaf).copied(),
                Node::Unary(UnaryOp::Plus | UnaryOp::Minus, a) => Some(a),
                Node::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                    match (self.is_moving(a), self.is_moving(b)) {
                        (true, false) => Some(a),
                        (false, true) => Some(b),
                        _ => None,
                    }
                }
                Node::Binary(BinaryOp::Mul, a, b) => match (self.is_moving(a), self.is_moving(b)) {
                    (true, false) => Some(a),
                    (false, true) => Some(b),
                    _ => None,
                },
                Node::Binary(BinaryOp::Div, a, b) if !self.is_moving(b) => Some(a),
                // Its jumps are events of their own.
                Node::Call(Function::Mod, args) => {
                    let (a, b) = (self.flat.exprs.args(args)[0], self.flat.exprs.args(args)[1]);
                    (!self.is_moving(b)).then_some(a)
                }
                _ => None,
            };
            match next {
                Some(next) => id = next,
                None => return false,
            }
        }
    }
}
